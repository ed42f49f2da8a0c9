/* Sessions as text. Text written by a model, or imported, is made printable here. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/session_view.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "io/tty.h"
#include "llm/message.h"
#include "tui/columns.h"

enum {
    PLAIN_COLUMNS = 120, /* width without a terminal */
    SHORT_ID = 8,
    TITLE_LEAST = 16,
    CWD_MOST = 40,
    RESULT_LINES = 6,
    ARGUMENTS_SHOWN = 300,
};

/* List ---------------------------------------------------------------------------------------- */

/* Width of the id column. Users copy ids from it: random ones are shown by their prefix on a
 * terminal, others in full. */
static size_t session_view_id_width(const struct session_view *v, const struct catalog *c)
{
    size_t width = SHORT_ID;
    for (size_t i = 0; i < c->n; i++)
        if (!v->to_terminal || !id_valid(c->entries[i].id))
            width = MAX(width, c->entries[i].id.n);
    return width;
}

static struct str session_view_id(const struct session_view *v, struct str id)
{
    return v->to_terminal && id_valid(id) ? str_head(id, SHORT_ID) : id;
}

struct session_view_row {
    struct str id, title, cwd;
    const char *updated, *messages;
};

static void session_view_add_row(
    struct buf *out, const struct session_view_row *row, unsigned id_columns, unsigned columns)
{
    enum {
        AGO = 11,
        COUNT = 6,
    };
    unsigned used = id_columns + AGO + COUNT + 3 * 2;
    unsigned left = columns > used + TITLE_LEAST ? columns - used : TITLE_LEAST;
    unsigned cwd = left > 3 * TITLE_LEAST ? MIN(left / 3, (unsigned)CWD_MOST) : 0;
    buf_add_str(out, row->id);
    buf_printf(out, "%*s%-*s  %*s  ", (int)(id_columns - row->id.n + 2), "", AGO, row->updated,
        COUNT, row->messages);
    if (cwd && row->cwd.n) {
        columns_add(out, row->title, left - cwd - 2);
        columns_dir(out, row->cwd, cwd);
    } else {
        columns_cut(out, row->title, left);
    }
    while (out->n && out->p[out->n - 1] == ' ')
        buf_truncate(out, out->n - 1);
    buf_add_byte(out, '\n');
}

static void session_view_add_entry(const struct session_view *v, const struct catalog_entry *e,
    unsigned id_columns, unsigned columns, uint64_t now_ms)
{
    char ago[COLUMNS_AGO], messages[24];
    columns_ago(e->updated_ms, now_ms, ago);
    snprintf(messages, sizeof(messages), "%llu", (unsigned long long)e->messages);
    const struct session_view_row row = {.id = session_view_id(v, e->id),
        .title = e->damage.n ? STR("(damaged)") : e->title,
        .cwd = e->cwd,
        .updated = ago,
        .messages = messages};
    session_view_add_row(v->out, &row, id_columns, columns);
}

/* The header is only for people: scripts read one session per line. */
void session_view_list(const struct session_view *v, const struct catalog *c, size_t n)
{
    const struct session_view_row header = {
        STR("ID"), STR("TITLE"), STR("DIRECTORY"), "UPDATED", "MSGS"};
    unsigned columns = v->to_terminal ? tty_size(STDOUT_FILENO).cols : PLAIN_COLUMNS;
    unsigned id_columns = (unsigned)session_view_id_width(v, c);
    uint64_t now_ms = clock_wall_ms();
    if (v->to_terminal && n)
        session_view_add_row(v->out, &header, id_columns, columns);
    for (size_t i = 0; i < n; i++)
        session_view_add_entry(v, &c->entries[i], id_columns, columns, now_ms);
}

/* Session ------------------------------------------------------------------------------------- */

static void session_view_add_call(struct buf *out, const json_t *block)
{
    AUTO_BUF struct buf arguments = BUF_INIT(STORE_LINE_MAX);
    json_add_compact(&arguments, json_object_get(block, "arguments"));
    buf_add_z(out, "  ▸ ");
    utf8_add_printable(out, json_str(json_object_get(block, "name")));
    buf_add_byte(out, ' ');
    columns_cut(out, str_head(buf_str(&arguments), 8 * ARGUMENTS_SHOWN), ARGUMENTS_SHOWN);
    buf_add_byte(out, '\n');
}

static void session_view_add_block(struct buf *out, const json_t *block, size_t most)
{
    switch (block_type(block)) {
    case BLOCK_TEXT:
        columns_lines(out, json_str(json_object_get(block, "text")), "  ", most);
        break;
    case BLOCK_THINKING:
        columns_lines(out, json_str(json_object_get(block, "thinking")), "  ┆ ", most);
        break;
    case BLOCK_REDACTED_THINKING:
        buf_add_z(out, "  ┆ (hidden thinking)\n");
        break;
    case BLOCK_IMAGE:
        buf_add_z(out, "  (an image, ");
        utf8_add_printable(out, json_str(json_object_get(block, "mime_type")));
        buf_add_z(out, ")\n");
        break;
    case BLOCK_TOOL_CALL:
        session_view_add_call(out, block);
        break;
    case BLOCK_TYPES:
        break;
    }
}

static void session_view_add_message(
    const struct session_view *v, const json_t *message, size_t number, bool full)
{
    struct buf *out = v->out;
    enum message_type type = message_type(message);
    static const char *const names[] = {"user", "assistant", "result"};
    AUTO_BUF struct buf head = BUF_INIT(1024);
    buf_printf(&head, "%zu %s", number, names[type]);
    if (type == MESSAGE_TOOL_RESULT) {
        buf_add_z(&head, " of ");
        utf8_add_printable(&head, str_head(json_str(json_object_get(message, "tool_name")), 128));
        buf_add_z(&head, json_is_true(json_object_get(message, "is_error")) ? " (error)" : "");
    }
    buf_add_byte(out, '\n');
    buf_printf(out, v->color ? "\033[1m%s\033[0m" : "%s", buf_z(&head));
    buf_add_byte(out, '\n');
    const json_t *block;
    size_t i, most = full || type != MESSAGE_TOOL_RESULT ? SIZE_MAX : RESULT_LINES;
    json_array_foreach(json_object_get(message, "content"), i, block)
        session_view_add_block(out, block, most);
}

void session_view_show(const struct session_view *v, const struct store *s, bool full)
{
    static const char *const keys[] = {
        "id", "title", "created_at", "updated_at", "cwd", "provider", "model"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        bool updated = strcmp(keys[i], "updated_at") == 0;
        struct str text = updated ? store_updated_at(s) : store_text(s, keys[i]);
        if (!text.n)
            continue;
        buf_printf(v->out, "%-11s ", keys[i]);
        utf8_add_printable(v->out, text);
        buf_add_byte(v->out, '\n');
    }
    const json_t *message, *all = store_all(s);
    size_t i, at, next = 0;
    json_array_foreach(all, i, message)
    {
        const json_t *compaction = json_array_get(store_compactions(s), next);
        at = (size_t)json_integer_value(json_object_get(compaction, "at"));
        if (compaction && at == i && ++next)
            buf_add_z(v->out, "\n--- the conversation was summarized here ---\n");
        session_view_add_message(v, message, i + 1, full);
    }
}
