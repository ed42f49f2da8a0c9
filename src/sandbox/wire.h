/* What goes through the service socket, one packet each: sandbox/service.h asks, sandbox/serve.h
 * answers. Both are the same program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_WIRE_H
#define SANDBOX_WIRE_H

#include "sandbox/service.h"

enum wire_word {
    WIRE_START,   /* the sandbox's own command, which was held */
    WIRE_SPAWN,   /* with a memory file of words, then the streams that are given */
    WIRE_SIGNAL,  /* value: the signal */
    WIRE_LISTEN,  /* value: the port */
    WIRE_CONNECT, /* value: the port */
};

struct wire_request {
    uint32_t word;
    uint32_t id;
    int32_t value;
    uint16_t rows, cols;
    uint8_t terminal;
    uint8_t streams; /* bit i: a descriptor for stream i comes with it */
    uint16_t zero;
};

struct wire_answer {
    uint32_t word; /* enum service_word */
    uint32_t id;
    int32_t value;
    uint32_t stage; /* of a refusal; STAGE_FORK of an end: there were too many processes */
};

enum {
    WIRE_REQUEST_FDS = 4, /* at most: words and three streams */
};

/* The memory file: this, then arguments, NULL, environment, NULL, each as the place of its text
 * from the beginning of the file (which the reader makes a pointer of), then the texts. Its last
 * byte is 0. */
struct wire_words {
    uint32_t n_args, n_env;
    uint32_t path, cwd; /* places of texts */
    uint64_t at[];
};

#endif
