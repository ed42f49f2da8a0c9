/* Parses terminal input into keys, text, pastes and mouse events. The terminal must not have
 * special modes enabled other than application cursor keys, bracketed paste and SGR mouse reports.
 *
 *     struct typed_keys *keys = typed_keys_new();
 *     while ((n = typed_next(keys, rest, false, &typed)) > 0) ...    0: incomplete
 *     typed_keys_free(keys);
 *
 * The key sequences are generated with key_encode(), so that the two always agree.
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
    TYPED_PASTE, /* without the brackets */
    TYPED_MOUSE,
    TYPED_UNKNOWN, /* a sequence that no key sends */
};

struct typed {
    enum typed_kind kind;
    struct str bytes; /* text, paste and unknown: slice of the input */
    const char *key;  /* for key_parse(), e.g. "Ctrl+x" */
    struct mouse mouse;
};

struct typed_keys;

MUST_USE struct typed_keys *typed_keys_new(void);
void typed_keys_free(struct typed_keys *k);

/* Parses the first item in the input and returns its length. Returns 0 if it is incomplete, unless
 * `all` is set: no more input follows. */
size_t typed_next(const struct typed_keys *k, struct str bytes, bool all, struct typed *ret_typed);

#endif
