/* Runs more commands in an existing sandbox, and opens sockets in its own network.
 *
 *     launch_start(&(struct launch){.plan = &plan, .serves = true, .idle = true, …}, &child, err)
 *     service_spawn(child.service, 1, &command, err)
 *     ... poll child.service ...
 *     while (service_read_event(child.service, &news) == SERVICE_NEWS)
 *         ... news.word, news.id ...
 *
 * The sandbox's first process carries out requests, after it has dropped all its privileges:
 * commands are confined exactly like the sandbox's own command, and no process of ours enters.
 * Requests are answered in order, each of them once, except for service_start(), service_signal()
 * and service_kill(); the end of a command is reported when it happens. The caller chooses ids: not
 * 0, and free again when the command has ended. Messages from the first process are checked like
 * anything from inside.
 *
 * Each command is the leader of its own session and process group. Processes that it leaves behind
 * live until the sandbox ends, like those of the sandbox's own command.
 *
 * Nothing here blocks: if the caller does not read its answers, requests fail with E_CONFLICT.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SERVICE_H
#define SANDBOX_SERVICE_H

#include "base/err.h"
#include "base/str.h"
#include "sandbox/stage.h"

#include <stdint.h>

enum {
    SERVICE_COMMANDS_MAX = 256,  /* running at a time */
    SERVICE_WORDS_MAX = 2 << 20, /* bytes of arguments and environment, including their pointers */
};

struct service_command {
    const char *const *argv, *const *envp; /* end in NULL */
    const char *path;                      /* inside, absolute: the file to execute */
    const char *cwd;                       /* inside, absolute */
    bool terminal;                         /* on its own terminal */
    uint16_t rows, cols;
    int io[3]; /* without a terminal: its standard streams, not a directory and not a terminal;
                  -1: /dev/null. The caller keeps them */
};

MUST_USE bool service_spawn(
    int service, uint32_t id, const struct service_command *command, struct err *err);

/* Starts the sandbox's own command, if the launch was `held`. No answer: child_read_event() reports
 * the result. */
MUST_USE bool service_start(int service, struct err *err);

/* Signals the command's process group. A command that has ended is not an error. No answer. */
MUST_USE bool service_signal(int service, uint32_t id, int sig, struct err *err);

/* Kills all processes of the command's session; without namespaces only its group. A command that
 * has ended is not an error, and what it left behind lives on. No answer. */
MUST_USE bool service_kill(int service, uint32_t id, struct err *err);

/* Opens a socket that listens on 127.0.0.1 inside (port 0: any), or one that is being connected to
 * a port there, by 127.0.0.1 or ::1, which may still fail. Only if the sandbox has its own network:
 * otherwise refused with EOPNOTSUPP. */
MUST_USE bool service_listen(int service, uint32_t id, uint16_t port, struct err *err);
MUST_USE bool service_connect(int service, uint32_t id, uint16_t port, struct err *err);

enum service_event_kind {
    SERVICE_SPAWNED,  /* fd: the terminal's master, if it has one; blocking. value: its process and
                         session inside, for denied_take() */
    SERVICE_ENDED,    /* value: a wait status */
    SERVICE_LISTENS,  /* fd, non-blocking; value: the port */
    SERVICE_CONNECTS, /* fd, non-blocking */
    SERVICE_REFUSED,  /* value: errno. A refused command was not started */
};

struct service_event {
    enum service_event_kind word;
    uint32_t id;
    int value;
    int fd;           /* the caller must close it; -1: none */
    enum stage stage; /* of a refusal: the stage that failed; STAGE_FORK of an end: there were
                         too many processes, and all were killed; STAGE_LIMITS of an end: a process
                         of the command had too much memory, and was killed */
};

enum service_result {
    SERVICE_NEWS,
    SERVICE_NOTHING, /* for now */
    SERVICE_GONE,    /* the sandbox has ended, or sent an invalid message, which ends it */
};

enum service_result service_read_event(int service, struct service_event *ret_news);

/* Sets the error for a command that was refused. Always returns false. */
bool service_refused(
    const struct service_event *news, const struct service_command *command, struct err *err);

#endif
