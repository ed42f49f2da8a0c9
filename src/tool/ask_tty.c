/* Approval questions on the controlling terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/ask_tty.h"

#include "base/utf8.h"
#include "io/file.h"
#include "tool/sessions.h"

#include <fcntl.h>
#include <termios.h>

enum {
    ASK_TRIES = 3,
};

/* Adds the exact text that will be used, made printable since a model chose it. */
static void ask_tty_add_lines(struct buf *text, struct str rest)
{
    for (struct str line; rest.n && str_cut(rest, '\n', &line, &rest);) {
        buf_add_z(text, "    ");
        utf8_add_printable(text, line);
        buf_add_byte(text, '\n');
    }
}

static void ask_tty_add_question(struct buf *text, const struct approve_question *q)
{
    buf_printf(text, "\nAllow %s to %s:\n", q->tool,
        q->is_command ? "run"
        : q->mutating ? "change"
                      : "read");
    ask_tty_add_lines(text, q->subject);
    ask_tty_add_lines(text, q->diff);
    buf_add_byte(text, '(');
    utf8_add_printable(text, str_z(q->why));
    buf_add_z(text, ")\n");
}

static void ask_tty_add_choices(struct buf *text, struct str rule)
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
static ssize_t ask_tty_read(struct ask_tty *ask, char *line, size_t size)
{
    struct pollfd fds[] = {
        {.fd = ask->fd, .events = POLLIN}, {.fd = ask->box->options->signals, .events = POLLIN}};
    const struct sessions_wait wait = {
        .deadline_ms = UINT64_MAX, .fds = fds, .n_fds = ARRAY_LEN(fds)};
    while (sessions_wait(ask->box, &wait) != SESSIONS_READABLE) {
    }
    if (fds[1].revents) /* not consumed: the next wait must see it */
        return -1;
    ssize_t n = read(ask->fd, line, size);
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
static bool ask_tty_parse(char *line, size_t n, bool has_rule, enum approve_answer *ret_answer)
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

enum approve_answer ask_tty_question(
    void *context, const struct approve_question *q, struct str rule)
{
    struct ask_tty *ask = context;
    AUTO_BUF struct buf text = BUF_INIT(8 << 20);
    enum approve_answer answer = APPROVE_NO;
    ask_tty_add_question(&text, q);
    for (int tries = 0; tries < ASK_TRIES; tries++) {
        char line[256];
        ask_tty_add_choices(&text, rule);
        tcflush(ask->fd, TCIFLUSH); /* discard input typed before the question */
        if (!buf_ok(&text) || !file_write_all(ask->fd, buf_str(&text)))
            return APPROVE_NO;
        ssize_t n = ask_tty_read(ask, line, sizeof(line));
        if (n < 0)
            return APPROVE_CANCELED;
        if (n == 0 || ask_tty_parse(line, (size_t)n, rule.p, &answer))
            return answer;
        buf_reset(&text);
    }
    return APPROVE_NO;
}

bool ask_tty_open(struct ask_tty *ask)
{
    if (!isatty(STDERR_FILENO))
        return false;
    ask->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    return ask->fd >= 0;
}

void ask_tty_close(struct ask_tty *ask)
{
    if (ask->fd >= 0)
        close(ask->fd);
    ask->fd = -1;
}
