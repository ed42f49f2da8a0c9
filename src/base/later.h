/* Deferred relocation of the static program's large libraries until the first use of one. A
 * position-independent program has its pointers relocated at startup; OpenSSL has hundreds of
 * kilobytes of them, which cost every command more time than the rest of its startup. static.ld
 * places these tables in separate pages, and later.py removes their relocations from the startup
 * ones.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LATER_H
#define BASE_LATER_H

/* Call before using a library that static.ld names; further calls do nothing. */
void later_relocate(void);

#endif
