/* Parses timestamps written by others: RFC 3339, with a fraction and any offset. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_WHEN_H
#define AGENT_WHEN_H

#include "base/str.h"

/* Milliseconds since 1970; false if invalid or before 1970. */
bool when_parse(struct str text, uint64_t *ret_ms);

#endif
