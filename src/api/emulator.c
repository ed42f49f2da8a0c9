/* The terminal emulator. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "base/id.h"
#include "run/action.h"
#include "term/snapshot_json.h"
#include "term/term_events.h"

enum {
    ROWS = 24,
    COLS = 80,
    SCREEN_ARENA = 1 << 30,
    ENCODED_MAX = 4 << 20,
};

static const struct api_shape options_shape = API_SHAPE(cordon_emulator_options, onlcr);

struct cordon_emulator {
    struct term *term;
    struct events *events;
};

static bool api_emulator_check_size(unsigned rows, unsigned cols, struct err *err)
{
    return (rows >= 1 && cols >= 1 && rows <= TERM_ROWS_MAX && cols <= TERM_COLS_MAX) ||
           err_set(err, E_CLI_INVALID_ARG, "an emulator has 1 to %d rows and 1 to %d columns",
               TERM_ROWS_MAX, TERM_COLS_MAX);
}

static bool api_emulator_options(
    const struct cordon_emulator_options *given, struct term_options *ret_options, struct err *err)
{
    struct cordon_emulator_options o;
    if (!api_take(&options_shape, given, &o, err))
        return false;
    if (o.reserved)
        return err_set(
            err, E_CLI_INVALID_ARG, "struct cordon_emulator_options: reserved must be 0");
    if (o.scrollback < -1 || o.scrollback > TERM_SCROLLBACK_MAX)
        return err_set(err, E_CLI_INVALID_ARG,
            "invalid scrollback %d: expected -1 (none), 0 (the default) or 1 to %d lines",
            o.scrollback, TERM_SCROLLBACK_MAX);
    *ret_options = (struct term_options){
        .rows = o.rows ? o.rows : ROWS,
        .cols = o.cols ? o.cols : COLS,
        .scrollback = o.scrollback < 0    ? 0
                      : o.scrollback == 0 ? TERM_SCROLLBACK
                                          : (unsigned)o.scrollback,
        .width = o.wcwidth ? TERM_WIDTH_WCWIDTH : TERM_WIDTH_GRAPHEME,
        .onlcr = o.onlcr != 0,
        .event = events_add,
    };
    return api_emulator_check_size(ret_options->rows, ret_options->cols, err);
}

struct cordon_emulator *cordon_emulator_new(
    const struct cordon_emulator_options *given, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    struct term_options options;
    if (!api_emulator_options(given, &options, &err)) {
        api_give_error(&err, error);
        return NULL;
    }
    struct cordon_emulator *e = base_alloc(sizeof(*e));
    e->events = events_new();
    options.context = e->events;
    e->term = term_new(&options);
    return e;
}

void cordon_emulator_free(struct cordon_emulator *e)
{
    if (!e)
        return;
    term_free(e->term);
    events_free(e->events);
    free(e);
}

void cordon_emulator_feed(struct cordon_emulator *e, const void *bytes, size_t n)
{
    term_feed(e->term, str_n(bytes, n));
}

int cordon_emulator_resize(
    struct cordon_emulator *e, unsigned rows, unsigned cols, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    bool ok = api_emulator_check_size(rows, cols, &err);
    if (ok)
        term_resize(e->term, rows, cols);
    return api_return(ok, &err, error);
}

size_t cordon_emulator_replies(const struct cordon_emulator *e, const void **ret_bytes)
{
    struct str replies = term_replies(e->term);
    if (ret_bytes)
        *ret_bytes = replies.p;
    return replies.n;
}

void cordon_emulator_drop_replies(struct cordon_emulator *e, size_t n)
{
    term_drop_replies(e->term, MIN(n, term_replies(e->term).n));
}

/* The screen ---------------------------------------------------------------------------------- */

char *cordon_emulator_text(const struct cordon_emulator *e)
{
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)SCREEN_ARENA);
    AUTO_BUF struct buf text = BUF_INIT((size_t)SCREEN_ARENA);
    struct snapshot s;
    snapshot_take(e->term, &a, 0, &s);
    for (unsigned row = 0; row < s.rows; row++) {
        buf_add_str(&text, s.lines[row]);
        buf_add_byte(&text, '\n');
    }
    return buf_take(&text);
}

char *cordon_emulator_json(
    struct cordon_emulator *e, enum cordon_screen screen, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_ARENA struct arena a = ARENA_INIT((size_t)SCREEN_ARENA);
    struct snapshot s;
    char id[ID_SIZE];
    if (screen != CORDON_SCREEN_FULL && screen != CORDON_SCREEN_CELLS) {
        err_set(&err, E_CLI_INVALID_ARG, "invalid screen format %d", (int)screen);
        return api_return_json(false, NULL, &err, error);
    }
    id_new(id);
    snapshot_take(e->term, &a, screen == CORDON_SCREEN_CELLS ? SNAPSHOT_CELLS : 0, &s);
    json_t *object = snapshot_json(&s, id);
    json_put(object, "events", events_json(e->events, e->term));
    json_put(object, "events_dropped", json_integer((json_int_t)events_dropped(e->events)));
    return api_return_json(true, object, &err, error);
}

uint64_t cordon_emulator_hash(const struct cordon_emulator *e)
{
    return term_hash(e->term);
}

/* Input --------------------------------------------------------------------------------------- */

static char *api_emulator_encode(const struct cordon_emulator *e, const json_t *tree, size_t *ret_n,
    struct err *err, struct cordon_error *error)
{
    AUTO_ARENA struct arena arena = ARENA_INIT(ENCODED_MAX);
    AUTO_BUF struct buf bytes = BUF_INIT(ENCODED_MAX);
    struct action action = {0};
    bool ok = !err->code && api_given("ret_n", ret_n, err) &&
              action_read(tree, "action", &arena, &action, err);
    if (ok && action.type != ACTION_KEY && action.type != ACTION_TEXT &&
        action.type != ACTION_MOUSE)
        ok = err_set(err, E_PROTOCOL, "an emulator encodes keys, text and the mouse, not '%s'",
            action_name(action.type));
    ok = ok && action_encode(&action, e->term, &bytes, err);
    action_done(&action);
    size_t n = bytes.n;
    char *text = api_return_text(ok, &bytes, err, error);
    if (text)
        *ret_n = n;
    return text;
}

char *cordon_emulator_encode(
    struct cordon_emulator *e, const char *action, size_t *ret_n, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    AUTO_JSON json_t *tree = NULL;
    bool read UNUSED = api_given("action", action, &err) &&
                       json_parse(str_z(action), "action", E_PROTOCOL, &tree, &err);
    return api_emulator_encode(e, tree, ret_n, &err, error);
}

char *cordon_emulator_encode_key(
    struct cordon_emulator *e, const char *key, size_t *ret_n, struct cordon_error *error)
{
    AUTO_ERR struct err err = {0};
    bool given UNUSED = api_given("key", key, &err);
    AUTO_JSON json_t *tree = key ? api_tagged_text("key", "key", key) : NULL;
    return api_emulator_encode(e, tree, ret_n, &err, error);
}
