/* Delivery of a prompt by typing it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/prompt_delivery.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "box/command.h"
#include "term/draw.h"
#include "term/keys.h"

enum {
    SCREEN_BYTES = 64 << 20,
    TEXT_BYTES = 8 << 20,
    TAIL_BYTES = 24, /* length of the prompt's suffix that is searched for */
};

void prompt_delivery_screen(const struct term *t, struct buf *out)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(SCREEN_BYTES);
    struct snapshot now;
    snapshot_take(t, &arena, 0, &now);
    draw_text(&now, out);
}

bool prompt_delivery_begin(
    struct prompt_delivery *d, const struct box_agent *agent, struct str prompt, struct err *err)
{
    *d = (struct prompt_delivery){.agent = agent,
        .prompt = prompt,
        .begun_ms = clock_mono_ms(),
        .state = BOX_PROMPT_PENDING,
        .step = PROMPT_DELIVERY_WAITS};
    d->at_ms = d->begun_ms;
    return !agent->ready_pattern.n || regex_new(agent->ready_pattern, &d->ready, err);
}

void prompt_delivery_done(struct prompt_delivery *d)
{
    regex_free(d->ready);
    d->ready = NULL;
}

static void prompt_delivery_set_step(
    struct prompt_delivery *d, enum prompt_delivery_step step, uint64_t now, uint64_t wait_ms)
{
    d->step = step;
    d->at_ms = now;
    d->next_ms = now + wait_ms;
}

/* Confirmation -------------------------------------------------------------------------------- */

/* Without blanks: programs wrap and pad text arbitrarily. */
static void add_dense(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] > ' ')
            buf_add_byte(out, text.p[i]);
}

static size_t prompt_delivery_count(struct str text, struct str what)
{
    size_t n = 0;
    if (!what.n)
        return 0;
    for (const char *at; (at = memmem(text.p, text.n, what.p, what.n)); n++)
        text = str_skip(text, (size_t)(at - text.p) + what.n);
    return n;
}

/* Number of occurrences of the prompt's end on the screen. */
static size_t count_tail(const struct prompt_delivery *d, const struct term *t)
{
    AUTO_BUF struct buf screen = BUF_INIT(TEXT_BYTES), dense = BUF_INIT(TEXT_BYTES),
                        all = BUF_INIT(COMMAND_PROMPT_MAX + 1);
    prompt_delivery_screen(t, &screen);
    add_dense(&dense, buf_str(&screen));
    add_dense(&all, d->prompt);
    struct str tail = buf_str(&all);
    if (tail.n > TAIL_BYTES)
        tail = str_skip(tail, tail.n - TAIL_BYTES);
    while (tail.n && (tail.p[0] & 0xC0) == 0x80) /* in the middle of a UTF-8 sequence */
        tail = str_skip(tail, 1);
    return prompt_delivery_count(buf_str(&dense), tail);
}

/* Typing -------------------------------------------------------------------------------------- */

/* Without bracketed paste a line break would submit the prompt. */
static void prompt_delivery_add_prompt(
    const struct prompt_delivery *d, const struct term_input *input, struct buf *out)
{
    AUTO_BUF struct buf flat = BUF_INIT(COMMAND_PROMPT_MAX + 1);
    struct str text = d->prompt;
    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
        text.n--;
    buf_add_str(&flat, text);
    for (size_t i = 0; i < flat.n && !input->bracketed_paste; i++)
        if (flat.p[i] == '\n' || flat.p[i] == '\r')
            flat.p[i] = ' ';
    key_text(buf_str(&flat), true, input, out);
}

static bool has_lines(const struct prompt_delivery *d)
{
    struct str text = str_trim_end(d->prompt, '\n');
    return str_find(text, '\n') >= 0;
}

static void prompt_delivery_type(struct prompt_delivery *d, struct session *s, uint64_t now)
{
    AUTO_BUF struct buf bytes = BUF_INIT(2 * COMMAND_PROMPT_MAX + 64);
    AUTO_ERR struct err ignored = {0};
    struct term_input input;
    term_input(session_term(s), &input);
    if (has_lines(d) && !input.bracketed_paste && now - d->at_ms < PROMPT_DELIVERY_PASTE_MS) {
        d->next_ms = now + PROMPT_DELIVERY_LOOK_MS;
        return;
    }
    d->before = count_tail(d, session_term(s));
    prompt_delivery_add_prompt(d, &input, &bytes);
    (void)!session_send(s, buf_str(&bytes), &ignored);
    prompt_delivery_set_step(d, PROMPT_DELIVERY_TYPED, now, PROMPT_DELIVERY_LOOK_MS);
}

/* Waiting ------------------------------------------------------------------------------------- */

static bool pattern_holds(struct prompt_delivery *d, struct session *s)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_BYTES);
    struct regex_match match;
    prompt_delivery_screen(session_term(s), &text);
    return regex_find(d->ready, buf_str(&text), 0, &match);
}

static bool keeps_still(const struct prompt_delivery *d, struct session *s, uint64_t now)
{
    bool shown = session_changes(s) > 0 || now - d->begun_ms >= PROMPT_DELIVERY_READY_MS;
    return shown && !d->meddled && now - d->begun_ms >= d->agent->delay_ms &&
           now - session_changed_ms(s) >= PROMPT_DELIVERY_QUIET_MS;
}

/* For a while: programs draw their input line before they cover it with a question. */
static bool stays_ready(struct prompt_delivery *d, struct session *s, uint64_t now)
{
    if (session_changes(s) != d->changes) {
        d->changes = session_changes(s);
        if (!pattern_holds(d, s))
            d->held_ms = 0;
        else if (!d->held_ms)
            d->held_ms = now;
    }
    return d->held_ms && now - d->held_ms >= PROMPT_DELIVERY_HOLD_MS;
}

static void prompt_delivery_check_later(struct prompt_delivery *d, uint64_t now)
{
    d->next_ms = now + (now - d->begun_ms < PROMPT_DELIVERY_LONG_MS ? PROMPT_DELIVERY_LOOK_MS
                                                                    : PROMPT_DELIVERY_SLOW_MS);
}

static void prompt_delivery_wait(struct prompt_delivery *d, struct session *s, uint64_t now)
{
    bool was = d->was_ready;
    prompt_delivery_check_later(d, now);
    d->was_ready = d->ready ? stays_ready(d, s, now) : was || keeps_still(d, s, now);
    if (!was)
        d->at_ms = now;
    if (d->was_ready)
        prompt_delivery_type(d, s, now);
}

/* Steps --------------------------------------------------------------------------------------- */

static bool prompt_delivery_is_shown(const struct prompt_delivery *d, struct session *s)
{
    return count_tail(d, session_term(s)) > d->before;
}

static void prompt_delivery_check(struct prompt_delivery *d, struct session *s, uint64_t now)
{
    d->seen = prompt_delivery_is_shown(d, s);
    d->next_ms = now + PROMPT_DELIVERY_LOOK_MS;
    if (d->seen || now - d->at_ms >= PROMPT_DELIVERY_SEEN_MS)
        prompt_delivery_set_step(d, PROMPT_DELIVERY_SUBMITS, now, PROMPT_DELIVERY_KEY_MS);
}

/* By now the screen may show a question, which the submit key would answer instead of the user. */
static bool may_submit(struct prompt_delivery *d, struct session *s)
{
    bool shown = prompt_delivery_is_shown(d, s);
    d->seen = d->seen || shown;
    return d->seen ? shown : !d->ready || pattern_holds(d, s);
}

/* Next key of "Enter Enter"; false after the last. */
static bool next_key(const struct prompt_delivery *d, struct key *ret_key)
{
    AUTO_ERR struct err ignored = {0};
    struct str word, rest = d->agent->submit.n ? d->agent->submit : STR("Enter");
    unsigned i = 0;
    while (str_cut(rest, ' ', &word, &rest)) {
        if (!word.n)
            continue;
        if (i++ == d->keys)
            return d->keys < PROMPT_DELIVERY_KEYS_MAX && key_parse(word, ret_key, &ignored);
    }
    return false;
}

static void prompt_delivery_submit(struct prompt_delivery *d, struct session *s, uint64_t now)
{
    AUTO_BUF struct buf bytes = BUF_INIT(256);
    AUTO_ERR struct err ignored = {0};
    struct term_input input;
    struct key key;
    if (!d->keys && !may_submit(d, s)) {
        prompt_delivery_check_later(d, now);
        return;
    }
    d->state = d->seen ? BOX_PROMPT_DELIVERED : BOX_PROMPT_UNCONFIRMED;
    if (!next_key(d, &key)) {
        d->step = PROMPT_DELIVERY_NONE;
        return;
    }
    term_input(session_term(s), &input);
    key_encode(&key, &input, &bytes);
    (void)!session_send(s, buf_str(&bytes), &ignored);
    d->keys++;
    prompt_delivery_set_step(d, PROMPT_DELIVERY_SUBMITS, now, PROMPT_DELIVERY_KEY_MS);
}

void prompt_delivery_step(struct prompt_delivery *d, struct session *s, uint64_t now)
{
    static void (*const steps[])(struct prompt_delivery *, struct session *, uint64_t) = {
        [PROMPT_DELIVERY_NONE] = NULL,
        [PROMPT_DELIVERY_WAITS] = prompt_delivery_wait,
        [PROMPT_DELIVERY_TYPED] = prompt_delivery_check,
        [PROMPT_DELIVERY_SUBMITS] = prompt_delivery_submit,
    };
    if (steps[d->step] && now >= d->next_ms)
        steps[d->step](d, s, now);
}

uint64_t prompt_delivery_due(const struct prompt_delivery *d)
{
    return d->step == PROMPT_DELIVERY_NONE ? UINT64_MAX : d->next_ms;
}
