/* Suites: several scenarios, each in a separate process, a few at a time, with a summary.
 *
 *     struct suite s = {.arena = &arena, .jobs = 2, .argv = worker_argv, .context = context};
 *     if (!suite_add(&s, "tests/", err) || !suite_run(&s, signals, err)) return false;
 *     for (size_t i = 0; i < s.n; i++) ... s.entries[i].status ...
 *
 * A worker is this program again, running one scenario with --json.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_SUITE_H
#define RUN_SUITE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum {
    SUITE_MAX = 10 * 1000, /* scenarios */
    SUITE_JOBS_MAX = 256,
    SUITE_NAME_MAX = 100, /* bytes, without a number */
};

struct suite_entry {
    const char *file;
    const char *name;   /* unique in the suite, and valid as a file name */
    json_t *result;     /* a RunResult, or {"error"}; NULL: not run */
    const char *status; /* "passed", "failed", "errored", "canceled" */
    int exit;
    uint64_t ms;
    /* While it runs: */
    int pidfd, out, err_fd;
    uint64_t started_ms;
};

/* Standard error of a worker that has ended. */
struct suite_words {
    struct str text;
    uint64_t cut; /* bytes left out at its start */
};

struct suite {
    struct arena *arena;
    unsigned jobs;
    /* argv of a worker, including the program's name. */
    const char *const *(*argv)(void *context, const struct suite_entry *entry);
    /* A worker has ended; may be NULL. */
    void (*ended)(void *context, const struct suite_entry *entry, const struct suite_words *words);
    void *context;
    struct suite_entry *entries;
    size_t n, cap;
};

void suite_done(struct suite *s);

/* Adds a file, or the files of a directory: its *.scenario.yaml, .yml and .json files or, if it has
 * none, all .yaml, .yml and .json files; sorted, without subdirectories. */
MUST_USE bool suite_add(struct suite *s, const char *path, struct err *err);

/* Runs all scenarios; `cancel` becomes readable to end them all. */
MUST_USE bool suite_run(struct suite *s, int cancel, struct err *err);

/* Exit status of the worst result: canceled is worse than errored, errored worse than failed; the
 * first one of equals. */
int suite_status(const struct suite *s);

size_t suite_count(const struct suite *s, const char *status);
MUST_USE json_t *suite_json(const struct suite *s);

/* Write reports from the results (suite_report.c). */
void suite_add_tap(const struct suite *s, struct buf *out);
void suite_add_junit(const struct suite *s, struct buf *out);

#endif
