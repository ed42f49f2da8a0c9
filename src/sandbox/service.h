/* More commands in a sandbox that is there already, and sockets of its own network.
 *
 *     launch_start(&(struct launch){.plan = &plan, .serves = true, .idle = true, …}, &child, err)
 *     service_spawn(child.service, 1, &command, err)
 *     ... poll child.service ...
 *     while (service_next(child.service, &news) == SERVICE_NEWS)
 *         ... news.word, news.id ...
 *
 * The sandbox's first process carries it out, after it has given up all its rights: what it starts
 * is held by exactly what holds the sandbox's own command, and no process of ours enters. Requests
 * are answered in order, each of them once, but for signals; that a command ended is told when it
 * does. An id is the caller's, not 0, and free again when its command has ended. What the first
 * process says is checked like anything from inside.
 *
 * Each command is the leader of a session and of a process group of its own. What it leaves behind
 * lives on until the sandbox ends, as what the sandbox's own command leaves does.
 *
 * Nothing here waits: a caller that does not take its answers is told so by E_CONFLICT.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SERVICE_H
#define SANDBOX_SERVICE_H

#include "base/err.h"
#include "base/str.h"
#include "sandbox/stage.h"

#include <stdint.h>

enum {
    SERVICE_COMMANDS_MAX = 256,  /* at one time */
    SERVICE_WORDS_MAX = 2 << 20, /* bytes of arguments and environment, their pointers included */
};

struct service_command {
    const char *const *argv, *const *envp; /* end in NULL */
    const char *path;                      /* inside, absolute: what is executed */
    const char *cwd;                       /* inside, absolute */
    bool terminal;                         /* on a terminal of its own */
    uint16_t rows, cols;
    int io[3]; /* without a terminal: its standard streams, no directory and no terminal; -1:
                  /dev/null. Stay the caller's */
};

MUST_USE bool service_spawn(
    int service, uint32_t id, const struct service_command *command, struct err *err);

/* Starts the sandbox's own command, where the launch was `held`. No answer: what becomes of it is
 * told by child_next(). */
MUST_USE bool service_start(int service, struct err *err);

/* To the command's process group. One that has ended is no error. No answer. */
MUST_USE bool service_signal(int service, uint32_t id, int sig, struct err *err);

/* A socket that listens on 127.0.0.1 inside (port 0: any), and one that is being connected to a
 * port there, by 127.0.0.1 or ::1, which may still fail. Only where the sandbox has a network of
 * its own: elsewhere refused with EOPNOTSUPP. */
MUST_USE bool service_listen(int service, uint32_t id, uint16_t port, struct err *err);
MUST_USE bool service_connect(int service, uint32_t id, uint16_t port, struct err *err);

enum service_word {
    SERVICE_SPAWNED,  /* fd: the terminal's master, if it has one; blocking */
    SERVICE_ENDED,    /* value: as waitpid() gives it */
    SERVICE_LISTENS,  /* fd, not blocking; value: the port */
    SERVICE_CONNECTS, /* fd, not blocking */
    SERVICE_REFUSED,  /* value: errno. Of a command: it was not started */
};

struct service_news {
    enum service_word word;
    uint32_t id;
    int value;
    int fd;           /* the caller's from here on; -1: none */
    enum stage stage; /* of a refusal: what could not be done; STAGE_FORK of an end: there were too
                         many processes, and all were killed */
};

enum service_got {
    SERVICE_NEWS,
    SERVICE_NOTHING, /* for now */
    SERVICE_GONE,    /* the sandbox is no more, or no longer what we started: then it ends */
};

enum service_got service_next(int service, struct service_news *ret_news);

/* Why a command was refused, in words for a person. Always false. */
bool service_refused(
    const struct service_news *news, const struct service_command *command, struct err *err);

#endif
