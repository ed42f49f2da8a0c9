/* Markdown of any bytes, whole and in parts: the same rows, which are safe and not too wide. The
 * first bytes are the width and the size of the parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_rows.h"
#include "tui/markdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct text *a, const struct text *b)
{
    if (a->n != b->n || !str_eq(buf_str(&a->bytes), buf_str(&b->bytes)))
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->lines[i].width != b->lines[i].width)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    AUTO_TEXT struct text whole = TEXT_INIT, parts = TEXT_INIT;
    struct markdown_options options = {.width = 1 + data[0] % 120u, .show_links = data[0] & 128};
    size_t part = 1 + data[1];
    struct str text = str_n((const char *)data + 2, size - 2);
    struct markdown *m = markdown_new(&options);
    markdown_feed(m, text, &whole);
    markdown_end(m, &whole);
    rows_check(&whole, options.width);
    for (size_t at = 0; at < text.n; at += part) {
        AUTO_TEXT struct text live = TEXT_INIT;
        markdown_feed(m, str_head(str_skip(text, at), part), &parts);
        markdown_live(m, &live);
        rows_check(&live, options.width);
    }
    markdown_end(m, &parts);
    BUG_ON(!same(&whole, &parts));
    markdown_free(m);
    return 0;
}
