/* Opaque ids: random UUIDs (version 4) in lower case. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ID_H
#define BASE_ID_H

#include "base/str.h"

enum {
    ID_SIZE = sizeof("00000000-0000-4000-8000-000000000000"),
};

void id_new(char id[ID_SIZE]);
bool id_valid(struct str s); /* any UUID in lower or upper case */

/* Unpredictable random bytes. */
void id_random(void *bytes, size_t n);

#endif
