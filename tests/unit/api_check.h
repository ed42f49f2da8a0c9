/* Checks shared by the tests of the public API. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_API_CHECK_H
#define TESTS_UNIT_API_CHECK_H

#include "cordon.h"

#include <pthread.h>
#include <stdbool.h>

bool api_has(const char *text, const char *part);
/* Checks the error, and clears it. */
void api_check_error(struct cordon_error *error, const char *code, const char *part);
/* Checks that there is none; otherwise shows and clears it. */
bool api_check_ok(struct cordon_error *error);
/* Checks that the text, which is freed, contains the part. */
void api_check_text(char *text, const char *part);

/* Path of the program beside this one; NULL if it was not built. Static. */
const char *api_find_cordon(void);

/* A thread that triggers a cancel handle when a file appears: test_path("NAME") or, with
 * "DIR/NAME", in a directory there. Waits for the event, not for a time; gives up after a minute.
 */
struct api_trigger {
    struct cordon_cancel *cancel;
    pthread_t thread;
    int watch;
    char path[600];
};

void api_trigger_begin(struct api_trigger *t, const char *name, struct cordon_cancel *cancel);
void api_trigger_end(struct api_trigger *t);

/* A state directory ($CORDON_HOME) of this test's own, from one to the other. */
void api_home_begin(void);
void api_home_end(void);

#endif
