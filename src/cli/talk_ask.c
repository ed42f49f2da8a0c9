/* Approval questions, their answers, and editing the proposed text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/talk.h"
#include "tool/sessions.h"
#include "tui/theme.h"

#include <poll.h>

enum {
    ARM_MS = 500,          /* delay before the choices are shown */
    SUBJECT_MAX = 1 << 20, /* maximum length of the subject in bytes */
};

/* Asking --------------------------------------------------------------------------------------- */

static void plain_choices(struct talk *t)
{
    AUTO_BUF struct buf line = BUF_INIT(2 * SUBJECT_MAX);
    const struct question *q = &t->question;
    buf_printf(&line, "[y]es, [n]o%s", q->edit ? ", [e]dit" : "");
    if (q->rule.n)
        buf_printf(&line, ", [a]lways %s", buf_z((struct buf *)&q->rule));
    chat_rows_note(t->chat, buf_str(&line));
}

/* Shows the arguments of a tool whose changes cannot be previewed here. */
static void add_arguments(const json_t *arguments, struct buf *text)
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
static void put_question(struct talk *t, const struct approve_question *q, struct str rule)
{
    AUTO_BUF struct buf words = BUF_INIT(4096), arguments = BUF_INIT(4 * TOOL_ARGUMENTS_MAX);
    struct question *question = &t->question;
    buf_printf(&words, "%s wants to %s:", q->tool,
        q->is_command ? "run"
        : q->mutating ? "change"
                      : "read");
    struct chat_rows_question shown = {.words = buf_str(&words),
        .subject = q->subject,
        .is_command = q->is_command,
        .diff = q->diff,
        .why = str_z(q->why ? q->why : "")};
    if (!q->is_command && q->mutating && q->diff.n == 0)
        add_arguments(q->arguments, &arguments);
    shown.text = buf_str(&arguments);
    chat_rows_ask(t->chat, &shown);
    question->open = true;
    question->is_command = q->is_command;
    question->edit = q->edit && q->edit->text.n < EDITOR_MAX ? q->edit : NULL;
    question->since_ms = 0;
    question->drawn = question->offered = false;
    question->armed = t->console.plain;
    question->answer = APPROVE_NO;
    buf_reset(&question->rule);
    buf_add_str(&question->rule, rule);
    if (t->console.plain)
        plain_choices(t);
}

/* A question that cannot be shown completely is not asked, but denied. */
static bool can_show(const struct approve_question *q)
{
    size_t text = q->edit && q->diff.n == 0 ? q->edit->text.n : 0;
    return q->subject.n < SUBJECT_MAX && text < SUBJECT_MAX;
}

/* Notes a decision that the result will not show. */
static void note_answer(struct talk *t, enum approve_answer answer)
{
    AUTO_BUF struct buf words = BUF_INIT(2 * SUBJECT_MAX);
    struct question *q = &t->question;
    bool edited = answer == APPROVE_EDITED && q->is_command;
    chat_rows_asked(t->chat, edited ? buf_str(&q->edit->now) : (struct str){0});
    if (answer != APPROVE_YES_ALWAYS)
        return;
    buf_printf(&words, "not asked again in this conversation: %s", buf_z(&q->rule));
    chat_rows_note(t->chat, buf_str(&words));
}

enum approve_answer talk_ask(void *context, const struct approve_question *q, struct str rule)
{
    struct talk *t = context;
    if (!can_show(q))
        return APPROVE_NO;
    pthread_mutex_lock(&t->lock);
    talk_drain(t->answered);
    put_question(t, q, rule);
    pthread_mutex_unlock(&t->lock);
    talk_signal(t->wake);
    struct pollfd fds[] = {{.fd = t->answered, .events = POLLIN},
        {.fd = t->job.bench.options.signals, .events = POLLIN}};
    const struct sessions_wait wait = {
        .deadline_ms = UINT64_MAX, .fds = fds, .n_fds = ARRAY_LEN(fds)};
    while (sessions_wait(t->job.bench.box, &wait) != SESSIONS_READABLE) {
    }
    pthread_mutex_lock(&t->lock);
    enum approve_answer answer = fds[1].revents ? APPROVE_CANCELED : t->question.answer;
    note_answer(t, answer);
    if (answer == APPROVE_YES_ALWAYS) { /* under the lock: /approve reads the rules */
        buf_printf(&t->consent, STR_FMT "\n", STR_ARG(rule));
        talk_apply_consent(t);
        answer = APPROVE_YES;
    }
    t->question.open = false;
    t->question.edit = NULL;
    pthread_mutex_unlock(&t->lock);
    talk_signal(t->wake);
    return answer;
}

void talk_tell_diff(void *context, struct str diff)
{
    struct talk *t = context;
    pthread_mutex_lock(&t->lock);
    chat_rows_diff(t->chat, diff);
    pthread_mutex_unlock(&t->lock);
}

/* Answering ------------------------------------------------------------------------------------ */

/* Whether to show the choices; answers count once they are shown. */
static bool talk_ask_choices_due(const struct question *q)
{
    return q->armed || (q->since_ms && clock_mono_ms() - q->since_ms >= ARM_MS);
}

static void talk_ask_set_answer(struct talk *t, enum approve_answer answer)
{
    t->question.answer = answer;
    t->question.open = false;
    talk_signal(t->answered);
}

static void talk_ask_answer_yes(struct talk *t)
{
    talk_ask_set_answer(t, APPROVE_YES);
}

static void talk_ask_answer_no(struct talk *t)
{
    talk_ask_set_answer(t, APPROVE_NO);
}

static void talk_ask_answer_always(struct talk *t)
{
    if (t->question.rule.n)
        talk_ask_set_answer(t, APPROVE_YES_ALWAYS);
}

/* Loads text into the editor. Returns false if the editor cannot represent it exactly. */
static bool load_editor(struct talk *t, struct str text)
{
    AUTO_BUF struct buf loaded = BUF_INIT(2 * EDITOR_MAX);
    editor_clear(t->editor);
    editor_set(t->editor, text);
    editor_content(t->editor, &loaded);
    if (str_eq(buf_str(&loaded), text))
        return true;
    editor_clear(t->editor);
    return false;
}

static void talk_ask_start_edit(struct talk *t)
{
    struct question *q = &t->question;
    if (!q->edit)
        return;
    if (t->console.plain) {
        chat_rows_note(t->chat, STR("what instead? an empty line goes back to the question"));
        q->editing = q->half = true;
        return;
    }
    buf_reset(&q->draft);
    editor_content(t->editor, &q->draft);
    q->editing = load_editor(t, q->edit->text);
    if (!q->editing) {
        editor_set(t->editor, buf_str(&q->draft));
        chat_rows_note(t->chat, STR("this has characters in it that can't be edited here"));
    }
}

bool talk_answer(struct talk *t, const struct typed *typed)
{
    static const struct {
        const char *key;
        void (*run)(struct talk *t);
    } rows[] = {{"y", talk_ask_answer_yes}, {"n", talk_ask_answer_no},
        {"a", talk_ask_answer_always}, {"e", talk_ask_start_edit}};
    pthread_mutex_lock(&t->lock);
    bool open = t->question.open && t->question.armed && !t->question.editing;
    for (size_t i = 0; open && typed->kind == TYPED_TEXT && i < ARRAY_LEN(rows); i++)
        if (str_is(typed->bytes, rows[i].key)) {
            rows[i].run(t);
            break;
        }
    pthread_mutex_unlock(&t->lock);
    return open && (typed->kind == TYPED_TEXT || typed->kind == TYPED_PASTE);
}

/* Editing -------------------------------------------------------------------------------------- */

static void talk_ask_restore_editor(struct talk *t)
{
    struct question *q = &t->question;
    q->editing = q->half = false;
    editor_clear(t->editor);
    editor_set(t->editor, buf_str(&q->draft));
    buf_reset(&q->draft);
}

bool talk_take_edited(struct talk *t)
{
    struct question *q = &t->question;
    pthread_mutex_lock(&t->lock);
    bool mine = q->editing;
    if (mine && q->half) {
        q->half = false;
    } else if (mine && q->open) {
        struct approve_edit *e = q->edit;
        buf_reset(&e->now);
        editor_content(t->editor, &e->now);
        bool same = str_eq(buf_str(&e->now), e->text);
        if (e->now.n && buf_ok(&e->now))
            talk_ask_set_answer(t, same ? APPROVE_YES : APPROVE_EDITED);
        else if (t->console.plain)
            plain_choices(t);
        talk_ask_restore_editor(t);
    }
    pthread_mutex_unlock(&t->lock);
    return mine;
}

bool talk_leave_edited(struct talk *t)
{
    pthread_mutex_lock(&t->lock);
    bool mine = t->question.editing;
    if (mine)
        talk_ask_restore_editor(t);
    pthread_mutex_unlock(&t->lock);
    return mine;
}

void talk_end_edit(struct talk *t)
{
    if (t->question.editing && !t->question.open)
        talk_ask_restore_editor(t);
}

void talk_question_drawn(struct talk *t)
{
    t->question.drawn = t->question.open;
}

bool talk_question_offered(struct talk *t)
{
    pthread_mutex_lock(&t->lock);
    bool offered = t->question.open && t->question.offered;
    pthread_mutex_unlock(&t->lock);
    return offered;
}

void talk_question_shown(struct talk *t)
{
    struct question *q = &t->question;
    pthread_mutex_lock(&t->lock);
    if (q->open && q->drawn && !q->since_ms)
        q->since_ms = clock_mono_ms();
    if (q->open && q->offered)
        q->armed = true;
    pthread_mutex_unlock(&t->lock);
}

/* Drawing -------------------------------------------------------------------------------------- */

static void talk_ask_add_choices(const struct question *q, struct text *line)
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

void talk_add_question(struct talk *t, unsigned width, struct text *region)
{
    AUTO_TEXT struct text line = TEXT_INIT;
    struct question *q = &t->question;
    if (!q->open)
        return;
    if (q->editing) {
        text_add_z(&line,
            q->is_command ? "Enter runs it so  Escape goes back"
                          : "Enter shows what it changes  Escape goes back",
            &theme[THEME_DIM]);
    } else if (talk_ask_choices_due(q)) {
        talk_ask_add_choices(q, &line);
        q->offered = true;
    }
    text_end(&line);
    text_end(region);
    text_wrap(region, &line, 0, &(struct text_wrap){.width = width});
}
