/* Additions to a policy, from what the sandbox denied to a command.
 *
 *     additions_add(&text, json_object_get(run, "denied"));
 *
 * The text is YAML with comments: the keys of a policy with only the new entries. The list may come
 * from a record, which is not trusted: every text in it is escaped, and the user reads the result
 * before it becomes part of a policy.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEARN_ADDITIONS_H
#define LEARN_ADDITIONS_H

#include "base/buf.h"
#include "base/json.h"

enum {
    ADDITIONS_MAX = 4 << 20, /* bytes of text */
};

void additions_add(struct buf *b, const json_t *denied);

#endif
