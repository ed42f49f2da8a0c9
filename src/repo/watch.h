/* Private to src/repo: parts that no mount keeps, as in the weaker sandbox. Their bytes are
 * remembered before a command and compared after it. A part that was changed or is new is set
 * aside, and what was there is made again.
 *
 *     watch_reset(p);                         before each command
 *     watch_add(p, absolute_path);            a file or directory that must stay as it is
 *     watch_check(p);                         after the command
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_WATCH_H
#define REPO_WATCH_H

#include "repo/known.h"

enum {
    WATCH_MAX = 20 * 1000,
    WATCH_BYTES_MAX = 32 << 20, /* of all together */
};

struct watched {
    size_t root;     /* index of it */
    struct str path; /* from there */
    mode_t mode;
    struct known_text then; /* its text: bytes of a file, target of a link */
    bool whole;             /* all bytes are there */
};

struct watch {
    struct arena arena;
    struct watched *p;
    size_t n, cap, bytes;
};

void watch_reset(struct protect *p);
void watch_add(struct protect *p, struct str path);
void watch_check(struct protect *p);
void watch_free(struct protect *p);

/* For a state that is read from a file: texts are copied. */
void watch_put(struct protect *p, const struct watched *w);

#endif
