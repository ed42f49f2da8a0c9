/* Messages on the service socket, one packet each: sandbox/service.h sends requests,
 * sandbox/service_init.h answers. Both ends are the same program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SERVICE_WIRE_H
#define SANDBOX_SERVICE_WIRE_H

#include "sandbox/service.h"

enum wire_word {
    WIRE_START,   /* starts the sandbox's own command, which was held */
    WIRE_SPAWN,   /* with a memfd of words, then the given streams */
    WIRE_SIGNAL,  /* value: the signal */
    WIRE_KILL,    /* kills the command's session */
    WIRE_LISTEN,  /* value: the port */
    WIRE_CONNECT, /* value: the port */
};

struct wire_request {
    uint32_t word;
    uint32_t id;
    int32_t value;
    uint16_t rows, cols;
    uint8_t terminal;
    uint8_t streams; /* bit i: a file descriptor for stream i is attached */
    uint16_t zero;
};

struct wire_answer {
    uint32_t word; /* enum service_event_kind */
    uint32_t id;
    int32_t value;
    uint32_t stage; /* of a refusal; STAGE_FORK or STAGE_LIMITS with SERVICE_ENDED: see
                       sandbox/service.h */
};

enum {
    WIRE_REQUEST_FDS = 4, /* at most: words and three streams */
};

/* Contents of the memfd: this, then arguments, NULL, environment, NULL, each as the offset of its
 * text from the beginning of the file (which the reader converts to a pointer), then the texts. Its
 * last byte is 0. */
struct wire_words {
    uint32_t n_args, n_env;
    uint32_t path, cwd; /* offsets of texts */
    uint64_t at[];
};

#endif
