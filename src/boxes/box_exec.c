/* Commands in a box. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "boxes/box_exec.h"

#include "base/clock.h"
#include "config/boxes.h"
#include "io/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

enum {
    RACE_MS = 20 * 1000, /* timeout for the supervisor of another command to exit */
    WAIT_MS = 4,
};

/* Signals are forwarded to the command; before it is started they cancel the wait. */
static bool box_exec_pause(int ms, int signals, struct err *err)
{
    struct pollfd wait = {.fd = signals, .events = POLLIN};
    if (poll(&wait, 1, ms) <= 0)
        return true;
    int sig = interrupt_take(signals);
    if (sig == 0 || sig == SIGWINCH)
        return true;
    return err_set(err, E_CANCELED, "interrupted: the command was not started");
}

/* Fails if the box was destroyed or replaced since it was opened: nothing must be started in it. */
static bool box_exec_check_same(const struct boxes *boxes, const struct box *box, struct err *err)
{
    AUTO_FD int fd = -1;
    struct stat now, then;
    if (!boxes_find(boxes, box->name, &fd, err))
        return false;
    return (fstat(fd, &now) == 0 && fstat(box->fd, &then) == 0 && now.st_ino == then.st_ino) ||
           err_set(err, E_NOT_FOUND,
               "the box '" STR_FMT "' was replaced in the meantime: try again", STR_ARG(box->name));
}

/* Fails with E_CONFLICT if another command is starting or changing the box at the same time. */
static bool box_exec_start(
    struct arena *a, const struct box_use *use, const struct box_exec *x, struct err *err)
{
    AUTO_BOX_LOCK int lock = -1;
    struct start_options start = x->start;
    start.box = &use->box;
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    return config_boxes(a, BOXES_MAKE, &boxes, err) &&
           boxes_lock(&boxes, use->box.name, &lock, err) &&
           box_exec_check_same(&boxes, &use->box, err) && start_for_commands(&start, err);
}

static bool box_exec_may_retry(const struct err *e, uint64_t until)
{
    bool race = (e->code == E_NOT_FOUND && err_ctx_get(e, "box")) || e->code == E_CONFLICT;
    return race && clock_mono_ms() < until;
}

/* The start of a box takes long enough for a cancellation. */
static bool box_exec_command(int fd, const struct box_exec *x, int *ret_status, struct err *err)
{
    return box_exec_pause(0, x->exec.signals, err) && client_exec(fd, &x->exec, ret_status, err);
}

/* Connects to the running supervisor, or starts one. A supervisor that is exiting may still close
 * the connection; the caller retries. */
static bool box_exec_once(struct arena *a, const struct box_use *use, const struct box_exec *x,
    int *ret_status, struct err *err)
{
    AUTO_FD int fd = -1;
    AUTO_ERR struct err none = {0};
    if (client_connect(&use->box, &fd, &none))
        return box_exec_command(fd, x, ret_status, err);
    if (none.code != E_NOT_FOUND)
        return err_move(err, &none);
    AUTO_ERR struct err taken = {0};
    if (!box_exec_start(a, use, x, &taken) && taken.code != E_CONFLICT)
        return err_move(err, &taken);
    if (client_connect(&use->box, &fd, err))
        return box_exec_command(fd, x, ret_status, err);
    return taken.code ? err_move(err, &taken) : err_ctx(err, "box", "gone");
}

bool box_exec_run(struct arena *a, const struct box_use *use, const struct box_exec *x,
    int *ret_status, struct err *err)
{
    uint64_t until = clock_mono_ms() + RACE_MS;
    for (;;) {
        AUTO_ERR struct err failed = {0};
        if (box_exec_once(a, use, x, ret_status, &failed))
            return true;
        if (!box_exec_may_retry(&failed, until))
            return err_move(err, &failed);
        if (!box_exec_pause(WAIT_MS, x->exec.signals, err))
            return false;
    }
}
