/* The service socket in the sandbox's first process: requests, answers, the commands by their ids,
 * and sockets of its network. Nothing here allocates, blocks or prints. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SERVICE_INIT_H
#define SANDBOX_SERVICE_INIT_H

#include "sandbox/service_wire.h"

#include <sys/types.h>

struct winsize;

struct serve_command {
    uint32_t id; /* 0: a free slot */
    pid_t pid;
    int status;
    bool has_ended; /* to be reported */
    bool terminal;
    bool hang_up;  /* to be asked by SIGHUP as well */
    bool too_many; /* it was killed because there were too many processes */
    bool large;    /* a process of it was killed because it had too much memory */
};

struct serve {
    int socket;
    struct serve_command commands[SERVICE_COMMANDS_MAX];
    size_t n_ended;
    struct wire_answer owed; /* an answer that did not fit; its id is 0 without one */
    int owed_fd;
};

struct serve_request {
    struct wire_request wire;
    int fds[WIRE_REQUEST_FDS];
    size_t n_fds;
};

/* Gets the next request, if it is valid; answers one that is not complete. serve_drop() closes its
 * file descriptors. */
bool serve_next(struct serve *s, struct serve_request *ret_request);
void serve_drop(struct serve_request *request);

/* Takes ownership of the file descriptor. */
void serve_answer(struct serve *s, const struct wire_answer *answer, int fd);

/* Sends pending answers. Returns false if not all of them fit: then no request must be taken until
 * they do. */
bool serve_flush(struct serve *s);

struct serve_command *serve_find(struct serve *s, uint32_t id);
struct serve_command *serve_free_place(struct serve *s); /* NULL: none */
void serve_note_end(struct serve *s, pid_t pid, int status);
void serve_note_too_many(struct serve *s);         /* all running commands are killed for it */
void serve_note_large(struct serve *s, pid_t pid); /* the command with this process */

/* The words to execute, from a memfd; only our copy of it is changed. */
struct serve_words {
    char *map;
    size_t size;
    char **argv, **envp;
    const char *path, *cwd;
};

bool serve_map_words(int fd, struct serve_words *ret_words);
void serve_unmap_words(struct serve_words *words);

/* Return -1 and errno on failure. */
int serve_listen(uint16_t port, uint16_t *ret_port);
int serve_connect(uint16_t port);

/* Opens a terminal of the sandbox, not yet a controlling terminal; returns false and errno on
 * failure. */
bool serve_make_terminal(int devpts, const struct winsize *size, int ret_ends[2]);

/* Opens the socket on which the proxy listens, and sends it to the supervisor, where the proxy
 * runs: INIT_LISTENS. */
bool serve_proxy(int control);

#endif
