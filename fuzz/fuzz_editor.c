/* Any input of a terminal to the editor: the content is valid, the cursor in it and on the rows,
 * and undoing everything leads back to an empty text. The first byte is the width. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_rows.h"
#include "tui/editor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void candidates(void *context, struct str word, struct editor_list *list)
{
    (void)context;
    for (size_t i = 0; i < word.n && i < 9; i++)
        editor_offer(list, str_skip(word, i), str_head(word, i));
}

static void check(const struct editor *e, unsigned width)
{
    AUTO_TEXT struct text rows = TEXT_INIT;
    AUTO_BUF struct buf content = BUF_INIT((size_t)EDITOR_MAX * 300);
    struct editor_place cursor;
    editor_content(e, &content);
    BUG_ON(!buf_ok(&content) || !utf8_valid(buf_str(&content)));
    BUG_ON(editor_cursor(e) > content.n);
    editor_draw(
        e, &(struct editor_view){.width = width, .rows = 4, .prompt = STR("> ")}, &rows, &cursor);
    rows_check(&rows, width);
    BUG_ON(cursor.row >= rows.n || cursor.col >= width);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct typed_keys *keys;
    if (size < 1)
        return 0;
    if (!keys)
        keys = typed_keys_new();
    unsigned width = 1 + data[0] % 60u;
    struct editor *e = editor_new(&(struct editor_options){.complete = candidates});
    editor_remember(e, STR("older"));
    editor_remember(e, STR("old\nand more"));
    struct typed typed;
    for (struct str rest = str_n((const char *)data + 1, size - 1); rest.n;) {
        rest = str_skip(rest, typed_next(keys, rest, true, &typed));
        if (editor_typed(e, &typed) == EDITOR_SENT) {
            AUTO_BUF struct buf sent = BUF_INIT((size_t)EDITOR_MAX * 300);
            editor_content(e, &sent);
            editor_remember(e, buf_str(&sent));
            editor_clear(e);
        }
        check(e, width);
    }
    for (size_t i = 0; i < size; i++)
        (void)editor_key(e, "Ctrl+_");
    BUG_ON(!editor_empty(e) && size < 900);
    editor_free(e);
    return 0;
}
