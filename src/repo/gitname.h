/* File names as git writes them in text lines: quoted where necessary. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_GITNAME_H
#define REPO_GITNAME_H

#include "base/buf.h"

/* Appends a name after a prefix such as "a/", which goes inside the quotes. */
void gitname_add(struct buf *text, const char *prefix, struct str name);

#endif
