/* Private to src/repo: parts that no mount keeps, as in the weaker sandbox. Their bytes are
 * remembered before a command and compared after it. A part that was changed is set aside, and what
 * was there is made again; one that is new is set aside. A part that was removed is named and not
 * made again: it may be the user or another session that removed it. Where not all was remembered
 * (depth, number, size) nothing is moved, and a line says so.
 *
 *     watch_reset(p);                         before each command
 *     watch_add(p, absolute_path);            a file or directory that must stay as it is
 *     watch_check(p, before);                 after the command; held[before] is the check's first
 *     watch_tell(p, &text);                   lines about what was removed or not compared
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_WATCH_H
#define REPO_WATCH_H

#include "repo/known.h"

enum {
    WATCH_MAX = 20 * 1000,
    WATCH_BYTES_MAX = 32 << 20, /* of all together */
    WATCH_LINES_MAX = 1 << 18,  /* bytes of lines */
};

struct watched {
    size_t root;     /* index of it */
    struct str path; /* from there */
    mode_t mode;
    uid_t uid;
    gid_t gid;
    struct known_text then; /* its text: bytes of a file, target of a link */
    bool whole;             /* all bytes are there */
    bool partial;           /* a directory of which not all names are remembered */
    bool gone;              /* it was removed since: what is made there is new */
};

struct watch {
    struct arena arena;
    struct watched *p;
    size_t n, cap, bytes;
    size_t limit, bytes_limit; /* for the part that is being added */
    time_t since;              /* when it began; 0: of a session that was cut off */
    struct str lost;           /* a part for which there was no room; no value: none */
    struct buf told;           /* lines of the last check */
    size_t n_told, n_untold;   /* and how many there was no room for */
};

void watch_reset(struct protect *p);
void watch_add(struct protect *p, struct str path);
void watch_check(struct protect *p, size_t before);
void watch_tell(const struct protect *p, struct buf *text);
void watch_free(struct protect *p);

/* Whether a part is compared by all of its bytes. */
bool watch_keeps(const struct protect *p, const struct protect_root *r, struct str path);

/* For a state that is read from a file: texts are copied. False: there is no room. */
bool watch_put(struct protect *p, const struct watched *w);

/* The one that was put last; NULL: none. */
struct watched *watch_last(struct protect *p);

#endif
