/* cordon chat: a conversation with an agent in a terminal. The agent works in a thread of its own;
 * what it tells goes into the rows of the conversation, with a lock, and this one draws them. */
#include "base/clock.h"
#include "cli/agent_job.h"
#include "cli/cmds.h"
#include "path/walk.h"
#include "tool/sessions.h"
#include "tui/chat.h"
#include "tui/console.h"
#include "tui/editor.h"
#include "tui/leaf.h"
#include "tui/theme.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

enum {
    FRAME_MS = 33, /* between two frames of what streams */
    TURN_MS = 120, /* of what says that something is at work */
    AGAIN_MS = 2000,
    QUEUE_MAX = 1 << 20,
    FILES_SEEN = 20000, /* entries of directories, for a completion */
    STATUS_MAX = 512,
    PAST_SHOWN = 20,       /* messages of a conversation that goes on */
    ARM_MS = 500,          /* before answers to a question count */
    SUBJECT_MAX = 1 << 20, /* bytes of what is asked */
};

/* What it is about stays above; below are the answers that count, as soon as they do: who is just
 * typing must not have said yes. */
struct question {
    bool open, has_rule;
    struct buf choices;
    uint64_t since_ms; /* when it was shown; 0: not yet */
    enum approve_answer answer;
};

struct talk {
    struct agent_job job;
    struct console console;
    struct editor *editor;
    pthread_mutex_t lock;
    int wake, answered; /* eventfds: to this thread, and to the agent's */
    int resized;        /* a signalfd */
    /* With the lock: */
    struct chat *chat;
    struct question question;
    struct buf held; /* the start of a key, perhaps */
    struct usage used;
    uint64_t context; /* tokens of the last request and its answer */
    bool over, ok;    /* the turn, and how it ended */
    struct err err;
    /* This thread's own: */
    pthread_t thread;
    uint64_t window; /* of the model; 0: not known */
    bool busy, leave;
    json_t *prompt;
    struct buf queue;
    struct text stay; /* not drawn yet */
    uint64_t began_ms, drawn_ms, interrupted_ms;
    bool dirty;
};

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    (void)!write(fd, &one, sizeof(one));
}

static void drain_fd(int fd)
{
    uint64_t n;
    (void)!read(fd, &n, sizeof(n));
}

/* The agent's side ---------------------------------------------------------------------------- */

/* A key may be cut in two by the stream. */
static void say(struct talk *t, struct str delta)
{
    AUTO_BUF struct buf shown = BUF_INIT(64 << 20);
    buf_add_str(&t->held, delta);
    size_t left = mask_add_part(&t->job.mask, buf_str(&t->held), &shown);
    memmove(t->held.p, t->held.p + t->held.n - left, left);
    buf_truncate(&t->held, left);
    if (shown.n)
        chat_text(t->chat, buf_str(&shown));
}

static void say_rest(struct talk *t)
{
    if (t->held.n)
        chat_text(t->chat, buf_str(&t->held));
    buf_reset(&t->held);
    chat_end(t->chat);
}

static void tell_stream(struct talk *t, const struct llm_event *e)
{
    AUTO_BUF struct buf masked = BUF_INIT(64 << 20);
    if (e->kind == LLM_TEXT_DELTA) {
        say(t, e->delta);
    } else if (e->kind == LLM_THINKING_DELTA) {
        mask_add_text(&t->job.mask, e->delta, &masked);
        chat_thinking(t->chat, buf_str(&masked));
    } else if (e->kind == LLM_RESTART) {
        buf_reset(&t->held);
        chat_restart(t->chat);
    }
}

static struct str member(const json_t *object, const char *key)
{
    struct str s = json_str(json_object_get(object, key));
    return s.p ? s : STR("");
}

/* A call by its first argument that is a text. */
static void tell_call(struct talk *t, const json_t *call)
{
    AUTO_BUF struct buf words = BUF_INIT(64 << 20);
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(call, "arguments"), key, value)
    {
        if (json_is_string(value) && words.n == 0)
            mask_add_text(&t->job.mask, json_str(value), &words);
    }
    chat_call(t->chat, member(call, "id"), member(call, "name"), buf_str(&words));
}

static void tell_result(struct talk *t, const json_t *message)
{
    AUTO_BUF struct buf text = BUF_INIT(64 << 20), masked = BUF_INIT(64 << 20);
    message_add_text(message, &text);
    mask_add_text(&t->job.mask, buf_str(&text), &masked);
    chat_result(t->chat, member(message, "tool_call_id"),
        json_is_true(json_object_get(message, "is_error")), buf_str(&masked));
}

static void tell_message(struct talk *t, const json_t *message)
{
    struct usage u = message_usage(message);
    say_rest(t);
    usage_add(&t->used, &u);
    t->context = u.input_tokens + u.cache_read_tokens + u.cache_write_tokens + u.output_tokens;
}

static bool tell(void *context, const struct agent_event *event)
{
    struct talk *t = context;
    pthread_mutex_lock(&t->lock);
    switch (event->kind) {
    case AGENT_STREAM:
        tell_stream(t, event->llm);
        break;
    case AGENT_MESSAGE:
        tell_message(t, event->message);
        break;
    case AGENT_CALLING:
        tell_call(t, event->message);
        break;
    case AGENT_RESULT:
        tell_result(t, event->message);
        break;
    case AGENT_COMPACTING:
        chat_note(t->chat, STR("the conversation gets long: a summary is made"));
        break;
    case AGENT_ASKING:
    case AGENT_COMPACTED:
        break;
    }
    pthread_mutex_unlock(&t->lock);
    signal_fd(t->wake);
    return true;
}

static void tell_retry(void *context, const struct retry_notice *notice)
{
    struct talk *t = context;
    (void)notice;
    pthread_mutex_lock(&t->lock);
    chat_note(t->chat, STR("the service did not answer: it is asked again"));
    pthread_mutex_unlock(&t->lock);
    signal_fd(t->wake);
}

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

static enum approve_answer ask(void *context, const struct approve_question *q, struct str rule)
{
    struct talk *t = context;
    if (!can_show(q))
        return APPROVE_NO;
    pthread_mutex_lock(&t->lock);
    drain_fd(t->answered);
    put_question(t, q, rule);
    pthread_mutex_unlock(&t->lock);
    signal_fd(t->wake);
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

static void *work(void *context)
{
    struct talk *t = context;
    struct agent agent = agent_job_agent(&t->job);
    struct agent_outcome outcome;
    AUTO_ERR struct err err = {0};
    agent.tell = tell;
    agent.context = t;
    bool ok = agent_run(&agent, t->prompt, &outcome, &err);
    agent_outcome_done(&outcome);
    pthread_mutex_lock(&t->lock);
    say_rest(t);
    t->ok = ok;
    if (!ok)
        (void)err_move(&t->err, &err);
    t->over = true;
    pthread_mutex_unlock(&t->lock);
    signal_fd(t->wake);
    return NULL;
}

/* Turns --------------------------------------------------------------------------------------- */

static void note(struct talk *t, const char *words)
{
    pthread_mutex_lock(&t->lock);
    chat_note(t->chat, str_z(words));
    pthread_mutex_unlock(&t->lock);
}

static void start_turn(struct talk *t, struct str text)
{
    t->prompt = message_user(text);
    t->began_ms = clock_mono_ms();
    pthread_mutex_lock(&t->lock);
    if (!t->console.plain) /* where the terminal has shown what was typed */
        chat_user(t->chat, text);
    t->over = false;
    pthread_mutex_unlock(&t->lock);
    t->busy = pthread_create(&t->thread, NULL, work, t) == 0;
    if (!t->busy) {
        note(t, "no thread can be started");
        json_decref(t->prompt);
    }
}

/* What came as a signal: an interruption of ours ended the turn; any other ends us. */
static void take_signals(struct talk *t)
{
    struct signalfd_siginfo info;
    struct pollfd fd = {.fd = t->job.bench.options.signals, .events = POLLIN};
    while (poll(&fd, 1, 0) > 0 && read(fd.fd, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo != SIGINT)
            t->leave = true;
}

static void show_end(struct talk *t)
{
    if (t->ok)
        return;
    mask_err(&t->job.mask, &t->err);
    if (t->err.code == E_CANCELED) {
        chat_note(t->chat, STR("interrupted"));
    } else {
        chat_error(t->chat, str_z(t->err.message));
    }
    err_done(&t->err);
}

static void end_turn(struct talk *t)
{
    pthread_join(t->thread, NULL);
    json_decref(t->prompt);
    t->prompt = NULL;
    t->busy = false;
    pthread_mutex_lock(&t->lock);
    show_end(t);
    chat_unqueue(t->chat);
    pthread_mutex_unlock(&t->lock);
    take_signals(t);
    if (t->queue.n && !t->leave) {
        AUTO_FREE char *next = buf_take(&t->queue);
        start_turn(t, str_z(next));
    }
    buf_reset(&t->queue);
}

static void cancel(struct talk *t)
{
    buf_reset(&t->queue);
    kill(getpid(), SIGINT); /* what all that waits for waits for */
}

/* Commands ------------------------------------------------------------------------------------ */

static void say_help(struct talk *t);

static void say_session(struct talk *t)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    buf_printf(&b, "session %s", store_id(t->job.store));
    note(t, buf_z(&b));
}

static void say_model(struct talk *t)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    buf_printf(&b, "%s, %s", provider_name(t->job.provider), provider_model(t->job.provider));
    note(t, buf_z(&b));
}

static void quit(struct talk *t)
{
    t->leave = true;
}

static const struct {
    const char *name, *help;
    void (*run)(struct talk *t);
} commands[] = {
    {"/help", "what there is", say_help},
    {"/model", "who answers", say_model},
    {"/session", "which session this is", say_session},
    {"/quit", "leave", quit},
};

static void say_help(struct talk *t)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        buf_printf(&b, "%-10s %s\n", commands[i].name, commands[i].help);
    buf_add_z(&b, "Alt+Enter   a new line\nCtrl+o      open what was collapsed last\n"
                  "Escape      interrupt, and send what waits\n"
                  "Ctrl+c      interrupt; twice: leave\nCtrl+d      leave");
    note(t, buf_z(&b));
}

/* Files of the project that begin so, directory by directory, without what git ignores. */
static void complete_file(struct str start, struct editor_list *list)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e;
    size_t n = 0, seen = 0;
    if (here < 0 || !walk_open(here, &(struct walk_options){.ignore = true}, &w, &ignored))
        return;
    while (n < EDITOR_CANDIDATES && seen++ < FILES_SEEN && walk_next(w, &e, &ignored) && e) {
        bool dir = e->type == DT_DIR;
        bool on_the_way = dir && str_starts_with(start, e->path) && start.n > e->path.n &&
                          start.p[e->path.n] == '/';
        if (dir && !on_the_way)
            walk_skip(w);
        if (e->closed || !str_starts_with(e->path, start))
            continue;
        AUTO_BUF struct buf word = BUF_INIT(EDITOR_CANDIDATE_BYTES);
        buf_printf(&word, "@" STR_FMT "%s", STR_ARG(e->path), dir ? "/" : "");
        if (buf_ok(&word))
            editor_offer(list, buf_str(&word), STR(""));
        n++;
    }
}

static void complete(void *context, struct str word, struct editor_list *list)
{
    (void)context;
    if (str_starts_with(word, STR("@"))) {
        complete_file(str_skip(word, 1), list);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_starts_with(str_z(commands[i].name), word))
            editor_offer(list, str_z(commands[i].name), str_z(commands[i].help));
}

static bool run_command(struct talk *t, struct str text)
{
    text = str_trim_end(text, ' ');
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_is(text, commands[i].name)) {
            commands[i].run(t);
            return true;
        }
    if (!str_starts_with(text, STR("/")) || str_find(text, ' ') >= 0 ||
        str_find(str_skip(text, 1), '/') >= 0)
        return false;
    note(t, "there is no such command; /help says which there are");
    return true;
}

/* Keys ---------------------------------------------------------------------------------------- */

static void send(struct talk *t)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * EDITOR_MAX);
    editor_content(t->editor, &text);
    editor_clear(t->editor);
    struct str words = str_trim_end(str_trim_end(buf_str(&text), '\n'), ' ');
    if (words.n == 0)
        return;
    editor_remember(t->editor, words);
    if (run_command(t, words))
        return;
    if (!t->busy) {
        start_turn(t, words);
        return;
    }
    if (t->queue.n)
        buf_add_z(&t->queue, "\n\n");
    buf_add_str(&t->queue, words);
    pthread_mutex_lock(&t->lock);
    chat_queue(t->chat, words);
    pthread_mutex_unlock(&t->lock);
}

static void interrupt(struct talk *t)
{
    uint64_t now = clock_mono_ms();
    bool again = now - t->interrupted_ms < AGAIN_MS && t->interrupted_ms;
    t->interrupted_ms = now;
    if (t->busy)
        cancel(t);
    else if (!editor_empty(t->editor))
        editor_clear(t->editor);
    else if (!again)
        note(t, "Ctrl+c once more leaves");
    if (again)
        t->leave = true;
}

static void stop(struct talk *t)
{
    console_leave(&t->console);
    raise(SIGSTOP);
    console_return(&t->console);
}

static bool is_armed(const struct talk *t)
{
    const struct question *q = &t->question;
    return q->open &&
           (t->console.plain || (q->since_ms && clock_mono_ms() - q->since_ms >= ARM_MS));
}

/* True: it was for the question. */
static bool answer(struct talk *t, const struct typed *typed)
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
            signal_fd(t->answered);
        }
    pthread_mutex_unlock(&t->lock);
    return open && (typed->kind == TYPED_TEXT || typed->kind == TYPED_PASTE);
}

/* Keys that mean nothing to the editor. */
static void other_key(struct talk *t, const char *key)
{
    pthread_mutex_lock(&t->lock);
    if (strcmp(key, "Ctrl+o") == 0)
        (void)chat_open(t->chat);
    pthread_mutex_unlock(&t->lock);
    if (strcmp(key, "Escape") == 0 && t->busy)
        kill(getpid(), SIGINT); /* and what waits is sent */
}

static void take_key(struct talk *t, const struct typed *typed)
{
    if (answer(t, typed))
        return;
    enum editor_event event = editor_typed(t->editor, typed);
    if (event != EDITOR_INTERRUPT)
        t->interrupted_ms = 0;
    switch (event) {
    case EDITOR_SENT:
        send(t);
        break;
    case EDITOR_INTERRUPT:
        interrupt(t);
        break;
    case EDITOR_END:
        t->leave = true;
        break;
    case EDITOR_SUSPEND:
        stop(t);
        break;
    case EDITOR_IGNORED:
        if (typed->kind == TYPED_KEY)
            other_key(t, typed->key);
        break;
    case EDITOR_DONE:
    case EDITOR_REDRAW:
        break;
    }
}

static void take_keys(struct talk *t)
{
    struct typed typed;
    while (!t->leave && console_next(&t->console, &typed)) {
        take_key(t, &typed);
        t->drawn_ms = 0; /* what was typed is shown at once */
        t->dirty = true;
    }
}

/* Drawing ------------------------------------------------------------------------------------- */

static void add_status(const struct talk *t, unsigned width, struct text *region)
{
    AUTO_TEXT struct text line = TEXT_INIT;
    AUTO_BUF struct buf b = BUF_INIT(STATUS_MAX * 4);
    struct str cwd = str_z(t->job.bench.options.cwd);
    buf_add_str(&b, str_skip(cwd, (size_t)(str_find_last(cwd, '/') + 1)));
    buf_printf(&b, "  %s  %s", provider_model(t->job.provider),
        toolbox_mode_names[t->job.bench.options.mode]);
    AUTO_BUF struct buf used = BUF_INIT(STATUS_MAX);
    agent_view_used(&t->used, agent_job_model(&t->job), &used);
    if (used.n)
        buf_printf(&b, "  %s", buf_z(&used));
    if (t->window && t->context)
        buf_printf(&b, "  %llu%% full", (unsigned long long)(100 * t->context / t->window));
    if (t->busy)
        buf_printf(&b, "  %llu s", (unsigned long long)(clock_mono_ms() - t->began_ms) / 1000);
    text_add(&line, buf_str(&b), &theme[THEME_DIM]);
    text_end(&line);
    text_cut(region, &line, 0, 0, width);
    text_end(region);
}

static void add_question(struct talk *t, unsigned width, struct text *region)
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

static void draw(struct talk *t)
{
    AUTO_TEXT struct text region = TEXT_INIT;
    const struct live_options *look = &t->console.look;
    struct editor_place at = {0};
    const struct editor_view view = {.width = look->cols,
        .rows = MAX(look->rows / 3, 1u),
        .prompt = STR("> "),
        .hint = STR("what is to be done?")};
    pthread_mutex_lock(&t->lock);
    chat_rows(t->chat, (unsigned)(clock_mono_ms() / TURN_MS), &t->stay, &region);
    add_question(t, look->cols, &region);
    text_end(&region);
    editor_draw(t->editor, &view, &region, &at);
    add_status(t, look->cols, &region);
    pthread_mutex_unlock(&t->lock);
    const struct live_cursor cursor = {at.row, at.col, true};
    t->dirty = !console_frame(&t->console, &t->stay, &region, &cursor);
    if (!t->dirty)
        text_reset(&t->stay);
    t->drawn_ms = clock_mono_ms();
}

/* The loop ------------------------------------------------------------------------------------ */

static int wait_ms(const struct talk *t)
{
    uint64_t since = clock_mono_ms() - t->drawn_ms;
    int key = console_timeout(&t->console), frame = -1;
    if (t->dirty && !console_waits(&t->console))
        frame = since >= FRAME_MS ? 0 : (int)(FRAME_MS - since);
    else if (t->busy)
        frame = TURN_MS;
    return key < 0 ? frame : frame < 0 ? key : MIN(key, frame);
}

static void step(struct talk *t)
{
    struct pollfd fds[] = {
        {.fd = t->console.in, .events = POLLIN},
        {.fd = console_waits(&t->console) ? t->console.outlet.fd : -1, .events = POLLOUT},
        {.fd = t->wake, .events = POLLIN},
        {.fd = t->resized, .events = POLLIN},
        {.fd = t->busy ? -1 : t->job.bench.options.signals, .events = POLLIN},
    };
    int n = poll(fds, ARRAY_LEN(fds), wait_ms(t));
    if (n == 0 && t->busy)
        t->dirty = true;
    if (fds[1].revents)
        console_pump(&t->console);
    if (fds[2].revents) {
        drain_fd(t->wake);
        t->dirty = true;
    }
    if (fds[3].revents) {
        struct signalfd_siginfo info;
        (void)!read(t->resized, &info, sizeof(info));
        if (console_resize(&t->console)) {
            pthread_mutex_lock(&t->lock);
            chat_set_width(t->chat, t->console.look.cols);
            pthread_mutex_unlock(&t->lock);
        }
        t->dirty = true;
    }
    if (fds[4].revents)
        take_signals(t);
    if (fds[0].revents)
        console_read(&t->console);
    take_keys(t);
    if (t->console.gone)
        t->leave = true;
}

static bool is_over(struct talk *t)
{
    pthread_mutex_lock(&t->lock);
    bool over = t->busy && t->over;
    pthread_mutex_unlock(&t->lock);
    return over;
}

static void loop(struct talk *t)
{
    t->dirty = true;
    while (!t->leave) {
        if (t->dirty && !console_waits(&t->console) && clock_mono_ms() - t->drawn_ms >= FRAME_MS)
            draw(t);
        step(t);
        if (is_over(t))
            end_turn(t);
    }
    if (t->busy) {
        cancel(t);
        pthread_join(t->thread, NULL);
        json_decref(t->prompt);
        pthread_mutex_lock(&t->lock);
        show_end(t);
        pthread_mutex_unlock(&t->lock);
    }
    if (!t->console.gone)
        draw(t);
}

static bool open_talk(struct talk *t, struct err *err)
{
    const struct agent_options *o = t->job.options;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    if (!agent_job_open(&t->job, err) || !agent_job_prepare(&t->job, err))
        return false;
    sigprocmask(SIG_BLOCK, &set, NULL);
    t->resized = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->job.bench.options.approve.ask = ask;
    t->job.bench.options.approve.context = t;
    if (!console_open(&t->console, o->plain, err))
        return false;
    t->chat = chat_new(&(struct chat_options){
        .width = t->console.look.cols, .show_links = t->console.look.no_links || t->console.plain});
    t->editor = editor_new(&(struct editor_options){.complete = complete});
    return true;
}

static void close_talk(struct talk *t)
{
    const int fds[] = {t->wake, t->answered, t->resized};
    console_close(&t->console);
    chat_free(t->chat);
    editor_free(t->editor);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    buf_done(&t->held);
    buf_done(&t->queue);
    buf_done(&t->question.choices);
    text_done(&t->stay);
    err_done(&t->err);
}

static bool check(const struct cli *cli, struct err *err)
{
    if (cli->json)
        return err_set(err, E_CLI_INVALID_ARG, "a conversation has no JSON; 'cordon agent' has");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(err, E_CLI_INVALID_ARG,
            "this needs a terminal, and standard %s is none; 'cordon agent' works without one",
            isatty(STDIN_FILENO) ? "output" : "input");
    return true;
}

/* The end of a conversation that goes on; what was asked in it can be asked again. */
static void show_past(struct talk *t, const json_t *messages)
{
    size_t i, n = json_array_size(messages);
    const json_t *message;
    json_array_foreach((json_t *)messages, i, message)
    {
        AUTO_BUF struct buf text = BUF_INIT(64 << 20), masked = BUF_INIT(64 << 20);
        enum message_type type = message_type(message);
        if (type != MESSAGE_USER && type != MESSAGE_ASSISTANT)
            continue;
        message_add_text(message, &text);
        mask_add_text(&t->job.mask, buf_str(&text), &masked);
        if (type == MESSAGE_USER)
            editor_remember(t->editor, buf_str(&masked));
        if (i + PAST_SHOWN < n || masked.n == 0)
            continue;
        if (type == MESSAGE_USER)
            chat_user(t->chat, buf_str(&masked));
        else
            chat_text(t->chat, buf_str(&masked));
        chat_end(t->chat);
    }
}

static void say_hello(struct talk *t)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    AUTO_JSON json_t *messages = store_messages(t->job.store);
    AUTO_ERR struct err missing = {0};
    t->window = agent_job_agent(&t->job).window;
    if (json_array_size(messages)) {
        buf_printf(&b, "session %s goes on, with %zu messages", store_id(t->job.store),
            json_array_size(messages));
        note(t, buf_z(&b));
        show_past(t, messages);
    }
    if (!leaf_check(&missing))
        note(t, missing.message);
    if (provider_is_default_script(t->job.provider))
        note(t, "no key is set: a script that comes with cordon answers, not a model");
}

static void say_goodbye(struct talk *t)
{
    AUTO_JSON json_t *messages = store_messages(t->job.store);
    if (json_array_size(messages))
        out_note(t->job.cli, "cordon: 'cordon chat --session %s' goes on", store_id(t->job.store));
}

static bool run_chat(struct cli *cli, const struct args *args, struct err *err)
{
    struct talk t = {
        .job = AGENT_JOB_INIT(cli, args->options),
        .console = CONSOLE_NONE,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .wake = -1,
        .answered = -1,
        .resized = -1,
        .question.choices = BUF_INIT(8 << 20),
        .held = BUF_INIT(16 << 20),
        .queue = BUF_INIT(QUEUE_MAX),
        .stay = TEXT_INIT,
    };
    t.job.on_retry = tell_retry;
    t.job.retry_context = &t;
    if (!check(cli, err))
        return false;
    bool ok = open_talk(&t, err);
    if (ok) {
        say_hello(&t);
        loop(&t);
    }
    close_talk(&t);
    if (ok)
        say_goodbye(&t);
    ok = agent_job_finish(&t.job, ok, err);
    agent_job_done(&t.job);
    return ok;
}

static const struct opt chat_opts[] = {
    OPT_SET("plain", 0, struct agent_options, plain,
        "only lines, nothing is redrawn: for a screen reader; also where TERM is dumb"),
    AGENT_JOB_OPTS(struct agent_options),
    BENCH_OPTS(struct agent_options),
};

static const struct example chat_examples[] = {
    {"cordon chat", "in this directory"},
    {"cordon chat --continue --approval on-request", "goes on, and asks before changes"},
};

const struct cmd cmd_chat = {
    .name = "chat",
    .summary = "talk to a model that works with the tools",
    .about = "A conversation in the terminal. What is said stays in the terminal's own scrollback; "
             "below it are what is at work and an editor. /help says which keys and commands there "
             "are.",
    .usage = "",
    .minor = true,
    CMD_OPTS(chat_opts, struct agent_options),
    CMD_EXAMPLES(chat_examples),
    .run = run_chat,
};
