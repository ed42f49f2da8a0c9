/* Code shared by all dialects: lenient JSON, errors, names.
 *
 *     AUTO_JSON json_t *tree = NULL;
 *     if (!wire_parse(event->data, &tree, err)) return false;
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_WIRE_H
#define LLM_WIRE_H

#include "llm/message.h"

/* Parses strict JSON, except that unpaired surrogates, \u0000 and invalid UTF-8 become U+FFFD, so
 * that they get no further, and integers that need unsigned 64 bits, which some services use as
 * seeds, become reals. E_PROVIDER. */
MUST_USE bool wire_parse(struct str text, json_t **ret_tree, struct err *err);

/* Reports an error sent by the service: its message and kind. Returns false, with E_PROVIDER,
 * context.provider_error (if there is a kind) and context.retry. */
bool wire_fail(struct err *err, const json_t *error, struct str fallback);

/* Sets context.too_long if the status or the text of the error means that the conversation is too
 * long for the model. */
void wire_note_length(struct err *err, long status, struct str kind, struct str message);
bool wire_is_length(const struct err *err);

/* The answer ended prematurely: E_PROVIDER, worth a retry. */
bool wire_cut_off(struct err *err);

/* Extracts the message and kind from the body of an error: JSON in any of the usual forms, or the
 * first visible line of an HTML page. Short and printable. */
void wire_explain(struct str body, struct buf *message, struct buf *kind);

/* Converts a name or id to the form that services accept, [a-zA-Z0-9_-]{1,most}: unchanged if
 * valid, otherwise deterministic and with a hash, so that different inputs stay different. `most`
 * must be at least 32. */
void wire_add_name(struct buf *b, struct str name, size_t most);
MUST_USE json_t *wire_name(struct str name, size_t most);

/* Whether it is only white space: services reject such texts. */
bool wire_blank(struct str text);

/* Arguments of a call as services require them: an object, whatever the model sent. */
MUST_USE json_t *wire_arguments(const json_t *call);

/* A reduced JSON Schema of a tool, since every request carries it: leaves out bounds, which the
 * tool checks and explains, and redundant keys. */
MUST_USE json_t *wire_schema(const json_t *schema);

/* Maps a stop reason of any service: gateways mix them up, and a call in an answer cut by the token
 * limit must not be taken for a complete one. */
enum stop_reason wire_stop(struct str raw);

/* The index of a block or call, which some servers write as a real (1.0); false if missing. */
bool wire_index(const json_t *object, uint64_t *ret_index);

/* Reads a counter; leaves it unchanged if absent or null. */
void wire_count(const json_t *object, const char *key, uint64_t *count);

#endif
