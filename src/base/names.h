/* Names of hosts and users, as the C library looks them up. The static program can't load the
 * modules of another system's C library that nsswitch.conf may name: it asks files and DNS alone.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

/* Before the first lookup; more calls do nothing. */
void names_prepare(void);

#endif
