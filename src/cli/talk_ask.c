/* Questions of the approval, and what counts as an answer. */
#include "base/clock.h"
#include "cli/talk.h"
#include "tool/sessions.h"
#include "tui/theme.h"

#include <poll.h>

enum {
    ARM_MS = 500,          /* before answers to a question count */
    SUBJECT_MAX = 1 << 20, /* bytes of what is asked */
};

/* Exactly what will be run or changed. */
static void put_question(struct talk *t, const struct approve_question *q, struct str rule)
{
    AUTO_BUF struct buf words = BUF_INIT(8 << 20);
    struct question *question = &t->question;
    buf_printf(&words, "%s wants to %s:\n", q->tool,
        q->is_command ? "run"
        : q->mutating ? "change"
                      : "read");
    buf_add_str(&words, q->subject);
    buf_printf(&words, "\n(%s)", q->why ? q->why : "");
    buf_reset(&question->choices);
    buf_add_z(&question->choices, "[y]es, [n]o");
    if (rule.p)
        buf_printf(&question->choices, ", [a]lways " STR_FMT, STR_ARG(rule));
    question->open = true;
    question->has_rule = rule.p;
    question->since_ms = 0;
    question->answer = APPROVE_NO;
    chat_note(t->chat, buf_str(&words));
    if (t->console.plain)
        chat_note(t->chat, buf_str(&question->choices));
}

/* What can't be shown whole is not asked. */
static bool can_show(const struct approve_question *q)
{
    return q->subject.n < SUBJECT_MAX;
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
    t->question.open = false;
    pthread_mutex_unlock(&t->lock);
    return answer;
}

static bool is_armed(const struct talk *t)
{
    const struct question *q = &t->question;
    return q->open &&
           (t->console.plain || (q->since_ms && clock_mono_ms() - q->since_ms >= ARM_MS));
}

/* True: it was for the question. */
bool talk_answer(struct talk *t, const struct typed *typed)
{
    static const struct {
        const char *key;
        enum approve_answer answer;
    } rows[] = {{"y", APPROVE_YES}, {"n", APPROVE_NO}, {"a", APPROVE_YES_ALWAYS}};
    pthread_mutex_lock(&t->lock);
    bool open = is_armed(t);
    for (size_t i = 0; open && typed->kind == TYPED_TEXT && i < ARRAY_LEN(rows); i++)
        if (str_is(typed->bytes, rows[i].key) &&
            (rows[i].answer != APPROVE_YES_ALWAYS || t->question.has_rule)) {
            t->question.answer = rows[i].answer;
            t->question.open = false;
            talk_signal(t->answered);
        }
    pthread_mutex_unlock(&t->lock);
    return open && (typed->kind == TYPED_TEXT || typed->kind == TYPED_PASTE);
}

void talk_add_question(struct talk *t, unsigned width, struct text *region)
{
    AUTO_TEXT struct text line = TEXT_INIT;
    struct question *q = &t->question;
    if (!q->open)
        return;
    q->since_ms = q->since_ms ? q->since_ms : clock_mono_ms();
    if (is_armed(t))
        text_add(&line, buf_str(&q->choices), &theme[THEME_STRONG]);
    text_end(&line);
    text_wrap(region, &line, 0, &(struct text_wrap){.width = width});
}
