/* The parts of `cordon self-test`: a test bed, the checks that run on it, and the acts that are
 * tried inside a sandbox.
 *
 *     struct bed bed = BED_INIT;
 *     if (!bed_open(cli, &bed, err)) return false;
 *     struct outcome o = self_test_checks[i].run(&bed);
 *     bed_close(&bed);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SELF_TEST_H
#define CLI_SELF_TEST_H

#include "cli/interrupt.h"
#include "cli/out.h"

enum outcome_status {
    OUTCOME_OK,
    OUTCOME_WEAKER, /* usable, with less than on other machines */
    OUTCOME_FAILED,
};

struct outcome {
    enum outcome_status status;
    const char *detail;
    const char *remedy; /* NULL: none known */
};

/* A directory of its own with a project, a home and files outside of both; the program runs there
 * as a process of its own, with none of the user's settings and state. */
struct bed {
    struct cli *cli;
    struct arena *arena;
    const char *self;     /* this program's file */
    const char *base;     /* the directory that `top` is in */
    const char *base_why; /* TMPDIR can't be used: the reason; NULL: it can */
    const char *top, *project, *home, *outside;
    const char *no_sandbox; /* why there is none; NULL: there is one, or it was not tried yet */
    uint64_t until_ms;
    int signals;
    sigset_t set;
    bool interrupted;
};

#define BED_INIT ((struct bed){.signals = -1})

/* E_SANDBOX_UNAVAILABLE without /proc; E_IO if no directory can be made. */
MUST_USE bool bed_open(struct cli *cli, struct bed *ret_bed, struct err *err);
/* Waits until no process of it is left, and removes the directory. */
void bed_close(struct bed *bed);

MUST_USE bool bed_write(const char *path, struct str content);
/* The file's bytes, at most a few thousand; no value if it can't be read. */
struct str bed_read(struct bed *bed, const char *path);

/* The end of a run of this program. */
struct answer {
    int status; /* exit status; 128+N for a signal */
    bool late;  /* it was ended because time was up */
    struct str out, words;
    const char *error, *remedy; /* of a failure, for people */
};

/* Runs the program with these words (ends in NULL) in the project, without input. */
void bed_ask(struct bed *bed, const char *const *words, struct answer *ret_answer);

struct self_test_check {
    const char *name;
    bool in_sandbox; /* meaningless without one */
    struct outcome (*run)(struct bed *bed);
};

extern const struct self_test_check self_test_checks[];
extern const size_t n_self_test_checks;

/* The name of the hidden command that tries an act. */
#define SELF_TEST_ACT "self-test-act"

#endif
