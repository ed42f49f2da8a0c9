/* Positions: in a text by line and column, in a tree by keys and indexes.
 *
 *     place_add_key(&b, STR("steps")), place_add_index(&b, 2), place_add_key(&b, STR("id"));
 *     ... steps[2].id
 *     place_blame(err, place_point(text, offset)), place_blame_file(err, "policy.json");
 *     ... policy.json:3:14: what went wrong
 *
 * A key with characters other than letters, digits, '_' and '-' is written as ["a.b"].
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include "base/buf.h"
#include "base/err.h"

/* Both counted from 1; columns count characters. */
struct point {
    unsigned line;
    unsigned column;
};

struct point place_point(struct str text, size_t offset);

/* Add the position to an error's message and context: first the point, if there is one, then the
 * file. Both return false. */
bool place_blame(struct err *err, struct point at);
bool place_blame_file(struct err *err, const char *name);

/* Append a key or an index to a place. Keys longer than PLACE_KEY_MAX bytes are truncated. */
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

/* Parses the next step of a place; returns false at its end or on a syntax error. */
bool place_next(struct str *rest, struct place_step *step);

#endif
