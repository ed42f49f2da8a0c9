/* Git's index: any bytes, also as the shared part of a split one; paths are plain and sorted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/change.h"
#include "repo/tracked.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the same bytes once more: a split index is made of two. */
static bool give(void *context, const char *name, struct buf *bytes, struct err *err)
{
    BUG_ON(strncmp(name, "sharedindex.", 12) != 0);
    (void)err;
    buf_add_str(bytes, *(struct str *)context);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_TRACKED struct tracked t = {0};
    AUTO_ERR struct err err = {0};
    struct str all = str_n((const char *)data, size), own = all, shared = all;
    /* The first byte is the place where the second index begins, in sixteenths. */
    if (size > 16 && data[0] < 16) {
        own = str_head(str_skip(all, 1), size / 16 * data[0]);
        shared = str_skip(all, 1 + own.n);
    }
    if (!tracked_parse(own, give, &shared, &t, &err)) {
        BUG_ON(err.code != E_IO);
        return 0;
    }
    BUG_ON(err.code != ERR_NONE);
    for (size_t i = 0; i < t.n; i++) {
        BUG_ON(!change_rel_ok(t.paths[i]) || !tracked_has(&t, t.paths[i]));
        BUG_ON(i > 0 && str_cmp(t.paths[i - 1], t.paths[i]) >= 0);
    }
    for (size_t i = 0; i < t.n_links; i++) {
        BUG_ON(!change_rel_ok(t.links[i]));
        BUG_ON(i > 0 && str_cmp(t.links[i - 1], t.links[i]) >= 0);
    }
    return 0;
}
