/* Git's configuration: any bytes; written and read again, the entries are the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(struct str a, struct str b)
{
    return !a.p == !b.p && str_eq(a, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA struct arena a = ARENA_INIT(32 << 20);
    AUTO_BUF struct buf text = BUF_INIT(8 << 20);
    struct gitconfig first, second;
    if (!gitconfig_parse(str_n((const char *)data, size), &a, &first))
        return 0;
    gitconfig_write(first.p, first.n, &text);
    BUG_ON(!buf_ok(&text));
    /* Escapes make it longer. */
    if (text.n > GITCONFIG_BYTES_MAX)
        return 0;
    BUG_ON(!gitconfig_parse(buf_str(&text), &a, &second) || second.n != first.n);
    for (size_t i = 0; i < first.n; i++) {
        const struct gitconfig_entry *x = &first.p[i], *y = &second.p[i];
        BUG_ON(!same(x->section, y->section) || !same(x->subsection, y->subsection) ||
               !same(x->name, y->name) || !same(x->value, y->value));
    }
    return 0;
}
