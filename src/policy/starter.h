/* A policy to start from: YAML with comments, which grants one directory to read and one program.
 *
 *     starter_write(&b, &(struct starter){.root = cwd, .program = STR("/usr/bin/make")});
 */
#ifndef POLICY_STARTER_H
#define POLICY_STARTER_H

#include "base/buf.h"

struct starter {
    struct str root;    /* may be read, and is where the program starts; no value: nothing */
    struct str program; /* may run; no value: nothing */
    bool shell;         /* the program is a shell */
};

/* Both paths must be absolute and UTF-8. */
void starter_write(struct buf *b, const struct starter *starter);

#endif
