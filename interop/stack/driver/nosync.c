// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Leaves out the syncs of the program that it is loaded into until that sets nosync_syncs:
//
//     cc -O2 -shared -fPIC -o nosync.so nosync.c

#include <sys/syscall.h>
#include <unistd.h>

volatile int nosync_syncs;

int fsync(int fd) { return nosync_syncs ? (int)syscall(SYS_fsync, fd) : 0; }
int fdatasync(int fd) { return nosync_syncs ? (int)syscall(SYS_fdatasync, fd) : 0; }
