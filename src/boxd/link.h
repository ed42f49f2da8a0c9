/* Protocol between a box's supervisor and its clients, over host/socket: SOCK_SEQPACKET packets,
 * each with a head and a body. Both sides check sizes, and neither ever blocks on the other.
 *
 *     link_send(fd, LINK_SIZE, &size, sizeof(size), STR(""), NULL)
 *     while (link_receive(fd, &packet) == LINK_GOT) ... packet.word, packet.body ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOXD_LINK_H
#define BOXD_LINK_H

#include "base/err.h"
#include "base/str.h"

enum {
    LINK_VERSION = 1,
    LINK_PACKET_MAX = 64 * 1024, /* size of a body */
    LINK_FDS = 3,                /* file descriptors per packet */
    LINK_WORDS_MAX = 1 << 20,    /* total size of a command's words */
    LINK_SIZE_MAX = 500,         /* limit for rows and columns */
    LINK_TEXT_MAX = 32 * 1024,   /* bytes of input per packet */
};

enum link_word {
    /* To the supervisor. */
    LINK_ATTACH = 1, /* link_size */
    LINK_SIZE,       /* link_size: the client's terminal was resized */
    LINK_SCROLL,     /* uint32_t: number of lines scrolled back */
    LINK_TEXT,       /* typed bytes */
    LINK_PASTE,      /* pasted bytes; a paste may span several packets */
    LINK_KEY,        /* the name of a key */
    LINK_MOUSE,      /* link_mouse */
    LINK_WORDS,      /* part of a command's words, each NUL-terminated */
    LINK_EXEC,       /* link_exec; three file descriptors, or none with a terminal */
    LINK_SIGNAL,     /* uint32_t: signal for the command */
    LINK_STOP,       /* uint32_t: grace period in ms */
    /* To the client. */
    LINK_SCREEN,  /* link_screen: starts an update that ends with LINK_DRAWN */
    LINK_ROW,     /* link_row, and cells */
    LINK_DRAWN,   /* the update is complete */
    LINK_ENDED,   /* link_end: the agent exited */
    LINK_SPAWNED, /* one file descriptor if the command has a terminal */
    LINK_EXITED,  /* int32_t: wait status, as from waitpid() */
    LINK_FAILED,  /* an error in the format of link_put_err() */
    LINK_BELL,
    LINK_DENIED, /* lines for the user about a command that failed, before LINK_EXITED */
};

struct link_size {
    uint16_t rows, cols;
};

struct link_mouse {
    uint32_t button, action, mods;
    uint32_t row, col; /* of the box's screen */
};

struct link_exec {
    uint16_t rows, cols;
    uint32_t terminal;
};

struct link_screen {
    uint16_t rows, cols;
    uint16_t cursor_row, cursor_col;
    uint8_t cursor_visible, cursor_shape;
    uint8_t mouse; /* enum term_mouse */
    uint8_t alternate;
    uint32_t back, history; /* lines scrolled back, and available */
};

struct link_end {
    int32_t code, signal;
};

/* Followed by the cells: for each a byte with its width and a flag for a style change, then the
 * style if changed, the number of bytes, the bytes. The rest of the row is blank. */
struct link_row {
    uint16_t row;
};

struct link_packet {
    enum link_word word;
    struct str body;
    int fds[LINK_FDS]; /* -1: none; owned by the receiver, see link_drop_fds() */
    char bytes[8 + LINK_PACKET_MAX];
};

enum link_sent {
    LINK_SENT,
    LINK_FULL,    /* the peer does not read: retry later */
    LINK_LOST,    /* the peer is gone */
    LINK_CROWDED, /* its descriptors can't be passed: the user has too many in flight */
};

/* The error for LINK_CROWDED; `what` was to be passed. */
bool link_crowded(const char *what, struct err *err);

enum link_got {
    LINK_GOT,
    LINK_NOTHING, /* no packet yet */
    LINK_CLOSED,  /* disconnected, or a protocol error */
};

/* head and tail form one body; fds may be NULL, or has LINK_FDS entries, -1: none. */
enum link_sent link_send(
    int fd, enum link_word word, const void *head, size_t n_head, struct str tail, const int *fds);
enum link_got link_receive(int fd, struct link_packet *ret_packet);
void link_drop_fds(struct link_packet *packet);

/* Copies a body of exactly that size; false for any other. */
bool link_body(const struct link_packet *packet, void *ret_value, size_t size);

/* Listens on the socket of a box, given its host/ directory; works even if the path exceeds
 * sun_path. */
MUST_USE bool link_listen(int host_fd, int *ret_fd, struct err *err);
/* E_NOT_FOUND: no supervisor is listening. */
MUST_USE bool link_connect(int host_fd, int *ret_fd, struct err *err);
void link_remove(int host_fd);

/* Accepts only connections of our own user. -1: no connection, or another user. */
int link_accept(int listener);

/* Errors as text, for packets and pipes. Malformed text results in E_PROTOCOL. */
MUST_USE char *link_put_err(const struct err *err); /* to be freed */
bool link_get_err(struct str text, struct err *err);

#endif
