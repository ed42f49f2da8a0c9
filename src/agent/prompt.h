/* Prompt of a user: text, standard input, images. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_PROMPT_H
#define AGENT_PROMPT_H

#include "base/err.h"
#include "base/json.h"

enum {
    PROMPT_MAX = 16 << 20,
};

struct prompt_options {
    const char *text;          /* NULL or "-": standard input */
    const char *const *images; /* files */
    size_t n_images;
    bool regular; /* refuse files that are not regular: they could block */
};

/* Builds a user message. Standard input, unless it is a terminal, is the prompt or an attachment to
 * it. */
MUST_USE bool prompt_read(
    const struct prompt_options *options, json_t **ret_message, struct err *err);

/* The same from a text alone, without standard input. */
MUST_USE bool prompt_make(
    struct str text, const struct prompt_options *options, json_t **ret_message, struct err *err);

/* The value of --system: TEXT or @FILE; NULL gives no value. */
MUST_USE bool prompt_read_system(
    const char *word, bool regular, struct buf *text, struct str *ret_text, struct err *err);

#endif
