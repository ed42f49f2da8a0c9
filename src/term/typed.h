/* What somebody typed: the bytes of a terminal, back to keys, text, pastes and mouse events. The
 * terminal is one without special modes but for bracketed pastes and SGR mouse reports.
 *
 *     struct typed_keys *keys = typed_keys_new();
 *     while ((n = typed_next(keys, rest, false, &typed)) > 0) ...    0: more must come
 *     typed_keys_free(keys);
 *
 * What each key sends is asked of key_encode(), so that the two can't differ.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_TYPED_H
#define TERM_TYPED_H

#include "term/keys.h"

enum {
    TYPED_PASTE_MAX = 1 << 20,
};

enum typed_kind {
    TYPED_TEXT,  /* characters */
    TYPED_KEY,   /* by name */
    TYPED_PASTE, /* what is between the brackets */
    TYPED_MOUSE,
    TYPED_UNKNOWN, /* a sequence that no key sends */
};

struct typed {
    enum typed_kind kind;
    struct str bytes; /* of text, paste and unknown: part of the input */
    const char *key;  /* for key_parse(): "Ctrl+x" */
    struct mouse mouse;
};

struct typed_keys;

MUST_USE struct typed_keys *typed_keys_new(void);
void typed_keys_free(struct typed_keys *k);

/* The first thing in the bytes, and how many of them it is. 0: it may go on, unless `all` says
 * that no more come. */
size_t typed_next(const struct typed_keys *k, struct str bytes, bool all, struct typed *ret_typed);

#endif
