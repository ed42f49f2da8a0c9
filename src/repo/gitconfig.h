/* Git's configuration files, read and written without git.
 *
 *     AUTO_ARENA struct arena a = ARENA_INIT(8 << 20);
 *     struct gitconfig config;
 *     if (!gitconfig_parse(text, &a, &config)) ...
 *     for (size_t i = 0; i < config.n; i++) ... config.p[i].name ...
 *
 * The reading is git's own, odd cases included: a file that git obeys and that is read differently
 * here would be a way past every check. Includes are entries like any other.
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

/* False: git would refuse the text, or it is over a limit. Entries are in the arena, in the order
 * of the file; an arena with 8 MiB left is large enough for any text.
 *
 * Two things are refused that git reads: a NUL byte anywhere, since git cuts names and values
 * there, and an entry without a section, which git can't be asked for. Blanks inside a value
 * outside quotes become spaces, as in git before 2.45; later ones keep tabs. */
MUST_USE bool gitconfig_parse(struct str text, struct arena *a, struct gitconfig *ret_config);

/* Appends entries as a file that git reads back as the same settings. An entry that no file can
 * have (a name of other letters, a line break in a subsection, a NUL) is not written, and the
 * buffer says that it overflowed. */
void gitconfig_write(const struct gitconfig_entry *entries, size_t n, struct buf *out);

#endif
