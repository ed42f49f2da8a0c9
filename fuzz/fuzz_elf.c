/* ELF headers: for any bytes, results are within them, and a patched loader does not name a
 * program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str head = str_n((const char *)data, size), name = elf_interpreter(head);
    struct elf_patch patch;
    BUG_ON(name.p && (name.p < head.p || name.p + name.n >= head.p + head.n));
    BUG_ON(name.p && name.p[name.n] != '\0');
    if (!elf_prevent_start(head, &patch))
        return 0;
    BUG_ON(patch.at > size || patch.n > size - patch.at);
    char *copy = base_alloc(size);
    memcpy(copy, data, size);
    memcpy(copy + patch.at, patch.bytes, patch.n);
    struct str found = elf_interpreter(str_n(copy, size));
    BUG_ON(!str_is(found, "/"));
    free(copy);
    return 0;
}
