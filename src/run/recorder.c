/* Records actions and waits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/recorder.h"

#include "base/utf8.h"
#include "base/yaml_text.h"
#include "run/await.h"

enum {
    SCREEN_BYTES = 256 << 20,
    TEXT_BYTES = 1 << 20,
    SENT_BYTES = 4 << 20,
    NAME_BYTES = 60,
};

void recorder_init(struct recorder *r)
{
    *r = (struct recorder){.steps = json_array(), .text = BUF_INIT(TEXT_BYTES)};
    for (size_t i = 0; i < ARRAY_LEN(r->arenas); i++)
        r->arenas[i] = ARENA_INIT(SCREEN_BYTES);
}

void recorder_done(struct recorder *r)
{
    json_decrefp(&r->steps);
    buf_done(&r->text);
    for (size_t i = 0; i < ARRAY_LEN(r->arenas); i++)
        arena_done(&r->arenas[i]);
}

/* Steps --------------------------------------------------------------------------------------- */

/* Appends a short description of a step, for lists of steps. */
static void recorder_add_name(struct buf *b, const json_t *action)
{
    const json_t *payload = json_object_get(action, "payload");
    const json_t *what = json_object_get(payload, "condition");
    const char *type = json_string_value(json_object_get(what ? what : action, "type"));
    static const struct {
        const char *type, *word;
    } words[] = {{"key", "press"}, {"text", "type"}, {"screen_contains", "see"},
        {"line_starts_with", "see"}, {"process_exited", "the end"}, {"screen_stable", "quiet"}};
    const char *word = type;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(words[i].type, type) == 0)
            word = words[i].word;
    buf_add_z(b, word);
    payload = what ? json_object_get(what, "payload") : payload;
    const json_t *text = json_object_get(payload, "text");
    if (text || json_object_get(payload, "key")) {
        buf_add_byte(b, ' ');
        struct str shown =
            str_head(json_str(text ? text : json_object_get(payload, "key")), NAME_BYTES);
        AUTO_BUF struct buf clean = BUF_INIT(8 * NAME_BYTES);
        utf8_add_printable(&clean, shown);
        buf_add_str(b, buf_str(&clean));
    }
}

static void add_step(struct recorder *r, const char *kind, const char *name, json_t *step)
{
    char id[64];
    json_t *object = json_object();
    snprintf(id, sizeof(id), "%s-%zu", kind, r->actions + (strcmp(kind, "wait") == 0 ? 1 : 0));
    json_put(object, "id", json_string(id));
    AUTO_BUF struct buf own = BUF_INIT(1024);
    recorder_add_name(&own, json_object_get(step, "action"));
    json_put(object, "name", json_text(name ? str_z(name) : buf_str(&own)));
    json_object_update(object, step);
    json_push(r->steps, object);
    json_decref(step);
}

static json_t *action_of(const char *type, json_t *payload)
{
    json_t *action = json_object();
    json_put(action, "type", json_string(type));
    json_put(action, "payload", payload);
    return action;
}

static void recorder_add_action(struct recorder *r, json_t *action, const char *name)
{
    json_t *step = json_object();
    r->actions++;
    json_put(step, "action", action);
    add_step(r, json_string_value(json_object_get(action, "type")), name, step);
}

/* Turns the text typed so far into an action. */
static void close_text(struct recorder *r)
{
    if (!r->open)
        return;
    r->open = false;
    json_t *payload = json_object();
    json_put(
        payload, "text", r->secret ? json_string(RECORDER_SECRET) : json_text(buf_str(&r->text)));
    recorder_add_action(
        r, action_of("text", payload), r->secret ? "hidden input, which is not recorded" : NULL);
    r->secrets += r->secret;
    buf_reset(&r->text);
}

/* Adds a wait for the current screen and keeps the screen to compare the next one with. */
static void add_wait(struct recorder *r, struct session *s, bool settled)
{
    struct snapshot now;
    struct arena *arena = &r->arenas[!r->arena];
    arena_done(arena);
    *arena = ARENA_INIT(SCREEN_BYTES);
    snapshot_take(session_term(s), arena, 0, &now);
    json_t *step = await_step(&r->before, &now, session_term(s), settled);
    if (step)
        add_step(r, "wait", NULL, step);
    r->before = now;
    r->arena = !r->arena;
}

static void recorder_start_step(struct recorder *r, struct session *s, bool settled)
{
    close_text(r);
    r->has_pressed = false;
    add_wait(r, s, settled);
}

/* Secrets ------------------------------------------------------------------------------------- */

/* A program that edits lines itself is in raw mode whether it hides the input or not: then look for
 * a password prompt on the cursor's line. */
static bool asks_secret(struct session *s)
{
    static const char *const words[] = {"assword", "assphrase", "asscode", "PIN", "ecret"};
    struct term_cursor cursor = term_cursor(session_term(s));
    AUTO_ARENA struct arena arena = ARENA_INIT(SCREEN_BYTES);
    struct snapshot now;
    snapshot_take(session_term(s), &arena, 0, &now);
    struct str line = cursor.row < now.rows ? now.lines[cursor.row] : STR("");
    if (!str_ends_with(line, STR(":")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (memmem(line.p, line.n, words[i], strlen(words[i])))
            return true;
    return false;
}

static bool recorder_is_secret(const struct recorder *r, struct session *s)
{
    if (session_hides_input(s))
        return true;
    return r->open && r->secret ? term_cursor(session_term(s)).row == r->row : asks_secret(s);
}

/* Input --------------------------------------------------------------------------------------- */

bool recorder_joins(const struct recorder *r, struct session *s, const struct typed *typed)
{
    return r->open && typed->kind == TYPED_TEXT && recorder_is_secret(r, s) == r->secret &&
           term_cursor(session_term(s)).row == r->row &&
           term_alternate(session_term(s)) == r->alternate && r->text.n < TEXT_BYTES / 2;
}

static bool recorder_add_text(
    struct recorder *r, struct session *s, const struct typed *typed, bool settled, struct err *err)
{
    if (!recorder_joins(r, s, typed)) {
        recorder_start_step(r, s, settled);
        r->open = true;
        r->secret = recorder_is_secret(r, s);
        r->row = term_cursor(session_term(s)).row;
        r->alternate = term_alternate(session_term(s));
    }
    if (!r->secret)
        buf_add_str(&r->text, typed->bytes);
    return session_send(s, typed->bytes, err);
}

/* Performs the action exactly as the runner will. */
static bool recorder_perform(struct recorder *r, struct session *s, json_t *action, struct err *err)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(1 << 22);
    AUTO_BUF struct buf sent = BUF_INIT(SENT_BYTES);
    struct action a;
    (void)r;
    if (!action_read(action, "action", &arena, &a, err))
        return false;
    bool ok = action_send(&a, s, &sent, err);
    action_done(&a);
    return ok;
}

static bool recorder_record_action(
    struct recorder *r, struct session *s, json_t *action, bool settled, struct err *err)
{
    recorder_start_step(r, s, settled);
    recorder_add_action(r, action, NULL);
    return recorder_perform(r, s, action, err);
}

static const char *const mouse_events[] = {"press", "release", "move"};

static json_t *mouse_action(const struct mouse *m, const char *event)
{
    json_t *payload = json_object();
    json_put(payload, "button", json_string(action_button(m->button)));
    json_put(payload, "event", json_string(event));
    json_put(payload, "row", json_integer(m->row));
    json_put(payload, "col", json_integer(m->col));
    return action_of("mouse", payload);
}

/* Joins a press and a release in one place to a click. Ignores events that the program did not
 * enable. */
static bool recorder_record_mouse(
    struct recorder *r, struct session *s, const struct mouse *m, bool settled, struct err *err)
{
    struct term_input input;
    AUTO_BUF struct buf bytes = BUF_INIT(256);
    term_input(session_term(s), &input);
    struct mouse plain = *m;
    plain.mods = 0;
    if (!mouse_encode(&plain, &input, &bytes))
        return true;
    bool click = r->has_pressed && m->action == MOUSE_RELEASE && m->button == r->pressed.button &&
                 m->row == r->pressed.row && m->col == r->pressed.col;
    if (click) {
        json_t *last = json_array_get(r->steps, json_array_size(r->steps) - 1);
        json_put(json_object_get(json_object_get(last, "action"), "payload"), "event",
            json_string("click"));
        r->has_pressed = false;
        return session_send(s, buf_str(&bytes), err);
    }
    recorder_start_step(r, s, settled);
    recorder_add_action(r, mouse_action(m, mouse_events[m->action]), NULL);
    r->has_pressed = m->action == MOUSE_PRESS;
    r->pressed = *m;
    return session_send(s, buf_str(&bytes), err);
}

static bool recorder_record_key(
    struct recorder *r, struct session *s, const struct typed *typed, bool settled, struct err *err)
{
    static const char *const edits[] = {"Backspace", "Ctrl+u", "Ctrl+h", "Ctrl+w"};
    json_t *payload = json_object();
    json_put(payload, "key", json_string(typed->key));
    for (size_t i = 0; r->open && r->secret && i < ARRAY_LEN(edits); i++)
        if (strcmp(typed->key, edits[i]) == 0) { /* corrections of a secret reveal part of it */
            AUTO_JSON json_t *action = action_of("key", payload);
            return recorder_perform(r, s, action, err);
        }
    return recorder_record_action(r, s, action_of("key", payload), settled, err);
}

static bool recorder_record_paste(
    struct recorder *r, struct session *s, struct str text, bool settled, struct err *err)
{
    bool secret = recorder_is_secret(r, s);
    json_t *payload = json_object();
    json_put(payload, "text", json_text(text));
    json_put(payload, "paste", json_true());
    AUTO_JSON json_t *action = action_of("text", payload);
    recorder_start_step(r, s, settled);
    if (secret) {
        AUTO_JSON json_t *hidden = json_deep_copy(action);
        json_put(json_object_get(hidden, "payload"), "text", json_string(RECORDER_SECRET));
        recorder_add_action(r, json_incref(hidden), "hidden paste, which is not recorded");
        r->secrets++;
    } else {
        recorder_add_action(r, json_incref(action), NULL);
    }
    return recorder_perform(r, s, action, err);
}

/* Records the bytes as text if JSON can represent them. */
static bool recorder_record_unknown(
    struct recorder *r, struct session *s, struct str bytes, bool settled, struct err *err)
{
    json_t *payload = json_object();
    if ((uint8_t)bytes.p[0] >= 0x80 || memchr(bytes.p, 0, bytes.n)) {
        json_decref(payload);
        r->lost += bytes.n;
        return session_send(s, bytes, err);
    }
    json_put(payload, "text", json_text(bytes));
    return recorder_record_action(r, s, action_of("text", payload), settled, err);
}

bool recorder_take(
    struct recorder *r, struct session *s, const struct typed *typed, bool settled, struct err *err)
{
    if (r->actions >= RECORDER_ACTIONS_MAX)
        return err_set(err, E_TIMEOUT, "cannot record more than %d actions", RECORDER_ACTIONS_MAX);
    switch (typed->kind) {
    case TYPED_TEXT:
        return recorder_add_text(r, s, typed, settled, err);
    case TYPED_KEY:
        return recorder_record_key(r, s, typed, settled, err);
    case TYPED_PASTE:
        return recorder_record_paste(r, s, typed->bytes, settled, err);
    case TYPED_MOUSE:
        return recorder_record_mouse(r, s, &typed->mouse, settled, err);
    case TYPED_UNKNOWN:
        return recorder_record_unknown(r, s, typed->bytes, settled, err);
    }
    return true;
}

bool recorder_resize(struct recorder *r, struct session *s, uint16_t rows, uint16_t cols,
    bool settled, struct err *err)
{
    json_t *payload = json_object();
    json_put(payload, "rows", json_integer(rows));
    json_put(payload, "cols", json_integer(cols));
    return recorder_record_action(r, s, action_of("resize", payload), settled, err);
}

void recorder_end(struct recorder *r, struct session *s, bool settled)
{
    const struct session_exit *e = session_exit_of(s);
    close_text(r);
    if (!session_has_ended(s)) {
        add_wait(r, s, settled);
        return;
    }
    json_t *step = json_object(), *payload = json_object(), *ended = json_object();
    json_put(ended, "type", json_string("process_exited"));
    json_put(payload, "condition", ended);
    json_put(step, "action", action_of("wait", payload));
    if (e->known && e->signal == 0 && e->code >= 0) {
        json_t *asserts = json_array(), *code = json_object();
        json_put(code, "code", json_integer(e->code));
        json_push(asserts, action_of("exit_code", code));
        json_put(step, "assert", asserts);
    }
    add_step(r, "wait", NULL, step);
}

/* YAML ---------------------------------------------------------------------------------------- */

/* Writes the value on one line, with strings quoted. */
static void add_flow(struct buf *b, const json_t *value)
{
    const char *key;
    json_t *entry;
    size_t i;
    if (json_is_array(value)) {
        buf_add_byte(b, '[');
        json_array_foreach(value, i, entry)
        {
            buf_add_z(b, i ? ", " : "");
            add_flow(b, entry);
        }
        buf_add_byte(b, ']');
    } else if (json_is_object(value)) {
        bool first = true;
        buf_add_byte(b, '{');
        json_object_foreach((json_t *)value, key, entry)
        {
            buf_printf(b, "%s%s: ", first ? "" : ", ", key);
            add_flow(b, entry);
            first = false;
        }
        buf_add_byte(b, '}');
    } else if (json_is_string(value)) {
        yaml_add_text(b, json_str(value));
    } else {
        json_add_compact(b, value);
    }
}

static void add_members(struct buf *b, json_t *object, const char *first, const char *next)
{
    const char *key;
    json_t *value, *entry;
    size_t i;
    json_object_foreach(object, key, value)
    {
        buf_printf(b, "%s%s:", first, key);
        first = next;
        if (strcmp(key, "assert") == 0) {
            json_array_foreach(value, i, entry)
            {
                buf_printf(b, "\n%s  - ", next);
                add_flow(b, entry);
            }
        } else {
            buf_add_byte(b, ' ');
            add_flow(b, value);
        }
        buf_add_byte(b, '\n');
    }
}

void recorder_yaml(const json_t *scenario, struct buf *out)
{
    const char *key;
    json_t *value, *step;
    size_t i;
    json_object_foreach((json_t *)scenario, key, value)
    {
        buf_printf(out, "%s:", key);
        if (strcmp(key, "run") == 0) {
            buf_add_byte(out, '\n');
            add_members(out, value, "  ", "  ");
        } else if (strcmp(key, "steps") == 0 && json_array_size(value)) {
            buf_add_byte(out, '\n');
            json_array_foreach(value, i, step) add_members(out, step, "  - ", "    ");
        } else {
            buf_add_byte(out, ' ');
            add_flow(out, value);
            buf_add_byte(out, '\n');
        }
    }
}
