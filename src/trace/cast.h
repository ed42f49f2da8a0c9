/* Writes a record as asciicast v2, the format of asciinema and compatible players. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_CAST_H
#define TRACE_CAST_H

#include "trace/trace_source.h"

/* Writes a header line, then one line for each piece of output ("o"), resize ("r") and observation
 * ("m", named after its step). Times are in seconds. */
void cast_write(const struct trace *t, struct buf *out);

#endif
