/* Manifests: any bytes are read or refused; the sum is made right, so that what is behind it
 * counts. */
#include "base/fnv.h"
#include "box/manifest.h"
#include "path/change.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct str bytes)
{
    AUTO_MANIFEST struct manifest m = MANIFEST_INIT;
    struct str before = {0}, path;
    if (!manifest_parse(bytes, &m))
        return;
    for (size_t i = 0; i < m.n; i++) {
        const struct manifest_entry *e = manifest_get(&m, i, &path);
        BUG_ON(!change_rel_ok(path) || manifest_find(&m, path) != e);
        BUG_ON(i > 0 && str_cmp(before, path) >= 0);
        before = path;
    }
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
