/* Private to src/repo: here-documents in shell commands.
 *
 *     struct shell_heredocs docs = {.limits = &limits};
 *     at = shell_heredoc_open(&docs, text, at);                   at `<<`
 *     while (shell_heredoc_next(&docs, text, &at, &doc)) ...      behind the end of the line
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_SHELL_HEREDOC_H
#define REPO_SHELL_HEREDOC_H

#include "base/str.h"

enum {
    SHELL_HEREDOCS_MAX = 8, /* of one line */
};

/* Limits of a command and everything in it. */
struct shell_limits {
    size_t left; /* bytes that may be read or searched, each as often as it is */
    bool cut;    /* something was not read */
};

/* Counts bytes as read. Returns false if there are too many, which is a cut. */
static inline bool shell_limits_take(struct shell_limits *limits, size_t bytes)
{
    bool fits = bytes <= limits->left;
    limits->cut |= !fits;
    limits->left -= fits ? bytes : limits->left;
    return fits;
}

struct shell_heredoc {
    struct str word; /* the delimiter as it is written */
    struct str body;
    bool tabs;   /* <<- */
    bool quoted; /* the body has no substitutions */
};

struct shell_heredocs {
    struct shell_heredoc p[SHELL_HEREDOCS_MAX]; /* whose bodies begin after the line */
    size_t n;
    unsigned depth; /* of substitutions around them */
    struct shell_limits *limits;
};

/* Returns the offset behind the delimiter. */
size_t shell_heredoc_open(struct shell_heredocs *docs, struct str text, size_t at);

/* Moves behind the next body. Returns false if there are no more. After one without an end, as in
 * $((1 << 2)), the text is commands. */
bool shell_heredoc_next(
    struct shell_heredocs *docs, struct str text, size_t *at, struct shell_heredoc *doc);

/* Returns true if `<<` and not `<<<` is at the offset. */
bool shell_heredoc_at(struct str text, size_t at);

#endif
