/* What a session has to say since it was last asked, as a tool's result.
 *
 *     bool ok = poll_session(box, s, &args->poll, result, err);
 *
 * It waits until the command ends or the time is over. The text is cleaned and cut; a character or
 * an escape sequence that is not whole yet waits for the next time. A program that draws a screen
 * (term_drawn(), or it is on the alternate screen) has it in details.screen; on the alternate
 * screen that is the content, too, because what it printed is no text.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_POLL_H
#define TOOL_POLL_H

#include "tool/sessions.h"
#include "tool/tool.h"

enum {
    POLL_TOKEN = 4, /* bytes */
    POLL_BYTES_MIN = 1024,
    POLL_BYTES_MAX = 32 * 1024,
    POLL_WAIT_MAX_MS = 60 * 60 * 1000,
};

struct poll_args {
    uint32_t yield_time_ms, max_output_tokens;
    bool raw;
};

/* Rows for the tables of tools whose arguments have a member `poll`. */
#define POLL_FIELDS(type)                                                                        \
    FIELD_U32("yield_time_ms", type, poll.yield_time_ms,                                         \
        "how long to wait for more output; it ends at once when the command does", .def = "250", \
        FIELD_RANGE(0, POLL_WAIT_MAX_MS)),                                                       \
        FIELD_U32("max_output_tokens", type, poll.max_output_tokens,                             \
            "the most output to give, of 4 bytes each; between 1 and 32 KiB", .def = "8000"),    \
        FIELD_BOOL("raw", type, poll.raw,                                                        \
            "true: output as it came, with escape sequences and overwritten lines",              \
            .def = "false")

/* The session may be gone afterwards. False: the command failed, or was interrupted; the output is
 * there all the same. */
MUST_USE bool poll_session(struct toolbox *box, struct tool_session *s,
    const struct poll_args *args, struct tool_result *result, struct err *err);

/* It ran on, and was ended with the call: there is no session to come back to. */
void poll_tell_ended(struct tool_result *result);

#endif
