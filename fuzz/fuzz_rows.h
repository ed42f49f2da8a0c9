/* Checks of every styled row: drawable characters, as wide as reported, no wider than allowed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_ROWS_H
#define FUZZ_ROWS_H

#include "base/utf8.h"
#include "term/look.h"
#include "tui/tui_text.h"

static inline void rows_check_span(struct str bytes, size_t *width)
{
    for (unsigned w; bytes.n;) {
        size_t n = text_cluster(bytes, &w), m;
        for (size_t at = 0; at < n; at += m) {
            uint32_t codepoint;
            m = utf8_decode(str_skip(bytes, at), &codepoint);
            BUG_ON(m == 0 || !look_drawable(codepoint));
            BUG_ON(at == 0 && !utf8_shown_as_is(codepoint));
        }
        BUG_ON(w == 0);
        *width += w;
        bytes = str_skip(bytes, n);
    }
}

static inline void rows_check(const struct text *t, size_t most)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t width = 0;
        for (size_t k = 0; k < t->lines[i].n; k++) {
            const struct text_span *span = text_spans(t, i) + k;
            struct str uri = text_uri(t, span->style.link);
            rows_check_span(text_bytes(t, span), &width);
            for (size_t u = 0; u < uri.n; u++)
                BUG_ON(uri.p[u] <= ' ' || uri.p[u] >= 0x7F);
        }
        BUG_ON(width != t->lines[i].width);
        BUG_ON(width > most);
    }
}

#endif
