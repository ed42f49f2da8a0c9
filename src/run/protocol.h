/* The driver's protocol as a document from which a program, or a model, can drive a session without
 * any other: made from the tables that the driver reads by, so that it can't drift. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_PROTOCOL_H
#define RUN_PROTOCOL_H

#include "base/json.h"

/* A new object. */
MUST_USE json_t *protocol_json(void);

#endif
