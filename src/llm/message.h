/* Messages of a conversation: JSON objects in the form of the session envelope, so that messages
 * are received, stored and sent again in one form, and unknown keys are preserved.
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
 * {"type":"tool_call","id","name","arguments"}. Arguments are any JSON. If the model's arguments
 * were not valid JSON they are a string, "invalid" is true, and the call is never run.
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
    STOP_REFUSAL, /* "unknown" in the envelope, whose vocabulary is fixed */
    STOP_UNKNOWN,
    STOP_REASONS,
};

enum {
    IMAGE_MAX = 5 << 20, /* bytes before base64 */
};

extern const char *const message_type_names[MESSAGE_TYPES];
extern const char *const block_type_names[BLOCK_TYPES];
extern const char *const stop_reason_names[STOP_REASONS];

/* Token counts of a service. The total input of a turn is input + cache_read + cache_write. */
struct usage {
    uint64_t input_tokens, output_tokens, cache_read_tokens, cache_write_tokens;
};

/* Checks type, keys, the blocks allowed in this type, and the size of images; ignores other keys.
 * The error names the location: content[2].text. */
MUST_USE bool message_check(const json_t *message, enum err_code code, struct err *err);

/* These need a message that passed message_check(). */
enum message_type message_type(const json_t *message);
enum block_type block_type(const json_t *block);
enum stop_reason message_stop(const json_t *message); /* uses raw_stop_reason to detect a refusal */
struct usage message_usage(const json_t *message);
/* Sums saturate, since the counts may come from a file. */
void usage_add(struct usage *sum, const struct usage *more);
uint64_t usage_total(const struct usage *usage);
/* Appends all text blocks, concatenated. */
void message_add_text(const json_t *message, struct buf *text);

/* New messages, with the current time; no block for an empty text. */
MUST_USE json_t *message_user(struct str text);
MUST_USE json_t *message_tool_result(
    struct str id, struct str name, struct str text, bool is_error);
void message_put_time(json_t *message); /* sets its timestamp to the current time */
MUST_USE json_t *block_text(struct str text);
/* From a file's bytes; PNG, JPEG, GIF and WebP are detected by magic number. E_TOOL_VALIDATION:
 * another type, or larger than IMAGE_MAX. */
MUST_USE bool block_image(struct str bytes, const char *name, json_t **ret_block, struct err *err);

MUST_USE json_t *usage_json(const struct usage *usage); /* omits cache counters that are 0 */

#endif
