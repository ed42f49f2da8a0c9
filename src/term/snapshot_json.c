/* ScreenSnapshot as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/snapshot_json.h"

#include "term/unicode.h"

static const char *const underline_names[] = {
    [UNDERLINE_NONE] = "none",
    [UNDERLINE_SINGLE] = "single",
    [UNDERLINE_DOUBLE] = "double",
    [UNDERLINE_CURLY] = "curly",
    [UNDERLINE_DOTTED] = "dotted",
    [UNDERLINE_DASHED] = "dashed",
};

static const char *const width_names[] = {
    [TERM_WIDTH_GRAPHEME] = "grapheme",
    [TERM_WIDTH_WCWIDTH] = "wcwidth",
};

/* Attributes that are written only if set. */
static const struct {
    const char *name;
    unsigned attrs;
} extras[] = {
    {"faint", STYLE_FAINT},
    {"blink", STYLE_BLINK | STYLE_RAPID},
    {"conceal", STYLE_CONCEAL},
    {"strike", STYLE_STRIKE},
    {"overline", STYLE_OVERLINE},
};

static json_t *snapshot_single_field(const char *key, json_t *value)
{
    json_t *object = json_object();
    json_put(object, key, value);
    return object;
}

json_t *color_json(color c)
{
    unsigned value = color_value(c);
    switch (color_kind(c)) {
    case COLOR_ANSI:
        return snapshot_single_field("ansi_16", json_integer(value));
    case COLOR_INDEXED:
        return snapshot_single_field("ansi_256", json_integer(value));
    case COLOR_RGB: {
        json_t *rgb = snapshot_single_field("r", json_integer(value >> 16 & 0xFF));
        json_put(rgb, "g", json_integer(value >> 8 & 0xFF));
        json_put(rgb, "b", json_integer(value & 0xFF));
        return snapshot_single_field("rgb", rgb);
    }
    case COLOR_DEFAULT:
        break;
    }
    return json_string("default");
}

json_t *style_json(const struct style *style, struct str link)
{
    json_t *object = json_object();
    json_put(object, "fg", color_json(style->fg));
    json_put(object, "bg", color_json(style->bg));
    json_put(object, "bold", json_boolean(style->attrs & STYLE_BOLD));
    json_put(object, "italic", json_boolean(style->attrs & STYLE_ITALIC));
    json_put(object, "underline", json_boolean(style->underline != UNDERLINE_NONE));
    json_put(object, "inverse", json_boolean(style->attrs & STYLE_INVERSE));
    for (size_t i = 0; i < ARRAY_LEN(extras); i++)
        if (style->attrs & extras[i].attrs)
            json_put(object, extras[i].name, json_true());
    if (style->underline > UNDERLINE_SINGLE)
        json_put(object, "underline_style", json_string(underline_names[style->underline]));
    if (style->underline_color)
        json_put(object, "underline_color", color_json(style->underline_color));
    if (link.p)
        json_put(object, "link", json_text(link));
    return object;
}

/* Cache of recently written styles. Most screens use few; with many colours it only misses. */
enum {
    CACHE_SIZE = 256,
};

struct style_cache {
    const struct snapshot_cell *cells[CACHE_SIZE];
    json_t *styles[CACHE_SIZE]; /* owned */
};

static json_t *cached_style(struct style_cache *cache, const struct snapshot_cell *cell)
{
    const struct style *s = &cell->style;
    uint32_t mix = s->fg * 31 + s->bg * 131 + s->underline_color * 1031 + s->attrs * 17u +
                   s->underline * 7u + s->link * 3;
    size_t at = mix * UINT32_C(2654435769) >> 24;
    if (!cache->cells[at] || !snapshot_same_style(cache->cells[at], cell)) {
        json_decref(cache->styles[at]);
        cache->styles[at] = style_json(s, cell->link);
        cache->cells[at] = cell;
    }
    return json_incref(cache->styles[at]);
}

static json_t *cells_json(const struct snapshot *s)
{
    struct style_cache cache = {0};
    json_t *rows = json_array(), *shared = NULL; /* the previous cell; borrowed */
    const struct snapshot_cell *before = NULL;
    for (unsigned row = 0; row < s->rows; row++) {
        json_t *list = json_array();
        for (unsigned col = 0; col < s->cols; col++) {
            const struct snapshot_cell *cell = &s->cells[(size_t)row * s->cols + col];
            if (before && before->width == cell->width && str_eq(before->text, cell->text) &&
                snapshot_same_style(before, cell)) {
                json_push(list, json_incref(shared));
                continue;
            }
            shared = snapshot_single_field("ch", json_text(cell->text));
            json_put(shared, "width", json_integer(cell->width));
            json_put(shared, "style", cached_style(&cache, cell));
            json_push(list, shared);
            before = cell;
        }
        json_push(rows, list);
    }
    for (size_t i = 0; i < CACHE_SIZE; i++)
        json_decref(cache.styles[i]);
    return rows;
}

json_t *snapshot_json(const struct snapshot *s, const char *id)
{
    json_t *object = json_object(), *cursor = json_object(), *lines = json_array();
    json_put(cursor, "row", json_integer(s->cursor.row));
    json_put(cursor, "col", json_integer(s->cursor.col));
    json_put(cursor, "visible", json_boolean(s->cursor.visible));
    for (unsigned row = 0; row < s->rows; row++)
        json_push(lines, json_text(s->lines[row]));
    json_put(object, "snapshot_version", json_integer(SNAPSHOT_VERSION));
    json_put(object, "snapshot_id", json_string(id));
    json_put(object, "rows", json_integer(s->rows));
    json_put(object, "cols", json_integer(s->cols));
    json_put(object, "cursor", cursor);
    json_put(object, "alternate_screen", json_boolean(s->alternate_screen));
    json_put(object, "title", json_text(s->title));
    json_put(object, "unicode", json_string(UNICODE_VERSION));
    json_put(object, "width", json_string(width_names[s->width]));
    json_put(object, "lines", lines);
    if (s->cells)
        json_put(object, "cells", cells_json(s));
    return object;
}
