// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

// Ends the program that it is loaded into in front of the n-th change of a file, where n is in CUT_AT:
//
//     cc -O2 -shared -fPIC -o cut.so cut.c -ldl

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static void step(int fd) {
	static long left = -1;
	if (fd <= 2) // what it says is no change
		return;
	if (left < 0) {
		const char *at = getenv("CUT_AT");
		left = at ? atol(at) : 1L << 40;
	}
	if (--left <= 0)
		_exit(9);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *p, size_t n) { return step(fd), REAL(write)(fd, p, n); }
ssize_t pwrite(int fd, const void *p, size_t n, off_t at) { return step(fd), REAL(pwrite)(fd, p, n, at); }
ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at) { return step(fd), REAL(pwrite64)(fd, p, n, at); }
int ftruncate(int fd, off_t n) { return step(fd), REAL(ftruncate)(fd, n); }
int ftruncate64(int fd, off64_t n) { return step(fd), REAL(ftruncate64)(fd, n); }
