/* The project that a command works in: finding it, opening it, and recovering interrupted
 * changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_PROJECT_H
#define CONFIG_PROJECT_H

#include "base/arena.h"
#include "base/notice.h"
#include "path/root.h"

struct project {
    struct root_found root;
    int fd; /* O_PATH */
};

#define AUTO_PROJECT AUTO(project_done)
#define PROJECT_INIT ((struct project){.fd = -1})

void project_done(struct project *p);

/* Finds the project's root from a directory upward, using the markers of the settings. */
MUST_USE bool project_find(
    struct arena *a, const char *start, struct project *ret_project, struct err *err);

/* Finishes or undoes an interrupted change of files in this root, and reports it as warnings. */
MUST_USE bool project_recover(
    struct arena *a, const struct project *p, struct notices warnings, struct err *err);

#endif
