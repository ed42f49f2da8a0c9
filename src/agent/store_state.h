/* A session in memory, for the files that implement it: store.c handles its lines, store_open.c its
 * files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_STORE_STATE_H
#define AGENT_STORE_STATE_H

#include "agent/line_file.h"
#include "agent/store.h"
#include "base/mask.h"

struct store {
    struct line_file file;
    char *path;     /* as the user would name it */
    char *log;      /* of an envelope: the file of lines beside it; NULL: path has the lines */
    bool changed;   /* the envelope must be rewritten */
    json_t *origin; /* the envelope's own contents if its log is from an earlier run; NULL: none */
    json_t *header, *all, *counted, *notes, *compactions;
    json_t *valid;                /* `counted` after repair, as of loading; NULL: not known */
    size_t valid_for;             /* size of `counted` at that time */
    struct str updated_at, title; /* borrowed from records, which `records` keeps; no value: none */
    json_t *records;
    bool imported;
    struct str resumed; /* the directory of the last resume; no value: none */
    struct mask mask;
};

struct store *store_new(const char *path);
void store_free(struct store *s);

/* Reads all lines of its line file. */
MUST_USE bool store_load(struct store *s, struct err *err);
/* Adds results for unanswered tool calls at the end and writes them to the file, so that later
 * opens find nothing to repair. */
MUST_USE bool store_settle(struct store *s, struct err *err);

#endif
