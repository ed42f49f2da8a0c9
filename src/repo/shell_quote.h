/* Private to src/repo: quotes and substitutions in shell commands.
 *
 *     if (shell_quote_escapes(quote, text, i)) ...the backslash at i is removed...
 *     size_t end = shell_quote_substitution(text, start, &limits);    the `)` of $(…)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPO_SHELL_QUOTE_H
#define REPO_SHELL_QUOTE_H

#include "repo/shell_heredoc.h"

#include "base/buf.h"

/* Returns true if a byte ends a word outside of quotes. */
bool shell_quote_ends_word(char c);

/* Returns true if the byte at an offset is a backslash that the shell removes: outside of quotes
 * any, in double quotes before some characters. A line break after it is removed as well. */
bool shell_quote_escapes(char quote, struct str text, size_t at);

/* Return the offset of the `)`, backquote or `}` that ends a substitution, or the length of the
 * text. The offset given is behind its start. In double quotes, single quotes are characters of the
 * word in ${x:-word}. */
size_t shell_quote_substitution(struct str text, size_t at, struct shell_limits *limits);
size_t shell_quote_backquotes(struct str text, size_t at);
size_t shell_quote_braces(struct str text, size_t at, bool in_quotes, struct shell_limits *limits);

/* Returns the offset behind a word, with the depth of substitutions around it. */
size_t shell_quote_word(struct str text, size_t at, unsigned depth, struct shell_limits *limits);

/* Adds the text of $'…'; returns the offset behind it. The offset given is behind the first quote.
 */
size_t shell_quote_add_escaped(struct str text, size_t at, struct buf *word);

/* Adds the text without one level of quotes, as eval and sh -c get it; substitutions are left to
 * the shell that reads the result. */
void shell_quote_remove(struct str text, struct buf *code);

/* Adds the commands between backquotes without one level of backslashes. */
void shell_quote_remove_backslashes(struct str text, struct buf *code);

#endif
