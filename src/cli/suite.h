/* Suites: several scenarios, each in a separate process, a few at a time, with a summary.
 *
 *     struct suite s = {.cli = cli, .jobs = 2};
 *     if (!suite_add(&s, "tests/", err) || !suite_run(&s, worker_argv, context, err)) return false;
 *     suite_table(&s);
 *
 * A worker is this program again, running one scenario with --json.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SUITE_H
#define CLI_SUITE_H

#include "cli/out.h"

enum {
    SUITE_MAX = 10 * 1000, /* scenarios */
    SUITE_JOBS_MAX = 256,
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

struct suite {
    struct cli *cli;
    unsigned jobs;
    bool verbose;
    struct suite_entry *entries;
    size_t n, cap;
};

void suite_done(struct suite *s);

/* Adds a file, or the files of a directory: its *.scenario.yaml, .yml and .json files or, if it has
 * none, all .yaml, .yml and .json files; sorted, without subdirectories. */
MUST_USE bool suite_add(struct suite *s, const char *path, struct err *err);

/* Runs all scenarios. The callback returns the argv of a worker, including the program's name. */
typedef const char *const *(*suite_words)(void *context, const struct suite_entry *entry);
MUST_USE bool suite_run(struct suite *s, suite_words words, void *context, struct err *err);

/* Exit status of the worst result: canceled is worse than errored, errored worse than failed; the
 * first one of equals. */
int suite_status(const struct suite *s);

/* For users, and as a new JSON object. */
void suite_table(const struct suite *s);
MUST_USE json_t *suite_json(const struct suite *s);

/* Write reports from the results. */
void report_tap(const struct suite *s, struct buf *out);
void report_junit(const struct suite *s, struct buf *out);

#endif
