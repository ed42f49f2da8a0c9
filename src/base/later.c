/* Applies the relocations that later.py set aside. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/later.h"

#ifdef CORDON_STATIC

#include "base/base.h"

#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

/* Offset of the relocation table in the program and number of its entries: filled in by
 * later.py. */
extern const volatile struct later {
    uint64_t at, n;
} later_relocations;
const volatile struct later later_relocations = {0};

extern char __ehdr_start[], later_begin[], later_end[];

static void later_relocate_all(void)
{
    uintptr_t base = (uintptr_t)__ehdr_start;
    const ElfW(Rela) *rows = (const ElfW(Rela) *)(base + later_relocations.at);
    for (uint64_t i = 0; i < later_relocations.n; i++) {
        uintptr_t value = base + (uintptr_t)rows[i].r_addend;
        memcpy((void *)(base + rows[i].r_offset), &value, sizeof(value));
    }
    uintptr_t begin = (uintptr_t)later_begin, end = (uintptr_t)later_end;
    (void)!mprotect((void *)begin, end - begin, PROT_READ);
}

void later_relocate(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, later_relocate_all);
}

#endif
