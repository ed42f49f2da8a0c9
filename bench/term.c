/* Measures an emulator on demand: a line "ROWS COLS FILE" on stdin is answered by the seconds of
 * CPU time that a new terminal of that size took for the file, in pieces of 64 KiB. One process
 * serves a whole run, so that emulators can take turns. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PIECE = 64 * 1024,
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *read_file(const char *path, size_t *ret_n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        return NULL;
    long size = ftell(f);
    char *bytes = size > 0 ? malloc((size_t)size) : NULL;
    rewind(f);
    if (bytes && fread(bytes, 1, (size_t)size, f) == (size_t)size) {
        *ret_n = (size_t)size;
    } else {
        free(bytes);
        bytes = NULL;
    }
    fclose(f);
    return bytes;
}

static double measure(unsigned rows, unsigned cols, const char *bytes, size_t n)
{
    struct engine *e = engine_new(rows, cols);
    double start = cpu_seconds();
    for (size_t i = 0; i < n; i += PIECE)
        engine_feed(e, bytes + i, n - i < PIECE ? n - i : PIECE);
    double seconds = cpu_seconds() - start;
    engine_free(e);
    return seconds;
}

int main(void)
{
    char line[4096];
    unsigned rows, cols;
    int path;
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%u %u %n", &rows, &cols, &path) != 2)
            return 2;
        size_t n = 0;
        char *bytes = read_file(line + path, &n);
        if (!bytes)
            return 1;
        printf("%.9f\n", measure(rows, cols, bytes, n));
        fflush(stdout);
        free(bytes);
    }
    return 0;
}
