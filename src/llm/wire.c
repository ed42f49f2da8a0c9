/* Code shared by all dialects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/wire.h"

#include "base/fnv.h"
#include "base/utf8.h"

enum {
    SHOWN_MAX = 300, /* bytes of a service's message */
    KIND_MAX = 64,
    PAGE_MAX = 64 << 10, /* of a page that is searched for text */
    MEND_MAX = 4 << 20,  /* of an invalid event: larger ones are garbage and costly to repair */
    DIGITS_SAFE = 18,    /* of an integer */
};

#define COUNT_MAX   (UINT64_C(1) << 40) /* tokens: sums of many answers must not overflow */
#define INDEX_EXACT 9007199254740992.0  /* beyond it doubles skip integers */

static const struct str replacement = STR("\xEF\xBF\xBD");

/* The value of a \uXXXX escape, or UINT32_MAX. */
static uint32_t wire_unit_at(struct str s)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t unit = 0;
    if (s.n < 6 || s.p[0] != '\\' || s.p[1] != 'u')
        return UINT32_MAX;
    for (size_t i = 2; i < 6; i++) {
        char c = s.p[i] >= 'A' && s.p[i] <= 'F' ? (char)(s.p[i] + ('a' - 'A')) : s.p[i];
        const char *at = c ? strchr(digits, c) : NULL;
        if (!at)
            return UINT32_MAX;
        unit = unit << 4 | (uint32_t)(at - digits);
    }
    return unit;
}

/* Copies one escape; a surrogate pair counts as one. */
static struct str wire_add_escape(struct buf *b, struct str s)
{
    uint32_t unit = wire_unit_at(s), next = wire_unit_at(str_skip(s, 6));
    bool high = unit >= 0xD800 && unit < 0xDC00, low = unit >= 0xDC00 && unit <= 0xDFFF;
    bool pair = high && next >= 0xDC00 && next <= 0xDFFF;
    if ((high || low || unit == 0) && !pair) {
        buf_add_str(b, replacement);
        return str_skip(s, 6);
    }
    size_t n = pair ? 12 : MIN(2, s.n);
    buf_add_str(b, str_head(s, n));
    return str_skip(s, n);
}

/* Copies a number outside of strings: an integer with too many digits becomes a real. */
static struct str wire_add_number(struct buf *b, struct str s)
{
    size_t n = 0;
    bool fraction = false;
    while (n < s.n && memchr("0123456789+-.eE", s.p[n], 15)) {
        fraction = fraction || memchr(".eE", s.p[n], 3);
        n++;
    }
    buf_add_str(b, str_head(s, n));
    if (n > DIGITS_SAFE && !fraction)
        buf_add_z(b, ".0");
    return str_skip(s, n);
}

static void add_mended(struct buf *b, struct str text)
{
    AUTO_BUF struct buf valid = BUF_INIT(3 * text.n + 1);
    utf8_add_lossy(&valid, text);
    struct str rest = buf_str(&valid);
    bool quoted = false;
    while (rest.n) {
        char c = rest.p[0];
        quoted = quoted != (c == '"');
        if (c == '\\') {
            rest = wire_add_escape(b, rest);
        } else if (!quoted && c >= '0' && c <= '9') {
            rest = wire_add_number(b, rest);
        } else {
            buf_add_str(b, c ? str_head(rest, 1) : replacement);
            rest = str_skip(rest, 1);
        }
    }
}

bool wire_parse(struct str text, json_t **ret_tree, struct err *err)
{
    AUTO_ERR struct err first = {0}, second = {0};
    if (text.n > JSON_SIZE_MAX || json_parse(text, "event", E_PROVIDER, ret_tree, &first))
        return text.n <= JSON_SIZE_MAX || err_set(err, E_PROVIDER, "an event is too long");
    AUTO_BUF struct buf mended = BUF_INIT(9 * (size_t)MEND_MAX + 1);
    if (text.n <= MEND_MAX) {
        add_mended(&mended, text);
        if (json_parse(buf_str(&mended), "event", E_PROVIDER, ret_tree, &second))
            return true;
    }
    err_move(err, &first);
    return err_wrap(err, "cannot parse the service's answer");
}

/* Appends a printable, shortened text; false if it is empty. */
static bool wire_add_shown(struct buf *b, struct str text, size_t most)
{
    AUTO_BUF struct buf shown = BUF_INIT(4 * PAGE_MAX + 1);
    utf8_add_printable(&shown, str_head(text, PAGE_MAX));
    struct str s = buf_str(&shown);
    if (s.n > most) {
        s.n = most;
        while (s.n && (s.p[s.n] & 0xC0) == 0x80)
            s.n--;
    }
    buf_add_str(b, s);
    if (s.n < shown.n)
        buf_add_z(b, "...");
    return text.n > 0;
}

static struct str wire_text(const json_t *object, const char *key)
{
    return json_str(json_object_get(object, key));
}

/* The object that describes the error: services put it in different places. */
static const json_t *error_of(const json_t *tree)
{
    if (json_is_array(tree))
        tree = json_array_get(tree, 0);
    const json_t *error = json_object_get(tree, "error");
    return json_is_object(error) || json_is_string(error) ? error : tree;
}

static struct str message_of(const json_t *error)
{
    static const char *const keys[] = {"message", "detail", "error_description", "error"};
    if (json_is_string(error))
        return json_str(error);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (wire_text(error, keys[i]).n)
            return wire_text(error, keys[i]);
    return (struct str){0};
}

/* The type if there is one, else the code. */
static void add_kind(const json_t *error, struct buf *kind)
{
    const json_t *code = json_object_get(error, "code");
    struct str type = wire_text(error, "type");
    if (type.n && !str_is(type, "error"))
        wire_add_shown(kind, type, KIND_MAX);
    else if (json_string_length(code))
        wire_add_shown(kind, json_str(code), KIND_MAX);
    else if (json_is_integer(code))
        buf_printf(kind, "%lld", (long long)json_integer_value(code));
}

/* Whether an error in the middle of an answer is worth a retry. */
static bool worth_a_retry(const json_t *error)
{
    static const char *const kinds[] = {"overloaded_error", "api_error", "rate_limit_error",
        "timeout_error", "server_error", "internal_server_error", "rate_limit_exceeded",
        "service_unavailable", "server_is_overloaded", "overloaded"};
    const json_t *code = json_object_get(error, "code");
    struct str words[] = {wire_text(error, "type"), json_str(code)};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(words[0], kinds[i]) || str_is(words[1], kinds[i]))
            return !str_is(words[1], "insufficient_quota");
    int64_t status = json_integer_value(code);
    if (words[1].n && !str_to_int(words[1], 100, 599, &status))
        status = 0;
    return status == 408 || status == 429 || (status >= 500 && status <= 599);
}

/* Phrases of Anthropic, OpenAI, vLLM, llama.cpp, Ollama and gateways before them. */
static bool says_too_long(struct str words)
{
    static const char *const phrases[] = {"prompt is too long", "maximum context length",
        "context_length_exceeded", "exceed context limit", "exceeds the context", "context window",
        "exceeds the available context size", "exceed_context_size", "input is too long",
        "request_too_large", "input length and `max_tokens`", "reduce the length of the messages"};
    AUTO_BUF struct buf text = BUF_INIT(4 * SHOWN_MAX);
    buf_add_str(&text, str_head(words, SHOWN_MAX));
    for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
        if (strcasestr(buf_z(&text), phrases[i]))
            return true;
    return false;
}

void wire_note_length(struct err *err, long status, struct str kind, struct str message)
{
    bool ours = status == 0 || status == 400 || status == 413 || status == 422;
    if (status == 413 || (ours && (says_too_long(kind) || says_too_long(message))))
        err_ctx(err, "too_long", "true");
}

bool wire_is_length(const struct err *err)
{
    return err->code == E_PROVIDER && err_ctx_get(err, "too_long");
}

bool wire_fail(struct err *err, const json_t *error, struct str fallback)
{
    AUTO_BUF struct buf message = BUF_INIT(4 * SHOWN_MAX), kind = BUF_INIT(4 * KIND_MAX);
    if (!wire_add_shown(&message, message_of(error), SHOWN_MAX))
        buf_add_str(&message, fallback);
    add_kind(error, &kind);
    err_set(err, E_PROVIDER, "the service reports: %s%s%s%s", buf_z(&message), kind.n ? " (" : "",
        buf_z(&kind), kind.n ? ")" : "");
    if (kind.n)
        err_ctx(err, "provider_error", "%s", buf_z(&kind));
    wire_note_length(err, 0, wire_text(error, "code"), message_of(error));
    return err_ctx(err, "retry", "%s", worth_a_retry(error) ? "true" : "false");
}

bool wire_cut_off(struct err *err)
{
    err_set(err, E_PROVIDER, "the service's answer ended early");
    return err_ctx(err, "retry", "true");
}

/* Appends the first line that is not blank, without tags. */
static void add_first_line(struct buf *message, struct str body)
{
    AUTO_BUF struct buf text = BUF_INIT(PAGE_MAX + 1);
    bool tag = false;
    body = str_head(body, PAGE_MAX);
    for (size_t i = 0; i < body.n; i++) {
        char c = body.p[i];
        tag = tag || c == '<';
        bool end = c == '\n' || c == '\r';
        if (end && !wire_blank(buf_str(&text)))
            break;
        if (!tag && !end && (text.n || !strchr(" \t", c)))
            buf_add_byte(&text, c);
        tag = tag && c != '>';
    }
    wire_add_shown(message, buf_str(&text), SHOWN_MAX);
}

void wire_explain(struct str body, struct buf *message, struct buf *kind)
{
    AUTO_JSON json_t *tree = NULL;
    AUTO_ERR struct err err = {0};
    if (!wire_parse(body, &tree, &err) || !(json_is_object(tree) || json_is_array(tree))) {
        add_first_line(message, body);
        return;
    }
    const json_t *error = error_of(tree);
    if (!wire_add_shown(message, message_of(error), SHOWN_MAX))
        add_first_line(message, body);
    add_kind(error, kind);
}

static bool wire_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

void wire_add_name(struct buf *b, struct str name, size_t most)
{
    char hex[FNV_HEX];
    bool ok = name.n > 0 && name.n <= most;
    for (size_t i = 0; ok && i < name.n; i++)
        ok = wire_is_plain(name.p[i]);
    if (ok) {
        buf_add_str(b, name);
        return;
    }
    struct str head = str_head(name, most - FNV_HEX);
    for (size_t i = 0; i < head.n; i++)
        buf_add_byte(b, wire_is_plain(head.p[i]) ? head.p[i] : '_');
    fnv_hex(fnv_add(FNV_START, name), hex);
    buf_printf(b, "_%s", hex);
}

json_t *wire_name(struct str name, size_t most)
{
    AUTO_BUF struct buf b = BUF_INIT(256);
    wire_add_name(&b, name, most);
    return json_text(buf_str(&b));
}

bool wire_blank(struct str text)
{
    while (text.n && memchr(" \t\r\n\v\f", text.p[0], 6))
        text = str_skip(text, 1);
    return text.n == 0;
}

json_t *wire_arguments(const json_t *call)
{
    json_t *given = json_object_get(call, "arguments");
    if (json_is_object(given))
        return json_incref(given);
    json_t *object = json_object();
    json_put(object, "arguments", json_incref(given));
    return object;
}

static json_t *wire_lean_schema(const json_t *schema);

static json_t *lean_values(const json_t *properties)
{
    json_t *made = json_object(), *value;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)properties, name, value)
        json_put(made, name, wire_lean_schema(value));
    return made;
}

static json_t *lean_items(const json_t *list)
{
    json_t *made = json_array();
    for (size_t i = 0; i < json_array_size(list); i++)
        json_push(made, wire_lean_schema(json_array_get(list, i)));
    return made;
}

static bool wire_is_needless(const char *key, const json_t *value)
{
    static const char *const keys[] = {"$schema", "title", "additionalProperties", "minimum",
        "maximum", "minLength", "maxLength", "minItems", "maxItems"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    bool nothing = json_is_false(value) || (json_is_integer(value) && !json_integer_value(value));
    return (strcmp(key, "default") == 0 && nothing) ||
           (strcmp(key, "required") == 0 && json_array_size(value) == 0);
}

static json_t *wire_lean_schema(const json_t *schema)
{
    json_t *made, *value;
    const char *key;
    if (!json_is_object(schema))
        return json_incref((json_t *)(uintptr_t)schema);
    made = json_object();
    json_object_foreach((json_t *)(uintptr_t)schema, key, value)
    {
        if (wire_is_needless(key, value))
            continue;
        if (strcmp(key, "properties") == 0 && json_is_object(value))
            json_put(made, key, lean_values(value));
        else if (strcmp(key, "items") == 0)
            json_put(made, key, wire_lean_schema(value));
        else if (strcmp(key, "anyOf") == 0)
            json_put(made, key, lean_items(value));
        else
            json_put(made, key, json_incref(value));
    }
    return made;
}

json_t *wire_schema(const json_t *schema)
{
    json_t *made = wire_lean_schema(schema);
    if (json_is_object(made))
        json_object_del(made, "description"); /* the tool itself has one */
    return made;
}

enum stop_reason wire_stop(struct str raw)
{
    static const struct {
        const char *raw;
        enum stop_reason stop;
    } reasons[] = {
        {"end_turn", STOP_END_TURN},
        {"stop_sequence", STOP_END_TURN},
        {"stop", STOP_END_TURN},
        {"tool_use", STOP_TOOL_USE},
        {"tool_calls", STOP_TOOL_USE},
        {"function_call", STOP_TOOL_USE},
        {"max_tokens", STOP_LENGTH},
        {"model_context_window_exceeded", STOP_LENGTH},
        {"length", STOP_LENGTH},
        {"refusal", STOP_REFUSAL},
        {"content_filter", STOP_REFUSAL},
    };
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_is(raw, reasons[i].raw))
            return reasons[i].stop;
    return STOP_UNKNOWN;
}

bool wire_index(const json_t *object, uint64_t *ret_index)
{
    const json_t *index = json_object_get(object, "index");
    double number = json_real_value(index);
    bool exact = number > -INDEX_EXACT && number < INDEX_EXACT;
    if (json_is_integer(index))
        *ret_index = (uint64_t)json_integer_value(index);
    else if (json_is_real(index) && exact && (double)(int64_t)number == number)
        *ret_index = (uint64_t)(int64_t)number;
    else
        return false;
    return true;
}

void wire_count(const json_t *object, const char *key, uint64_t *count)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        *count = MIN((uint64_t)json_integer_value(value), COUNT_MAX);
}
