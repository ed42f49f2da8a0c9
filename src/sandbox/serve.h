/* The service socket as the sandbox's first process has it: requests, answers, the commands by
 * their ids, and sockets of its network. Nothing here allocates, waits or prints. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SERVE_H
#define SANDBOX_SERVE_H

#include "sandbox/wire.h"

#include <sys/types.h>

struct serve_command {
    uint32_t id; /* 0: a free place */
    pid_t pid;
    int status;
    bool has_ended; /* which is to be told */
    bool terminal;
    bool hang_up;  /* is to be asked by SIGHUP, too */
    bool too_many; /* processes: it was killed for that */
};

struct serve {
    int socket;
    struct serve_command commands[SERVICE_COMMANDS_MAX];
    size_t n_ended;
    struct wire_answer owed; /* an answer that did not fit; its id is 0 if there is none */
    int owed_fd;
};

struct serve_request {
    struct wire_request wire;
    int fds[WIRE_REQUEST_FDS];
    size_t n_fds;
};

/* The next request, if it makes sense. Its descriptors are serve_drop()'s. */
bool serve_next(const struct serve *s, struct serve_request *ret_request);
void serve_drop(struct serve_request *request);

/* The descriptor is closed here. */
void serve_answer(struct serve *s, const struct wire_answer *answer, int fd);

/* Tells what is to be told. False: not all of it fits; no request may be taken until it does. */
bool serve_flush(struct serve *s);

struct serve_command *serve_find(struct serve *s, uint32_t id);
struct serve_command *serve_free_place(struct serve *s); /* NULL: none */
void serve_note_end(struct serve *s, pid_t pid, int status);
void serve_note_too_many(struct serve *s); /* processes: all that run are killed for it */

/* What to execute, in a memory file; the file is changed in our copy only. */
struct serve_words {
    char *map;
    size_t size;
    char **argv, **envp;
    const char *path, *cwd;
};

bool serve_map_words(int fd, struct serve_words *ret_words);
void serve_unmap_words(struct serve_words *words);

/* -1 and errno. */
int serve_listen(uint16_t port, uint16_t *ret_port);
int serve_connect(uint16_t port);

#endif
