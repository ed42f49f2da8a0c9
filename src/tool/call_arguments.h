/* Arguments of a tool call from words, as a person types them.
 *
 *     AUTO_JSON json_t *arguments = json_object();
 *     if (!call_arguments_add(tool_find(name), "limit=20", arguments, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_CALL_ARGUMENTS_H
#define TOOL_CALL_ARGUMENTS_H

#include "tool/tool.h"

/* Adds NAME=VALUE, with the type that the tool's argument has. `tool` may be NULL: then it is a
 * string. */
MUST_USE bool call_arguments_add(
    const struct tool *tool, const char *pair, json_t *object, struct err *err);

/* Adds JSON as text: the text itself, @FILE, or - for standard input. Text that is too long is read
 * far enough for the call to refuse it, with an ordinary result. */
MUST_USE bool call_arguments_read(const char *source, struct buf *text, struct err *err);

#endif
