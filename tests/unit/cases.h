/* Cases in files, tests/DIR/NAME.case. A line "== TITLE" begins a case, which reaches up to the
 * next such line; a file without one is a single case. Lines of a case mean what its test defines.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CASES_H
#define TESTS_UNIT_CASES_H

#include "base/str.h"

typedef void (*cases_fn)(void *context, struct str title, struct str text);

/* Runs each case of the files below tests/ that match a pattern, as a row of the test; returns how
 * many there were. CORDON_TESTS: another directory than tests/, if the user may not read that. */
size_t cases_run(const char *pattern, cases_fn run, void *context);

#endif
