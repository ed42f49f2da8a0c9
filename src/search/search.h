/* Searches the files below a directory for matching lines, on all cores, in the byte order of
 * their paths.
 *
 *     struct search_options options = {.pattern = STR("main"), .limit = 200, ...};
 *     struct search_summary summary = {0};
 *     if (!search_dir(dir_fd, &options, &summary, err)) return false;
 *
 * One thread walks the tree (path/walk.h: honors ignore files, follows no symlinks, uses file
 * descriptors) and queues files in batches; all threads search. Results are reported in walk order,
 * regardless of the thread that found them. Files are opened relative to their directory, never
 * through a symlink.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "path/walk.h"
#include "search/search_scan.h"

enum {
    SEARCH_THREADS_MAX = 8,
    SEARCH_BATCHES = 64, /* queued or being searched; each may hold a file descriptor */
    SEARCH_BATCH_FILES = 16,
    SEARCH_TEXT = 64 * 1024,
};

/* A file with matches, or on which the pattern hit its limit. Valid until the callback returns. */
struct search_file {
    struct str path; /* relative to the directory */
    const struct found *found;
};

struct search_options {
    struct str pattern;
    struct pattern_options how;
    size_t limit, context; /* total matching lines; lines of context around each */
    size_t text_max;       /* bytes of line text kept per batch of files; 0: SEARCH_TEXT */
    uint64_t budget_ms;
    int cancel;       /* file descriptor that becomes readable on cancellation, or -1 */
    unsigned threads; /* 0: derived from the number of processors */
    void *context_ptr;
    bool (*wanted)(void *context, struct str path); /* filter by path; NULL: all files */
    /* Returns false to stop the search. Called by one thread at a time. */
    bool (*file)(void *context, const struct search_file *file);
};

struct search_summary {
    uint64_t files;   /* searched to the end */
    uint64_t matches; /* passed to the callback */
    bool stopped;     /* the callback returned false */
    bool late;        /* the time budget is used up */
    bool cancelled;
    struct walk_problems problems; /* files and directories that could not be opened or read */
};

/* The caller releases the summary with walk_problems_done(&summary->problems). E_TOOL_VALIDATION
 * for an invalid pattern; other errors come from the walk. */
MUST_USE bool search_dir(int dir_fd, const struct search_options *options,
    struct search_summary *summary, struct err *err);

/* Searches one open file; the path is used only in results. */
MUST_USE bool search_one(int fd, struct str path, const struct search_options *options,
    struct search_summary *summary, struct err *err);

#endif
