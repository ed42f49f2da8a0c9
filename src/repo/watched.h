/* Private to src/repo: parts that no mount protects, as in the weaker sandbox. Their bytes are
 * remembered before a command and compared after it. A changed part is set aside and its old
 * content restored; a new part is set aside. A removed part is reported but not restored: the user
 * or another session may have removed it. If not everything was remembered (depth, number, size),
 * nothing is moved, and a line reports that.
 *
 *     watch_reset(p);                         before each command
 *     watch_add(p, absolute_path);            a file or directory that must not change
 *     watch_check(p, before);                 after the command; held[before] is the check's first
 *     watch_print(p, &text);                   lines about parts removed or not compared
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_WATCHED_H
#define REPO_WATCHED_H

#include "repo/known.h"

enum {
    WATCH_MAX = 20 * 1000,
    WATCH_BYTES_MAX = 32 << 20, /* total */
    WATCH_LINES_MAX = 1 << 18,  /* bytes of output lines */
};

struct watched {
    size_t root;     /* index of the root */
    struct str path; /* relative to the root */
    mode_t mode;
    uid_t uid;
    gid_t gid;
    struct known_text then; /* text: bytes of a file, target of a symlink */
    bool whole;             /* all bytes were remembered */
    bool partial;           /* a directory of which not all names were remembered */
    bool gone;              /* removed since: anything created there is new */
};

struct watch_list {
    struct arena arena;
    struct watched *p;
    size_t n, cap, bytes;
    size_t limit, bytes_limit; /* for the part being added */
    time_t since;              /* start time; 0: from an interrupted session */
    struct str lost;           /* a part that did not fit; no value: none */
    struct buf lines;          /* of the last check */
    size_t n_lines, n_omitted; /* and the number of lines that did not fit */
};

void watch_reset(struct protect *p);
void watch_add(struct protect *p, struct str path);
void watch_check(struct protect *p, size_t before);
void watch_print(const struct protect *p, struct buf *text);
void watch_free(struct protect *p);

/* Returns true if all bytes of a part are compared. */
bool watch_has_whole(const struct protect *p, const struct protect_root *r, struct str path);

/* Adds a part read from a state file; copies its texts. Returns false if it does not fit. */
bool watch_restore_entry(struct protect *p, const struct watched *w);

/* Returns the part that was added last, or NULL. */
struct watched *watch_last(struct protect *p);

#endif
