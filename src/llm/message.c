/* Messages: validation and construction. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/message.h"

#include "base/base64.h"
#include "base/choice.h"
#include "base/clock.h"
#include "base/place.h"

const char *const message_type_names[MESSAGE_TYPES] = {"user", "assistant", "tool_result"};

const char *const block_type_names[BLOCK_TYPES] = {
    "text", "thinking", "redacted_thinking", "image", "tool_call"};

const char *const stop_reason_names[STOP_REASONS] = {
    [STOP_END_TURN] = "end_turn",
    [STOP_LENGTH] = "length",
    [STOP_TOOL_USE] = "tool_use",
    [STOP_ERROR] = "error",
    [STOP_ABORTED] = "aborted",
    [STOP_REFUSAL] = "unknown",
    [STOP_UNKNOWN] = "unknown",
};

/* raw_stop_reason of a refusal, by service. */
static const char *const refusals[] = {"refusal", "content_filter"};

/* The type required of a key. */
enum message_value_kind {
    KIND_TEXT,
    KIND_WORD, /* a non-empty string */
    KIND_BOOL,
    KIND_COUNT,
    KIND_OBJECT,
    KIND_LIST,
    KIND_ANY,
};

struct message_key {
    const char *name;
    enum message_value_kind kind;
    bool required;
};

enum {
    KEYS_MAX = 6,
};

static const struct {
    struct message_key keys[KEYS_MAX];
    unsigned blocks; /* bit mask of the allowed block types */
} message_rules[MESSAGE_TYPES] = {
    [MESSAGE_USER] = {{{"content", KIND_LIST, true}, {"timestamp", KIND_TEXT, false}},
        1 << BLOCK_TEXT | 1 << BLOCK_IMAGE},
    [MESSAGE_ASSISTANT] = {{{"content", KIND_LIST, true}, {"stop_reason", KIND_TEXT, false},
                               {"raw_stop_reason", KIND_TEXT, false}, {"usage", KIND_OBJECT, false},
                               {"timestamp", KIND_TEXT, false}},
        1 << BLOCK_TEXT | 1 << BLOCK_THINKING | 1 << BLOCK_REDACTED_THINKING |
            1 << BLOCK_TOOL_CALL},
    [MESSAGE_TOOL_RESULT] = {{{"tool_call_id", KIND_WORD, true}, {"tool_name", KIND_TEXT, false},
                                 {"content", KIND_LIST, true}, {"is_error", KIND_BOOL, false},
                                 {"timestamp", KIND_TEXT, false}},
        1 << BLOCK_TEXT | 1 << BLOCK_IMAGE},
};

static const struct message_key block_rules[BLOCK_TYPES][KEYS_MAX] = {
    [BLOCK_TEXT] = {{"text", KIND_TEXT, true}},
    [BLOCK_THINKING] = {{"thinking", KIND_TEXT, true}, {"signature", KIND_TEXT, false}},
    [BLOCK_REDACTED_THINKING] = {{"data", KIND_TEXT, true}},
    [BLOCK_IMAGE] = {{"mime_type", KIND_WORD, true}, {"data", KIND_WORD, true}},
    [BLOCK_TOOL_CALL] = {{"id", KIND_WORD, true}, {"name", KIND_TEXT, true},
        {"arguments", KIND_ANY, true}, {"invalid", KIND_BOOL, false}},
};

static const struct message_key usage_rules[KEYS_MAX] = {
    {"input_tokens", KIND_COUNT, false},
    {"output_tokens", KIND_COUNT, false},
    {"cache_read_tokens", KIND_COUNT, false},
    {"cache_write_tokens", KIND_COUNT, false},
};

struct message_checker {
    struct buf *place;
    enum err_code code;
    struct err *err;
};

static bool message_value_fits(const json_t *value, enum message_value_kind kind)
{
    switch (kind) {
    case KIND_TEXT:
        return json_is_string(value);
    case KIND_WORD:
        return json_string_length(value) > 0;
    case KIND_BOOL:
        return json_is_boolean(value);
    case KIND_COUNT:
        return json_is_integer(value) && json_integer_value(value) >= 0;
    case KIND_OBJECT:
        return json_is_object(value);
    case KIND_LIST:
        return json_is_array(value);
    case KIND_ANY:
        return true;
    }
    return false;
}

static bool message_set_error(const struct message_checker *c, const char *what)
{
    err_set(c->err, c->code, "%s%s%s", buf_z(c->place), c->place->n ? ": " : "", what);
    return err_ctx(c->err, "field", "%s", buf_z(c->place));
}

static bool message_check_keys(
    const struct message_checker *c, const json_t *object, const struct message_key *keys)
{
    static const char *const wanted[] = {
        [KIND_TEXT] = "a string",
        [KIND_WORD] = "a non-empty string",
        [KIND_BOOL] = "true or false",
        [KIND_COUNT] = "a number of at least 0",
        [KIND_OBJECT] = "an object",
        [KIND_LIST] = "a list",
        [KIND_ANY] = "a value",
    };
    for (size_t i = 0; i < KEYS_MAX && keys[i].name; i++) {
        const json_t *value = json_object_get(object, keys[i].name);
        char what[128];
        if (value ? message_value_fits(value, keys[i].kind) : !keys[i].required)
            continue;
        bool empty = json_is_string(value) && json_string_length(value) == 0;
        snprintf(what, sizeof(what), value ? "must be %s, but is %s" : "is missing",
            wanted[keys[i].kind], empty ? "empty" : json_kind(value));
        place_add_key(c->place, str_z(keys[i].name));
        return message_set_error(c, what);
    }
    return true;
}

/* Index of "type" in names; n if not found. */
static unsigned message_find_type(const json_t *object, const char *const *names, unsigned n)
{
    struct str type = json_str(json_object_get(object, "type"));
    unsigned i = 0;
    while (i < n && !(type.p && str_is(type, names[i])))
        i++;
    return i;
}

static bool message_check_type(
    const struct message_checker *c, const json_t *object, const char *const *names, unsigned n)
{
    if (!json_is_object(object)) {
        char what[128];
        snprintf(what, sizeof(what), "must be an object, but is %s", json_kind(object));
        return message_set_error(c, what);
    }
    if (message_find_type(object, names, n) < n)
        return true;
    const json_t *type = json_object_get(object, "type");
    struct str word = json_is_string(type) ? json_str(type) : str_z(json_kind(type));
    AUTO_CHOICE struct choice known = CHOICE_INIT(word);
    for (unsigned i = 0; i < n; i++)
        choice_add(&known, names[i]);
    AUTO_BUF struct buf what = BUF_INIT(4096);
    buf_printf(&what, "must be one of %s, but is ", choice_list(&known));
    buf_printf(
        &what, json_is_string(type) ? "'" STR_FMT "'" : STR_FMT, STR_ARG(str_head(word, 60)));
    place_add_key(c->place, STR("type"));
    return message_set_error(c, buf_z(&what));
}

static bool check_image(const struct message_checker *c, const json_t *block)
{
    size_t n;
    bool image = str_starts_with(json_str(json_object_get(block, "mime_type")), STR("image/"));
    place_add_key(c->place, image ? STR("data") : STR("mime_type"));
    if (!image)
        return message_set_error(c, "is not an image type such as image/png");
    if (!base64_size(json_str(json_object_get(block, "data")), &n))
        return message_set_error(c, "is not base64");
    if (n > IMAGE_MAX)
        return message_set_error(c, "the image is larger than 5 MiB");
    return true;
}

static bool check_block(
    const struct message_checker *c, const json_t *block, enum message_type type)
{
    if (!message_check_type(c, block, block_type_names, BLOCK_TYPES))
        return false;
    enum block_type kind = block_type(block);
    if (!(message_rules[type].blocks & 1U << kind)) {
        char what[128];
        snprintf(what, sizeof(what), "a message of type %s cannot contain a block of type %s",
            message_type_names[type], block_type_names[kind]);
        return message_set_error(c, what);
    }
    if (!message_check_keys(c, block, block_rules[kind]))
        return false;
    return kind != BLOCK_IMAGE || check_image(c, block);
}

bool message_check(const json_t *message, enum err_code code, struct err *err)
{
    AUTO_BUF struct buf place = BUF_INIT(1024);
    struct message_checker c = {&place, code, err};
    if (!message_check_type(&c, message, message_type_names, MESSAGE_TYPES))
        return false;
    enum message_type type = message_type(message);
    if (!message_check_keys(&c, message, message_rules[type].keys))
        return false;
    const json_t *usage = json_object_get(message, "usage");
    if (type == MESSAGE_ASSISTANT && usage) {
        place_add_key(&place, STR("usage"));
        if (!message_check_keys(&c, usage, usage_rules))
            return false;
    }
    const json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < json_array_size(content); i++) {
        buf_reset(&place);
        place_add_key(&place, STR("content"));
        place_add_index(&place, i);
        if (!check_block(&c, json_array_get(content, i), type))
            return false;
    }
    return true;
}

enum message_type message_type(const json_t *message)
{
    unsigned type = message_find_type(message, message_type_names, MESSAGE_TYPES);
    BUG_ON(type == MESSAGE_TYPES);
    return (enum message_type)type;
}

enum block_type block_type(const json_t *block)
{
    unsigned type = message_find_type(block, block_type_names, BLOCK_TYPES);
    BUG_ON(type == BLOCK_TYPES);
    return (enum block_type)type;
}

enum stop_reason message_stop(const json_t *message)
{
    struct str stop = json_str(json_object_get(message, "stop_reason"));
    struct str raw = json_str(json_object_get(message, "raw_stop_reason"));
    for (unsigned i = 0; i < STOP_REFUSAL; i++)
        if (str_is(stop, stop_reason_names[i]))
            return (enum stop_reason)i;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (str_is(raw, refusals[i]))
            return STOP_REFUSAL;
    return STOP_UNKNOWN;
}

static uint64_t count_of(const json_t *usage, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(usage, key));
    return n > 0 ? (uint64_t)n : 0;
}

struct usage message_usage(const json_t *message)
{
    const json_t *usage = json_object_get(message, "usage");
    return (struct usage){
        .input_tokens = count_of(usage, "input_tokens"),
        .output_tokens = count_of(usage, "output_tokens"),
        .cache_read_tokens = count_of(usage, "cache_read_tokens"),
        .cache_write_tokens = count_of(usage, "cache_write_tokens"),
    };
}

/* Saturates at the largest integer that JSON can hold. */
static uint64_t message_add_capped(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

void usage_add(struct usage *sum, const struct usage *more)
{
    sum->input_tokens = message_add_capped(sum->input_tokens, more->input_tokens);
    sum->output_tokens = message_add_capped(sum->output_tokens, more->output_tokens);
    sum->cache_read_tokens = message_add_capped(sum->cache_read_tokens, more->cache_read_tokens);
    sum->cache_write_tokens = message_add_capped(sum->cache_write_tokens, more->cache_write_tokens);
}

uint64_t usage_total(const struct usage *u)
{
    return message_add_capped(message_add_capped(u->input_tokens, u->output_tokens),
        message_add_capped(u->cache_read_tokens, u->cache_write_tokens));
}

json_t *usage_json(const struct usage *usage)
{
    json_t *object = json_object();
    json_put(object, "input_tokens", json_integer((json_int_t)usage->input_tokens));
    json_put(object, "output_tokens", json_integer((json_int_t)usage->output_tokens));
    if (usage->cache_read_tokens)
        json_put(object, "cache_read_tokens", json_integer((json_int_t)usage->cache_read_tokens));
    if (usage->cache_write_tokens)
        json_put(object, "cache_write_tokens", json_integer((json_int_t)usage->cache_write_tokens));
    return object;
}

void message_add_text(const json_t *message, struct buf *text)
{
    const json_t *content = json_object_get(message, "content");
    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *block = json_array_get(content, i);
        if (block_type(block) == BLOCK_TEXT)
            buf_add_str(text, json_str(json_object_get(block, "text")));
    }
}

json_t *block_text(struct str text)
{
    json_t *block = json_object();
    json_put(block, "type", json_string("text"));
    json_put(block, "text", json_text(text));
    return block;
}

void message_put_time(json_t *message)
{
    char time[CLOCK_RFC3339];
    clock_rfc3339(clock_wall_ms(), time);
    json_put(message, "timestamp", json_string(time));
}

static json_t *message_new(enum message_type type)
{
    json_t *message = json_object();
    json_put(message, "type", json_string(message_type_names[type]));
    return message;
}

static void message_put_text(json_t *message, struct str text)
{
    json_t *content = json_array();
    if (text.n)
        json_push(content, block_text(text));
    json_put(message, "content", content);
}

json_t *message_user(struct str text)
{
    json_t *message = message_new(MESSAGE_USER);
    message_put_text(message, text);
    message_put_time(message);
    return message;
}

json_t *message_tool_result(struct str id, struct str name, struct str text, bool is_error)
{
    json_t *message = message_new(MESSAGE_TOOL_RESULT);
    json_put(message, "tool_call_id", json_text(id));
    json_put(message, "tool_name", json_text(name));
    message_put_text(message, text);
    json_put(message, "is_error", json_boolean(is_error));
    message_put_time(message);
    return message;
}

/* MIME type by magic number; NULL: not a type that services accept. */
static const char *image_type(struct str bytes)
{
    static const struct {
        size_t at;
        struct str magic;
        const char *type;
    } kinds[] = {
        {0, STR("\x89PNG\r\n\x1a\n"), "image/png"},
        {0, STR("\xff\xd8\xff"), "image/jpeg"},
        {0, STR("GIF87a"), "image/gif"},
        {0, STR("GIF89a"), "image/gif"},
        {8, STR("WEBP"), "image/webp"},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_starts_with(str_skip(bytes, kinds[i].at), kinds[i].magic) &&
            (kinds[i].at == 0 || str_starts_with(bytes, STR("RIFF"))))
            return kinds[i].type;
    return NULL;
}

bool block_image(struct str bytes, const char *name, json_t **ret_block, struct err *err)
{
    const char *type = image_type(bytes);
    if (!type)
        return err_set(err, E_TOOL_VALIDATION,
            "'%s' is not a supported image: only PNG, JPEG, GIF and WebP can be sent", name);
    if (bytes.n > IMAGE_MAX)
        return err_set(err, E_TOOL_VALIDATION,
            "the image '%s' is %.1f MiB large: at most 5 MiB can be sent; make it smaller", name,
            (double)bytes.n / (1 << 20));
    AUTO_BUF struct buf data = BUF_INIT(IMAGE_MAX / 3 * 4 + 8);
    base64_add(&data, bytes);
    json_t *block = json_object();
    json_put(block, "type", json_string("image"));
    json_put(block, "mime_type", json_string(type));
    json_put(block, "data", json_text(buf_str(&data)));
    *ret_block = block;
    return true;
}
