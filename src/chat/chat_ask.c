/* Approval questions, their answers, and editing the proposed text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "chat/chat.h"
#include "tool/sessions.h"
#include "tui/theme.h"

#include <poll.h>

enum {
    ARM_MS = 500,          /* delay before the choices are shown */
    SUBJECT_MAX = 1 << 20, /* maximum length of the subject in bytes */
};

/* Asking --------------------------------------------------------------------------------------- */

static void plain_choices(struct chat *chat)
{
    AUTO_BUF struct buf line = BUF_INIT(2 * SUBJECT_MAX);
    const struct chat_question *q = &chat->question;
    buf_printf(&line, "[y]es, [n]o%s", q->edit ? ", [e]dit" : "");
    if (q->rule.n)
        buf_printf(&line, ", [a]lways %s", buf_z((struct buf *)&q->rule));
    chat_rows_note(chat->rows, buf_str(&line));
}

/* Shows the arguments of a tool whose changes cannot be previewed here. */
static void chat_ask_add_arguments(const json_t *arguments, struct buf *text)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)arguments, key, value)
    {
        buf_printf(text, "%s:", key);
        buf_add_byte(text, json_is_string(value) ? '\n' : ' ');
        if (json_is_string(value))
            buf_add_str(text, json_str(value));
        else
            json_add_compact(text, value);
        buf_add_byte(text, '\n');
    }
}

/* Shows exactly what will be run or changed. */
static void put_question(struct chat *chat, const struct approve_question *q, struct str rule)
{
    AUTO_BUF struct buf words = BUF_INIT(4096), arguments = BUF_INIT(4 * TOOL_ARGUMENTS_MAX);
    struct chat_question *question = &chat->question;
    buf_printf(&words, "Allow %s to %s:", q->tool,
        q->is_command ? "run"
        : q->mutating ? "change"
                      : "read");
    struct chat_rows_question shown = {.words = buf_str(&words),
        .subject = q->subject,
        .is_command = q->is_command,
        .diff = q->diff,
        .why = str_z(q->why ? q->why : "")};
    if (!q->is_command && q->mutating && q->diff.n == 0)
        chat_ask_add_arguments(q->arguments, &arguments);
    shown.text = buf_str(&arguments);
    chat_rows_ask(chat->rows, &shown);
    question->open = true;
    question->is_command = q->is_command;
    question->edit = q->edit && q->edit->text.n < EDITOR_MAX ? q->edit : NULL;
    question->since_ms = 0;
    question->drawn = question->offered = false;
    question->armed = chat->console.plain;
    question->answer = APPROVE_NO;
    buf_reset(&question->rule);
    buf_add_str(&question->rule, rule);
    if (chat->console.plain)
        plain_choices(chat);
}

/* A question that cannot be shown completely is not asked, but denied. */
static bool can_show(const struct approve_question *q)
{
    size_t text = q->edit && q->diff.n == 0 ? q->edit->text.n : 0;
    return q->subject.n < SUBJECT_MAX && text < SUBJECT_MAX;
}

/* Notes a decision that the result will not show. */
static void note_answer(struct chat *chat, enum approve_answer answer)
{
    AUTO_BUF struct buf words = BUF_INIT(2 * SUBJECT_MAX);
    struct chat_question *q = &chat->question;
    bool edited = answer == APPROVE_EDITED && q->is_command;
    chat_rows_asked(chat->rows, edited ? buf_str(&q->edit->now) : (struct str){0});
    if (answer != APPROVE_YES_ALWAYS)
        return;
    buf_printf(&words, "allowed for the rest of this conversation: %s", buf_z(&q->rule));
    chat_rows_note(chat->rows, buf_str(&words));
}

enum approve_answer chat_ask_user(void *context, const struct approve_question *q, struct str rule)
{
    struct chat *chat = context;
    if (!can_show(q))
        return APPROVE_NO;
    pthread_mutex_lock(&chat->lock);
    chat_drain(chat->answered);
    put_question(chat, q, rule);
    pthread_mutex_unlock(&chat->lock);
    chat_signal(chat->wake);
    struct pollfd fds[] = {{.fd = chat->answered, .events = POLLIN},
        {.fd = chat->setup.tools.options.signals, .events = POLLIN}};
    const struct sessions_wait wait = {
        .deadline_ms = UINT64_MAX, .fds = fds, .n_fds = ARRAY_LEN(fds)};
    while (sessions_wait(chat->setup.tools.box, &wait) != SESSIONS_READABLE) {
    }
    pthread_mutex_lock(&chat->lock);
    enum approve_answer answer = fds[1].revents ? APPROVE_CANCELED : chat->question.answer;
    note_answer(chat, answer);
    if (answer == APPROVE_YES_ALWAYS) { /* under the lock: /approve reads the rules */
        buf_printf(&chat->consent, STR_FMT "\n", STR_ARG(rule));
        chat_consent_apply(chat);
        answer = APPROVE_YES;
    }
    chat->question.open = false;
    chat->question.edit = NULL;
    pthread_mutex_unlock(&chat->lock);
    chat_signal(chat->wake);
    return answer;
}

void chat_ask_show_diff(void *context, struct str diff)
{
    struct chat *chat = context;
    pthread_mutex_lock(&chat->lock);
    chat_rows_diff(chat->rows, diff);
    pthread_mutex_unlock(&chat->lock);
}

/* Answering ------------------------------------------------------------------------------------ */

/* Whether to show the choices; answers count once they are shown. */
static bool chat_ask_choices_due(const struct chat_question *q)
{
    return q->armed || (q->since_ms && clock_mono_ms() - q->since_ms >= ARM_MS);
}

static void chat_ask_set_answer(struct chat *chat, enum approve_answer answer)
{
    chat->question.answer = answer;
    chat->question.open = false;
    chat_signal(chat->answered);
}

static void chat_ask_answer_yes(struct chat *chat)
{
    chat_ask_set_answer(chat, APPROVE_YES);
}

static void chat_ask_answer_no(struct chat *chat)
{
    chat_ask_set_answer(chat, APPROVE_NO);
}

static void chat_ask_answer_always(struct chat *chat)
{
    if (chat->question.rule.n)
        chat_ask_set_answer(chat, APPROVE_YES_ALWAYS);
}

/* Loads text into the editor. Returns false if the editor cannot represent it exactly. */
static bool load_editor(struct chat *chat, struct str text)
{
    AUTO_BUF struct buf loaded = BUF_INIT(2 * EDITOR_MAX);
    editor_clear(chat->editor);
    editor_set(chat->editor, text);
    editor_content(chat->editor, &loaded);
    if (str_eq(buf_str(&loaded), text))
        return true;
    editor_clear(chat->editor);
    return false;
}

static void chat_ask_start_edit(struct chat *chat)
{
    struct chat_question *q = &chat->question;
    if (!q->edit)
        return;
    if (chat->console.plain) {
        chat_rows_note(
            chat->rows, STR("type the replacement; an empty line returns to the question"));
        q->editing = q->half = true;
        return;
    }
    buf_reset(&q->draft);
    editor_content(chat->editor, &q->draft);
    q->editing = load_editor(chat, q->edit->text);
    if (!q->editing) {
        editor_set(chat->editor, buf_str(&q->draft));
        chat_rows_note(chat->rows, STR("this contains characters that cannot be edited here"));
    }
}

bool chat_ask_key(struct chat *chat, const struct typed *typed)
{
    static const struct {
        const char *key;
        void (*run)(struct chat *chat);
    } rows[] = {{"y", chat_ask_answer_yes}, {"n", chat_ask_answer_no},
        {"a", chat_ask_answer_always}, {"e", chat_ask_start_edit}};
    pthread_mutex_lock(&chat->lock);
    bool open = chat->question.open && chat->question.armed && !chat->question.editing;
    for (size_t i = 0; open && typed->kind == TYPED_TEXT && i < ARRAY_LEN(rows); i++)
        if (str_is(typed->bytes, rows[i].key)) {
            rows[i].run(chat);
            break;
        }
    pthread_mutex_unlock(&chat->lock);
    return open && (typed->kind == TYPED_TEXT || typed->kind == TYPED_PASTE);
}

/* Editing -------------------------------------------------------------------------------------- */

static void chat_ask_restore_editor(struct chat *chat)
{
    struct chat_question *q = &chat->question;
    q->editing = q->half = false;
    editor_clear(chat->editor);
    editor_set(chat->editor, buf_str(&q->draft));
    buf_reset(&q->draft);
}

bool chat_ask_take_edited(struct chat *chat)
{
    struct chat_question *q = &chat->question;
    pthread_mutex_lock(&chat->lock);
    bool mine = q->editing;
    if (mine && q->half) {
        q->half = false;
    } else if (mine && q->open) {
        struct approve_edit *e = q->edit;
        buf_reset(&e->now);
        editor_content(chat->editor, &e->now);
        bool same = str_eq(buf_str(&e->now), e->text);
        if (e->now.n && buf_ok(&e->now))
            chat_ask_set_answer(chat, same ? APPROVE_YES : APPROVE_EDITED);
        else if (chat->console.plain)
            plain_choices(chat);
        chat_ask_restore_editor(chat);
    }
    pthread_mutex_unlock(&chat->lock);
    return mine;
}

bool chat_ask_leave_edited(struct chat *chat)
{
    pthread_mutex_lock(&chat->lock);
    bool mine = chat->question.editing;
    if (mine)
        chat_ask_restore_editor(chat);
    pthread_mutex_unlock(&chat->lock);
    return mine;
}

void chat_ask_end_edit(struct chat *chat)
{
    if (chat->question.editing && !chat->question.open)
        chat_ask_restore_editor(chat);
}

void chat_ask_drawn(struct chat *chat)
{
    chat->question.drawn = chat->question.open;
}

bool chat_ask_is_offered(struct chat *chat)
{
    pthread_mutex_lock(&chat->lock);
    bool offered = chat->question.open && chat->question.offered;
    pthread_mutex_unlock(&chat->lock);
    return offered;
}

void chat_ask_shown(struct chat *chat)
{
    struct chat_question *q = &chat->question;
    pthread_mutex_lock(&chat->lock);
    if (q->open && q->drawn && !q->since_ms)
        q->since_ms = clock_mono_ms();
    if (q->open && q->offered)
        q->armed = true;
    pthread_mutex_unlock(&chat->lock);
}

/* Drawing -------------------------------------------------------------------------------------- */

static void chat_ask_add_choices(const struct chat_question *q, struct text *line)
{
    const struct style *key = &theme[THEME_ASK];
    text_add_z(line, "[y]", key);
    text_add_z(line, "es  ", NULL);
    text_add_z(line, "[n]", key);
    text_add_z(line, "o", NULL);
    if (q->edit) {
        text_add_z(line, "  ", NULL);
        text_add_z(line, "[e]", key);
        text_add_z(line, "dit", NULL);
    }
    if (q->rule.n) {
        text_add_z(line, "  ", NULL);
        text_add_z(line, "[a]", key);
        text_add_z(line, "lways ", NULL);
        text_add(line, buf_str(&q->rule), &theme[THEME_CODE]);
    }
}

void chat_ask_add_rows(struct chat *chat, unsigned width, struct text *region)
{
    AUTO_TEXT struct text line = TEXT_INIT;
    struct chat_question *q = &chat->question;
    if (!q->open)
        return;
    if (q->editing) {
        text_add_z(&line,
            q->is_command ? "Enter runs the edited command  Escape cancels"
                          : "Enter shows the new changes  Escape cancels",
            &theme[THEME_DIM]);
    } else if (chat_ask_choices_due(q)) {
        chat_ask_add_choices(q, &line);
        q->offered = true;
    }
    text_end(&line);
    text_end(region);
    text_wrap(region, &line, 0, &(struct text_wrap){.width = width});
}
