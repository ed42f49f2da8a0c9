/* Prompt history across conversations: a file of JSON strings, one per line, that only its owner
 * can read. Keys in use, values of variables that hold secrets and words that look like keys of
 * well-known services are masked. Prompts that begin with whitespace are not kept.
 *
 *     struct history h = {0};
 *     history_open(&h, path, 1000);
 *     history_read(&h, each, context);          the oldest first
 *     history_add(&h, &mask, prompt);
 *
 * Several processes may add entries concurrently. The history is best effort: errors are ignored.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHAT_HISTORY_H
#define CHAT_HISTORY_H

#include "base/mask.h"

enum {
    HISTORY_BYTES = 4 << 20,  /* maximum file size; older entries are dropped */
    HISTORY_ENTRY = 64 << 10, /* maximum entry size; larger ones are not kept */
    HISTORY_WAIT_MS = 100,    /* timeout for the file lock */
};

struct history {
    const char *path; /* NULL: nothing is kept */
    size_t max;
    size_t lines; /* lines in the file, as far as known */
};

/* `path` must remain valid. With a `max` of 0 nothing is kept. */
void history_open(struct history *h, const char *path, size_t max);
void history_read(struct history *h, void (*each)(void *context, struct str entry), void *context);
void history_add(struct history *h, const struct mask *mask, struct str entry);

/* The entry as it would be stored; for tests. */
void history_clean(const struct mask *mask, struct str entry, struct buf *out);

#endif
