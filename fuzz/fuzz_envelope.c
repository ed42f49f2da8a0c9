/* Fuzzes freeform patches: the input is a patch, and after its last NUL a file to place hunks in. A
 * placed hunk must be at the reported place. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "tool/near.h"
#include "tool/tool_envelope.h"
#include "tool/tool_place.h"

enum {
    INPUT_MAX = 1 << 16,
    ARENA_MAX = 64 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void place_hunk(
    const struct envelope *e, const struct envelope_hunk *h, struct place_text *text)
{
    AUTO_ARENA struct arena a = ARENA_INIT(ARENA_MAX);
    struct str *old = ARENA_NEW(&a, struct str, h->n_old + 1);
    struct place place;
    size_t n = 0;
    for (size_t i = h->first; i < h->first + h->n; i++)
        if (e->lines[i].sign != '+')
            old[n++] = e->lines[i].text;
    BUG_ON(n != h->n_old);
    if (n == 0)
        return;
    if (place_find(text, old, n, 0, h->at_end, &place)) {
        BUG_ON(place.at + n > text->lines->n);
        for (size_t i = 0; i < n; i++)
            BUG_ON(!fold_equal(lines_text(text->lines, place.at + i), old[i], place.how));
        BUG_ON(h->at_end && place.at + n != text->lines->n);
        return;
    }
    struct near near = near_find(text->lines, old, n, 0);
    AUTO_BUF struct buf words = BUF_INIT(1 << 20);
    near_add_sentence(&near, &words);
    near_add_block(&near, &words);
    json_decref(near_json(&near));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ERR struct err err = {0};
    AUTO_ENVELOPE struct envelope e = {0};
    AUTO_LINES struct lines lines = {0};
    if (size == 0 || size > INPUT_MAX)
        return 0;
    struct str all = str_n((const char *)data, size);
    ptrdiff_t nul = str_find_last(all, '\0');
    struct str text = nul < 0 ? STR("a\nb\n") : str_skip(all, (size_t)nul + 1);
    if (!envelope_parse(nul < 0 ? all : str_head(all, (size_t)nul), &e, &err))
        return 0;
    BUG_ON(!lines_split(text, LINES_ANY_END, "fuzz", &lines, &err));
    struct place_text places = {.lines = &lines};
    for (size_t i = 0; i < e.n_hunks; i++)
        place_hunk(&e, &e.hunks[i], &places);
    place_done(&places);
    return 0;
}
