/* Fuzzes unified diffs: the input is a diff, and after its last NUL the file that every one of them
 * changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "tool/image.h"

enum {
    INPUT_MAX = 1 << 16,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t written(const struct image *im)
{
    AUTO_BUF struct buf out = BUF_INIT(16 << 20);
    image_write(im, &out);
    return out.n;
}

static void apply(const struct unified *u, const struct unified_patch *p, struct str text)
{
    AUTO_ERR struct err err = {0};
    AUTO_LINES struct lines lines = {0};
    struct image im;
    BUG_ON(!lines_split(text, LINES_LF, "fuzz", &lines, &err));
    image_init(&im, &lines);
    BUG_ON(written(&im) != text.n);
    for (size_t i = 0; i < p->n; i++) {
        const struct unified_hunk *h = &u->hunks[p->first + i];
        size_t before = im.total;
        if (image_apply(&im, h) != IMAGE_FITS)
            BUG_ON(im.total != before);
        written(&im);
    }
    image_done(&im);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ERR struct err err = {0};
    AUTO_UNIFIED struct unified u = {0};
    if (size == 0 || size > INPUT_MAX)
        return 0;
    struct str all = str_n((const char *)data, size);
    ptrdiff_t nul = str_find_last(all, '\0');
    struct str text = nul < 0 ? STR("a\nb\n") : str_skip(all, (size_t)nul + 1);
    if (!unified_parse(nul < 0 ? all : str_head(all, (size_t)nul), &u, &err))
        return 0;
    for (size_t i = 0; i < u.n_patches; i++) {
        const struct unified_patch *p = &u.patches[i];
        BUG_ON(!p->old_name.p && !p->new_name.p);
        apply(&u, p, text);
    }
    return 0;
}
