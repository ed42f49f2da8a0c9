/* The little of ELF that the sandbox must know: which loader a program asks for, and how to make a
 * loader that only serves as one.
 *
 * `ld.so FILE` starts FILE without executing it, past every list of allowed executables. The kernel
 * must be allowed to execute the loader, though, since it opens it for each program. The difference
 * is the program header PT_INTERP: the kernel obeys it in the file that is started and ignores it
 * in the one that interprets. A copy of the loader with such a header, which names no program,
 * still loads programs and can't be started itself.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_ELF_H
#define SANDBOX_ELF_H

#include "base/str.h"

/* The interpreter that these first bytes of a program name; "no value" if it names none, is no ELF
 * program of this machine, or the name is not within the bytes. */
struct str elf_interpreter(struct str head);

/* What to write over a loader, and where, so that it has such a header; false if these first bytes
 * are of no ELF file or no header can be spared. */
struct elf_patch {
    size_t at, n;
    char bytes[64];
};
MUST_USE bool elf_no_start(struct str head, struct elf_patch *ret_patch);

#endif
