/* Names of files as git writes them in lines of text: in quotes where they have to be. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_GITNAME_H
#define REPO_GITNAME_H

#include "base/buf.h"

/* Appends a name after a prefix such as "a/", which is inside the quotes. */
void gitname_add(struct buf *text, const char *prefix, struct str name);

#endif
