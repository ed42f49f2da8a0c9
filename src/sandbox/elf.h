/* The parts of ELF that the sandbox needs: which loader a program asks for, and how to make a
 * loader that can only be used as an interpreter.
 *
 * `ld.so FILE` starts FILE without executing it, which bypasses every list of allowed executables.
 * Still, the loader itself must be executable, since the kernel opens it for each program. The
 * difference is the program header PT_INTERP: the kernel obeys it in the file that is executed and
 * ignores it in the interpreter. A copy of the loader with such a header that does not name a
 * program still loads programs, but can't be executed itself.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_ELF_H
#define SANDBOX_ELF_H

#include "base/str.h"

/* The interpreter named in the first bytes of a program; "no value" if it names none, is not an ELF
 * program of this machine, or the name is not within these bytes. */
struct str elf_interpreter(struct str head);

/* The bytes to write over a loader, and their offset, to give it such a header. Returns false if
 * the first bytes are not those of an ELF file or no header can be spared. */
struct elf_patch {
    size_t at, n;
    char bytes[64];
};
MUST_USE bool elf_prevent_start(struct str head, struct elf_patch *ret_patch);

#endif
