/* System call numbers by name for the target architecture, from the kernel headers
 * (base/syscalls.py), so that tables of calls are the same on all architectures.
 *
 *     {NR_openat, …}, {NR_open, …}    the second is SYSCALL_NONE where there is no such call
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SYSCALLS_H
#define BASE_SYSCALLS_H

#include "base/syscall_table.h"

#include <linux/audit.h>

enum {
    SYSCALL_NONE = -1,
};

enum syscall_number {
#define SYSCALL_NUMBER(name, number) NR_##name = number,
#define SYSCALL_ABSENT(name)         NR_##name = SYSCALL_NONE,
    SYSCALLS_HERE(SYSCALL_NUMBER) SYSCALLS_ABSENT(SYSCALL_ABSENT)
#undef SYSCALL_NUMBER
#undef SYSCALL_ABSENT
};

/* AUDIT_ARCH value of this architecture in seccomp filters. 32-bit programs (i386, 32-bit Arm) have
 * another one; x32 has the same, with a bit set in its numbers. */
#if defined __x86_64__
#define SYSCALL_ARCH    AUDIT_ARCH_X86_64
#define SYSCALL_X32_BIT 0x40000000u
#elif defined __aarch64__
#define SYSCALL_ARCH AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define SYSCALL_ARCH AUDIT_ARCH_RISCV64
#else
#error "the system-call filter does not support this processor"
#endif

#endif
