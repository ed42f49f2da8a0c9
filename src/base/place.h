/* Where something is: in a text by line and column, in a tree by its keys and indexes.
 *
 *     place_add_key(&b, STR("steps")), place_add_index(&b, 2), place_add_key(&b, STR("id"));
 *     ... steps[2].id
 *     place_blame(err, place_point(text, offset)), place_blame_file(err, "policy.json");
 *     ... policy.json:3:14: what went wrong
 *
 * A key that is more than letters, digits, '_' and '-' is written as in ["a.b"].
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include "base/buf.h"
#include "base/err.h"

/* Counted from 1, columns in characters. */
struct point {
    unsigned line;
    unsigned column;
};

struct point place_point(struct str text, size_t offset);

/* Say in an error's message and context where it is. First the point, if there is one, then the
 * file. Both return false. */
bool place_blame(struct err *err, struct point at);
bool place_blame_file(struct err *err, const char *name);

/* A longer place. A key of more than PLACE_KEY_MAX bytes is cut. */
enum {
    PLACE_KEY_MAX = 64,
};
void place_add_key(struct buf *b, struct str key);
void place_add_index(struct buf *b, size_t index);

struct place_step {
    bool by_key;
    size_t index;
    struct buf key;
};

#define PLACE_STEP_INIT ((struct place_step){.key = BUF_INIT(64 * 1024)})

void place_step_done(struct place_step *step);

/* The next step of a place; false at its end, or where it is not a place. */
bool place_next(struct str *rest, struct place_step *step);

#endif
