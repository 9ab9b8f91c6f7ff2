// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Leaves out the syncs of the program that it is loaded into, to measure what else costs time:
//
//     cc -O2 -shared -fPIC -o nosync.so nosync.c

int fsync(int fd) { return (void)fd, 0; }
int fdatasync(int fd) { return (void)fd, 0; }
