/* Actions, one table row each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/action.h"

#include "run/tagged.h"

enum {
    TEXT_MAX = 1 << 20,
};

struct action_payload {
    struct str key, text;
    bool paste;
    uint16_t rows, cols;
    json_t *condition;
    int button, event;
    uint32_t row, col;
    struct str_list modifiers;
};

/* By enum mouse_button. */
static const char *const buttons[] = {"left", "middle", "right", "none", "wheel_up", "wheel_down",
    "wheel_left", "wheel_right", "back", "forward"};

enum {
    EVENT_CLICK,
    EVENT_PRESS,
    EVENT_RELEASE,
    EVENT_MOVE,
};

static const char *const events[] = {"click", "press", "release", "move"};

#define P struct action_payload
static const struct field key_fields[] = {
    FIELD_STR("key", P, key, "a key or a chord: Enter, a, Ctrl+x, Alt+Shift+F5",
        .flags = FIELD_REQUIRED, FIELD_RANGE(1, 64))};
static const struct field text_fields[] = {
    FIELD_STR("text", P, text, "text, sent byte for byte", .flags = FIELD_REQUIRED,
        FIELD_RANGE(0, TEXT_MAX)),
    FIELD_BOOL("paste", P, paste,
        "send it as a paste: in brackets, if the program enabled bracketed paste",
        .flags = FIELD_OMIT_EMPTY),
};
static const struct field resize_fields[] = {
    FIELD_U16("rows", P, rows, "lines", .flags = FIELD_REQUIRED, FIELD_RANGE(1, SESSION_ROWS_MAX)),
    FIELD_U16(
        "cols", P, cols, "columns", .flags = FIELD_REQUIRED, FIELD_RANGE(1, SESSION_COLS_MAX)),
};
static const struct field wait_fields[] = {FIELD_JSON(
    "condition", P, condition, "{\"type\", \"payload\"}: see conditions", .flags = FIELD_REQUIRED)};
static const struct field mouse_fields[] = {
    FIELD_ENUM("button", P, button, buttons, "mouse button", .flags = FIELD_REQUIRED),
    FIELD_ENUM("event", P, event, events, "action of the button", .flags = FIELD_REQUIRED),
    FIELD_U32("row", P, row, "counted from 0", .flags = FIELD_REQUIRED,
        FIELD_RANGE(0, TERM_ROWS_MAX - 1)),
    FIELD_U32("col", P, col, "counted from 0", .flags = FIELD_REQUIRED,
        FIELD_RANGE(0, TERM_COLS_MAX - 1)),
};

static const struct shape none_shape = {.name = "nothing", .help = "nothing", .size = sizeof(P)};
static const struct shape key_shape = SHAPE("key", P, key_fields, "a key");
static const struct shape text_shape = SHAPE("text", P, text_fields, "a text");
static const struct shape resize_shape = SHAPE("resize", P, resize_fields, "a size");
static const struct shape wait_shape = SHAPE("wait", P, wait_fields, "a condition");
static const struct shape mouse_shape = SHAPE("mouse", P, mouse_fields, "a mouse event");

/* By enum action_type. */
static const struct tagged kinds[] = {
    [ACTION_KEY] = {"key", NULL, &key_shape, "press a key or a chord", "{\"key\": \"Ctrl+x\"}"},
    [ACTION_TEXT] = {"text", NULL, &text_shape, "type or paste text", "{\"text\": \"hello\\r\"}"},
    [ACTION_RESIZE] = {"resize", NULL, &resize_shape, "change the terminal's size",
        "{\"rows\": 30, \"cols\": 100}"},
    [ACTION_WAIT] = {"wait", NULL, &wait_shape, "wait until a condition holds",
        "{\"condition\": {\"type\": \"screen_contains\", \"payload\": {\"text\": \"ready\"}}}"},
    [ACTION_TERMINATE] = {"terminate", NULL, &none_shape, "end the command: SIGTERM, then SIGKILL",
        "{}"},
    [ACTION_MOUSE] = {"mouse", NULL, &mouse_shape, "use the mouse, if the program enabled it",
        "{\"button\": \"left\", \"event\": \"click\", \"row\": 3, \"col\": 10}"},
};

static const struct tagged_table table = TAGGED_TABLE("action", kinds);

static bool action_read_key(
    struct str text, const char *place, struct key *ret_key, struct err *err)
{
    if (key_parse(text, ret_key, err))
        return true;
    err_wrap(err, "%s.payload.key", place);
    return err_ctx(err, "field", "%s.payload.key", place);
}

static void action_set_mouse(const struct action_payload *p, struct action *a)
{
    static const enum mouse_action actions[] = {
        MOUSE_PRESS, MOUSE_PRESS, MOUSE_RELEASE, MOUSE_MOVE};
    a->mouse = (struct mouse){.button = (enum mouse_button)p->button,
        .action = actions[p->event],
        .row = p->row,
        .col = p->col};
    a->mouse_click = p->event == EVENT_CLICK;
}

bool action_read(const json_t *json, const char *place, struct arena *arena,
    struct action *ret_action, struct err *err)
{
    struct action_payload p = {0};
    size_t kind;
    if (!tagged_read(
            &table, &(struct field_source){json, place, E_PROTOCOL}, arena, &kind, &p, err))
        return false;
    struct action a = {.type = (enum action_type)kind,
        .text = p.text,
        .paste = p.paste,
        .rows = p.rows,
        .cols = p.cols,
        .json = json};
    if (a.type == ACTION_KEY && !action_read_key(p.key, place, &a.key, err))
        return false;
    if (a.type == ACTION_MOUSE)
        action_set_mouse(&p, &a);
    if (a.type == ACTION_WAIT &&
        !condition_read(p.condition, arena_printf(arena, "%s.payload.condition", place), arena,
            &a.condition, err))
        return false;
    *ret_action = a;
    return true;
}

void action_done(struct action *a)
{
    condition_done(&a->condition);
}

const char *action_name(enum action_type type)
{
    return kinds[type].name;
}

const char *action_button(enum mouse_button button)
{
    return buttons[button];
}

static bool send_mouse(
    const struct action *a, const struct term_input *input, struct buf *bytes, struct err *err)
{
    struct mouse release = a->mouse;
    release.action = MOUSE_RELEASE;
    if (!mouse_encode(&a->mouse, input, bytes))
        return err_set(err, E_PROTOCOL, "the program has not enabled these mouse reports");
    if (a->mouse_click)
        (void)mouse_encode(&release, input, bytes);
    return true;
}

bool action_encode(const struct action *a, const struct term *t, struct buf *bytes, struct err *err)
{
    struct term_input input;
    term_input(t, &input);
    if (a->type == ACTION_MOUSE && !send_mouse(a, &input, bytes, err))
        return false;
    if (a->type == ACTION_KEY)
        key_encode(&a->key, &input, bytes);
    else if (a->type == ACTION_TEXT && a->paste)
        key_text(a->text, true, &input, bytes);
    else if (a->type == ACTION_TEXT)
        buf_add_str(bytes, a->text);
    return buf_ok(bytes) || err_set(err, E_IO, "too much to send at once");
}

bool action_send(const struct action *a, struct session *s, struct buf *ret_bytes, struct err *err)
{
    if (a->type == ACTION_RESIZE)
        return session_resize(s, a->rows, a->cols, err);
    return action_encode(a, session_term(s), ret_bytes, err) &&
           session_send(s, buf_str(ret_bytes), err);
}

json_t *action_schema(void)
{
    return tagged_schema(&table);
}

json_t *action_one_of(void)
{
    return tagged_one_of(&table);
}
