/* The VT500 state machine: splits bytes into runs of text, controls, and sequences with parameters.
 *
 *     struct parser p = {0};
 *     parser_init(&p, &ops, terminal);
 *     size_t taken = parser_feed(&p, bytes, n);    n, unless a callback called parser_stop()
 *
 * The parser does not interpret sequences, and input may be split between any two bytes. Strings
 * (OSC, DCS, APC, PM, SOS) are stored up to a limit; the bytes beyond it are skipped.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERM_PARSER_H
#define TERM_PARSER_H

#include "base/buf.h"

enum {
    PARSER_PARAMS = 32,
    PARSER_PARAM_MAX = 65535,
    PARSER_INTERMEDIATES = 2,
    PARSER_RAW = 64, /* bytes of a sequence kept unmodified */
};

enum parser_string {
    PARSER_OSC,
    PARSER_DCS,
    PARSER_APC,
    PARSER_PM,
    PARSER_SOS,
};

struct parser;

/* Callbacks. `ascii` receives printable ASCII, `text` bytes from 0x80 up. `text` returns the number
 * of bytes consumed: fewer than n only if it decoded a C1 control, which it passed to
 * parser_c1(). */
struct parser_ops {
    void (*ascii)(void *context, const uint8_t *bytes, size_t n);
    size_t (*text)(void *context, const uint8_t *bytes, size_t n);
    void (*control)(void *context, uint8_t byte);
    void (*escape)(void *context, uint8_t final);
    void (*csi)(void *context, uint8_t final);
    void (*string)(void *context, enum parser_string kind);
    /* A malformed sequence. */
    void (*invalid)(void *context);
};

struct parser {
    const struct parser_ops *ops;
    void *context;
    uint8_t state;
    uint8_t prefix; /* '?', '>', '=', '<' or 0 */
    uint8_t intermediates[PARSER_INTERMEDIATES];
    uint8_t n_intermediates; /* greater than the array's size: the sequence is invalid */
    uint8_t n_params;
    bool overflow;  /* parameters beyond the array were dropped */
    bool truncated; /* the string exceeded its limit */
    bool bell;      /* the string was terminated by BEL */
    bool stop;
    uint8_t string_kind;
    uint8_t final;             /* of a DCS */
    uint32_t sub;              /* bit i: parameter i came after a colon */
    int params[PARSER_PARAMS]; /* -1: omitted */
    struct buf string;
    const uint8_t *start, *at; /* start of the sequence in the input, and current position */
    uint8_t raw[PARSER_RAW];
    uint8_t n_raw; /* length of raw, from previous input */
};

void parser_init(struct parser *p, const struct parser_ops *ops, void *context);
void parser_done(struct parser *p);

size_t parser_feed(struct parser *p, const uint8_t *bytes, size_t n);

/* For callbacks: makes parser_feed() return after the current byte. */
static inline void parser_stop(struct parser *p)
{
    p->stop = true;
}

/* Handles a C1 control (0x80 to 0x9F) that was decoded from UTF-8. */
void parser_c1(struct parser *p, uint8_t control);

/* True between sequences. */
bool parser_is_ground(const struct parser *p);

/* For callbacks: the current sequence, unmodified, up to PARSER_RAW bytes. */
struct str parser_raw(const struct parser *p, uint8_t raw[PARSER_RAW]);

/* Parameter i, or `otherwise` if it is omitted or 0. */
static inline int parser_param(const struct parser *p, unsigned i, int otherwise)
{
    return i < p->n_params && p->params[i] > 0 ? p->params[i] : otherwise;
}

/* Parameter i, or `otherwise` if it is omitted; 0 is a valid value. */
static inline int parser_param_or(const struct parser *p, unsigned i, int otherwise)
{
    return i < p->n_params && p->params[i] >= 0 ? p->params[i] : otherwise;
}

#endif
