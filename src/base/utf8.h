/* Strict UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF.
 *
 *     uint32_t cp;
 *     size_t n = utf8_decode(rest, &cp);      0: not valid here
 *     n = utf8_write(0x65E5, bytes);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/buf.h"

enum {
    UTF8_MAX = 4, /* bytes of the longest character */
    UTF8_LAST = 0x10FFFF,
    UTF8_REPLACEMENT = 0xFFFD,
};

/* Length of the character at the start of s, or 0 if the bytes there are not valid. */
size_t utf8_decode(struct str s, uint32_t *ret_codepoint);

/* Length of the longest prefix of s that begins some valid character; at least 1. One U+FFFD
 * replaces it ("maximal subpart"). */
size_t utf8_invalid_length(struct str s);

/* Encodes a valid code point; returns its length. */
size_t utf8_write(uint32_t codepoint, char bytes[UTF8_MAX]);

/* Length of s cut to at most `most` bytes without splitting a character. */
size_t utf8_cut(struct str s, size_t most);

/* Skips a byte order mark at the start. */
struct str utf8_skip_mark(struct str s);

/* "UTF-16" or "UTF-32" if a text starts with the byte order mark of one, otherwise NULL. */
const char *utf8_other_encoding(struct str s);

bool utf8_is_scalar(uint32_t codepoint);
bool utf8_valid(struct str s);

/* Appends s with every invalid part replaced by U+FFFD; returns the number of replacements. */
size_t utf8_add_lossy(struct buf *b, struct str s);

/* Appends s with everything escaped that a terminal would interpret: control characters, invalid
 * bytes, bidirectional overrides and line separators become \n, \t, \xNN or \u{NNNN}. Backslashes
 * are not escaped. */
void utf8_add_printable(struct buf *b, struct str s);

/* Whether a character simply displays: not a control character, and does not change how the text
 * around it is displayed. */
bool utf8_shown_as_is(uint32_t codepoint);

/* True if utf8_add_printable() would add s unchanged. */
bool utf8_printable(struct str s);

#endif
