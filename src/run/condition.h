/* Conditions on the screen and on the command, used by both waits and assertions.
 *
 *     if (!condition_read(json, "steps[2].assert[0]", &arena, &c, err)) return false;
 *     if (!condition_holds(&c, &view, &why)) ...why describes the actual state...
 *     condition_done(&c);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_CONDITION_H
#define RUN_CONDITION_H

#include "base/regex.h"
#include "run/golden.h"
#include "session/session.h"
#include "term/snapshot.h"

/* State that a condition is tested on. */
struct view {
    const struct snapshot *screen;
    const struct session_exit *exit; /* NULL: still running */
    uint64_t quiet_ms;               /* since the last change of the screen */
};

struct condition_payload {
    struct str text, pattern, file;
    json_t *mask;
    uint32_t line, row, col;
    uint64_t quiet_ms;
    int64_t code;
    json_t *fg, *bg, *underline_color;
    struct str underline_style, link;
    bool bold, faint, italic, underline, blink, inverse, conceal, strike, overline;
    bool has_bold, has_faint, has_italic, has_underline, has_blink, has_inverse, has_conceal,
        has_strike, has_overline;
};

struct condition_kind;

struct condition {
    const struct condition_kind *kind;
    struct condition_payload payload;
    struct regex *regex;   /* owned */
    struct golden *golden; /* owned; NULL unless the condition has a golden */
};

/* Reads {"type","payload"}. Errors are E_PROTOCOL with the place. */
MUST_USE bool condition_read(const json_t *json, const char *place, struct arena *arena,
    struct condition *ret_condition, struct err *err);
void condition_done(struct condition *c);

const char *condition_name(const struct condition *c);

/* Whether the condition needs a snapshot with cells. */
bool condition_needs_cells(const struct condition *c);

/* Returns how long the screen must have been quiet; 0 if it need not be. */
uint64_t condition_quiet_ms(const struct condition *c);

/* Whether the condition holds; if not, a readable reason is appended to `why` (may be NULL). */
bool condition_holds(const struct condition *c, const struct view *view, struct buf *why);

/* Returns the types with the JSON Schemas of their payloads, for documentation. */
MUST_USE json_t *condition_schema(void);

/* Returns them as one JSON Schema. */
MUST_USE json_t *condition_one_of(void);

#endif
