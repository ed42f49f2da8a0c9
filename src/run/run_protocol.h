/* The driver protocol as a self-contained document for a program or a model that drives a session.
 * Generated from the tables that the driver reads with, so that it can't drift. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RUN_PROTOCOL_H
#define RUN_RUN_PROTOCOL_H

#include "base/json.h"

/* Returns a new object. */
MUST_USE json_t *protocol_json(void);

#endif
