/* Relocation of the static program's large libraries when the first of them is used. A program at a
 * random address has its pointers filled in when it starts; OpenSSL has hundreds of kilobytes of
 * them, which cost every command more time than all the rest of its start. static.ld puts these
 * tables into pages of their own, and later.py takes their relocations out of the start.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LATER_H
#define BASE_LATER_H

/* Before a call of a library that static.ld names; more calls do nothing. */
void later_relocate(void);

#endif
