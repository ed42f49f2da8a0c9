/* Toolbox made from options and settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench.h"

#include "base/utf8.h"
#include "cli/config.h"
#include "cli/own.h"
#include "cli/trust_held.h"
#include "io/file.h"
#include "path/home.h"
#include "path/lexical.h"
#include "path/workspace.h"
#include "policy/load.h"
#include "tool/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <termios.h>

enum {
    ASK_TRIES = 3,
};

static unsigned choice_index(const char *const *names, const char *word)
{
    for (unsigned i = 0; word && names[i]; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    return 0;
}

/* Writes as much as possible without blocking. Returns true if everything was written. */
static bool bench_write_some(int fd, struct str text, size_t *at)
{
    while (*at < text.n) {
        ssize_t n = write(fd, text.p + *at, text.n - *at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        *at += (size_t)n;
    }
    return true;
}

/* Writes a line completely or not at all: the rest of a partial line is written before the next. */
static bool bench_write_line(struct bench *b, struct str line)
{
    size_t at = 0;
    if (!bench_write_some(b->events_fd, buf_str(&b->event_cut), &b->event_cut_at))
        return false;
    buf_reset(&b->event_cut);
    b->event_cut_at = 0;
    if (bench_write_some(b->events_fd, line, &at))
        return true;
    if (at > 0)
        buf_add_str(&b->event_cut, str_skip(line, at));
    return false;
}

/* Writes one line per event. A write failure does not stop a tool; only the first one is
 * reported. */
static void write_event(void *context, const struct tool_event *event)
{
    struct bench *bench = context;
    AUTO_JSON json_t *object = tool_event_json(event);
    AUTO_BUF struct buf line = BUF_INIT(EVENT_MAX);
    json_add_compact(&line, object);
    buf_add_byte(&line, '\n');
    errno = EMSGSIZE;
    if ((buf_ok(&line) && bench_write_line(bench, buf_str(&line))) || bench->events_lost)
        return;
    bench->events_lost = true;
    out_warn(bench->cli, "cannot write events to '%s': %s; some are missing there",
        bench->events_path, strerror(errno));
}

static bool open_events(struct bench *b, const char *path, struct err *err)
{
    if (!path)
        return true;
    /* Non-blocking: tools must not wait for the reader of a pipe. */
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    b->events_fd = open(path, flags, 0600);
    if (b->events_fd < 0)
        return err_errno(err, E_IO, errno, "cannot write events to '%s'", path);
    signal(SIGPIPE, SIG_IGN);
    b->events_path = path;
    b->options.events = (struct tool_event_sink){write_event, b};
    return true;
}

/* Adds the exact text that will be used, made printable since a model chose it. */
static void add_lines(struct buf *text, struct str rest)
{
    for (struct str line; rest.n && str_cut(rest, '\n', &line, &rest);) {
        buf_add_z(text, "    ");
        utf8_add_printable(text, line);
        buf_add_byte(text, '\n');
    }
}

static void add_question(struct buf *text, const struct approve_question *q)
{
    buf_printf(text, "\n%s wants to %s:\n", q->tool,
        q->is_command ? "run"
        : q->mutating ? "change"
                      : "read");
    add_lines(text, q->subject);
    add_lines(text, q->diff);
    buf_add_byte(text, '(');
    utf8_add_printable(text, str_z(q->why));
    buf_add_z(text, ")\n");
}

static void add_choices(struct buf *text, struct str rule)
{
    buf_add_z(text, "[y]es, [n]o");
    if (rule.p) {
        buf_add_z(text, ", [a]lways ");
        utf8_add_printable(text, rule);
    }
    buf_add_z(text, "? ");
}

/* Reads a line from the terminal. Returns its length, 0 at end of file, -1 if interrupted. The
 * output of sessions is read while waiting. */
static ssize_t bench_read_answer(struct bench *b, char *line, size_t size)
{
    struct pollfd fds[] = {
        {.fd = b->tty_fd, .events = POLLIN}, {.fd = b->options.signals, .events = POLLIN}};
    const struct sessions_wait wait = {
        .deadline_ms = UINT64_MAX, .fds = fds, .n_fds = ARRAY_LEN(fds)};
    while (sessions_wait(b->box, &wait) != SESSIONS_READABLE) {
    }
    if (fds[1].revents) /* not consumed: the next wait must see it */
        return -1;
    ssize_t n = read(b->tty_fd, line, size);
    return MAX(n, 0);
}

static const struct {
    const char *word;
    enum approve_answer answer;
} answers[] = {
    {"y", APPROVE_YES},
    {"yes", APPROVE_YES},
    {"n", APPROVE_NO},
    {"no", APPROVE_NO},
    {"", APPROVE_NO},
    {"a", APPROVE_YES_ALWAYS},
    {"always", APPROVE_YES_ALWAYS},
};

/* Returns true if the word is a valid answer. */
static bool read_word(char *line, size_t n, bool has_rule, enum approve_answer *ret_answer)
{
    while (n && strchr(" \t\r\n", line[n - 1]))
        n--;
    for (size_t i = 0; i < n; i++)
        line[i] = (char)(line[i] >= 'A' && line[i] <= 'Z' ? line[i] - 'A' + 'a' : line[i]);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (str_is(str_n(line, n), answers[i].word) &&
            (has_rule || answers[i].answer != APPROVE_YES_ALWAYS)) {
            *ret_answer = answers[i].answer;
            return true;
        }
    return false;
}

static enum approve_answer bench_prompt_user(
    void *context, const struct approve_question *q, struct str rule)
{
    struct bench *b = context;
    AUTO_BUF struct buf text = BUF_INIT(8 << 20);
    enum approve_answer answer = APPROVE_NO;
    add_question(&text, q);
    for (int tries = 0; tries < ASK_TRIES; tries++) {
        char line[256];
        add_choices(&text, rule);
        tcflush(b->tty_fd, TCIFLUSH); /* discard input typed before the question */
        if (!buf_ok(&text) || !file_write_all(b->tty_fd, buf_str(&text)))
            return APPROVE_NO;
        ssize_t n = bench_read_answer(b, line, sizeof(line));
        if (n < 0)
            return APPROVE_CANCELED;
        if (n == 0 || read_word(line, (size_t)n, rule.p, &answer))
            return answer;
        buf_reset(&text);
    }
    return APPROVE_NO;
}

/* Approval can be asked for if there is a terminal, whatever stdin and stdout are. */
static void open_terminal(struct bench *b)
{
    if (b->options.approve.mode == APPROVE_NEVER || !isatty(STDERR_FILENO))
        return;
    b->tty_fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (b->tty_fd < 0)
        return;
    b->options.approve.ask = bench_prompt_user;
    b->options.approve.context = b;
}

static bool load_settings(
    struct cli *cli, const struct bench_options *o, struct bench *b, struct err *err)
{
    struct config config;
    if (!config_load_user(cli->arena, &config, err))
        return false;
    b->options.approve.allow = config.allow;
    if (!o->approval)
        b->options.approve.mode = config.approval;
    b->by_settings = !o->sandbox && !o->no_sandbox && config_is_weaker(&config);
    b->options.landlock |= b->by_settings;
    struct str_list own = own_files_and(cli->arena, config.key_command);
    if (o->policy)
        own.p[own.n++] = lexical_absolute(cli->arena, str_z(b->options.cwd), str_z(o->policy));
    b->options.own = own.p;
    b->options.n_own = own.n;
    b->options.settings = own_settings(cli->arena);
    return true;
}

static bool open_workspace(struct cli *cli, const char *agent, struct bench *b, struct err *err)
{
    if (!project_find(cli, ".", &b->project, err) || !project_recover(cli, &b->project, err))
        return false;
    b->workspace_fd = workspace_open(b->project.fd, agent ? agent : "cordon", err);
    b->options.root_fd = b->project.fd;
    b->options.workspace_fd = b->workspace_fd;
    return b->workspace_fd >= 0;
}

/* Uses exactly this directory, without searching for a project root. */
static bool bench_open_root(struct cli *cli, const char *dir, struct bench *b, struct err *err)
{
    b->project.fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (b->project.fd < 0)
        return err_errno(err, E_IO, errno, "cannot open '%s'", dir);
    b->options.root_fd = b->project.fd;
    return project_recover(cli, &b->project, err);
}

static bool open_mode(
    struct cli *cli, const struct bench_options *o, struct bench *b, struct err *err)
{
    if (o->agent && b->options.mode != TOOLBOX_WORKSPACE)
        return err_set(err, E_CLI_INVALID_ARG, "--agent is for --fs-mode workspace");
    switch (b->options.mode) {
    case TOOLBOX_WORKSPACE:
        return open_workspace(cli, o->agent, b, err);
    case TOOLBOX_UNRESTRICTED:
        return bench_open_root(cli, "/", b, err);
    default:
        return bench_open_root(cli, b->options.cwd, b, err);
    }
}

static bool is_mode(const char *name, enum policy_sandbox mode)
{
    return prepare_sandbox_mode(name) == mode;
}

static bool check_unsafe(const struct bench_options *o, const struct bench *b, struct err *err)
{
    if (o->sandbox && o->no_sandbox)
        return err_set(err, E_CLI_INVALID_ARG, "--sandbox or --no-sandbox, not both");
    if (b->options.landlock && !o->ack_sandbox)
        return err_set(err, E_POLICY_DENIED,
            "with --sandbox landlock much of the system stays visible to commands: add "
            "--ack-unsafe-sandbox");
    if (!b->options.no_sandbox)
        return true;
    if (b->options.mode != TOOLBOX_UNRESTRICTED)
        return err_set(err, E_CLI_INVALID_ARG, "--no-sandbox needs --fs-mode unrestricted");
    if (!o->ack_sandbox || !o->ack_network)
        return err_set(err, E_POLICY_DENIED,
            "commands without a sandbox can do all that you can: add --ack-unsafe-sandbox and "
            "--ack-unsafe-network");
    return true;
}

static void tell_held(void *context, struct str text)
{
    struct bench *b = context;
    struct str line;
    while (str_cut(text, '\n', &line, &text))
        out_warn(b->cli, STR_FMT, STR_ARG(line));
}

bool bench_open(struct cli *cli, const struct bench_options *o, struct bench *b, struct err *err)
{
    struct str cwd;
    /* Read the policy, possibly a pipe, while signals still terminate the process. */
    if (o->policy && !policy_load(o->policy, cli->arena, &b->policy, err))
        return false;
    b->cli = cli;
    b->options = (struct toolbox_options){
        .mode = (enum toolbox_mode)choice_index(toolbox_mode_names, o->fs_mode),
        .approve.mode = (enum approve_mode)choice_index(approve_mode_names, o->approval),
        .home = home_dir(cli->arena),
        .no_sandbox = o->no_sandbox || (o->sandbox && is_mode(o->sandbox, POLICY_NO_SANDBOX)),
        .landlock = o->sandbox && is_mode(o->sandbox, POLICY_LANDLOCK),
        .tell_held = tell_held,
        .held_context = b,
        .signals = interrupt_open(false, &b->set),
    };
    bool ok = lexical_cwd(cli->arena, &cwd, err) && check_unsafe(o, b, err) &&
              config_state_path(cli->arena, "journal", &b->options.journal_dir, err) &&
              config_state_path(cli->arena, "logs", &b->options.log_dir, err) &&
              config_state_path(cli->arena, "repositories", &b->options.sessions, err) &&
              config_state_path(cli->arena, "trust", &b->trust_dir, err);
    if (ok) {
        b->options.cwd = cwd.p;
        b->options.accepts = trust_held_accepts;
        b->options.accepts_context = (void *)b->trust_dir;
        ok = load_settings(cli, o, b, err) && open_mode(cli, o, b, err) &&
             open_events(b, o->events, err);
        open_terminal(b);
    }
    if (ok && o->policy)
        b->options.policy = &b->policy;
    if (ok && toolbox_open(&b->options, &b->box, err))
        return true;
    bench_done(b);
    return false;
}

void bench_warn(const struct bench *b)
{
    if (b->by_settings)
        out_warn(b->cli, CONFIG_WEAKER_WORDS);
}

void bench_done(struct bench *b)
{
    toolbox_close(b->box);
    b->box = NULL;
    interrupt_close(&b->set);
    int *fds[] = {&b->workspace_fd, &b->events_fd, &b->tty_fd, &b->options.signals};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
    buf_done(&b->event_cut);
    project_done(&b->project);
}
