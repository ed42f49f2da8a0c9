/* The record as asciicast v2: for asciinema and everything that plays its files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_CAST_H
#define TRACE_CAST_H

#include "trace/source.h"

/* A header line, then one line for each piece of output ("o"), change of size ("r") and observation
 * ("m", named after its step). Times are seconds. */
void cast_write(const struct trace *t, struct buf *out);

#endif
