/* File names in git's index, and as git writes them in text lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_GITNAME_H
#define REPO_GITNAME_H

#include "base/buf.h"

/* Appends a name after a prefix such as "a/", which goes inside the quotes if any are necessary. */
void gitname_add(struct buf *text, const char *prefix, struct str name);

/* Returns true if git would add this name to an index: a relative path without `.`, `..` and empty
 * components, and without anything that a file system may take for `.git`. git does not check the
 * names of an index that it reads, and `git checkout` writes to them. The name of a directory, in a
 * sparse index, may end in a slash. */
bool gitname_is_plain(struct str name, bool directory);

#endif
