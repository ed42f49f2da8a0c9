/* Lines of session files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/line.h"

#include "agent/store.h"
#include "base/field.h"
#include "base/place.h"
#include "llm/message.h"

/* The header ---------------------------------------------------------------------------------- */

static bool line_check_version(const json_t *header, struct err *err)
{
    const json_t *version = json_object_get(header, "version");
    if (!version)
        return err_set(err, E_CONFIG, "'version' is missing: not a session");
    if (!json_is_integer(version))
        return err_set(err, E_CONFIG, "version: expected an integer, not %s", json_kind(version));
    if (json_integer_value(version) == STORE_VERSION)
        return true;
    err_set(err, E_CONFIG,
        "version %" JSON_INTEGER_FORMAT " of sessions is not supported: expected version %d",
        json_integer_value(version), STORE_VERSION);
    return err_ctx_int(err, "version", json_integer_value(version));
}

static bool line_check_type(
    const json_t *object, const char *key, json_type type, bool required, struct err *err)
{
    const json_t *value = json_object_get(object, key);
    static const char *const names[] = {[JSON_ARRAY] = "a list", [JSON_STRING] = "a string"};
    if (!value)
        return !required || err_set(err, E_CONFIG, "'%s' is missing", key);
    return json_typeof(value) == type ||
           err_set(err, E_CONFIG, "%s: expected %s, not %s", key, names[type], json_kind(value));
}

static bool line_check_id(const json_t *header, struct err *err)
{
    struct str id = json_str(json_object_get(header, "id"));
    return store_id_valid(id) ||
           err_set(err, E_CONFIG,
               "id: '" STR_FMT
               "' is not a valid session id: expected letters, digits, '.', '_' and '-', at most "
               "%d, starting with a letter or a digit, not ending in .json or .jsonl",
               STR_ARG(str_head(id, STORE_ID_MAX)), STORE_ID_MAX);
}

bool line_check_header(const json_t *header, struct err *err)
{
    static const char *const texts[] = {
        "system_prompt", "created_at", "updated_at", "title", "cwd", "model", "provider"};
    if (!json_is_object(header))
        return err_set(
            err, E_CONFIG, "expected an object, not %s: not a session", json_kind(header));
    if (!line_check_version(header, err) ||
        !line_check_type(header, "id", JSON_STRING, true, err) || !line_check_id(header, err) ||
        !line_check_type(header, "messages", JSON_ARRAY, true, err) ||
        !line_check_type(header, "compactions", JSON_ARRAY, false, err))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!line_check_type(header, texts[i], JSON_STRING, false, err))
            return false;
    return true;
}

/* Records ------------------------------------------------------------------------------------- */

bool line_check_compaction(const json_t *tree, struct err *err)
{
    const json_t *message = json_object_get(tree, "message"), *keep = json_object_get(tree, "keep");
    if (!json_is_integer(keep) || json_integer_value(keep) < 0)
        return err_set(err, E_CONFIG, "keep: expected a number of messages");
    if (!message)
        return err_set(err, E_CONFIG, "'message' is missing");
    if (!message_check(message, E_CONFIG, err))
        return err_wrap(err, "message");
    return message_type(message) == MESSAGE_USER ||
           err_set(err, E_CONFIG, "message: a summary must be a user message");
}

static bool check_message(const json_t *tree, struct err *err)
{
    return message_check(tree, E_CONFIG, err);
}

static bool check_title(const json_t *tree, struct err *err)
{
    return line_check_type(tree, "title", JSON_STRING, true, err);
}

static bool check_updated(const json_t *tree, struct err *err)
{
    return line_check_type(tree, "updated_at", JSON_STRING, true, err);
}

static bool check_imported(const json_t *tree, struct err *err)
{
    return line_check_type(tree, "timestamp", JSON_STRING, true, err);
}

static bool check_resumed(const json_t *tree, struct err *err)
{
    return line_check_type(tree, "cwd", JSON_STRING, true, err);
}

static const struct {
    const char *type;
    enum line_kind kind;
    bool (*check)(const json_t *tree, struct err *err);
} kinds[] = {
    {"user", LINE_MESSAGE, check_message},
    {"assistant", LINE_MESSAGE, check_message},
    {"tool_result", LINE_MESSAGE, check_message},
    {"compaction", LINE_COMPACTION, line_check_compaction},
    {"title", LINE_TITLE, check_title},
    {"updated", LINE_UPDATED, check_updated},
    {"imported", LINE_IMPORTED, check_imported},
    {"resumed", LINE_RESUMED, check_resumed},
};

bool line_check(const json_t *tree, enum line_kind *ret_kind, struct err *err)
{
    struct str type = json_str(json_object_get(tree, "type"));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_is(type, kinds[i].type))
            continue;
        if (!kinds[i].check(tree, err))
            return false;
        *ret_kind = kinds[i].kind;
        return true;
    }
    if (!json_is_object(tree))
        return err_set(err, E_CONFIG, "expected an object, not %s", json_kind(tree));
    if (!type.p)
        return err_set(err, E_CONFIG, "'type' is missing");
    return err_set(err, E_CONFIG,
        "type: '" STR_FMT "' is unknown: it may be from a newer version of cordon",
        STR_ARG(str_head(type, PLACE_KEY_MAX)));
}

/* Lines --------------------------------------------------------------------------------------- */

bool line_blame(struct err *err, const char *file, size_t number)
{
    AUTO_FREE char *old = err->message;
    AUTO_BUF struct buf b = BUF_INIT(128 * 1024);
    /* json_parse() saw a single line and reported "1:COLUMN: ...". */
    bool placed = err_ctx_get(err, "line") && strncmp(old, "1:", 2) == 0;
    buf_printf(&b, "%s:%zu:%s%s", file, number, placed ? "" : " ", placed ? old + 2 : old);
    err->message = buf_take(&b);
    err_ctx(err, "file", "%s", file);
    return err_ctx_int(err, "line", (int64_t)number);
}

bool line_parse(
    const struct line_file_line *line, const char *file, json_t **ret_tree, struct err *err)
{
    AUTO_ERR struct err problem = {0};
    json_t *tree = NULL;
    if (json_parse(line->text, "", E_CONFIG, &tree, &problem)) {
        *ret_tree = tree;
        return true;
    }
    if (line->open && line->number > 1)
        return true;
    /* ":1:COLUMN: ..." without the colon that follows the (empty) file name. */
    struct str said = str_z(problem.message);
    said = str_starts_with(said, STR(":")) ? str_skip(said, 1) : said;
    said = str_starts_with(said, STR(" ")) ? str_skip(said, 1) : said;
    err_copy(err, &problem);
    free(err->message);
    err->message = strndup(said.p, said.n);
    BUG_ON(!err->message);
    return line_blame(err, file, line->number);
}
