/* Suggestions for a misspelled word: the closest known name and the list of all names.
 *
 *     AUTO_CHOICE struct choice c = CHOICE_INIT(word);
 *     choice_add(&c, "glob");
 *     choice_hint(&c, "", &message);          "; did you mean 'glob'?", or nothing
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CHOICE_H
#define BASE_CHOICE_H

#include "base/buf.h"

enum {
    CHOICE_LISTED = 20, /* names in a list; the rest is "..." */
    CHOICE_LIST_MAX = 4096,
};

struct choice {
    struct str written;
    const char *nearest;
    size_t distance;
    size_t n;
    struct buf list;
};

#define CHOICE_INIT(word) \
    ((struct choice){.written = (word), .distance = SIZE_MAX, .list = BUF_INIT(CHOICE_LIST_MAX)})
#define AUTO_CHOICE AUTO(choice_done)

void choice_done(struct choice *c);

/* Adds one candidate name; the string must outlive c. */
void choice_add(struct choice *c, const char *name);
void choice_add_all(struct choice *c, const char *const *names); /* NULL-terminated */

/* Appends "; did you mean 'PREFIXname'?" if some name is close enough. */
void choice_hint(const struct choice *c, const char *prefix, struct buf *b);

/* "'a', 'b', 'c'" */
const char *choice_list(const struct choice *c);

/* Appends "a, b, c", with another separator before the last name: ", " or " or ". */
void choice_join(const char *const *names, const char *last, struct buf *b);

#endif
