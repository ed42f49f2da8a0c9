/* Git's index without a submodule: any bytes; the result has the same entries except those. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitindex.h"
#include "repo/gitlink.h"
#include "repo/sha1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool next_other(struct gitindex_reader *r, struct str path, struct gitindex_entry *e)
{
    AUTO_ERR struct err err = {0};
    while (r->left) {
        BUG_ON(!gitindex_entry(r, e, &err));
        if ((e->mode & GITINDEX_TYPE) != GITINDEX_GITLINK || !str_eq(e->name, path))
            return true;
    }
    return false;
}

static void check_entries(struct str old, struct str new, struct str path)
{
    AUTO_GITINDEX struct gitindex_reader a = {0}, b = {0};
    AUTO_ERR struct err err = {0};
    struct gitindex_entry x, y;
    BUG_ON(!gitindex_start(old, GITINDEX_SHA1, &a, &err) ||
           !gitindex_start(new, GITINDEX_SHA1, &b, &err));
    BUG_ON(a.version != b.version || a.left <= b.left);
    while (next_other(&a, path, &x)) {
        BUG_ON(b.left == 0 || !gitindex_entry(&b, &y, &err));
        BUG_ON(!str_eq(x.head, y.head) || !str_eq(x.name, y.name));
    }
    BUG_ON(b.left);
}

/* The first byte is the length of the path. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF struct buf out = BUF_INIT(1 << 20), again = BUF_INIT(1 << 20);
    AUTO_ERR struct err err = {0};
    struct str rest = str_n((const char *)data, size);
    size_t n = size ? data[0] % 16 : 0;
    struct str path = str_head(str_skip(rest, 1), n), index = str_skip(rest, 1 + n);
    const struct gitlink_paths paths = {&path, 1};
    unsigned char hash[SHA1_BYTES];
    bool dropped = false;
    if (!gitlink_remove(index, &paths, &out, &dropped, &err)) {
        BUG_ON((err.code != E_IO && err.code != E_CONFLICT) || dropped);
        return 0;
    }
    BUG_ON(err.code != ERR_NONE || (!dropped && out.n));
    if (!dropped)
        return 0;
    BUG_ON(out.n >= index.n);
    sha1_hash(str_head(buf_str(&out), out.n - sizeof(hash)), hash);
    BUG_ON(memcmp(out.p + out.n - sizeof(hash), hash, sizeof(hash)) != 0);
    check_entries(index, buf_str(&out), path);
    BUG_ON(!gitlink_remove(buf_str(&out), &paths, &again, &dropped, &err) || dropped);
    return 0;
}
