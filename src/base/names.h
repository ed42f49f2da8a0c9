/* Host and user lookup through the C library. The static program can't load NSS modules of another
 * C library that nsswitch.conf may name, so it uses only files and DNS.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

/* Call before the first lookup; further calls do nothing. */
void names_prepare(void);

#endif
