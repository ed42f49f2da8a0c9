/* Reads and changes ELF program headers. No offset in a file is trusted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/elf.h"

#include <elf.h>
#include <link.h>

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;

enum {
    SEGMENTS_MAX = 128,
#if __SIZEOF_POINTER__ == 8
    NATIVE_CLASS = ELFCLASS64,
#else
    NATIVE_CLASS = ELFCLASS32,
#endif
};

/* Returns the header, if all program headers are within the bytes. */
static bool elf_read_header(struct str file, elf_header *ret_header)
{
    elf_header h;
    if (file.n < sizeof(h))
        return false;
    memcpy(&h, file.p, sizeof(h));
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != NATIVE_CLASS ||
        h.e_phentsize != sizeof(elf_segment) || h.e_phnum > SEGMENTS_MAX || h.e_phoff < sizeof(h))
        return false;
    size_t size = h.e_phnum * sizeof(elf_segment);
    if (h.e_phoff > file.n || size > file.n - h.e_phoff)
        return false;
    *ret_header = h;
    return true;
}

static elf_segment segment_at(struct str file, const elf_header *h, size_t i)
{
    elf_segment segment;
    memcpy(&segment, file.p + h->e_phoff + i * sizeof(segment), sizeof(segment));
    return segment;
}

struct str elf_interpreter(struct str head)
{
    elf_header h;
    const struct str none = {0};
    if (!elf_read_header(head, &h))
        return none;
    for (size_t i = 0; i < h.e_phnum; i++) {
        elf_segment s = segment_at(head, &h, i);
        if (s.p_type != PT_INTERP)
            continue;
        if (s.p_filesz < 2 || s.p_offset > head.n || s.p_filesz > head.n - s.p_offset)
            return none;
        struct str name = str_n(head.p + s.p_offset, s.p_filesz - 1);
        return name.p[name.n] == '\0' && str_find(name, '\0') < 0 ? name : none;
    }
    return none;
}

/* Rank of a header type that a loader can do without, the most dispensable first; -1: needed. */
static int elf_spare_rank(uint32_t type)
{
    static const uint32_t order[] = {
        PT_INTERP, PT_NOTE, PT_GNU_STACK, PT_GNU_PROPERTY, PT_GNU_EH_FRAME};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (order[i] == type)
            return (int)i;
    return -1;
}

/* The name that the header gives is stored in the header itself, in a field that is never read. A
 * directory can't be executed; the kernel requires the name to end in NUL. */
bool elf_prevent_start(struct str head, struct elf_patch *ret_patch)
{
    static const char no_program[] = "/";
    elf_header h;
    int best = -1;
    size_t index = 0;
    if (!elf_read_header(head, &h))
        return false;
    for (size_t i = 0; i < h.e_phnum; i++) {
        int rank = elf_spare_rank(segment_at(head, &h, i).p_type);
        if (rank >= 0 && (best < 0 || rank < best)) {
            best = rank;
            index = i;
        }
    }
    if (best < 0)
        return false;
    size_t at = h.e_phoff + index * sizeof(elf_segment);
    elf_segment s = {
        .p_type = PT_INTERP,
        .p_flags = PF_R,
        .p_offset = at + offsetof(elf_segment, p_paddr),
        .p_filesz = sizeof(no_program),
        .p_align = 1,
    };
    memcpy(&s.p_paddr, no_program, sizeof(no_program));
    struct elf_patch patch = {.at = at, .n = sizeof(s)};
    _Static_assert(sizeof(s) <= sizeof(patch.bytes), "a header fits");
    memcpy(patch.bytes, &s, sizeof(s));
    *ret_patch = patch;
    return true;
}
