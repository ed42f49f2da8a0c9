/* What was asked in conversations, for the next ones: a file of lines, each a JSON string, that
 * only its owner can read. Keys that are in use, values of variables that hold secrets and words
 * that look like keys of well-known services are masked; what begins with a blank is not kept.
 *
 *     struct history h = {0};
 *     history_open(&h, path, 1000);
 *     history_read(&h, each, context);          the oldest first
 *     history_add(&h, &mask, prompt);
 *
 * Several programs may add at the same time. It is a convenience: what can't be read or written is
 * left out, and nothing fails.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "llm/mask.h"

enum {
    HISTORY_BYTES = 4 << 20,  /* of the file; more is cut off at the front */
    HISTORY_ENTRY = 64 << 10, /* of one; larger ones are not kept */
    HISTORY_WAIT_MS = 100,    /* for others that write */
};

struct history {
    const char *path; /* NULL: nothing is kept */
    size_t max;
    size_t lines; /* of the file, as far as we know */
};

/* The path must stay. max 0: nothing is kept. */
void history_open(struct history *h, const char *path, size_t max);
void history_read(struct history *h, void (*each)(void *context, struct str entry), void *context);
void history_add(struct history *h, const struct mask *mask, struct str entry);

/* The entry as it would be kept: for tests. */
void history_clean(const struct mask *mask, struct str entry, struct buf *out);

#endif
