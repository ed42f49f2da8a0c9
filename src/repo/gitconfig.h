/* Reads and writes git's configuration files without git.
 *
 *     AUTO_ARENA struct arena a = ARENA_INIT(8 << 20);
 *     struct gitconfig config;
 *     if (!gitconfig_parse(text, &a, &config)) ...
 *     for (size_t i = 0; i < config.n; i++) ... config.p[i].name ...
 *
 * Parses exactly as git does, including odd cases: a file that git obeys but that is parsed
 * differently here would bypass every check. Includes are ordinary entries.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_GITCONFIG_H
#define REPO_GITCONFIG_H

#include "base/arena.h"
#include "base/buf.h"

struct gitconfig_entry {
    struct str section;    /* lower case */
    struct str subsection; /* exact bytes, unescaped; p NULL: none */
    struct str name;       /* lower case */
    struct str value;      /* unescaped; no value ("[a] b" alone): p NULL */
};

struct gitconfig {
    struct gitconfig_entry *p;
    size_t n;
};

enum {
    GITCONFIG_BYTES_MAX = 1 << 20,
    GITCONFIG_ENTRIES_MAX = 10000,
};

/* Returns false if git would refuse the text, or a limit is exceeded. Entries are in the arena, in
 * the order of the file; an arena with 8 MiB left is large enough for any text.
 *
 * Refuses two things that git accepts: a NUL byte anywhere, since git truncates names and values
 * there, and an entry without a section, which git cannot be queried for. Blanks inside a value
 * outside quotes become spaces, as in git before 2.45; later versions keep tabs. */
MUST_USE bool gitconfig_parse(struct str text, struct arena *a, struct gitconfig *ret_config);

/* Appends entries as a file that git reads back as the same settings. An entry that no file can
 * express (other characters in a name, a line break in a subsection, a NUL) is not written, and the
 * buffer's overflow flag is set. */
void gitconfig_write(const struct gitconfig_entry *entries, size_t n, struct buf *out);

#endif
