/* Internals of the runner of terminal cases; main.c describes the language. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_VT_VT_H
#define TESTS_VT_VT_H

#include "base/arena.h"
#include "base/buf.h"
#include "term/term.h"

enum {
    WORDS_MAX = 24, /* of one line */
    ROW_TEXT_MAX = 64 * 1024,
};

/* The ways in which a terminal gets its bytes. */
enum way {
    WAY_WHOLE,
    WAY_BYTES,
    WAY_CUTS,
    WAYS,
};

struct event {
    enum term_event_type type;
    struct str text; /* in the machine's arena */
    unsigned value;
    bool taken;
};

/* A terminal, and its events. */
struct machine {
    enum way way;
    struct term *term;
    struct arena arena;
    struct event *events;
    size_t n_events, cap_events;
    uint64_t random;
};

void machine_start(
    struct machine *m, enum way way, const struct term_options *options, uint64_t seed);
void machine_stop(struct machine *m);
void machine_feed(struct machine *m, struct str bytes);
struct event *machine_event(struct machine *m, enum term_event_type type); /* not taken yet */
size_t machine_events(const struct machine *m, enum term_event_type type);

/* Everything visible from outside, as text. */
void machine_dump(const struct machine *m, struct buf *b);
/* A wide cell has a right half, and no right half is alone: returns NULL, or what is wrong. */
const char *machine_wrong(const struct machine *m);

/* A row without blanks at the end; a cell: " " if it is empty, "" for a right half. */
void look_row(const struct term *t, int row, struct buf *b);
void look_cell(const struct term_cell *cell, struct buf *b);

struct shell_word {
    struct str text;
    bool quoted;
};

/* A case while it runs: three terminals that must be alike. */
struct run {
    struct machine machines[WAYS];
    struct machine *m; /* the one that is checked */
    struct term_options options;
    bool started;
    uint64_t seed;
    struct arena *arena;

    const char *file;
    unsigned line;
    const struct shell_word *words; /* of the line, without the first */
    size_t n_words;
    unsigned screen_row; /* of a block: the row for the next line */
    bool in_screen;

    size_t unknowns, unanswered; /* named by the case */
    size_t failures;
};

/* Reports an error at the line; returns false. */
bool run_fail(struct run *r, const char *format, ...) PRINTF_LIKE(2, 3);
void run_start(struct run *r);

/* One line of a case. */
void directive_run(struct run *r, const struct shell_word *words, size_t n);
void directive_screen_line(struct run *r, struct str text);
void directive_screen_end(struct run *r);
/* Reports everything that the case did not name. */
void directive_end(struct run *r);

#endif
