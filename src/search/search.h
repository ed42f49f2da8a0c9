/* Searches the files below a directory for lines that match, on all cores, in the order of the
 * paths' bytes.
 *
 *     struct search_options options = {.pattern = STR("main"), .limit = 200, ...};
 *     struct search_summary summary = {0};
 *     if (!search_dir(dir_fd, &options, &summary, err)) return false;
 *
 * One thread walks (path/walk.h: ignore files, no links, descriptors) and gives out files in
 * batches; all of them search; what was found is handed on in the order of the walk, whoever found
 * it. Files are opened in their directory, never through a link.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "path/walk.h"
#include "search/scan.h"

enum {
    SEARCH_THREADS_MAX = 8,
    SEARCH_BATCHES = 64, /* that wait or are at work: each may hold a descriptor */
    SEARCH_BATCH_FILES = 16,
    SEARCH_TEXT = 64 * 1024,
};

/* A file in which something was found, or that could not be searched. Stays until the call ends. */
struct search_file {
    struct str path; /* below the directory */
    const struct found *found;
};

struct search_options {
    struct str pattern;
    struct pattern_options how;
    size_t limit, context; /* of matching lines in all; lines around them */
    size_t text_max;       /* bytes of lines that are kept of a batch of files; 0: SEARCH_TEXT */
    uint64_t budget_ms;
    int cancel;       /* -1, or what is readable when it is to end */
    unsigned threads; /* 0: by the number of processors */
    void *context_ptr;
    bool (*wanted)(void *context, struct str path); /* by its path; NULL: all */
    /* False: enough. Called by one thread at a time. */
    bool (*file)(void *context, const struct search_file *file);
};

struct search_summary {
    uint64_t files;   /* searched to the end */
    uint64_t matches; /* handed on */
    bool stopped;     /* enough was found */
    bool late;        /* the budget is used up */
    bool cancelled;
    struct walk_problems problems; /* what could not be opened or read */
};

/* The summary is to be released with walk_problems_done(&summary->problems). E_TOOL_VALIDATION for
 * a wrong pattern; other errors are those of the walk. */
MUST_USE bool search_dir(int dir_fd, const struct search_options *options,
    struct search_summary *summary, struct err *err);

/* One open file, whatever it is called. */
MUST_USE bool search_one(int fd, struct str path, const struct search_options *options,
    struct search_summary *summary, struct err *err);

#endif
