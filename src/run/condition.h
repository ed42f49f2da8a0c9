/* What can be asked of a screen and of a command: the one set of conditions that waits and
 * assertions have.
 *
 *     if (!condition_read(json, "steps[2].assert[0]", &arena, &c, err)) return false;
 *     if (!condition_holds(&c, &view, &why)) ...why says what was there instead...
 *     condition_done(&c);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_CONDITION_H
#define RUN_CONDITION_H

#include "base/regex.h"
#include "run/golden.h"
#include "session/session.h"
#include "term/snapshot.h"

/* What a condition is tested on. */
struct view {
    const struct snapshot *screen;
    const struct session_exit *exit; /* NULL: it runs */
    uint64_t quiet_ms;               /* since the screen last changed */
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
    struct golden *golden; /* owned; NULL: it is none */
};

/* {"type","payload"}; what is wrong is E_PROTOCOL with its place. */
MUST_USE bool condition_read(const json_t *json, const char *place, struct arena *arena,
    struct condition *ret_condition, struct err *err);
void condition_done(struct condition *c);

const char *condition_name(const struct condition *c);

/* Cells are needed to tell. */
bool condition_needs_cells(const struct condition *c);

/* How long the screen must be quiet for it; 0: it does not matter. */
uint64_t condition_quiet_ms(const struct condition *c);

/* Whether it holds; if not, `why` (which may be NULL) gets words for people. */
bool condition_holds(const struct condition *c, const struct view *view, struct buf *why);

/* The types with the JSON Schemas of their payloads, for documentation. */
MUST_USE json_t *condition_schema(void);

/* As one JSON Schema. */
MUST_USE json_t *condition_one_of(void);

#endif
