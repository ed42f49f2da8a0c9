/* An emulator to be measured: bench/term.c feeds the one that it was linked with. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TERM_ENGINE_H
#define BENCH_TERM_ENGINE_H

#include <stddef.h>

struct engine;

enum {
    ENGINE_SCROLLBACK = 1000, /* lines that are kept above the screen */
};

struct engine *engine_new(unsigned rows, unsigned cols);
void engine_free(struct engine *e);
void engine_feed(struct engine *e, const char *bytes, size_t n);

#endif
