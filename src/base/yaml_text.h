/* Checks the characters of YAML text, and writes quoted scalars that pass the check.
 *
 *     if (!yaml_check_text(text, E_CONFIG, err)) return false;      3:14: the line break U+2028 ...
 *     yaml_add_text(&b, path);                                      "caf\u00E9\U000E0001"
 *
 * A program that splits text at LF (grep, git diff, an editor) must see the same lines as the
 * parser, and a reviewer must see every significant character. So only LF and CR LF end a line, and
 * outside quotes invisible characters, blanks other than space and tab, and direction controls are
 * rejected. Inside quotes they are data; a direction control must end before the closing quote.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_YAML_TEXT_H
#define BASE_YAML_TEXT_H

#include "base/buf.h"
#include "base/err.h"

/* Accepts valid UTF-8 without such characters; the parser itself rejects control characters. */
MUST_USE bool yaml_check_text(struct str text, enum err_code code, struct err *err);

/* Appends a double-quoted scalar on one line, which is also safe in a comment. */
void yaml_add_text(struct buf *b, struct str bytes);

#endif
