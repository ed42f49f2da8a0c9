/* A policy to start from: YAML with comments. It grants one directory to read and one program, or
 * what a run was seen to use.
 *
 *     struct starter_path make = {.path = STR("/usr/bin/make")};
 *     starter_write(&b, &(struct starter){.root = cwd, .exec = {&make, 1}});
 *
 * What needs an acknowledgement stands in it as a comment, unless that was given.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_STARTER_H
#define POLICY_STARTER_H

#include "base/buf.h"

/* Where programs are looked for, unless another PATH is given. */
#define STARTER_PATH "/usr/local/bin:/usr/bin:/bin"

struct starter_path {
    struct str path;
    struct str target; /* where it leads, for the comment; no value: nowhere else */
    const char *note;  /* for the comment, or NULL */
};

struct starter_paths {
    struct starter_path *p;
    size_t n;
};

struct starter {
    struct str root;           /* may be read, and is where the program starts; no value: nothing */
    struct starter_paths read; /* may be read, too */
    struct starter_paths write;   /* may be written, once that is acknowledged */
    bool write_ack;               /* it is */
    struct starter_paths exec;    /* may run */
    struct starter_paths made;    /* directories whose programs may run; as `write` */
    struct starter_paths refused; /* was used, and can't be allowed; notes say why */
    struct str peers;             /* the network was used: with whom; no value: it was not */
    struct str search_path;       /* PATH; no value: STARTER_PATH */
    bool unix_sockets;            /* Unix sockets were used */
    bool tmp;                     /* it wrote below /tmp */
    bool shell;                   /* the program is a shell, or a script for one */
};

/* Every path that is no comment must be absolute and UTF-8. */
void starter_write(struct buf *b, const struct starter *starter);

#endif
