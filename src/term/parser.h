/* The VT500 state machine: bytes into runs of text, controls, and sequences with parameters.
 *
 *     struct parser p = {0};
 *     parser_init(&p, &ops, terminal);
 *     size_t taken = parser_feed(&p, bytes, n);    all, unless a callback called parser_stop()
 *
 * It knows nothing of what a sequence does, and keeps its place between any two bytes. A string
 * (OSC, DCS, APC, PM, SOS) is kept up to a limit; what comes after that is counted out, not stored.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_PARSER_H
#define TERM_PARSER_H

#include "base/buf.h"

enum {
    PARSER_PARAMS = 32,
    PARSER_PARAM_MAX = 65535,
    PARSER_INTERMEDIATES = 2,
    PARSER_RAW = 64, /* bytes of a sequence that are kept as they came */
};

enum parser_string {
    PARSER_OSC,
    PARSER_DCS,
    PARSER_APC,
    PARSER_PM,
    PARSER_SOS,
};

struct parser;

/* What a terminal does. `text` takes printable ASCII and bytes from 0x80 on, and says how much it
 * took: less than all only if a character in it was a C1 control, which it has handed to
 * parser_c1(). */
struct parser_ops {
    void (*ascii)(void *context, const uint8_t *bytes, size_t n);
    size_t (*text)(void *context, const uint8_t *bytes, size_t n);
    void (*control)(void *context, uint8_t byte);
    void (*escape)(void *context, uint8_t final);
    void (*csi)(void *context, uint8_t final);
    void (*string)(void *context, enum parser_string kind);
    /* A sequence that no terminal could mean anything by. */
    void (*invalid)(void *context);
};

struct parser {
    const struct parser_ops *ops;
    void *context;
    uint8_t state;
    uint8_t prefix; /* '?', '>', '=', '<' or 0 */
    uint8_t intermediates[PARSER_INTERMEDIATES];
    uint8_t n_intermediates; /* more than fit: then the sequence is invalid */
    uint8_t n_params;
    bool overflow;  /* there were more parameters */
    bool truncated; /* the string was longer than what was kept */
    bool bell;      /* the string was ended by BEL */
    bool stop;
    uint8_t string_kind;
    uint8_t final;             /* of a DCS */
    uint32_t sub;              /* bit i: parameter i came after a colon */
    int params[PARSER_PARAMS]; /* -1: left out */
    struct buf string;
    const uint8_t *start, *at; /* of the sequence, in the bytes at hand, and how far we are */
    uint8_t raw[PARSER_RAW];
    uint8_t n_raw; /* from earlier bytes */
};

void parser_init(struct parser *p, const struct parser_ops *ops, void *context);
void parser_done(struct parser *p);
void parser_reset(struct parser *p); /* to the ground state */

size_t parser_feed(struct parser *p, const uint8_t *bytes, size_t n);

/* From a callback: parser_feed() returns after the byte that it is at. */
static inline void parser_stop(struct parser *p)
{
    p->stop = true;
}

/* A C1 control (0x80 to 0x9F) came in as a character. */
void parser_c1(struct parser *p, uint8_t control);

/* In the ground state, between sequences. */
bool parser_is_ground(const struct parser *p);

/* The sequence at hand as it came, up to a limit; for callbacks. */
struct str parser_raw(const struct parser *p, uint8_t raw[PARSER_RAW]);

/* Parameter i: what it is, or `otherwise` if it is left out or 0. */
static inline int parser_param(const struct parser *p, unsigned i, int otherwise)
{
    return i < p->n_params && p->params[i] > 0 ? p->params[i] : otherwise;
}

/* The same, but a 0 is a 0. */
static inline int parser_param_or(const struct parser *p, unsigned i, int otherwise)
{
    return i < p->n_params && p->params[i] >= 0 ? p->params[i] : otherwise;
}

#endif
