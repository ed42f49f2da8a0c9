/* state.json as a table, and the lock that tells whether its status is current. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/state.h"

#include "io/file.h"
#include "io/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    STATE_MAX = 64 * 1024,
    WORD_MAX = 4096,
    GAPS_MAX = 32,
    END_MS = 5000,
    LINGER_MS = 100,
    LOOK_MS = 2,
};

static const char file_name[] = "state.json";
static const char lock_name[] = "running";

const char *const box_status_names[] = {
    [BOX_STOPPED] = "stopped",
    [BOX_RUNNING] = "running",
    [BOX_IDLE] = "idle",
    [BOX_DONE] = "done",
    [BOX_FAILED] = "failed",
};

const char *const box_prompt_names[] = {
    [BOX_PROMPT_NONE] = "none",
    [BOX_PROMPT_PENDING] = "pending",
    [BOX_PROMPT_DELIVERED] = "delivered",
    [BOX_PROMPT_UNCONFIRMED] = "unconfirmed",
};

static const struct field state_fields[] = {
    FIELD_ENUM("status", struct box_state, status, box_status_names, "status of the agent",
        .flags = FIELD_REQUIRED),
    FIELD_STR("started_at", struct box_state, started_at, "time of its start, RFC 3339",
        FIELD_RANGE(0, WORD_MAX)),
    FIELD_STR("ended_at", struct box_state, ended_at,
        "time of its end, RFC 3339; absent: it has not ended", FIELD_RANGE(0, WORD_MAX)),
    FIELD_I64("exit_code", struct box_state, exit_code, "exit status of the agent; -1: none",
        .def = "-1", FIELD_RANGE(-1, 255)),
    FIELD_I64("signal", struct box_state, signal, "signal that killed the agent; 0: none",
        .def = "0", FIELD_RANGE(0, 64)),
    FIELD_ENUM("prompt", struct box_state, prompt, box_prompt_names, "delivery of its prompt",
        .def = "\"none\""),
    FIELD_STR("error", struct box_state, error, "error that ended the run, if not the agent's own",
        .flags = FIELD_OMIT_EMPTY, FIELD_RANGE(0, WORD_MAX)),
    FIELD_STRS("gaps", struct box_state, gaps, "limits that are weaker than requested", .def = "[]",
        FIELD_RANGE(0, GAPS_MAX)),
    FIELD_U64(
        "run", struct box_state, run, "number of its recording, runs/<n>; 0: none", .def = "0"),
    FIELD_U64("pid", struct box_state, pid, "process id of its supervisor", .def = "0"),
    FIELD_U64(
        "first", struct box_state, first, "process id of the sandbox's process 1", .def = "0"),
    FIELD_U64("proxy_ends", struct box_state, proxy_ends,
        "number of unexpected exits of its network proxy", .def = "0"),
    FIELD_BOOL("agent", struct box_state, agent, "whether the agent was started", .def = "false"),
};
const struct shape box_state_shape =
    SHAPE("state", struct box_state, state_fields, "result of a box's last run");

/* The lock ------------------------------------------------------------------------------------ */

/* An open file description lock: it lives as long as the last duplicate of the descriptor, and
 * others can query it without taking it. */
static const struct flock whole_file = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

static int open_lock(int host_fd, int flags)
{
    return openat(host_fd, lock_name, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool state_hold(int host_fd, int *ret_lock, struct err *err)
{
    struct flock lock = whole_file;
    AUTO_FD int fd = open_lock(host_fd, O_RDWR | O_CREAT);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot open '%s'", lock_name);
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0)
        return errno == EAGAIN || errno == EACCES
                   ? err_set(err, E_CONFLICT, "the box is running")
                   : err_errno(err, E_IO, errno, "cannot lock '%s'", lock_name);
    *ret_lock = TAKE_FD(fd);
    return true;
}

static bool is_held(int host_fd, bool *ret_held, struct err *err)
{
    struct flock lock = whole_file;
    AUTO_FD int fd = open_lock(host_fd, O_RDWR);
    if (fd < 0 && errno == ENOENT) {
        *ret_held = false;
        return true;
    }
    if (fd < 0 || fcntl(fd, F_OFD_GETLK, &lock) != 0)
        return err_errno(err, E_IO, errno, "cannot stat '%s'", lock_name);
    *ret_held = lock.l_type != F_UNLCK;
    return true;
}

/* The file ------------------------------------------------------------------------------------ */

/* No fsync: after a power failure nothing runs, and an empty file means just that. */
bool state_save(int host_fd, const struct box_state *state, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(STATE_MAX);
    AUTO_JSON json_t *tree = field_write(&box_state_shape, state);
    const struct replace_options o = {.dir = host_fd, .name = file_name, .mode = 0600};
    json_add_pretty(&text, tree);
    buf_add_byte(&text, '\n');
    if (!buf_ok(&text))
        return err_set(err, E_IO, "%s would be longer than %d bytes", file_name, STATE_MAX);
    return replace_file(&o, buf_str(&text)) ||
           err_errno(err, E_IO, errno, "cannot write '%s'", file_name);
}

/* Leaves `text` empty if the file does not exist yet. */
static bool state_read_text(int host_fd, struct buf *text, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = openat(host_fd, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || err_errno(err, E_IO, errno, "cannot open '%s'", file_name);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > STATE_MAX)
        return err_set(
            err, E_CONFIG, "'%s' is not a regular file of at most %d bytes", file_name, STATE_MAX);
    return file_read(fd, STATE_MAX, file_name, text, err);
}

bool state_load(
    int host_fd, struct arena *arena, struct box_state *ret_state, bool *ret_held, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * STATE_MAX);
    AUTO_JSON json_t *tree = NULL;
    struct box_state state = {.status = BOX_STOPPED, .exit_code = -1};
    bool held = false;
    /* Check the lock first: the supervisor writes the final state before releasing it. */
    if (!is_held(host_fd, &held, err) || !state_read_text(host_fd, &text, err))
        return false;
    if (text.n && (!json_parse(buf_str(&text), file_name, E_CONFIG, &tree, err) ||
                      !field_read(&box_state_shape, tree, arena, E_CONFIG, &state, err)))
        return err_wrap(err, "%s", file_name);
    if (!held && (state.status == BOX_RUNNING || state.status == BOX_IDLE))
        state.status = BOX_STOPPED;
    *ret_state = state;
    *ret_held = held;
    return true;
}

bool state_runs(
    int host_fd, struct arena *arena, struct box_state *ret_state, bool *ret_runs, struct err *err)
{
    if (!state_load(host_fd, arena, ret_state, ret_runs, err))
        return false;
    bool agent = ret_state->status == BOX_RUNNING || ret_state->status == BOX_IDLE;
    for (int ms = 0; *ret_runs && !agent && ms < LINGER_MS; ms += LOOK_MS) {
        (void)poll(NULL, 0, LOOK_MS);
        if (!is_held(host_fd, ret_runs, err))
            return false;
    }
    return true;
}

/* The kernel kills the init process along with its supervisor, but not instantly. If the PID was
 * reused by a process of the same name, the wait just times out. */
void state_await_end(const struct box_state *state)
{
    char path[64], name[32] = "";
    if (state->first == 0 || state->first > INT32_MAX)
        return;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)state->first);
    AUTO_FD int process = (int)syscall(SYS_pidfd_open, (pid_t)state->first, 0);
    AUTO_FD int comm = open(path, O_RDONLY | O_CLOEXEC);
    if (process < 0 || comm < 0 || read(comm, name, sizeof(name) - 1) <= 0 ||
        strcmp(name, STATE_FIRST_NAME "\n") != 0)
        return;
    struct pollfd wait = {.fd = process, .events = POLLIN};
    (void)poll(&wait, 1, END_MS);
}
