/* Scripts: prepared answers of a model. Played offline by the provider "scripted" and over HTTP by
 * `cordon serve-script`; recorded from a real run by `cordon agent --record`.
 *
 * {"version":1, "model"?:"...", "turns":[
 *    {"when"?:"a regular expression for the last user text", "last"?:"user"|"tool_result",
 *     "repeat"?:true,
 *     "content"?:[{"text":"..."}, {"thinking":"...","signature"?}, {"redacted_thinking":"data"},
 *                {"tool_call":{"name","arguments"?,"id"?}}, {"delay_ms":N}, {"raw":"..."}],
 *     "stop_reason"?:"end_turn", "usage"?:{"input_tokens","output_tokens",...}, "delta_bytes"?:N,
 *     "error"?:{"message","status"?,"type"?,"retry_after"?:"1","headers"?:{}}, "after"?:N,
 *     "fault"?:"drop", "chunk_bytes"?:N, "line_end"?:"lf"|"crlf"|"cr", "comments"?:true}]}
 *
 * The first unused turn that matches is played; one with "repeat" is never used up. A tool call's
 * arguments are any JSON; a string is sent verbatim, so that it can be invalid JSON.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_SCRIPT_H
#define LLM_SCRIPT_H

#include "base/arena.h"
#include "base/field.h"
#include "base/regex.h"
#include "llm/message.h"

enum {
    SCRIPT_VERSION = 1,
    SCRIPT_TEXT_MAX = 16 << 20,
    SCRIPT_TURNS_MAX = 10 * 1000,
    SCRIPT_DELAY_MAX = 600 * 1000,
};

/* Faults of the stream itself, after turn.after deltas. All but the first two need a server;
 * offline, any fault breaks off the answer. */
enum script_fault {
    FAULT_NONE,
    FAULT_DROP,         /* the connection is reset */
    FAULT_END,          /* ends cleanly, without the last events */
    FAULT_CLOSE,        /* the connection is closed in the middle of the chunked encoding */
    FAULT_NO_STOP,      /* everything but the very last event */
    FAULT_STALL,        /* nothing more is sent, and the connection stays open */
    FAULT_GARBAGE,      /* bytes that are not events */
    FAULT_HALF_UTF8,    /* an incomplete character in a text */
    FAULT_ENDLESS,      /* 1 GiB without a line break */
    FAULT_REDIRECT,     /* 307 to another host */
    FAULT_GZIP,         /* compressed although not requested */
    FAULT_HTML,         /* a web page instead of events */
    FAULT_NO_IDS,       /* tool calls without ids */
    FAULT_SAME_IDS,     /* all tool calls with the same id */
    FAULT_REPEAT_USAGE, /* repeated usage events with growing counts */
    FAULT_SECOND_START, /* a second start event in the middle */
    SCRIPT_FAULTS,
};

enum script_last {
    SCRIPT_LAST_ANY,
    SCRIPT_LAST_USER,
    SCRIPT_LAST_TOOL_RESULT,
    SCRIPT_LASTS,
};

enum script_line_end {
    SCRIPT_LF,
    SCRIPT_CRLF,
    SCRIPT_CR,
    SCRIPT_LINE_ENDS,
};

struct script_call {
    struct str name, id; /* no value for id: one is generated */
    json_t *arguments;
};

/* One entry of the content: exactly one of these is set. */
struct script_part {
    struct str text, thinking, redacted, raw;
    struct str signature; /* of thinking */
    struct script_call *call;
    uint64_t delay_ms;
    bool has_delay;
};

struct script_error {
    uint32_t status; /* 0: an error event in the stream */
    struct str type, message, retry_after;
    struct str_map headers;
};

struct script_turn {
    struct str when;
    enum script_last last;
    bool repeat;
    struct script_part *parts;
    size_t n_parts;
    struct str stop_reason; /* no value: derived from the content */
    struct usage usage;
    uint64_t delta_bytes; /* 0: word by word */
    struct script_error *error;
    uint64_t after;
    bool has_after;
    enum script_fault fault;
    uint64_t chunk_bytes; /* 0: event by event */
    enum script_line_end line_end;
    bool comments;
};

struct script; /* opaque */

/* Loads a file or a pipe, as JSON or YAML. E_IO; E_PROTOCOL with file, line and column; E_CANCELED
 * as soon as cancel_fd is readable (-1: none). */
MUST_USE bool script_load(
    const char *path, int cancel_fd, struct script **ret_script, struct err *err);
MUST_USE bool script_from_text(
    struct str text, const char *name, struct script **ret_script, struct err *err);
/* The fallback without a key: explains that it is a script, and shows a tool call. */
MUST_USE struct script *script_embedded(void);
void script_free(struct script *s); /* accepts NULL */

struct str script_model(const struct script *s); /* no value: not given */

/* Returns the turn that answers, and marks it as used. If none is left, a turn with a text that
 * explains so. */
const struct script_turn *script_next(
    struct script *s, struct str user_text, enum script_last last);
/* The same for messages as in llm/message.h. */
const struct script_turn *script_next_for(struct script *s, const json_t *messages);

/* The next delta of a text; false at its end. */
bool script_delta(const struct script_turn *turn, struct str *rest, struct str *ret_delta);
/* Appends a call's arguments as they are sent. */
void script_arguments(const struct script_call *call, struct buf *text);
enum stop_reason script_stop(const struct script_turn *turn);
/* Appends the id of a call, or a new one if it has none. */
void script_call_id(struct script *s, const struct script_call *call, struct buf *id);

extern const struct shape script_shape;

#endif
