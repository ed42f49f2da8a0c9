/* A session in memory, for the files that make one: store.c knows its lines, store_open.c its
 * files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_STORE_STATE_H
#define AGENT_STORE_STATE_H

#include "agent/store.h"
#include "agent/tape.h"
#include "llm/mask.h"

struct store {
    struct tape tape;
    char *path;     /* as the user would name it */
    char *log;      /* of an envelope: the lines beside it; NULL: the file itself has them */
    bool changed;   /* the envelope must be written anew */
    json_t *origin; /* what the envelope has, if its log is from an earlier run; NULL: none */
    json_t *header, *all, *counted, *notes, *compactions;
    json_t *valid;    /* what counts, repaired, as it was when it was loaded; NULL: not known */
    size_t valid_for; /* how many counted then */
    struct str updated_at, title; /* borrowed from records, which `records` keeps; no value: none */
    json_t *records;
    bool imported;
    struct str resumed; /* in this directory; no value: not yet */
    struct mask mask;
};

struct store *store_new(const char *path);
void store_free(struct store *s);

/* All lines of its tape. */
MUST_USE bool store_load(struct store *s, struct err *err);
/* Tool calls at the end that nobody answered get results, which are written too: once, so that the
 * next one who opens it finds nothing to repair. */
MUST_USE bool store_settle(struct store *s, struct err *err);

#endif
