/* What all services' ways of speaking share: JSON that is not quite right, errors, names.
 *
 *     AUTO_JSON json_t *tree = NULL;
 *     if (!wire_parse(event->data, &tree, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_WIRE_H
#define LLM_WIRE_H

#include "llm/message.h"

/* Strict JSON but for its texts and large numbers: half a surrogate pair, \u0000 and bytes that are
 * no UTF-8 become U+FFFD, so that they never get any further; integers of 64 bits without a sign,
 * which some services have as seeds, become fractions. E_PROVIDER. */
MUST_USE bool wire_parse(struct str text, json_t **ret_tree, struct err *err);

/* What the service said went wrong: an error's message and kind. Returns false, with E_PROVIDER,
 * context.provider_error (if there is a kind) and context.retry. */
bool wire_fail(struct err *err, const json_t *error, struct str fallback);

/* Whether that means that the conversation is too long for the model, whatever the status: notes it
 * as context.too_long. */
void wire_note_length(struct err *err, long status, struct str kind, struct str message);
bool wire_is_length(const struct err *err);

/* The answer ended before its end: E_PROVIDER, which is worth another try. */
bool wire_cut_off(struct err *err);

/* The message and kind of an error's body: JSON in any of the usual forms, or the first line that a
 * person would see of a page of HTML. Short, and printable. */
void wire_explain(struct str body, struct buf *message, struct buf *kind);

/* A name or an id as services take it, [a-zA-Z0-9_-]{1,most}: unchanged if it is one; the same for
 * the same bytes, and another for others. Most is at least 32. */
void wire_add_name(struct buf *b, struct str name, size_t most);
MUST_USE json_t *wire_name(struct str name, size_t most);

/* Nothing but blanks: services refuse such texts. */
bool wire_blank(struct str text);

/* Arguments of a call as services take them: an object, whatever the model gave. */
MUST_USE json_t *wire_arguments(const json_t *call);

/* A tool's JSON Schema with what a model needs to know, for each request carries it: bounds, which
 * the tool checks and explains, and what goes without saying are left out. */
MUST_USE json_t *wire_schema(const json_t *schema);

/* Why an answer ended, by the word of any of the services: gateways between them mix these up, and
 * a call of an answer that the limit cut must not be taken for a whole one. */
enum stop_reason wire_stop(struct str raw);

/* The number of a block or call, which some servers write as a fraction (1.0); false: there is
 * none. */
bool wire_index(const json_t *object, uint64_t *ret_index);

/* A counter, if there is one there: what is absent or null does not change it. */
void wire_count(const json_t *object, const char *key, uint64_t *count);

#endif
