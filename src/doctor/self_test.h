/* Parts of `cordon self-test`: a test bed, the checks that run on it, and the acts that are tried
 * inside a sandbox.
 *
 *     struct bed bed = BED_INIT;
 *     if (!bed_open(&options, &bed, err)) return false;
 *     struct outcome o = self_test_run(&bed, &self_test_checks[i]);
 *     bed_close(&bed, warnings);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCTOR_SELF_TEST_H
#define DOCTOR_SELF_TEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "io/interrupt.h"

enum outcome_status {
    OUTCOME_OK,
    OUTCOME_WEAKER, /* usable, with restrictions */
    OUTCOME_FAILED,
};

struct outcome {
    enum outcome_status status;
    const char *detail;
    const char *remedy; /* NULL: none known */
};

/* A temporary directory with a project, a home and files outside both. The program runs there as a
 * separate process, without the user's settings and state. */
struct bed {
    struct arena *arena;
    const char *state, *state_error;
    const char *self;     /* path of this program */
    const char *base;     /* directory that contains `top` */
    const char *base_why; /* why TMPDIR cannot be used; NULL: it can */
    const char *top, *project, *home, *outside;
    const char *no_sandbox; /* why the sandbox does not work; NULL: it works, or not tried yet */
    uint64_t until_ms;
    int signals;
    sigset_t set;
    bool interrupted;
};

#define BED_INIT ((struct bed){.signals = -1})

struct bed_options {
    struct arena *arena;
    const char *state;       /* $CORDON_HOME of the user; NULL: none */
    const char *state_error; /* why not */
};

enum {
    BED_WARNINGS_MAX = 2,
};

/* Fails with E_SANDBOX_UNAVAILABLE without /proc, or with E_IO if no directory can be created. */
MUST_USE bool bed_open(const struct bed_options *options, struct bed *ret_bed, struct err *err);
/* Waits until all its processes have exited, and removes the directory. Returns the number of
 * warnings: what could not be cleaned up. They are in the arena. */
size_t bed_close(struct bed *bed, const char *ret_warnings[BED_WARNINGS_MAX]);

MUST_USE bool bed_write(const char *path, struct str content);
/* Content of a file, at most a few thousand bytes; no value if it cannot be read. */
struct str bed_read(struct bed *bed, const char *path);

/* Result of a run of this program. */
struct self_test_answer {
    int status; /* exit status; 128+N for a signal */
    bool late;  /* it was killed after a timeout */
    struct str out, words;
    const char *error, *remedy; /* message and remedy of a failure */
};

/* Runs the program with these arguments (NULL-terminated) in the project, without input. */
void bed_ask(struct bed *bed, const char *const *words, struct self_test_answer *ret_answer);

struct self_test_check {
    const char *name;
    bool in_sandbox; /* needs a working sandbox */
    struct outcome (*run)(struct bed *bed);
};

extern const struct self_test_check self_test_checks[];
extern const size_t n_self_test_checks;

/* Runs a check, unless it needs a sandbox that does not work, or the time is up. */
struct outcome self_test_run(struct bed *bed, const struct self_test_check *check);

/* Name of the hidden command that performs an act. */
#define SELF_TEST_ACT "self-test-act"

/* Performs an act, and adds a line that tells how it ended. */
MUST_USE bool self_test_act(
    const char *name, const char *argument, struct buf *out, struct err *err);

#endif
