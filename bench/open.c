/* open DIR ROUNDS: opens, reads and closes DIR/0 to DIR/19999, spread over subdirectories; prints
 * the nanoseconds of the best round. Static, so that it has no dependencies where it runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    FILES = 20000,
    DIRS = 200,
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_path(char *path, size_t size, const char *dir, int i)
{
    snprintf(path, size, "%s/src/part%d/file%d.c", dir, i % DIRS, i);
}

static void read_all(const char *dir)
{
    char path[4096], bytes[4096];
    for (int i = 0; i < FILES; i++) {
        make_path(path, sizeof(path), dir, i);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, bytes, sizeof(bytes)) < 0)
            abort();
        close(fd);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    uint64_t best = UINT64_MAX;
    for (int i = atoi(argv[2]); i > 0; i--) {
        uint64_t start = now_ns();
        read_all(argv[1]);
        uint64_t took = now_ns() - start;
        best = took < best ? took : best;
    }
    printf("%llu\n", (unsigned long long)best);
    return 0;
}
