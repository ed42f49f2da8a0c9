/* Renders a conversation as rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "tui/chat_rows_state.h"
#include "tui/diffview.h"
#include "tui/highlight.h"

struct chat_rows *chat_rows_new(const struct chat_rows_options *options)
{
    struct chat_rows *c = base_alloc(sizeof(*c));
    *c = (struct chat_rows){.options = *options,
        .stay = TEXT_INIT,
        .thinking = BUF_INIT(2 * CHAT_ROWS_KEPT),
        .diff = BUF_INIT(2 * CHAT_ROWS_DIFF_MAX),
        .look.rows = TEXT_INIT};
    c->options.width = MAX(1u, options->width);
    c->answer = markdown_new(
        &(struct markdown_options){.width = options->width, .show_links = options->show_links});
    return c;
}

static void drop_call(struct chat_rows *c, size_t i)
{
    free(c->calls[i].id);
    free(c->calls[i].name);
    free(c->calls[i].line);
    c->calls[i] = c->calls[--c->n_calls];
}

void chat_rows_free(struct chat_rows *c)
{
    if (!c)
        return;
    chat_rows_unqueue(c);
    free(c->retry);
    chat_rows_folds_done(c);
    while (c->n_calls)
        drop_call(c, c->n_calls - 1);
    markdown_free(c->answer);
    text_done(&c->stay);
    buf_done(&c->thinking);
    buf_done(&c->diff);
    free(c);
}

void chat_rows_set_size(struct chat_rows *c, unsigned width, unsigned rows)
{
    c->options.width = MAX(1u, width);
    c->options.rows = rows;
    markdown_set_width(c->answer, c->options.width);
    chat_rows_relook(c);
}

char *chat_rows_copy(struct str s)
{
    char *copy = base_alloc(s.n + 1);
    memcpy(copy, s.p, s.n);
    copy[s.n] = 0;
    return copy;
}

/* Lines --------------------------------------------------------------------------------------- */

/* Adds styled text as rows, with a mark before the first. */
static void chat_rows_put_text(const struct chat_rows *c, const char *mark, enum theme mark_look,
    struct str text, enum theme look, struct text *out)
{
    AUTO_TEXT struct text lines = TEXT_INIT, prefix = TEXT_INIT;
    text_add_z(&prefix, mark, &theme[mark_look]);
    text_end(&prefix);
    text_spaces(&prefix, prefix.lines[0].width, NULL);
    text_end(&prefix);
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    text_add(&lines, text, &theme[look]);
    text_end(&lines);
    for (size_t i = 0; i < lines.n; i++) {
        AUTO_TEXT struct text rest = TEXT_INIT;
        text_copy(&rest, &prefix, 1);
        text_wrap(out, &lines, i,
            &(struct text_wrap){.width = c->options.width, .prefix = i ? &rest : &prefix});
    }
}

/* Whether a blank row separates the next item from the previous one. */
static bool chat_rows_is_apart(const struct chat_rows *c, bool apart)
{
    return c->any && (apart || c->gap) && c->handed + c->stay.n != c->blank;
}

static void chat_rows_begin_item(struct chat_rows *c, bool apart)
{
    if (chat_rows_is_apart(c, apart)) {
        text_end(&c->stay);
        c->blank = c->handed + c->stay.n;
    }
    c->any = true;
    c->gap = apart;
}

void chat_rows_begin(struct chat_rows *c, bool apart)
{
    if (c->retry) { /* it does not change any more */
        chat_rows_begin_item(c, false);
        chat_rows_put_text(c, "· ", THEME_DIM, str_z(c->retry), THEME_DIM, &c->stay);
        free(c->retry);
        c->retry = NULL;
    }
    chat_rows_begin_item(c, apart);
}

static size_t chat_rows_count_lines(struct str text)
{
    size_t n = 0;
    for (struct str line; str_cut(text, '\n', &line, &text);)
        n++;
    return n;
}

/* Returns the last lines of a text. */
static struct str chat_rows_last_lines(struct str text, size_t lines)
{
    size_t at = text.n;
    while (at > 0 && text.p[at - 1] == '\n')
        at--;
    for (; at > 0; at--)
        if (text.p[at - 1] == '\n' && --lines == 0)
            break;
    return str_skip(text, at);
}

static void chat_rows_keep_tail(struct buf *kept, struct str text)
{
    if (text.n > CHAT_ROWS_KEPT)
        text = str_skip(text, text.n - CHAT_ROWS_KEPT);
    if (kept->n + text.n > CHAT_ROWS_KEPT) {
        size_t drop = kept->n + text.n - CHAT_ROWS_KEPT;
        drop = MIN(drop, kept->n);
        memmove(kept->p, kept->p + drop, kept->n - drop);
        buf_truncate(kept, kept->n - drop);
    }
    buf_add_str(kept, text);
}

static bool is_diff(struct str text)
{
    return str_starts_with(text, STR("diff --git ")) || str_starts_with(text, STR("--- "));
}

void chat_rows_put_output(const struct chat_rows *c, struct str text, struct text *out)
{
    AUTO_TEXT struct text prefix = TEXT_INIT;
    bool diff = is_diff(text) || memmem(text.p, text.n, "\n@@ ", 4);
    struct highlight h = highlight_start(diff ? STR("diff") : STR(""));
    text_add(&prefix, STR("  │ "), &theme[THEME_DIM]);
    text_end(&prefix);
    for (struct str line; str_cut(text, '\n', &line, &text);) {
        AUTO_TEXT struct text one = TEXT_INIT;
        if (text.n == 0 && line.n == 0)
            break;
        if (str_ends_with(line, STR("\r")))
            line.n--;
        highlight_line(&h, line, &one);
        text_end(&one);
        text_wrap(out, &one, 0,
            &(struct text_wrap){.width = c->options.width, .letters = true, .prefix = &prefix});
    }
}

/* The answer ---------------------------------------------------------------------------------- */

static void end_thinking(struct chat_rows *c)
{
    char line[64];
    if (c->thought == 0)
        return;
    chat_rows_begin(c, false);
    size_t lines = chat_rows_count_lines(buf_str(&c->thinking));
    snprintf(line, sizeof(line), "thought, %zu line%s", lines, lines == 1 ? "" : "s");
    chat_rows_put_text(c, "◇ ", THEME_DIM, str_z(line), THEME_DIM, &c->stay);
    chat_rows_fold(c, STR("thought"), buf_str(&c->thinking), false);
    buf_reset(&c->thinking);
    c->thought = 0;
}

void chat_rows_text(struct chat_rows *c, struct str delta)
{
    end_thinking(c);
    if (!c->speaks)
        chat_rows_begin(c, true);
    c->speaks = true;
    markdown_feed(c->answer, delta, &c->stay);
}

void chat_rows_thinking(struct chat_rows *c, struct str delta)
{
    if (c->speaks)
        chat_rows_end(c);
    chat_rows_keep_tail(&c->thinking, delta);
    c->thought += delta.n;
}

void chat_rows_end(struct chat_rows *c)
{
    end_thinking(c);
    if (c->speaks)
        markdown_end(c->answer, &c->stay);
    c->speaks = false;
}

void chat_rows_restart(struct chat_rows *c)
{
    AUTO_TEXT struct text lost = TEXT_INIT;
    bool said = c->speaks;
    buf_reset(&c->thinking);
    c->thought = 0;
    markdown_end(c->answer, &lost);
    c->speaks = false;
    if (said)
        chat_rows_note(c, STR("the answer starts again"));
}

/* Returns the start of a prompt that is shown. */
static struct str first_lines(struct str text)
{
    size_t lines = 0, at = 0;
    for (; at < text.n && lines < CHAT_ROWS_PROMPT_LINES; at++)
        lines += text.p[at] == '\n';
    struct str head = str_head(text, at);
    return str_head(head, utf8_cut(head, CHAT_ROWS_PROMPT_BYTES));
}

void chat_rows_user(struct chat_rows *c, struct str text)
{
    struct str shown = first_lines(text), rest = str_skip(text, shown.n);
    size_t lines = chat_rows_count_lines(rest);
    char words[64];
    chat_rows_end(c);
    chat_rows_begin(c, true);
    if (c->options.whole_prompts || (rest.n <= CHAT_ROWS_PROMPT_BYTES / 10 &&
                                        lines < 3)) { /* collapsing would save too little */
        chat_rows_put_text(c, "> ", THEME_BULLET, text, THEME_STRONG, &c->stay);
        return;
    }
    chat_rows_put_text(c, "> ", THEME_BULLET, shown, THEME_STRONG, &c->stay);
    snprintf(words, sizeof(words), "… %zu more %s", lines > 1 ? lines : rest.n,
        lines > 1 ? "lines" : "bytes");
    chat_rows_put_text(c, "  ", THEME_DIM, str_z(words), THEME_DIM, &c->stay);
    chat_rows_fold(c, STR("prompt"), text, false);
}

/* Calls --------------------------------------------------------------------------------------- */

static size_t find_call(const struct chat_rows *c, struct str id)
{
    size_t i = 0;
    while (i < c->n_calls && !str_is(id, c->calls[i].id))
        i++;
    return i;
}

/* Formats a call as one line. */
static char *chat_rows_call_line(struct str name, struct str summary)
{
    AUTO_BUF struct buf line = BUF_INIT(2 * CHAT_ROWS_SUMMARY_BYTES + 16);
    struct str first = summary;
    (void)str_cut(summary, '\n', &first, &summary);
    buf_add_str(&line, str_head(name, CHAT_ROWS_SUMMARY_BYTES));
    buf_add_byte(&line, ' ');
    buf_add_str(&line, str_head(first, CHAT_ROWS_SUMMARY_BYTES));
    if (summary.n && summary.p != first.p)
        buf_add_z(&line, " …");
    return chat_rows_copy(buf_str(&line));
}

void chat_rows_call(struct chat_rows *c, struct str id, struct str name, struct str summary)
{
    chat_rows_end(c);
    if (c->n_calls == CHAT_ROWS_CALLS || find_call(c, id) < c->n_calls)
        return;
    c->calls[c->n_calls++] = (struct chat_rows_call){
        chat_rows_copy(id), chat_rows_copy(name), chat_rows_call_line(name, summary)};
}

void chat_rows_diff(struct chat_rows *c, struct str diff)
{
    buf_reset(&c->diff);
    buf_add_str(&c->diff, diff);
    if (!buf_ok(&c->diff))
        buf_reset(&c->diff);
}

/* Adds the number of output lines, or of changed lines. */
static void put_size(const struct chat_rows *c, size_t lines, struct text *size)
{
    struct diffview_count n = diffview_count(buf_str(&c->diff));
    char words[48];
    if (c->diff.n == 0 && lines) {
        snprintf(words, sizeof(words), "  %zu line%s", lines, lines == 1 ? "" : "s");
        text_add_z(size, words, &theme[THEME_DIM]);
    }
    snprintf(words, sizeof(words), "  +%zu", n.added);
    if (n.added)
        text_add_z(size, words, &theme[THEME_ADDED]);
    snprintf(words, sizeof(words), "  -%zu", n.removed);
    if (n.removed)
        text_add_z(size, words, &theme[THEME_REMOVED]);
    text_end(size);
}

/* Adds a call's line: its summary and the size of its output. */
static void put_call(struct chat_rows *c, struct str line, bool failed, size_t lines)
{
    AUTO_TEXT struct text row = TEXT_INIT, size = TEXT_INIT;
    unsigned width = c->options.width;
    put_size(c, lines, &size);
    text_add_z(&row, failed ? "✗ " : "✓ ", &theme[failed ? THEME_REMOVED : THEME_ADDED]);
    text_add(&row, line, NULL);
    text_end(&row);
    size_t taken = size.lines[0].width;
    size_t room = width > taken + 1 ? width - taken : 1;
    text_cut(&c->stay, &row, 0, 0, room - (row.lines[0].width > room));
    if (row.lines[0].width > room)
        text_add(&c->stay, STR("…"), NULL);
    if (taken < width)
        text_append(&c->stay, &size, 0);
    text_end(&c->stay);
}

/* Shows the change, unless it was shown in the request for approval. Returns true if all of it is
 * visible. */
static bool put_change(struct chat_rows *c)
{
    struct str diff = buf_str(&c->diff);
    struct diffview_count n = diffview_count(diff);
    const struct diffview how = {
        .width = c->options.width, .headings = n.files > 1, .lines = CHAT_ROWS_DIFF_LINES};
    if (!c->diff_seen)
        diffview_put(diff, &how, &c->stay);
    return c->diff_seen || n.lines <= CHAT_ROWS_DIFF_LINES;
}

static void put_result(struct chat_rows *c, struct str line, bool failed, struct str output)
{
    size_t lines = chat_rows_count_lines(output);
    bool open = failed || is_diff(output), changed = c->diff.n, whole = false;
    chat_rows_begin(c, false);
    put_call(c, line, failed, open ? 0 : lines);
    if (changed)
        whole = put_change(c);
    else if (open)
        chat_rows_put_output(
            c, failed ? chat_rows_last_lines(output, CHAT_ROWS_FAILED_LINES) : output, &c->stay);
    if (open && !changed)
        whole = !failed || lines <= CHAT_ROWS_FAILED_LINES;
    if (!whole)
        chat_rows_fold(c, line, changed ? buf_str(&c->diff) : output, changed);
    c->gap = open || (changed && !c->diff_seen);
}

void chat_rows_result(struct chat_rows *c, struct str id, bool failed, struct str output)
{
    size_t i = find_call(c, id);
    chat_rows_end(c);
    if (failed)
        buf_reset(&c->diff);
    put_result(c, i < c->n_calls ? str_z(c->calls[i].line) : id, failed, output);
    buf_reset(&c->diff);
    c->diff_seen = false;
    if (i < c->n_calls)
        drop_call(c, i);
}

/* Requests for approval ----------------------------------------------------------------------- */

static void put_command(struct chat_rows *c, struct str command)
{
    AUTO_TEXT struct text prefix = TEXT_INIT;
    struct highlight h = highlight_start(STR("sh"));
    text_add(&prefix, STR("  │ "), &theme[THEME_ASK]);
    text_end(&prefix);
    for (struct str line; str_cut(command, '\n', &line, &command);) {
        AUTO_TEXT struct text one = TEXT_INIT;
        highlight_line(&h, line, &one);
        text_end(&one);
        text_wrap(&c->stay, &one, 0,
            &(struct text_wrap){.width = c->options.width, .letters = true, .prefix = &prefix});
    }
}

void chat_rows_ask(struct chat_rows *c, const struct chat_rows_question *q)
{
    chat_rows_end(c);
    chat_rows_look_end(c);
    chat_rows_begin(c, true);
    chat_rows_put_text(c, "? ", THEME_ASK, q->words, THEME_STRONG, &c->stay);
    if (q->diff.n)
        diffview_put(
            q->diff, &(struct diffview){.width = c->options.width, .headings = true}, &c->stay);
    else if (q->is_command)
        put_command(c, q->subject);
    else
        chat_rows_put_text(c, "  ", THEME_TEXT, q->subject, THEME_STRONG, &c->stay);
    if (q->text.n && q->diff.n == 0)
        chat_rows_put_output(c, q->text, &c->stay);
    chat_rows_put_text(c, "  reason: ", THEME_DIM, q->why, THEME_DIM, &c->stay);
    c->diff_seen = q->diff.n;
    c->asks = true;
}

void chat_rows_asked(struct chat_rows *c, struct str command)
{
    c->asks = false;
    if (!command.p)
        return;
    chat_rows_note(c, STR("edited; running instead:"));
    put_command(c, command);
    c->gap = true;
    if (c->n_calls == 0)
        return;
    struct chat_rows_call *call = &c->calls[c->n_calls - 1];
    free(call->line);
    call->line = chat_rows_call_line(str_z(call->name), command);
}

/* Notes, errors and the queue ----------------------------------------------------------------- */

void chat_rows_note(struct chat_rows *c, struct str text)
{
    chat_rows_end(c);
    chat_rows_begin(c, false);
    chat_rows_put_text(c, "· ", THEME_DIM, text, THEME_DIM, &c->stay);
}

void chat_rows_retry(struct chat_rows *c, struct str text)
{
    chat_rows_end(c);
    free(c->retry);
    c->retry = chat_rows_copy(text);
}

void chat_rows_error(struct chat_rows *c, struct str text)
{
    chat_rows_end(c);
    chat_rows_begin(c, true);
    chat_rows_put_text(c, "✗ ", THEME_REMOVED, text, THEME_REMOVED, &c->stay);
}

void chat_rows_queue(struct chat_rows *c, struct str text)
{
    struct str line = text;
    (void)str_cut(text, '\n', &line, &text);
    if (c->n_queue < CHAT_ROWS_QUEUE)
        c->queue[c->n_queue++] = chat_rows_copy(str_head(line, CHAT_ROWS_SUMMARY_BYTES));
}

void chat_rows_unqueue(struct chat_rows *c)
{
    for (size_t i = 0; i < c->n_queue; i++)
        free(c->queue[i]);
    c->n_queue = 0;
}

/* Adds one row, truncated to the width. */
static void chat_rows_put_row(
    const struct chat_rows *c, const char *mark, struct str text, enum theme look, struct text *out)
{
    AUTO_TEXT struct text row = TEXT_INIT;
    text_add_z(&row, mark, &theme[look]);
    text_add(&row, text, &theme[look]);
    text_end(&row);
    text_cut(out, &row, 0, 0, c->options.width);
    text_end(out);
}

/* Drops the rows already returned, but only once they are at least half of the list, so that each
 * row is copied about once. */
static void chat_rows_drop_returned(struct chat_rows *c)
{
    struct text rest = TEXT_INIT;
    if (c->at < c->stay.n && c->at < c->stay.n / 2)
        return;
    c->handed += c->at;
    if (c->at == c->stay.n) {
        text_reset(&c->stay);
    } else {
        for (size_t i = c->at; i < c->stay.n; i++)
            text_copy(&rest, &c->stay, i);
        text_done(&c->stay);
        c->stay = rest;
    }
    c->at = 0;
}

static bool hand_out(struct chat_rows *c, struct text *stay)
{
    size_t left = c->stay.n - c->at, n = c->options.most ? MIN(left, c->options.most) : left;
    for (size_t end = c->at + n; c->at < end; c->at++)
        text_copy(stay, &c->stay, c->at);
    chat_rows_drop_returned(c);
    return n < left;
}

bool chat_rows_take(struct chat_rows *c, unsigned step, struct text *stay, struct text *region)
{
    static const char *const wheel[] = {"⠋ ", "⠙ ", "⠸ ", "⠴ ", "⠦ ", "⠇ "};
    const char *at_work = wheel[step % ARRAY_LEN(wheel)];
    bool more = hand_out(c, stay);
    if (c->speaks && !more) /* only after all its finished rows */
        markdown_live(c->answer, region);
    if (c->retry) {
        if (chat_rows_is_apart(c, false))
            text_end(region);
        chat_rows_put_text(c, "· ", THEME_DIM, str_z(c->retry), THEME_DIM, region);
    }
    if (c->thought)
        chat_rows_put_row(c, at_work, STR("thinking"), THEME_DIM, region);
    chat_rows_put_look(c, region);
    for (size_t i = 0; i < c->n_calls && !c->asks; i++)
        chat_rows_put_row(c, at_work, str_z(c->calls[i].line), THEME_TEXT, region);
    for (size_t i = 0; i < c->n_queue; i++)
        chat_rows_put_row(c, "queued: ", str_z(c->queue[i]), THEME_DIM, region);
    return more;
}
