/* Scripts: what a model would say, written down. Plays offline as the provider "scripted", over
 * HTTP by `cordon serve-script`, and is written from a real run by `cordon agent --record`.
 *
 * {"version":1, "model"?:"...", "turns":[
 *    {"when"?:"words of the last user text" (a regular expression), "repeat"?:true,
 *     "content":[{"text":"..."}, {"thinking":"...","signature"?},
 * {"tool_call":{"name","arguments","id"?}},
 *                {"delay_ms":N}, {"raw":"bytes put into the stream as they are" (serve-script
 * only)}], "stop_reason"?:"end_turn", "usage"?:{"input_tokens","output_tokens",...},
 *     "error"?:{"status"?:429,"type"?,"message","retry_after"?:1,"after"?:N (pieces)},
 *     "cut"?: "drop" | "clean" | ... (serve-script only), "chunk_bytes"?:N,
 * "line_end"?:"\n"|"\r\n"|"\r"}]}
 *
 * The first turn that was not used and whose "when" fits is played. None left: a text that says so.
 */
#ifndef LLM_SCRIPT_H
#define LLM_SCRIPT_H

#include "base/arena.h"
#include "base/json.h"

struct script;      /* opaque */
struct script_turn; /* opaque, owned by the script */

MUST_USE bool script_load(const char *path, struct script **ret_script, struct err *err);
MUST_USE struct script *script_embedded(void);
void script_free(struct script *s);

/* The turn that answers, and marks it as used; NULL: none is left. */
const struct script_turn *script_next(struct script *s, const json_t *messages);

#endif
