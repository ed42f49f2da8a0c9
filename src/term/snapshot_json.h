/* ScreenSnapshot as JSON.
 *
 *     char id[ID_SIZE];
 *     id_new(id);
 *     json_t *object = snapshot_json(&s, id);
 *
 * "cells" is present if the snapshot has cells: one list per row with one entry per column, so that
 * the index is the column; the right half of a wide character has "ch" "" and width 0. Equal
 * neighbours share one JSON value: do not modify the tree.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_SNAPSHOT_JSON_H
#define TERM_SNAPSHOT_JSON_H

#include "term/snapshot.h"

enum {
    SNAPSHOT_VERSION = 1,
};

MUST_USE json_t *snapshot_json(const struct snapshot *s, const char *id);

/* {"fg","bg","bold","italic","underline","inverse"}, and other attributes if set. */
MUST_USE json_t *style_json(const struct style *style, struct str link);

/* "default", {"ansi_16":n}, {"ansi_256":n}, {"rgb":{"r","g","b"}} */
MUST_USE json_t *color_json(color c);

#endif
