/* Caret encoding, version 1: reversibly encodes any path as one file name, byte for byte.
 *
 *     caret_encode(STR("/home/user"), &out);              "^2Fhome^2Fuser"
 *     caret_decode(STR("^2Fhome"), CARET_PATH, &out, err);  "/home"
 *
 * 0-9 A-Z a-z - _ ` { } are literal. Every other character is ^ and its code point in upper-case
 * hex, two digits; longer ones have a letter in between: ^gXXX ^hXXXX ^iXXXXX ^jXXXXXX, the
 * shortest that fits. A byte that is not valid UTF-8 is ^xXX. Valid text never produces ^x, so no
 * two inputs share an encoding. Decoding accepts either case, overlong forms and literal
 * characters.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_CARET_H
#define PATH_CARET_H

#include "base/buf.h"
#include "base/err.h"

enum {
    CARET_GROWTH = 4,     /* maximum growth factor of an encoding */
    CARET_NAME_MAX = 255, /* longest name of a directory entry */
};

enum caret_use {
    CARET_BYTES, /* any result */
    CARET_PATH,  /* rejects NUL, which a path can't contain */
};

void caret_encode(struct str bytes, struct buf *out);

/* A bad encoding is E_CLI_INVALID_ARG, with its offset in context.position; bytes decoded before it
 * stay in out. The maximum of out must be at least the length of the encoding plus four bytes. */
MUST_USE bool caret_decode(
    struct str encoded, enum caret_use use, struct buf *out, struct err *err);

/* The encoding as the name of a directory entry. If it is longer than 255 bytes, its start is
 * followed by ^z and 16 hex digits, a hash of the whole: unique, but it can't be decoded, so the
 * caller must also store the path elsewhere. */
void caret_name(struct str path, char name[CARET_NAME_MAX + 1]);

#endif
