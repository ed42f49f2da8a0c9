/* Sessions on a screen. What a model or a stranger wrote is made printable here. */
#include "cli/session_view.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "io/tty.h"
#include "llm/message.h"
#include "term/unicode.h"

#include <time.h>

enum {
    PLAIN_COLUMNS = 120, /* where there is no terminal */
    SHORT_ID = 8,
    TITLE_LEAST = 16,
    CWD_MOST = 40,
    RESULT_LINES = 6,
    ARGUMENTS_SHOWN = 300,
};

/* Text ---------------------------------------------------------------------------------------- */

/* The text on one line of at most so many columns; gives how many it took. */
static unsigned add_cut(struct buf *out, struct str text, unsigned columns)
{
    AUTO_BUF struct buf shown = BUF_INIT(12 * text.n + 16);
    utf8_add_printable(&shown, text);
    struct str rest = buf_str(&shown);
    unsigned used = 0, whole = 0; /* whole: bytes that leave room for the mark */
    size_t at = 0, fits = 0;
    while (at < rest.n && used <= columns) {
        uint32_t cp = 0;
        size_t n = utf8_decode(str_skip(rest, at), &cp);
        at += n ? n : 1;
        used += unicode_width(unicode_class(cp));
        if (used + 1 <= columns) {
            fits = at;
            whole = used;
        }
    }
    if (used <= columns) {
        buf_add_str(out, rest);
        return used;
    }
    buf_add_str(out, str_head(rest, fits));
    buf_add_z(out, columns ? "…" : "");
    return whole + (columns ? 1 : 0);
}

static void add_column(struct buf *out, struct str text, unsigned columns)
{
    unsigned used = add_cut(out, text, columns);
    buf_printf(out, "%*s", (int)(columns - used + 2), "");
}

/* Lines that keep their ends, and nothing else that a terminal would obey. */
static void add_lines(struct buf *out, struct str text, const char *indent, size_t most)
{
    struct str line;
    size_t n = 0;
    while (str_cut(text, '\n', &line, &text)) {
        if (n++ == most) {
            buf_printf(out, "%s…\n", indent);
            return;
        }
        buf_add_z(out, line.n ? indent : "");
        utf8_add_printable(out, str_trim_end(line, '\r'));
        buf_add_byte(out, '\n');
    }
}

/* Time ---------------------------------------------------------------------------------------- */

void session_view_ago(uint64_t then_ms, uint64_t now_ms, char text[SESSION_AGO])
{
    static const struct {
        uint64_t below, unit;
        const char *words;
    } steps[] = {
        {3600, 60, "%llu min ago"},
        {48 * 3600, 3600, "%llu h ago"},
        {30 * 86400, 86400, "%llu days ago"},
    };
    uint64_t seconds = now_ms > then_ms ? (now_ms - then_ms) / 1000 : 0;
    if (seconds < 60) {
        snprintf(text, SESSION_AGO, "just now");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (seconds < steps[i].below) {
            snprintf(
                text, SESSION_AGO, steps[i].words, (unsigned long long)(seconds / steps[i].unit));
            return;
        }
    time_t then = (time_t)(then_ms / 1000);
    struct tm tm;
    if (!localtime_r(&then, &tm) || strftime(text, SESSION_AGO, "%Y-%m-%d", &tm) == 0)
        snprintf(text, SESSION_AGO, "?");
}

/* The list ------------------------------------------------------------------------------------ */

/* How much of each id must be shown: people copy it from here. Random ones are told by their start;
 * others are names. */
static size_t id_width(const struct cli *cli, const struct catalog *c)
{
    size_t width = SHORT_ID;
    for (size_t i = 0; i < c->n; i++)
        if (!cli->to_terminal || !id_valid(c->entries[i].id))
            width = MAX(width, c->entries[i].id.n);
    return width;
}

static struct str shown_id(const struct cli *cli, struct str id)
{
    return cli->to_terminal && id_valid(id) ? str_head(id, SHORT_ID) : id;
}

/* With ~ for the home directory. */
static void add_cwd(struct buf *out, struct str cwd, unsigned columns)
{
    struct str home = str_z(getenv("HOME"));
    AUTO_BUF struct buf b = BUF_INIT(cwd.n + 8);
    bool below =
        home.n > 1 && str_starts_with(cwd, home) && (cwd.n == home.n || cwd.p[home.n] == '/');
    buf_add_z(&b, below ? "~" : "");
    buf_add_str(&b, below ? str_skip(cwd, home.n) : cwd);
    add_cut(out, buf_str(&b), columns);
}

static void add_entry(struct cli *cli, const struct catalog_entry *e, unsigned id_columns,
    unsigned columns, uint64_t now_ms)
{
    enum {
        AGO = 11,
        COUNT = 6,
    };
    struct buf *out = &cli->stdout_buf;
    char ago[SESSION_AGO];
    unsigned used = id_columns + AGO + COUNT + 3 * 2;
    unsigned left = columns > used + TITLE_LEAST ? columns - used : TITLE_LEAST;
    unsigned cwd = left > 3 * TITLE_LEAST ? MIN(left / 3, (unsigned)CWD_MOST) : 0;
    session_view_ago(e->updated_ms, now_ms, ago);
    struct str id = shown_id(cli, e->id);
    buf_add_str(out, id);
    buf_printf(out, "%*s%-*s  %*llu  ", (int)(id_columns - id.n + 2), "", AGO, ago, COUNT,
        (unsigned long long)e->messages);
    struct str title = e->damage.n ? STR("(damaged)") : e->title;
    if (cwd && e->cwd.n) {
        add_column(out, title, left - cwd - 2);
        add_cwd(out, e->cwd, cwd);
    } else {
        add_cut(out, title, left);
    }
    while (out->n && out->p[out->n - 1] == ' ')
        buf_truncate(out, out->n - 1);
    buf_add_byte(out, '\n');
}

void session_view_list(struct cli *cli, const struct catalog *c, size_t n)
{
    unsigned columns = cli->to_terminal ? tty_size(STDOUT_FILENO).cols : PLAIN_COLUMNS;
    unsigned id_columns = (unsigned)id_width(cli, c);
    uint64_t now_ms = clock_wall_ms();
    for (size_t i = 0; i < n; i++)
        add_entry(cli, &c->entries[i], id_columns, columns, now_ms);
}

/* One session --------------------------------------------------------------------------------- */

static void show_call(struct buf *out, const json_t *block)
{
    AUTO_BUF struct buf arguments = BUF_INIT(STORE_LINE_MAX);
    json_add_compact(&arguments, json_object_get(block, "arguments"));
    buf_add_z(out, "  ▸ ");
    utf8_add_printable(out, json_str(json_object_get(block, "name")));
    buf_add_byte(out, ' ');
    add_cut(out, str_head(buf_str(&arguments), 8 * ARGUMENTS_SHOWN), ARGUMENTS_SHOWN);
    buf_add_byte(out, '\n');
}

static void show_block(struct buf *out, const json_t *block, size_t most)
{
    switch (block_type(block)) {
    case BLOCK_TEXT:
        add_lines(out, json_str(json_object_get(block, "text")), "  ", most);
        break;
    case BLOCK_THINKING:
        add_lines(out, json_str(json_object_get(block, "thinking")), "  ┆ ", most);
        break;
    case BLOCK_REDACTED_THINKING:
        buf_add_z(out, "  ┆ (thinking that is not shown)\n");
        break;
    case BLOCK_IMAGE:
        buf_add_z(out, "  (an image, ");
        utf8_add_printable(out, json_str(json_object_get(block, "mime_type")));
        buf_add_z(out, ")\n");
        break;
    case BLOCK_TOOL_CALL:
        show_call(out, block);
        break;
    case BLOCK_TYPES:
        break;
    }
}

static void show_message(struct cli *cli, const json_t *message, size_t number, bool full)
{
    struct buf *out = &cli->stdout_buf;
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
    out_styled(cli, OUT_BOLD, buf_z(&head));
    buf_add_byte(out, '\n');
    const json_t *block;
    size_t i, most = full || type != MESSAGE_TOOL_RESULT ? SIZE_MAX : RESULT_LINES;
    json_array_foreach(json_object_get(message, "content"), i, block) show_block(out, block, most);
}

void session_view_show(struct cli *cli, const struct store *s, bool full)
{
    static const char *const keys[] = {
        "id", "title", "created_at", "updated_at", "cwd", "provider", "model"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        bool updated = strcmp(keys[i], "updated_at") == 0;
        struct str text = updated ? store_updated_at(s) : store_text(s, keys[i]);
        if (!text.n)
            continue;
        buf_printf(&cli->stdout_buf, "%-11s ", keys[i]);
        utf8_add_printable(&cli->stdout_buf, text);
        buf_add_byte(&cli->stdout_buf, '\n');
    }
    const json_t *message, *all = store_all(s);
    size_t i, at, next = 0;
    json_array_foreach(all, i, message)
    {
        const json_t *compaction = json_array_get(store_compactions(s), next);
        at = (size_t)json_integer_value(json_object_get(compaction, "at"));
        if (compaction && at == i && ++next)
            out_line(cli, "\n--- the conversation was summed up here ---");
        show_message(cli, message, i + 1, full);
    }
}
