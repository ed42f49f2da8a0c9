/* New output of a session as a tool result.
 *
 *     bool ok = poll_session(box, s, &args->poll, result, err);
 *
 * Waits until the command exits or the timeout expires. The text is cleaned and truncated; an
 * incomplete character or escape sequence is left for the next call. If a program draws on the
 * screen (term_drawn(), or it uses the alternate screen), details.screen has the screen; on the
 * alternate screen that is also the content, because the output is not text.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_POLL_H
#define TOOL_POLL_H

#include "tool/sessions.h"
#include "tool/tool.h"

enum {
    POLL_TOKEN = 4, /* bytes per token */
    POLL_BYTES_MIN = 1024,
    POLL_BYTES_MAX = 32 * 1024,
    POLL_WAIT_MAX_MS = 60 * 60 * 1000,
};

struct poll_args {
    uint32_t yield_time_ms, max_output_tokens;
    bool raw;
};

/* Field table rows for tools whose arguments have a member `poll`. */
#define POLL_FIELDS(type)                                                           \
    FIELD_U32("yield_time_ms", type, poll.yield_time_ms,                            \
        "time to wait for output; returns early if the command ends", .def = "250", \
        FIELD_RANGE(0, POLL_WAIT_MAX_MS)),                                          \
        FIELD_U32("max_output_tokens", type, poll.max_output_tokens,                \
            "maximum output, in tokens of 4 bytes; 1 to 32 KiB", .def = "8000"),    \
        FIELD_BOOL("raw", type, poll.raw,                                           \
            "unprocessed output, with escape sequences and overwritten lines", .def = "false")

/* Returns false if the command failed or was interrupted; the result has its output anyway. */
MUST_USE bool poll_session(struct toolbox *box, struct tool_session *s,
    const struct poll_args *args, struct tool_result *result, struct err *err);

/* Reports that the command was ended with the call and no session remains. */
void poll_tell_ended(struct tool_result *result);

#endif
