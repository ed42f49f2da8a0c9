/* Caret encoding, version 1: any path as one file name, and back, byte for byte.
 *
 *     caret_encode(STR("/home/user"), &out);              "^2Fhome^2Fuser"
 *     caret_decode(STR("^2Fhome"), CARET_PATH, &out, err);  "/home"
 *
 * 0-9 A-Z a-z - _ ` { } stand for themselves. Every other character is ^ and its code point in
 * upper-case hex, two digits; with a letter in between, more: ^gXXX ^hXXXX ^iXXXXX ^jXXXXXX, the
 * shortest that fits. A byte that is no part of valid UTF-8 is ^xXX. Valid text never produces
 * ^x, so no two inputs share an encoding. Decoding takes either case, over-long forms and literal
 * characters.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PATH_CARET_H
#define PATH_CARET_H

#include "base/buf.h"
#include "base/err.h"

enum {
    CARET_GROWTH = 4,     /* an encoding is at most this many times as long as its input */
    CARET_NAME_MAX = 255, /* longest name of a directory entry */
};

enum caret_use {
    CARET_BYTES, /* any result */
    CARET_PATH,  /* refuses NUL, which no path can hold */
};

void caret_encode(struct str bytes, struct buf *out);

/* A bad encoding is E_CLI_INVALID_ARG, with the position in context.position; what was decoded
 * before it stays in out, whose maximum must allow for as many bytes as the encoding has, and four
 * more. */
MUST_USE bool caret_decode(
    struct str encoded, enum caret_use use, struct buf *out, struct err *err);

/* The encoding as the name of a directory entry. One that would pass 255 bytes keeps a start and
 * ends in ^z and 16 hex digits, a hash of the whole: unique, but not to be decoded, so the caller
 * keeps the path elsewhere too. */
void caret_name(struct str path, char name[CARET_NAME_MAX + 1]);

#endif
