/* Generates a policy to start from: YAML with comments. It grants one directory for reading and one
 * program, or everything that a traced run used.
 *
 *     struct starter_path make = {.path = STR("/usr/bin/make")};
 *     starter_write(&b, &(struct starter){.root = cwd, .exec = {&make, 1}});
 *
 * Grants that need an acknowledgement are commented out, unless it was given.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef POLICY_STARTER_H
#define POLICY_STARTER_H

#include "base/buf.h"

/* Search path for programs, unless another PATH is given. */
#define STARTER_PATH "/usr/local/bin:/usr/bin:/bin"

struct starter_path {
    struct str path;
    struct str target; /* of a symlink, for the comment; no value: not a symlink */
    const char *note;  /* for the comment, or NULL */
};

struct starter_paths {
    struct starter_path *p;
    size_t n;
};

struct starter {
    struct str root;              /* readable, and the working directory; no value: none */
    struct starter_paths read;    /* also readable */
    struct starter_paths write;   /* writable, once that is acknowledged */
    bool write_ack;               /* whether it is acknowledged */
    struct starter_paths exec;    /* executable */
    struct starter_paths made;    /* directories whose programs may run; as `write` */
    struct starter_paths refused; /* used, but can't be allowed; notes give the reason */
    struct str peers;             /* network peers; no value: the network was not used */
    struct str search_path;       /* PATH; no value: STARTER_PATH */
    bool unix_sockets;            /* Unix sockets were used */
    bool tmp;                     /* it wrote below /tmp */
    bool shell;                   /* the program is a shell or a shell script */
    bool developer;               /* it needs the developer's machine (policy/developer.h) */
};

/* Every path that is not commented out must be absolute and UTF-8. */
void starter_write(struct buf *b, const struct starter *starter);

#endif
