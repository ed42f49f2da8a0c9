/* Styled lines as plain text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "shown.h"

#include "base/utf8.h"
#include "term/look.h"

static void add_style(const struct style *s, struct buf *out)
{
    static const struct {
        unsigned attr;
        char letter;
    } rows[] = {{STYLE_BOLD, 'b'}, {STYLE_FAINT, 'f'}, {STYLE_ITALIC, 'i'}, {STYLE_STRIKE, 's'},
        {STYLE_INVERSE, 'v'}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (s->attrs & rows[i].attr)
            buf_add_byte(out, rows[i].letter);
    if (s->underline)
        buf_add_byte(out, 'u');
    if (s->fg)
        buf_printf(out, "%u", color_value(s->fg));
}

void shown_line(const struct text *t, size_t line, struct buf *out)
{
    size_t start = out->n;
    for (size_t i = 0; i < t->lines[line].n; i++) {
        const struct text_span *span = text_spans(t, line) + i;
        struct style none = {0};
        bool plain = memcmp(&span->style, &none, sizeof(none)) == 0;
        if (!plain) {
            buf_add_z(out, "⟦");
            add_style(&span->style, out);
            buf_add_byte(out, ':');
        }
        buf_add_str(out, text_bytes(t, span));
        if (span->style.link)
            buf_printf(out, "→" STR_FMT, STR_ARG(text_uri(t, span->style.link)));
        if (!plain)
            buf_add_z(out, "⟧");
    }
    while (out->n > start && out->p[out->n - 1] == ' ')
        buf_truncate(out, out->n - 1);
}

void shown(const struct text *t, struct buf *out)
{
    for (size_t i = 0; i < t->n; i++) {
        shown_line(t, i, out);
        buf_add_byte(out, '\n');
    }
}

void shown_plain(const struct text *t, struct buf *out)
{
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = 0; k < t->lines[i].n; k++)
            buf_add_str(out, text_bytes(t, text_spans(t, i) + k));
        buf_add_byte(out, '\n');
    }
}

static bool safe_span(struct str bytes, size_t *width)
{
    for (unsigned w; bytes.n;) {
        size_t n = text_cluster(bytes, &w), at = 0;
        uint32_t codepoint;
        for (size_t m; at < n; at += m) {
            m = utf8_decode(str_skip(bytes, at), &codepoint);
            if (m == 0 || !look_drawable(codepoint) || (at == 0 && !utf8_shown_as_is(codepoint)))
                return false;
        }
        if (w == 0)
            return false;
        *width += w;
        bytes = str_skip(bytes, n);
    }
    return true;
}

bool shown_is_safe(const struct text *t)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t width = 0;
        for (size_t k = 0; k < t->lines[i].n; k++) {
            const struct text_span *span = text_spans(t, i) + k;
            struct str uri = text_uri(t, span->style.link);
            if (!safe_span(text_bytes(t, span), &width))
                return false;
            for (size_t u = 0; u < uri.n; u++)
                if (uri.p[u] <= ' ' || uri.p[u] >= 0x7F)
                    return false;
        }
        if (width != t->lines[i].width)
            return false;
    }
    return true;
}
