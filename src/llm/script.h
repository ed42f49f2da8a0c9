/* Scripts: what a model would say, written down. Plays offline as the provider "scripted", over
 * HTTP by `cordon serve-script`, and is written from a real run by `cordon agent --record`.
 *
 * {"version":1, "model"?:"...", "turns":[
 *    {"when"?:"a regular expression for the last user text", "last"?:"user"|"tool_result",
 * "repeat"?:true, "content"?:[{"text":"..."}, {"thinking":"...","signature"?},
 * {"redacted_thinking":"data"},
 *                {"tool_call":{"name","arguments"?,"id"?}}, {"delay_ms":N}, {"raw":"..."}],
 *     "stop_reason"?:"end_turn", "usage"?:{"input_tokens","output_tokens",...}, "delta_bytes"?:N,
 *     "error"?:{"message","status"?,"type"?,"retry_after"?:"1","headers"?:{}}, "after"?:N,
 *     "fault"?:"drop", "chunk_bytes"?:N, "line_end"?:"lf"|"crlf"|"cr", "comments"?:true}]}
 *
 * The first turn that was not used and that fits is played; one that repeats is never used up. A
 * tool call's arguments are any JSON; a string is what is sent as it is, so that it may be none.
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

/* What goes wrong with the stream itself, after turn.after deltas. All but the first two are what
 * only a server can do; the offline provider breaks off there. */
enum script_fault {
    FAULT_NONE,
    FAULT_DROP,         /* the connection is reset */
    FAULT_END,          /* ends as it should, without the last events */
    FAULT_CLOSE,        /* the connection is closed in the middle of the encoding */
    FAULT_NO_STOP,      /* all but the very last event */
    FAULT_STALL,        /* nothing more comes, and nothing ends */
    FAULT_GARBAGE,      /* bytes that are no events */
    FAULT_HALF_UTF8,    /* half a character within a text */
    FAULT_ENDLESS,      /* 1 GB without a line end */
    FAULT_REDIRECT,     /* 307 to another host */
    FAULT_GZIP,         /* compressed, though nobody asked */
    FAULT_HTML,         /* a page instead of events */
    FAULT_NO_IDS,       /* tool calls without ids */
    FAULT_SAME_IDS,     /* all tool calls with one id */
    FAULT_REPEAT_USAGE, /* usage again and again, as it grows */
    FAULT_SECOND_START, /* a second beginning in the middle */
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
    struct str name, id; /* an id without a value: one is made */
    json_t *arguments;
};

/* One entry of the content: exactly one of these is there. */
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
    struct str stop_reason; /* no value: by the content */
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

/* From a file or a pipe, as JSON or YAML. E_IO; E_PROTOCOL with file, line and column; E_CANCELED
 * as soon as cancel_fd is readable (-1: nobody does that). */
MUST_USE bool script_load(
    const char *path, int cancel_fd, struct script **ret_script, struct err *err);
MUST_USE bool script_from_text(
    struct str text, const char *name, struct script **ret_script, struct err *err);
/* What answers if there is no key: says that it is a script, and shows a tool call. */
MUST_USE struct script *script_embedded(void);
void script_free(struct script *s); /* accepts NULL */

struct str script_model(const struct script *s); /* no value: it names none */

/* The turn that answers, and marks it as used. None left: one whose text says so. */
const struct script_turn *script_next(
    struct script *s, struct str user_text, enum script_last last);
/* The same for messages as in llm/message.h. */
const struct script_turn *script_next_for(struct script *s, const json_t *messages);

/* The next delta of a text; false: none is left. */
bool script_delta(const struct script_turn *turn, struct str *rest, struct str *ret_delta);
/* What a call's arguments are on the wire. */
void script_arguments(const struct script_call *call, struct buf *text);
enum stop_reason script_stop(const struct script_turn *turn);
/* A new id for a call that has none. */
void script_call_id(struct script *s, const struct script_call *call, struct buf *id);

extern const struct shape script_shape;

#endif
