/* CPU features as detected by the C library at startup: executing CPUID again is slow in a virtual
 * machine. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#ifdef __x86_64__
#include <sys/platform/x86.h>
#define CPU_HAS(feature) (CPU_FEATURE_ACTIVE(feature) != 0)
#else
#define CPU_HAS(feature) 0
#endif

#endif
