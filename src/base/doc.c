/* Documents: chooses between JSON and YAML, and maps a place in the tree to a position in the
 * text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/doc.h"

#include "base/utf8.h"
#include "base/yaml.h"
#include "base/yaml_text.h"

#include <yaml.h>

#define AUTO_STEP AUTO(place_step_done)

enum doc_format doc_format(struct str text, const char *name)
{
    struct str n = str_z(name);
    if (str_ends_with(n, STR(".json")))
        return DOC_JSON;
    if (str_ends_with(n, STR(".yaml")) || str_ends_with(n, STR(".yml")))
        return DOC_YAML;
    text = utf8_skip_mark(text);
    while (text.n && memchr(" \t\r\n", text.p[0], 4))
        text = str_skip(text, 1);
    return text.n && (text.p[0] == '{' || text.p[0] == '[') ? DOC_JSON : DOC_YAML;
}

/* The text must mean what a reviewer sees, in both formats: JSON gets the same character checks as
 * YAML. */
static bool parse_json(
    struct str text, const char *name, enum err_code code, json_t **ret_tree, struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    if (!json_parse(text, name, code, &tree, err))
        return false;
    if (!yaml_check_text(text, code, err))
        return place_blame_file(err, name);
    *ret_tree = json_take(&tree);
    return true;
}

bool doc_parse(
    struct str text, const char *name, enum err_code code, json_t **ret_tree, struct err *err)
{
    if (doc_format(text, name) == DOC_YAML)
        return yaml_parse(text, name, code, ret_tree, err);
    const char *other = utf8_other_encoding(text);
    if (!other)
        return parse_json(utf8_skip_mark(text), name, code, ret_tree, err);
    err_set(err, code, "not valid UTF-8 but %s: save it as UTF-8", other);
    place_blame(err, (struct point){1, 1});
    return place_blame_file(err, name);
}

/* JSON: a cursor over text that is known to be valid; invalid text is harmless. */
struct doc_cursor {
    struct str text;
    size_t at;
};

static char doc_peek(const struct doc_cursor *c)
{
    return c->at < c->text.n ? c->text.p[c->at] : '\0';
}

static void skip_blank(struct doc_cursor *c)
{
    while (c->at < c->text.n && memchr(" \t\r\n,:", doc_peek(c), 6))
        c->at++;
}

static struct str doc_read_string(struct doc_cursor *c)
{
    size_t start = c->at++;
    while (c->at < c->text.n && doc_peek(c) != '"')
        c->at += doc_peek(c) == '\\' ? 2 : 1;
    c->at = MIN(c->at + 1, c->text.n);
    return str_n(c->text.p + start, c->at - start);
}

static void doc_skip_value(struct doc_cursor *c)
{
    size_t depth = 0;
    do {
        skip_blank(c);
        char byte = doc_peek(c);
        if (byte == '"') {
            doc_read_string(c);
            continue;
        }
        if (byte == '{' || byte == '[')
            depth++;
        else if ((byte == '}' || byte == ']') && depth > 0)
            depth--;
        c->at += c->at < c->text.n;
        if (!memchr("{}[]", byte, 4))
            while (c->at < c->text.n && !memchr(" \t\r\n,:{}[]\"", doc_peek(c), 11))
                c->at++;
    } while (depth > 0 && c->at < c->text.n);
}

static bool key_is(struct str quoted, struct str key)
{
    AUTO_JSON json_t *text = NULL;
    AUTO_ERR struct err unused = {0};
    return json_parse(quoted, "key", E_INTERNAL, &text, &unused) && str_eq(json_str(text), key);
}

/* Moves to the member (its key) or entry; the value follows at *c. Returns false if it does not
 * exist. */
static bool json_enter(struct doc_cursor *c, const struct place_step *step, size_t *ret_found)
{
    skip_blank(c);
    if (doc_peek(c) != (step->by_key ? '{' : '['))
        return false;
    c->at++;
    for (size_t i = 0;; i++) {
        skip_blank(c);
        size_t start = c->at;
        if (c->at >= c->text.n || doc_peek(c) == '}' || doc_peek(c) == ']')
            return false;
        bool found =
            step->by_key ? key_is(doc_read_string(c), buf_str(&step->key)) : i == step->index;
        if (found) {
            *ret_found = start;
            return true;
        }
        doc_skip_value(c);
    }
}

static struct point json_locate(struct str text, struct str place)
{
    struct doc_cursor c = {.text = text};
    AUTO_STEP struct place_step step = PLACE_STEP_INIT;
    skip_blank(&c);
    size_t found = c.at;
    while (place_next(&place, &step) && json_enter(&c, &step, &found))
        continue;
    return place_point(text, found);
}

/* YAML: the same, with the parser's events. */
static bool doc_next_event(yaml_parser_t *parser, yaml_event_t *event)
{
    yaml_event_delete(event);
    return yaml_parser_parse(parser, event);
}

static int doc_nesting(const yaml_event_t *event)
{
    if (event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT)
        return 1;
    return event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT ? -1 : 0;
}

/* Skips the node whose first event is given. */
static bool skip_node(yaml_parser_t *parser, yaml_event_t *event)
{
    for (int depth = doc_nesting(event); depth > 0; depth += doc_nesting(event))
        if (!doc_next_event(parser, event))
            return false;
    return true;
}

static bool event_is(const yaml_event_t *event, struct str key)
{
    if (event->type != YAML_SCALAR_EVENT)
        return false;
    return str_eq(key, str_n((const char *)event->data.scalar.value, event->data.scalar.length));
}

static struct point event_point(const yaml_event_t *event)
{
    return (struct point){
        (unsigned)event->start_mark.line + 1, (unsigned)event->start_mark.column + 1};
}

/* From a collection's first event to the first event of the wanted value. */
static bool yaml_enter(
    yaml_parser_t *parser, const struct place_step *step, yaml_event_t *event, struct point *found)
{
    if (event->type != (step->by_key ? YAML_MAPPING_START_EVENT : YAML_SEQUENCE_START_EVENT))
        return false;
    for (size_t i = 0;; i++) {
        if (!doc_next_event(parser, event) || doc_nesting(event) < 0)
            return false;
        struct point start = event_point(event);
        bool here = step->by_key ? event_is(event, buf_str(&step->key)) : i == step->index;
        if (step->by_key && (!skip_node(parser, event) || !doc_next_event(parser, event)))
            return false;
        if (here) {
            *found = start;
            return true;
        }
        if (!skip_node(parser, event))
            return false;
    }
}

static struct point yaml_locate(struct str text, struct str place)
{
    AUTO(yaml_parser_delete) yaml_parser_t parser;
    BUG_ON(!yaml_parser_initialize(&parser));
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)(text.p ? text.p : ""), text.n);
    AUTO(yaml_event_delete) yaml_event_t event = {0};
    AUTO_STEP struct place_step step = PLACE_STEP_INIT;
    struct point found = {1, 1};
    do {
        if (!doc_next_event(&parser, &event))
            return found;
    } while (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_START_EVENT);
    found = event_point(&event);
    while (place_next(&place, &step) && yaml_enter(&parser, &step, &event, &found))
        continue;
    return found;
}

struct point doc_locate(struct str text, enum doc_format format, const char *place)
{
    struct str p = str_z(place);
    text = utf8_skip_mark(text);
    return format == DOC_JSON ? json_locate(text, p) : yaml_locate(text, p);
}

bool doc_blame(struct err *err, struct str text, const char *name)
{
    const struct err_pair *field = err_ctx_get(err, "field");
    if (field && field->text)
        place_blame(err, doc_locate(text, doc_format(text, name), field->text));
    return place_blame_file(err, name);
}
