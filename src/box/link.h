/* What a box's supervisor and its clients say to each other, over host/socket: packets of a kernel
 * socket, a head and a body each. Both sides check sizes, and neither ever waits for the other.
 *
 *     link_send(fd, LINK_SIZE, &size, sizeof(size), STR(""), NULL)
 *     while (link_receive(fd, &packet) == LINK_GOT) ... packet.word, packet.body ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_LINK_H
#define BOX_LINK_H

#include "base/err.h"
#include "base/str.h"

enum {
    LINK_VERSION = 1,
    LINK_PACKET_MAX = 64 * 1024, /* bytes of a body */
    LINK_FDS = 3,                /* descriptors with a packet */
    LINK_WORDS_MAX = 1 << 20,    /* bytes of a command's words */
    LINK_SIZE_MAX = 500,         /* rows, and columns */
    LINK_TEXT_MAX = 32 * 1024,   /* bytes that are typed, in one packet */
};

enum link_word {
    /* To the supervisor. */
    LINK_ATTACH = 1, /* link_size */
    LINK_SIZE,       /* link_size: the client's terminal has another one */
    LINK_SCROLL,     /* uint32_t: how many lines back is looked at */
    LINK_TEXT,       /* bytes as typed */
    LINK_PASTE,      /* bytes as pasted; one paste may be several packets */
    LINK_KEY,        /* the name of a key */
    LINK_MOUSE,      /* link_mouse */
    LINK_WORDS,      /* a part of a command's words, each with a NUL */
    LINK_EXEC,       /* link_exec; three descriptors, or none for a terminal */
    LINK_SIGNAL,     /* uint32_t: for the command */
    LINK_STOP,       /* uint32_t: grace time in ms */
    /* To the client. */
    LINK_SCREEN,  /* link_screen: what follows belongs to it, up to LINK_DRAWN */
    LINK_ROW,     /* link_row, and cells */
    LINK_DRAWN,   /* the picture is whole */
    LINK_ENDED,   /* link_end: the agent did */
    LINK_SPAWNED, /* one descriptor, if the command has a terminal */
    LINK_EXITED,  /* int32_t: as waitpid() gives it */
    LINK_FAILED,  /* an error, as link_put_err() writes it */
    LINK_BELL,
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
    uint32_t back, history; /* lines that are looked back, and could be */
};

struct link_end {
    int32_t code, signal;
};

/* After it, for each cell: a byte with its width and a flag for a new style, the style then, the
 * number of bytes, the bytes. The rest of the row is blank. */
struct link_row {
    uint16_t row;
};

struct link_packet {
    enum link_word word;
    struct str body;
    int fds[LINK_FDS]; /* -1: none; the receiver's, see link_drop_fds() */
    char bytes[8 + LINK_PACKET_MAX];
};

enum link_sent {
    LINK_SENT,
    LINK_FULL, /* the other side does not read: later */
    LINK_LOST, /* there is none any more */
};

enum link_got {
    LINK_GOT,
    LINK_NOTHING, /* for now */
    LINK_CLOSED,  /* gone, or it does not speak as we do */
};

/* head and tail are one body; fds may be NULL, or has LINK_FDS of them, -1: none. */
enum link_sent link_send(
    int fd, enum link_word word, const void *head, size_t n_head, struct str tail, const int *fds);
enum link_got link_receive(int fd, struct link_packet *ret_packet);
void link_drop_fds(struct link_packet *packet);

/* A body of exactly that size. */
bool link_body(const struct link_packet *packet, void *ret_value, size_t size);

/* The socket of a box, by its host/; the path may be longer than an address can be. */
MUST_USE bool link_listen(int host_fd, int *ret_fd, struct err *err);
/* E_NOT_FOUND: nobody listens there. */
MUST_USE bool link_connect(int host_fd, int *ret_fd, struct err *err);
void link_remove(int host_fd);

/* Only our own user is taken. -1: nobody came, or somebody else. */
int link_accept(int listener);

/* Errors in packets and through pipes. What is wrong in the text is E_PROTOCOL. */
MUST_USE char *link_put_err(const struct err *err); /* for free() */
bool link_get_err(struct str text, struct err *err);

#endif
