/* Messages of a conversation: JSON objects in the form of the session envelope, so that what was
 * received, what is stored and what is sent again are one thing, and keys that we do not know stay.
 *
 *     AUTO_JSON json_t *m = message_user(STR("Fix the login bug"));
 *     if (!message_check(m, E_CONFIG, err)) return false;
 *
 * {"type":"user","content":[...],"timestamp"}
 * {"type":"assistant","content":[...],"stop_reason","raw_stop_reason","usage","timestamp"}
 * {"type":"tool_result","tool_call_id","tool_name","content":[...],"is_error","timestamp"}
 *
 * Blocks: {"type":"text","text"}, {"type":"thinking","thinking","signature"?},
 * {"type":"redacted_thinking","data"}, {"type":"image","mime_type","data"},
 * {"type":"tool_call","id","name","arguments"}. Arguments are any JSON; a string if the model's
 * were none (then "invalid": true), and such a call is never run.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_MESSAGE_H
#define LLM_MESSAGE_H

#include "base/json.h"

enum message_type {
    MESSAGE_USER,
    MESSAGE_ASSISTANT,
    MESSAGE_TOOL_RESULT,
    MESSAGE_TYPES,
};

enum block_type {
    BLOCK_TEXT,
    BLOCK_THINKING,
    BLOCK_REDACTED_THINKING,
    BLOCK_IMAGE,
    BLOCK_TOOL_CALL,
    BLOCK_TYPES,
};

enum stop_reason {
    STOP_END_TURN,
    STOP_LENGTH,
    STOP_TOOL_USE,
    STOP_ERROR,
    STOP_ABORTED,
    STOP_REFUSAL, /* said as "unknown" in the envelope, whose words are the seed's */
    STOP_UNKNOWN,
    STOP_REASONS,
};

enum {
    IMAGE_MAX = 5 << 20, /* bytes before base64 */
};

extern const char *const message_type_names[MESSAGE_TYPES];
extern const char *const block_type_names[BLOCK_TYPES];
extern const char *const stop_reason_names[STOP_REASONS];

/* What a service counts. All of a turn's input is input + cache_read + cache_write. */
struct usage {
    uint64_t input_tokens, output_tokens, cache_read_tokens, cache_write_tokens;
};

/* Type, keys, blocks that its type can hold, an image's size; other keys are let be. The error
 * names the place: content[2].text. */
MUST_USE bool message_check(const json_t *message, enum err_code code, struct err *err);

/* Of a message that was checked. */
enum message_type message_type(const json_t *message);
enum block_type block_type(const json_t *block);
enum stop_reason message_stop(const json_t *message); /* reads raw_stop_reason for a refusal */
struct usage message_usage(const json_t *message);
/* Sums that stay at the largest number, whatever a file says that was used. */
void usage_add(struct usage *sum, const struct usage *more);
uint64_t usage_total(const struct usage *usage);
/* All text blocks, one after the other. */
void message_add_text(const json_t *message, struct buf *text);

/* New ones, with the time of now; no block for an empty text. */
MUST_USE json_t *message_user(struct str text);
MUST_USE json_t *message_tool_result(
    struct str id, struct str name, struct str text, bool is_error);
void message_put_time(json_t *message); /* its timestamp: now */
MUST_USE json_t *block_text(struct str text);
/* From a file's bytes; PNG, JPEG, GIF, WebP by their first bytes. E_TOOL_VALIDATION: none of them
 * or too large. */
MUST_USE bool block_image(struct str bytes, const char *name, json_t **ret_block, struct err *err);

MUST_USE json_t *usage_json(const struct usage *usage); /* cache counters only if not 0 */

#endif
