/* Builds a JSON tree from YAML parser events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml.h"

#include "base/place.h"
#include "base/utf8.h"
#include "base/yaml_scalar.h"
#include "base/yaml_text.h"

#include <yaml.h>

#define AUTO_EVENT AUTO(yaml_event_delete)

enum {
    SHOWN_KEY = 60, /* bytes of a key in a message */
};

struct yaml_reader {
    yaml_parser_t parser;
    struct str text;
    enum err_code code;
    struct err *err;
    size_t nodes;
    unsigned depth;
};

static bool yaml_blame(struct yaml_reader *r, yaml_mark_t mark)
{
    return place_blame(r->err, (struct point){(unsigned)mark.line + 1, (unsigned)mark.column + 1});
}

static bool yaml_refuse(struct yaml_reader *r, yaml_mark_t mark, const char *why)
{
    err_set(r->err, r->code, "%s", why);
    return yaml_blame(r, mark);
}

static bool refuse_syntax(struct yaml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    BUG_ON(p->error == YAML_MEMORY_ERROR);
    if (p->error == YAML_READER_ERROR) {
        err_set(r->err, r->code, "%s", p->problem);
        return place_blame(r->err, place_point(r->text, MIN(p->problem_offset, r->text.n)));
    }
    err_set(
        r->err, r->code, "%s%s%s", p->problem, p->context ? " " : "", p->context ? p->context : "");
    return yaml_blame(r, p->problem_mark);
}

static bool yaml_next_event(struct yaml_reader *r, yaml_event_t *ret_event)
{
    return yaml_parser_parse(&r->parser, ret_event) || refuse_syntax(r);
}

static struct str scalar_text(const yaml_event_t *event)
{
    return str_n((const char *)event->data.scalar.value, event->data.scalar.length);
}

static bool scalar_plain(const yaml_event_t *event)
{
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* Rejects constructs that make the text mean more than it shows, on every kind of node. */
static bool check_node(struct yaml_reader *r, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        if (str_find(scalar_text(event), '\0') >= 0)
            return yaml_refuse(r, event->start_mark, "the character \\0 is not allowed");
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (event->type == YAML_ALIAS_EVENT)
        return yaml_refuse(r, event->start_mark, "aliases (*name) are not supported");
    if (anchor)
        return yaml_refuse(r, event->start_mark, "anchors (&name) are not supported");
    if (tag)
        return yaml_refuse(r, event->start_mark, "tags (!name) are not supported");
    if (++r->nodes > YAML_NODES_MAX)
        return yaml_refuse(r, event->start_mark, "more than a million values");
    return true;
}

static bool read_node(struct yaml_reader *r, const yaml_event_t *event, json_t **ret_value);

static bool read_scalar(struct yaml_reader *r, const yaml_event_t *event, json_t **ret_value)
{
    const char *why = NULL;
    struct str text = scalar_text(event);
    json_t *value = scalar_plain(event) ? yaml_scalar(text, &why) : json_text(text);
    if (!value)
        return yaml_refuse(r, event->start_mark, why);
    *ret_value = value;
    return true;
}

static bool read_list(struct yaml_reader *r, json_t **ret_value)
{
    AUTO_JSON json_t *list = json_array();
    for (;;) {
        AUTO_EVENT yaml_event_t event = {0};
        json_t *value = NULL;
        if (!yaml_next_event(r, &event))
            return false;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (!read_node(r, &event, &value))
            return false;
        json_push(list, value);
    }
    *ret_value = json_take(&list);
    return true;
}

static bool yaml_check_key(struct yaml_reader *r, const yaml_event_t *event, const json_t *object)
{
    if (!check_node(r, event))
        return false;
    if (event->type != YAML_SCALAR_EVENT)
        return yaml_refuse(r, event->start_mark, "a key must be a scalar");
    struct str key = scalar_text(event);
    if (scalar_plain(event) && str_is(key, "<<"))
        return yaml_refuse(r, event->start_mark, "merge keys (<<) are not supported");
    if (scalar_plain(event) && key.n == 0)
        return yaml_refuse(r, event->start_mark, "a key is missing");
    if (json_object_getn(object, key.p, key.n)) {
        err_set(
            r->err, r->code, "duplicate key \"" STR_FMT "\"", STR_ARG(str_head(key, SHOWN_KEY)));
        return yaml_blame(r, event->start_mark);
    }
    return true;
}

static bool yaml_read_object(struct yaml_reader *r, json_t **ret_value)
{
    AUTO_JSON json_t *object = json_object();
    for (;;) {
        AUTO_EVENT yaml_event_t key = {0};
        AUTO_EVENT yaml_event_t event = {0};
        json_t *value = NULL;
        if (!yaml_next_event(r, &key))
            return false;
        if (key.type == YAML_MAPPING_END_EVENT)
            break;
        if (!yaml_check_key(r, &key, object) || !yaml_next_event(r, &event) ||
            !read_node(r, &event, &value))
            return false;
        struct str name = scalar_text(&key);
        BUG_ON(json_object_setn_new_nocheck(object, name.p, name.n, value) != 0);
    }
    *ret_value = json_take(&object);
    return true;
}

static bool read_node(struct yaml_reader *r, const yaml_event_t *event, json_t **ret_value)
{
    if (!check_node(r, event))
        return false;
    if (event->type == YAML_SCALAR_EVENT)
        return read_scalar(r, event, ret_value);
    if (r->depth == JSON_DEPTH_MAX) {
        err_set(r->err, r->code, "nested more than %d levels deep", JSON_DEPTH_MAX);
        return yaml_blame(r, event->start_mark);
    }
    r->depth++;
    bool list = event->type == YAML_SEQUENCE_START_EVENT;
    bool ok = list ? read_list(r, ret_value) : yaml_read_object(r, ret_value);
    r->depth--;
    return ok;
}

/* The start of the stream and of the first document. */
static bool read_start(struct yaml_reader *r)
{
    AUTO_EVENT yaml_event_t stream = {0};
    AUTO_EVENT yaml_event_t document = {0};
    if (!yaml_next_event(r, &stream) || !yaml_next_event(r, &document))
        return false;
    if (document.type != YAML_DOCUMENT_START_EVENT)
        return err_set(r->err, r->code, "empty, where YAML was expected");
    const yaml_tag_directive_t *tags = document.data.document_start.tag_directives.start;
    if (tags != document.data.document_start.tag_directives.end)
        return yaml_refuse(r, document.start_mark, "tags (%TAG) are not supported");
    return true;
}

static bool read_end(struct yaml_reader *r)
{
    AUTO_EVENT yaml_event_t document = {0};
    AUTO_EVENT yaml_event_t stream = {0};
    if (!yaml_next_event(r, &document) || !yaml_next_event(r, &stream))
        return false;
    if (stream.type != YAML_STREAM_END_EVENT)
        return yaml_refuse(r, stream.start_mark, "more than one document");
    return true;
}

static bool read_document(struct yaml_reader *r, json_t **ret_tree)
{
    AUTO_EVENT yaml_event_t root = {0};
    AUTO_JSON json_t *tree = NULL;
    if (!read_start(r) || !yaml_next_event(r, &root))
        return false;
    if (root.type == YAML_SCALAR_EVENT && scalar_plain(&root) && root.data.scalar.length == 0)
        return err_set(r->err, r->code, "empty, where YAML was expected");
    if (!read_node(r, &root, &tree) || !read_end(r))
        return false;
    *ret_tree = json_take(&tree);
    return true;
}

static bool yaml_parse_tree(struct str text, enum err_code code, json_t **ret_tree, struct err *err)
{
    if (text.n > YAML_SIZE_MAX)
        return err_set(err, code, "larger than %d MiB", YAML_SIZE_MAX >> 20);
    text = utf8_skip_mark(text); /* the parser would count it as a column */
    if (!yaml_check_text(text, code, err))
        return false;
    struct yaml_reader r = {.text = text, .code = code, .err = err};
    BUG_ON(!yaml_parser_initialize(&r.parser));
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(text.p ? text.p : ""), text.n);
    bool ok = read_document(&r, ret_tree);
    yaml_parser_delete(&r.parser);
    return ok;
}

bool yaml_parse(
    struct str text, const char *name, enum err_code code, json_t **ret_tree, struct err *err)
{
    return yaml_parse_tree(text, code, ret_tree, err) || place_blame_file(err, name);
}
