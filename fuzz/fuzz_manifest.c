/* Manifests: any bytes are read or refused; the checksum is corrected, so that the bytes after it
 * are parsed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fnv.h"
#include "change/manifest.h"
#include "path/change.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns true if it was read. */
static bool check_kind(struct str bytes, enum manifest_kind kind)
{
    AUTO_MANIFEST struct manifest m = MANIFEST_INIT;
    struct str before = {0}, path;
    if (!manifest_parse(bytes, kind, &m))
        return false;
    for (size_t i = 0; i < m.n; i++) {
        const struct manifest_entry *e = manifest_get(&m, i, &path);
        int order = i > 0 ? str_cmp(before, path) : -1;
        BUG_ON(!change_rel_ok(path) || order > 0);
        BUG_ON(order == 0 && kind == MANIFEST_OF_TREE);
        BUG_ON((manifest_find(&m, path) == e) != (order < 0)); /* the first of several */
        before = path;
    }
    return true;
}

static void check(struct str bytes)
{
    bool strict = check_kind(bytes, MANIFEST_OF_TREE);
    BUG_ON(!check_kind(bytes, MANIFEST_TO_COME) && strict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum {
        HEADER = 32,
        BYTES_AT = 16,
        SUM_AT = 24,
    };
    check(str_n((const char *)data, size));
    if (size < HEADER)
        return 0;
    AUTO_FREE char *copy = base_alloc(size);
    uint64_t n = size - HEADER;
    memcpy(copy, data, size);
    uint64_t sum = fnv_add(FNV_START, str_n(copy + HEADER, n));
    memcpy(copy + BYTES_AT, &n, sizeof(n));
    memcpy(copy + SUM_AT, &sum, sizeof(sum));
    check(str_n(copy, size));
    return 0;
}
