/* The characters of YAML text: those that are refused because a reader would not see them, and
 * quoted scalars that are written without them.
 *
 *     if (!yaml_check_text(text, E_CONFIG, err)) return false;      3:14: the line break U+2028 ...
 *     yaml_add_text(&b, path);                                      "caf\u00E9\U000E0001"
 *
 * A program that splits text at LF (grep, git diff, an editor) must see the lines that the parser
 * sees, and a reviewer must see every character that counts. So LF and CR LF alone end a line, and
 * outside quotes there are no characters without a shape, no blanks but space and tab, nothing that
 * turns the direction of text. In quotes they are data, as long as they act on the quoted text
 * only.
 */
#ifndef BASE_YAML_TEXT_H
#define BASE_YAML_TEXT_H

#include "base/buf.h"
#include "base/err.h"

/* Valid UTF-8 without such characters; the parser itself refuses control characters. */
MUST_USE bool yaml_check_text(struct str text, enum err_code code, struct err *err);

/* Appends a double-quoted scalar on one line, which may also stand in a comment. */
void yaml_add_text(struct buf *b, struct str bytes);

#endif
