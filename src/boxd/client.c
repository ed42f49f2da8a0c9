/* Client side: connect, stop, exec. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxd/client.h"

#include "base/clock.h"
#include "box/state.h"
#include "boxd/link.h"
#include "io/interrupt.h"
#include "io/relay.h"
#include "io/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

enum {
    SEND_MS = 5000,
    STOP_MS = 10 * 1000, /* in addition to the grace period */
    DRAIN_MS = 200,      /* without output after the exit: leftover processes may hold pipes open */
    RELAYS = 3,
    WORDS_PIECE = 32 * 1024,
    CANCEL_MS = 2000, /* between SIGTERM and SIGKILL to a canceled command */
    HALT_GRACE_MS = 5000,
    HALT_MS = 10 * 1000,
    HALT_LOOK_MS = 5,
    HALT_STATE_MAX = 1 << 20,
};

bool client_connect(const struct box *box, int *ret_fd, struct err *err)
{
    if (link_connect(box->host, ret_fd, err))
        return true;
    if (err->code != E_NOT_FOUND)
        return false;
    err_set(err, E_NOT_FOUND, "the box '" STR_FMT "' is not running", STR_ARG(box->name));
    return err_ctx(err, "name", STR_FMT, STR_ARG(box->name));
}

static bool is_gone(struct err *err)
{
    err_set(err, E_NOT_FOUND, "lost the connection to the box's supervisor");
    return err_ctx(err, "box", "gone");
}

/* The supervisor never blocks, so a full socket for SEND_MS means that it hangs. */
static bool send_packet(int fd, enum link_word word, const void *head, size_t n, struct str tail,
    const int *fds, struct err *err)
{
    uint64_t until = clock_mono_ms() + SEND_MS;
    for (;;) {
        enum link_sent sent = link_send(fd, word, head, n, tail, fds);
        if (sent == LINK_SENT)
            return true;
        if (sent == LINK_LOST)
            return is_gone(err);
        if (sent == LINK_CROWDED)
            return link_crowded("the standard streams of a command", err);
        if (clock_mono_ms() >= until)
            return err_set(err, E_IO, "timeout: the box's supervisor does not respond");
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        (void)poll(&wait, 1, SEND_MS / 10);
    }
}

/* Stopping ------------------------------------------------------------------------------------ */

bool client_stop(int fd, uint64_t grace_ms, struct err *err)
{
    const uint32_t grace = (uint32_t)MIN(grace_ms, (uint64_t)UINT32_MAX);
    uint64_t until = clock_mono_ms() + grace + STOP_MS;
    AUTO_FREE struct link_packet *packet = base_alloc(sizeof(*packet));
    AUTO_ERR struct err ignored = {0};
    if (!send_packet(fd, LINK_STOP, &grace, sizeof(grace), STR(""), NULL, &ignored))
        return true;
    for (uint64_t now; (now = clock_mono_ms()) < until;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        (void)poll(&wait, 1, clock_timeout_ms(now, until));
        enum link_got got = link_receive(fd, packet);
        if (got == LINK_CLOSED)
            return true;
        if (got == LINK_GOT)
            link_drop_fds(packet);
    }
    return err_set(err, E_TIMEOUT, "timeout: the box's supervisor has not ended");
}

/* Halting ------------------------------------------------------------------------------------- */

/* A box that is starting has no socket yet, and one that is exiting no longer has one: then only
 * the lock shows that it runs. */
static bool halt_once(const struct box *box, int *ret_lock, bool *ret_held, struct err *err)
{
    AUTO_FD int fd = -1;
    AUTO_ERR struct err none = {0}, taken = {0};
    if (client_connect(box, &fd, &none) && !client_stop(fd, HALT_GRACE_MS, err))
        return false;
    *ret_held = state_hold(box->host, ret_lock, &taken);
    return *ret_held || taken.code == E_CONFLICT || err_move(err, &taken);
}

bool client_halt(const struct box *box, int *ret_lock, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(HALT_STATE_MAX);
    struct box_state state;
    bool held = false, ignored;
    uint64_t until = clock_mono_ms() + HALT_MS;
    while (!held) {
        if (!halt_once(box, ret_lock, &held, err))
            return false;
        if (!held && clock_mono_ms() >= until)
            return err_set(
                err, E_CONFLICT, "the box '" STR_FMT "' does not stop", STR_ARG(box->name));
        if (!held)
            (void)poll(NULL, 0, HALT_LOOK_MS);
    }
    if (!state_load(box->host, &a, &state, &ignored, err))
        return false;
    state_await_end(&state);
    return true;
}

/* If the lock is held but no connection is possible, the supervisor is starting or exiting. */
static bool await_free(const struct box *box, bool *ret_free, struct err *err)
{
    AUTO_ARENA struct arena a = ARENA_INIT(HALT_STATE_MAX);
    struct box_state state;
    bool held;
    if (!state_load(box->host, &a, &state, &held, err))
        return false;
    *ret_free = !held;
    if (held)
        (void)poll(NULL, 0, HALT_LOOK_MS);
    else
        state_await_end(&state);
    return true;
}

bool client_stop_box(const struct box *box, uint64_t grace_ms, bool *ret_ran, struct err *err)
{
    uint64_t until = clock_mono_ms() + grace_ms + HALT_MS;
    bool ran = false;
    for (bool free = false; !free;) {
        AUTO_ERR struct err none = {0};
        AUTO_FD int fd = -1;
        bool there = client_connect(box, &fd, &none);
        if (!there && none.code != E_NOT_FOUND)
            return err_move(err, &none);
        if (there && !client_stop(fd, grace_ms, err))
            return false;
        ran |= there;
        if (!await_free(box, &free, err))
            return false;
        if (!free && clock_mono_ms() >= until)
            return err_set(
                err, E_TIMEOUT, "the box '" STR_FMT "' did not stop in time", STR_ARG(box->name));
    }
    *ret_ran = ran;
    return true;
}

/* Commands ------------------------------------------------------------------------------------ */

struct client_run {
    int fd;
    const struct client_exec *exec;
    int pipes[RELAYS]; /* our ends; -1 with a terminal */
    int master;
    struct tty tty, tty_out;
    struct relay relays[RELAYS];
    char *buffers;
    struct link_packet *packet;
    bool spawned, ended, canceled;
    bool quiet;        /* the last poll timed out */
    uint64_t until_ms; /* of a wait for the end of a canceled command */
    uint64_t moved_ms;
    int status;
};

static void client_run_done(struct client_run *r)
{
    tty_restore(&r->tty);
    tty_restore(&r->tty_out);
    for (size_t i = 0; i < RELAYS; i++) {
        relay_close(&r->relays[i]);
        auto_fd(&r->pipes[i]);
    }
    auto_fd(&r->master);
    free(r->buffers);
    free(r->packet);
}

static bool send_words(const struct client_run *r, struct err *err)
{
    AUTO_BUF struct buf words = BUF_INIT(LINK_WORDS_MAX);
    for (const char *const *word = r->exec->argv; *word; word++)
        buf_add(&words, *word, strlen(*word) + 1);
    if (!buf_ok(&words))
        return err_set(
            err, E_CLI_INVALID_ARG, "the command line is longer than %d bytes", LINK_WORDS_MAX);
    for (struct str rest = buf_str(&words); rest.n; rest = str_skip(rest, WORDS_PIECE))
        if (!send_packet(r->fd, LINK_WORDS, NULL, 0, str_head(rest, WORDS_PIECE), NULL, err))
            return false;
    return true;
}

/* Creates pipes to the command, so that none of the caller's descriptors enter the box. */
static bool open_pipes(struct client_run *r, int ret_theirs[RELAYS], struct err *err)
{
    for (int i = 0; i < RELAYS; i++) {
        int pair[2];
        if (pipe2(pair, O_CLOEXEC) != 0)
            return err_errno(err, E_IO, errno, "cannot create a pipe");
        ret_theirs[i] = pair[i != 0];
        r->pipes[i] = pair[i == 0];
    }
    return true;
}

static bool client_exec_start(struct client_run *r, struct err *err)
{
    const struct client_exec *x = r->exec;
    int theirs[RELAYS] = {-1, -1, -1};
    struct tty_size size = tty_size(x->terminal ? x->output : -1);
    const struct link_exec how = {size.rows, size.cols, x->terminal};
    bool ok =
        send_words(r, err) && (x->terminal || open_pipes(r, theirs, err)) &&
        send_packet(r->fd, LINK_EXEC, &how, sizeof(how), STR(""), x->terminal ? NULL : theirs, err);
    for (size_t i = 0; i < RELAYS; i++)
        auto_fd(&theirs[i]);
    return ok;
}

static void add_relay(struct client_run *r, int i, int from, int to, bool own)
{
    r->relays[i] = (struct relay){
        .from = from, .to = to, .own_to = own, .buffer = r->buffers + (size_t)i * RELAY_BUFFER};
}

static size_t client_see_output(void *context, struct str bytes)
{
    const struct client_run *r = context;
    r->exec->seen(r->exec->context, STDOUT_FILENO, bytes);
    return bytes.n;
}

static size_t client_see_error(void *context, struct str bytes)
{
    const struct client_run *r = context;
    r->exec->seen(r->exec->context, STDERR_FILENO, bytes);
    return bytes.n;
}

static void client_start_streams(struct client_run *r)
{
    const struct client_exec *x = r->exec;
    r->spawned = true;
    if (x->terminal) {
        r->master = TAKE_FD(r->packet->fds[0]);
        tty_raw(&r->tty, x->input);
        tty_resize(r->master, tty_size(x->output));
        add_relay(r, 0, x->input, r->master, false);
        add_relay(r, 1, r->master, x->output, false);
        return;
    }
    add_relay(r, 0, x->input, TAKE_FD(r->pipes[0]), true);
    if (x->input < 0)
        relay_end(&r->relays[0]);
    add_relay(r, 1, r->pipes[1], x->output, false);
    add_relay(r, 2, r->pipes[2], x->error, false);
    if (!x->seen)
        return;
    r->relays[1].seen = client_see_output;
    r->relays[2].seen = client_see_error;
    r->relays[1].context = r->relays[2].context = r;
}

static bool client_handle_packet(struct client_run *r, struct err *err)
{
    struct link_packet *p = r->packet;
    int32_t status;
    switch (link_receive(r->fd, p)) {
    case LINK_NOTHING:
        return true;
    case LINK_CLOSED:
        if (r->ended)
            return true;
        return r->spawned
                   ? err_set(err, E_PROCESS_EXIT, "the box was stopped, which ended the command")
                   : is_gone(err);
    case LINK_GOT:
        break;
    }
    bool ok = true;
    if (p->word == LINK_SPAWNED && !r->spawned)
        client_start_streams(r);
    else if (p->word == LINK_FAILED)
        ok = link_get_err(p->body, err);
    else if (p->word == LINK_DENIED && r->exec->denied)
        buf_add_str(r->exec->denied, p->body);
    else if (p->word == LINK_EXITED && link_body(p, &status, sizeof(status))) {
        r->ended = true;
        r->status = status;
        r->moved_ms = clock_mono_ms();
        relay_end(&r->relays[0]);
    }
    link_drop_fds(p);
    return ok;
}

/* Forwards signals to the command instead of acting on them; we exit when it does. */
static bool client_forward_signal(struct client_run *r, struct err *err)
{
    int taken = interrupt_take(r->exec->signals);
    if (taken == 0)
        return true;
    if (taken == INTERRUPT_CANCELED) {
        r->canceled = true; /* client_exec_cancel() */
        return true;
    }
    if (taken == SIGWINCH) {
        if (r->master >= 0)
            tty_resize(r->master, tty_size(r->exec->output));
        return true;
    }
    const uint32_t sig = (uint32_t)taken;
    return r->ended || send_packet(r->fd, LINK_SIGNAL, &sig, sizeof(sig), STR(""), NULL, err);
}

static bool all_written(const struct client_run *r)
{
    return relay_done(&r->relays[1]) && relay_done(&r->relays[2]);
}

/* After the command's exit: wait until all output is forwarded, then DRAIN_MS for leftover
 * processes. Only a poll that timed out counts: on a busy machine that time may pass between
 * polls. */
static bool is_over(const struct client_run *r)
{
    if (!r->ended)
        return false;
    bool pending = r->relays[1].n || r->relays[2].n;
    return all_written(r) || (r->quiet && !pending && clock_mono_ms() - r->moved_ms >= DRAIN_MS);
}

static bool client_exec_step(struct client_run *r, struct err *err)
{
    enum {
        AT_LINK = RELAYS * RELAY_POLLFDS,
        AT_SIGNALS,
        POLLS
    };
    struct pollfd fds[POLLS];
    for (int i = 0; i < RELAYS; i++)
        relay_poll(&r->relays[i], &fds[i * RELAY_POLLFDS]);
    fds[AT_LINK] = (struct pollfd){.fd = r->ended ? -1 : r->fd, .events = POLLIN};
    fds[AT_SIGNALS] = (struct pollfd){.fd = r->canceled ? -1 : r->exec->signals, .events = POLLIN};
    int n =
        poll(fds, POLLS, r->ended ? DRAIN_MS / 4 : clock_timeout_ms(clock_mono_ms(), r->until_ms));
    if (n < 0)
        return errno == EINTR || err_errno(err, E_IO, errno, "cannot wait for the command");
    r->quiet = n == 0;
    for (int i = 0; i < RELAYS; i++) {
        if (fds[i * RELAY_POLLFDS].revents || fds[i * RELAY_POLLFDS + 1].revents)
            r->moved_ms = i ? clock_mono_ms() : r->moved_ms;
        relay_step(&r->relays[i], &fds[i * RELAY_POLLFDS]);
    }
    for (int i = 1; i < RELAYS; i++)
        if (r->relays[i].broken && r->pipes[i] >= 0)
            close(TAKE_FD(r->pipes[i])); /* the command gets SIGPIPE, as usual */
    return (!fds[AT_SIGNALS].revents || client_forward_signal(r, err)) &&
           (!fds[AT_LINK].revents || client_handle_packet(r, err));
}

/* Terminates the command and waits for its end, for at most CANCEL_MS before SIGKILL and after it;
 * the supervisor also ends the command of a client that is gone. */
static bool client_exec_cancel(struct client_run *r, struct err *err)
{
    static const struct {
        uint32_t sig;
        bool wait;
    } steps[] = {{SIGHUP, false}, {SIGTERM, false}, {SIGCONT, true}, {SIGKILL, true}};
    AUTO_ERR struct err ignored = {0};
    bool ok = true;
    for (size_t i = 0; ok && !r->ended && i < ARRAY_LEN(steps); i++) {
        const uint32_t sig = steps[i].sig;
        ok = send_packet(r->fd, LINK_SIGNAL, &sig, sizeof(sig), STR(""), NULL, &ignored);
        r->until_ms = clock_mono_ms() + CANCEL_MS;
        while (ok && !r->ended && steps[i].wait && clock_mono_ms() < r->until_ms)
            ok = client_exec_step(r, &ignored);
    }
    return err_set(err, E_CANCELED, "interrupted");
}

/* A shell expects the status of the command in this case, which gets SIGPIPE. */
static bool client_exec_check(const struct client_run *r, struct err *err)
{
    static const char *const names[RELAYS] = {NULL, "output", "error"};
    for (int i = 1; i < RELAYS && r->exec->check_output; i++)
        if (r->relays[i].broken)
            return err_set(err, E_IO,
                "the standard %s of the command could not be written: its reader is gone, or there "
                "is no space left",
                names[i]);
    return true;
}

bool client_exec(int fd, const struct client_exec *exec, int *ret_status, struct err *err)
{
    AUTO(client_run_done)
    struct client_run r = {.fd = fd,
        .exec = exec,
        .pipes = {-1, -1, -1},
        .master = -1,
        .until_ms = UINT64_MAX,
        .tty = TTY_NONE,
        .tty_out = TTY_NONE,
        .buffers = base_realloc(NULL, RELAYS * RELAY_BUFFER),
        .packet = base_alloc(sizeof(struct link_packet))};
    for (int i = 0; i < RELAYS; i++)
        r.relays[i] = (struct relay){.from = -1, .to = -1};
    if (!client_exec_start(&r, err))
        return false;
    while (!is_over(&r) && !r.canceled)
        if (!client_exec_step(&r, err))
            return false;
    if (r.canceled)
        return client_exec_cancel(&r, err);
    *ret_status = r.status;
    return client_exec_check(&r, err);
}
