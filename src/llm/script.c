/* Scripts: parsing, and choosing the turn that answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/script.h"

#include "base/doc.h"
#include "io/file.h"
#include "llm/script_text.h"
#include "llm/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    ARENA_MAX = 256 << 20,
};

struct script_document {
    uint32_t version;
    struct str model;
    struct script_turn *turns;
    size_t n_turns;
};

/* State of a turn while the script is played. */
struct turn_state {
    struct regex *when; /* NULL: any text */
    bool used;
};

struct script {
    struct arena arena;
    json_t *tree;
    struct script_document document;
    struct turn_state *states;
    uint64_t calls; /* number of generated ids */
};

static const char *const fault_names[SCRIPT_FAULTS] = {
    [FAULT_NONE] = "none",
    [FAULT_DROP] = "drop",
    [FAULT_END] = "end",
    [FAULT_CLOSE] = "close",
    [FAULT_NO_STOP] = "no_stop",
    [FAULT_STALL] = "stall",
    [FAULT_GARBAGE] = "garbage",
    [FAULT_HALF_UTF8] = "half_utf8",
    [FAULT_ENDLESS] = "endless",
    [FAULT_REDIRECT] = "redirect",
    [FAULT_GZIP] = "gzip",
    [FAULT_HTML] = "html",
    [FAULT_NO_IDS] = "no_ids",
    [FAULT_SAME_IDS] = "same_ids",
    [FAULT_REPEAT_USAGE] = "repeat_usage",
    [FAULT_SECOND_START] = "second_start",
};

static const char *const last_names[SCRIPT_LASTS] = {
    [SCRIPT_LAST_ANY] = "any",
    [SCRIPT_LAST_USER] = "user",
    [SCRIPT_LAST_TOOL_RESULT] = "tool_result",
};

static const char *const line_end_names[SCRIPT_LINE_ENDS] = {
    [SCRIPT_LF] = "lf",
    [SCRIPT_CRLF] = "crlf",
    [SCRIPT_CR] = "cr",
};

static const struct field call_fields[] = {
    FIELD_STR(
        "name", struct script_call, name, "the tool", .flags = FIELD_REQUIRED, FIELD_RANGE(1, 256)),
    FIELD_JSON("arguments", struct script_call, arguments,
        "any JSON value; default: {}; a string is sent unchanged, so that it may be "
        "invalid JSON"),
    FIELD_STR(
        "id", struct script_call, id, "id of the call; default: generated", FIELD_RANGE(1, 256)),
};
static const struct shape call_shape =
    SHAPE("tool_call", struct script_call, call_fields, "a tool call");

static const struct field part_fields[] = {
    FIELD_STR("text", struct script_part, text, "text of the answer"),
    FIELD_STR("thinking", struct script_part, thinking, "text of the thinking"),
    FIELD_STR("signature", struct script_part, signature, "signature of the thinking"),
    FIELD_STR("redacted_thinking", struct script_part, redacted,
        "redacted thinking, which is not readable"),
    FIELD_MAYBE("tool_call", struct script_part, call, &call_shape, "a tool call"),
    FIELD_U64("delay_ms", struct script_part, delay_ms, "pause before the next part",
        FIELD_HAS(struct script_part, has_delay), FIELD_RANGE(0, SCRIPT_DELAY_MAX)),
    FIELD_STR("raw", struct script_part, raw,
        "written to the stream unchanged (only with serve-script; ignored offline)"),
};
static const struct shape part_shape =
    SHAPE("part", struct script_part, part_fields, "a part of an answer: one of these keys");

static const struct field usage_fields[] = {
    FIELD_U64("input_tokens", struct usage, input_tokens, "read"),
    FIELD_U64("output_tokens", struct usage, output_tokens, "written"),
    FIELD_U64("cache_read_tokens", struct usage, cache_read_tokens, "read from the cache"),
    FIELD_U64("cache_write_tokens", struct usage, cache_write_tokens, "written to the cache"),
};
static const struct shape usage_shape = SHAPE("usage", struct usage, usage_fields, "token counts");

static const struct field error_fields[] = {
    FIELD_STR("message", struct script_error, message, "error message of the service",
        .flags = FIELD_REQUIRED),
    FIELD_U32("status", struct script_error, status,
        "HTTP status; if absent, the error is sent within the stream", FIELD_RANGE(300, 599)),
    FIELD_STR("type", struct script_error, type, "error type, such as overloaded_error"),
    FIELD_STR("retry_after", struct script_error, retry_after, "value of the Retry-After header"),
    FIELD_MAP(
        "headers", struct script_error, headers, "additional headers (only with serve-script)"),
};
static const struct shape error_shape =
    SHAPE("error", struct script_error, error_fields, "an error");

static const struct field turn_fields[] = {
    FIELD_STR("when", struct script_turn, when,
        "use this turn only if the regular expression matches the last user text"),
    FIELD_ENUM("last", struct script_turn, last, last_names,
        "use this turn only if the last message is from the user, or is a tool result",
        .def = "\"any\""),
    FIELD_BOOL("repeat", struct script_turn, repeat, "use this turn any number of times"),
    FIELD_OBJECTS("content", struct script_turn, parts, n_parts, &part_shape, "text of the answer"),
    FIELD_STR("stop_reason", struct script_turn, stop_reason,
        "stop reason; default: tool_use or end_turn"),
    FIELD_OBJECT("usage", struct script_turn, usage, &usage_shape, "token counts"),
    FIELD_U64("delta_bytes", struct script_turn, delta_bytes,
        "size of the pieces of texts; default: one word", FIELD_RANGE(1, 1 << 20)),
    FIELD_MAYBE("error", struct script_turn, error, &error_shape, "fail with this error"),
    FIELD_U64("after", struct script_turn, after,
        "number of deltas before the error or fault; default: all",
        FIELD_HAS(struct script_turn, has_after)),
    FIELD_ENUM(
        "fault", struct script_turn, fault, fault_names, "fault in the stream", .def = "\"none\""),
    FIELD_U64("chunk_bytes", struct script_turn, chunk_bytes,
        "number of bytes sent at once; default: one event (only with serve-script)",
        FIELD_RANGE(1, 1 << 20)),
    FIELD_ENUM("line_end", struct script_turn, line_end, line_end_names,
        "line endings (only with serve-script)", .def = "\"lf\""),
    FIELD_BOOL("comments", struct script_turn, comments,
        "send comments between the events (only with serve-script)"),
};
static const struct shape turn_shape = SHAPE("turn", struct script_turn, turn_fields, "one answer");

static const struct field document_fields[] = {
    FIELD_U32("version", struct script_document, version, "1", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, 1)),
    FIELD_STR("model", struct script_document, model, "name of the model in answers"),
    FIELD_OBJECTS("turns", struct script_document, turns, n_turns, &turn_shape, "the answers",
        .flags = FIELD_REQUIRED, FIELD_RANGE(0, SCRIPT_TURNS_MAX)),
};
const struct shape script_shape =
    SHAPE("script", struct script_document, document_fields, "prepared answers of a model");

/* Checks -------------------------------------------------------------------------------------- */

static bool script_fail(struct err *err, const char *place, const char *what)
{
    err_set(err, E_PROTOCOL, "%s: %s", place, what);
    return err_ctx(err, "field", "%s", place);
}

static bool script_check_version(const json_t *tree, struct err *err)
{
    const json_t *version = json_object_get(tree, "version");
    long long number = json_integer_value(version);
    if (!json_is_integer(version) || number == SCRIPT_VERSION)
        return true;
    err_set(err, E_PROTOCOL_VERSION_MISMATCH,
        "version: version %lld of scripts is not supported: expected %d", number, SCRIPT_VERSION);
    err_ctx_int(err, "provided_version", number);
    err_ctx_int(err, "supported_version", SCRIPT_VERSION);
    return err_ctx(err, "field", "version");
}

static bool check_parts(
    const struct script_turn *turn, const char *place, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < turn->n_parts; i++) {
        const struct script_part *part = &turn->parts[i];
        int kinds = (part->text.p != NULL) + (part->thinking.p != NULL) +
                    (part->redacted.p != NULL) + (part->raw.p != NULL) + (part->call != NULL) +
                    part->has_delay;
        const char *at = arena_printf(arena, "%s.content[%zu]", place, i);
        if (kinds != 1)
            return script_fail(err, at,
                "expected one of 'text', 'thinking', 'redacted_thinking', 'tool_call', 'delay_ms' "
                "or 'raw'");
        if (part->signature.p && !part->thinking.p)
            return script_fail(err, at, "'signature' requires 'thinking'");
    }
    return true;
}

static bool script_compile_turn(struct script *s, size_t index, struct err *err)
{
    const struct script_turn *turn = &s->document.turns[index];
    const char *place = arena_printf(&s->arena, "turns[%zu]", index);
    if (turn->error && turn->fault)
        return script_fail(err, place, "'error' and 'fault' cannot be combined");
    if (turn->when.p && !regex_new(turn->when, &s->states[index].when, err)) {
        err_wrap(err, "%s.when", place);
        return err_ctx(err, "field", "%s.when", place);
    }
    return check_parts(turn, place, &s->arena, err);
}

static bool script_read_tree(struct script *s, struct err *err)
{
    if (!script_check_version(s->tree, err) ||
        !field_read(&script_shape, s->tree, &s->arena, E_PROTOCOL, &s->document, err))
        return false;
    s->states = ARENA_NEW(&s->arena, struct turn_state, s->document.n_turns);
    for (size_t i = 0; i < s->document.n_turns; i++)
        if (!script_compile_turn(s, i, err))
            return false;
    return true;
}

bool script_from_text(
    struct str text, const char *name, struct script **ret_script, struct err *err)
{
    struct script *s = base_alloc(sizeof(*s));
    *s = (struct script){.arena = ARENA_INIT(ARENA_MAX)};
    if (!doc_parse(text, name, E_PROTOCOL, &s->tree, err)) {
        script_free(s);
        return false;
    }
    if (!script_read_tree(s, err)) {
        script_free(s);
        return doc_blame(err, text, name);
    }
    *ret_script = s;
    return true;
}

bool script_load(const char *path, int cancel_fd, struct script **ret_script, struct err *err)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (cancel_fd >= 0 ? O_NONBLOCK : 0);
    AUTO_FD int fd = open(path, flags);
    AUTO_BUF struct buf text = BUF_INIT(2 * (size_t)SCRIPT_TEXT_MAX);
    struct stat st;
    if (fd < 0) {
        err_errno(err, E_IO, errno, "cannot open the script '%s'", path);
        return err_ctx(err, "file", "%s", path);
    }
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        err_set(err, E_IO, "the script '%s' is a directory", path);
        return err_ctx(err, "file", "%s", path);
    }
    if (!file_read_unless(cancel_fd, fd, SCRIPT_TEXT_MAX, path, &text, err))
        return err_ctx(err, "file", "%s", path);
    return script_from_text(buf_str(&text), path, ret_script, err);
}

struct script *script_embedded(void)
{
    struct script *s = NULL;
    AUTO_ERR struct err error = {0};
    bool ok = script_from_text(str_z(script_default_text), "default_script.json", &s, &error);
    BUG_ON(!ok);
    return s;
}

void script_free(struct script *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->states && i < s->document.n_turns; i++)
        regex_free(s->states[i].when);
    json_decref(s->tree);
    arena_done(&s->arena);
    free(s);
}

struct str script_model(const struct script *s)
{
    return s->document.model;
}

/* Choosing a turn ----------------------------------------------------------------------------- */

static struct script_part nothing_parts[] = {
    {.text = {"The script has no further turn for this.",
         sizeof("The script has no further turn for this.") - 1}},
};
static const struct script_turn nothing = {.parts = nothing_parts, .n_parts = 1};

static bool script_turn_fits(const struct script_turn *turn, struct turn_state *state,
    struct str user_text, enum script_last last)
{
    struct regex_match m;
    if (state->used || (turn->last && turn->last != last))
        return false;
    return !state->when || regex_find(state->when, user_text, 0, &m);
}

const struct script_turn *script_next(struct script *s, struct str user_text, enum script_last last)
{
    for (size_t i = 0; i < s->document.n_turns; i++) {
        const struct script_turn *turn = &s->document.turns[i];
        if (!script_turn_fits(turn, &s->states[i], user_text, last))
            continue;
        s->states[i].used = !turn->repeat;
        return turn;
    }
    return &nothing;
}

const struct script_turn *script_next_for(struct script *s, const json_t *messages)
{
    AUTO_BUF struct buf text = BUF_INIT(JSON_SIZE_MAX);
    size_t n = json_array_size(messages);
    enum script_last last = SCRIPT_LAST_USER;
    if (n && message_type(json_array_get(messages, n - 1)) == MESSAGE_TOOL_RESULT)
        last = SCRIPT_LAST_TOOL_RESULT;
    /* In a resumed conversation, do not reuse its generated ids. */
    uint64_t results = 0;
    for (size_t i = 0; i < n; i++)
        results += message_type(json_array_get(messages, i)) == MESSAGE_TOOL_RESULT;
    s->calls = MAX(s->calls, results);
    for (size_t i = n; i-- > 0;) {
        const json_t *message = json_array_get(messages, i);
        if (message_type(message) != MESSAGE_USER)
            continue;
        message_add_text(message, &text);
        break;
    }
    return script_next(s, buf_str(&text), last);
}

/* Deltas -------------------------------------------------------------------------------------- */

/* Never splits a character: that is a fault of the transport. */
static size_t to_boundary(struct str rest, size_t n)
{
    while (n < rest.n && ((unsigned char)rest.p[n] & 0xC0) == 0x80)
        n++;
    return n;
}

static size_t word_length(struct str rest)
{
    size_t n = 0;
    while (n < rest.n && rest.p[n] != ' ' && rest.p[n] != '\n')
        n++;
    while (n < rest.n && (rest.p[n] == ' ' || rest.p[n] == '\n'))
        n++;
    return n;
}

bool script_delta(const struct script_turn *turn, struct str *rest, struct str *ret_delta)
{
    if (rest->n == 0)
        return false;
    size_t n = turn->delta_bytes ? to_boundary(*rest, MIN(turn->delta_bytes, rest->n))
                                 : word_length(*rest);
    *ret_delta = str_head(*rest, n);
    *rest = str_skip(*rest, n);
    return true;
}

void script_arguments(const struct script_call *call, struct buf *text)
{
    if (!call->arguments)
        buf_add_z(text, "{}");
    else if (json_is_string(call->arguments))
        buf_add_str(text, json_str(call->arguments));
    else
        json_add_compact(text, call->arguments);
}

static bool has_call(const struct script_turn *turn)
{
    for (size_t i = 0; i < turn->n_parts; i++)
        if (turn->parts[i].call)
            return true;
    return false;
}

enum stop_reason script_stop(const struct script_turn *turn)
{
    if (!turn->stop_reason.p)
        return has_call(turn) ? STOP_TOOL_USE : STOP_END_TURN;
    for (size_t i = 0; i < STOP_REFUSAL; i++)
        if (str_is(turn->stop_reason, stop_reason_names[i]))
            return (enum stop_reason)i;
    return wire_stop(turn->stop_reason);
}

void script_call_id(struct script *s, const struct script_call *call, struct buf *id)
{
    if (call->id.p)
        buf_add_str(id, call->id);
    else
        buf_printf(id, "call_%llu", (unsigned long long)++s->calls);
}
