/* The state machine. One table entry per state and byte: the action in the high nibble, the next
 * state in the low one. Runs of printable text and of string contents bypass the table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/parser.h"

#include "term/term.h"
#include "term/term_runs.h"

enum parser_state {
    GROUND,
    ESCAPE,
    ESCAPE_INTERMEDIATE,
    CSI_ENTRY,
    CSI_PARAM,
    CSI_INTERMEDIATE,
    CSI_IGNORE,
    DCS_ENTRY,
    DCS_PARAM,
    DCS_INTERMEDIATE,
    DCS_IGNORE,
    STRING,     /* contents of an OSC, DCS, APC, PM or SOS */
    STRING_ESC, /* ESC in a string: either its terminator or a new sequence */
    STATES,
    STAY = 15, /* keep the current state */
};

enum parser_action {
    NOTHING,
    CONTROL,
    CLEAR, /* start a new sequence */
    COLLECT,
    PREFIX,
    DIGIT,
    SEPARATOR,
    COLON,
    ESC_DISPATCH,
    CSI_DISPATCH,
    DCS_START,
    STRING_START,
    INVALID,
    PUT,
    STRING_END,
    CANCEL,
};

#define GO(action, state) ((uint8_t)((unsigned)(action) << 4 | (unsigned)(state)))

/* Transitions common to all states outside strings. */
#define ANYWHERE \
    [0x18] = GO(CANCEL, GROUND), [0x1A] = GO(CANCEL, GROUND), [0x1B] = GO(CLEAR, ESCAPE)
#define CONTROLS                                                     \
    [0x00 ... 0x17] = GO(CONTROL, STAY), [0x19] = GO(CONTROL, STAY), \
              [0x1C ... 0x1F] = GO(CONTROL, STAY)
#define NO_CONTROLS                                                  \
    [0x00 ... 0x17] = GO(NOTHING, STAY), [0x19] = GO(NOTHING, STAY), \
              [0x1C ... 0x1F] = GO(NOTHING, STAY)
/* Bytes from 0x80 up are not valid in a sequence. */
#define NO_HIGH(state) [0x7F] = GO(NOTHING, STAY), [0x80 ... 0xFF] = GO(NOTHING, state)

static const uint8_t table[STATES][256] =
    {
        [GROUND] = {CONTROLS, ANYWHERE,
            [0x20 ... 0x7E] = GO(NOTHING, GROUND), [0x7F] = GO(CONTROL, GROUND),
            [0x80 ... 0xFF] = GO(NOTHING, GROUND)},
        [ESCAPE] =
            {
                CONTROLS,
                ANYWHERE,
                NO_HIGH(GROUND),
                [0x20 ... 0x2F] = GO(COLLECT, ESCAPE_INTERMEDIATE),
                [0x30 ... 0x4F] = GO(ESC_DISPATCH, GROUND),
                [0x50] = GO(CLEAR, DCS_ENTRY), /* P */
                [0x51 ... 0x57] = GO(ESC_DISPATCH, GROUND),
                [0x58] = GO(STRING_START, STRING), /* X */
                [0x59 ... 0x5A] = GO(ESC_DISPATCH, GROUND),
                [0x5B] = GO(CLEAR, CSI_ENTRY), /* [ */
                [0x5C] = GO(ESC_DISPATCH, GROUND),
                [0x5D ... 0x5F] = GO(STRING_START, STRING), /* ] ^ _ */
                [0x60 ... 0x7E] = GO(ESC_DISPATCH, GROUND),
            },
        [ESCAPE_INTERMEDIATE] =
            {
                CONTROLS,
                ANYWHERE,
                NO_HIGH(GROUND),
                [0x20 ... 0x2F] = GO(COLLECT, ESCAPE_INTERMEDIATE),
                [0x30 ... 0x7E] = GO(ESC_DISPATCH, GROUND),
            },
        [CSI_ENTRY] =
            {
                CONTROLS,
                ANYWHERE,
                NO_HIGH(CSI_IGNORE),
                [0x20 ... 0x2F] = GO(COLLECT, CSI_INTERMEDIATE),
                [0x30 ... 0x39] = GO(DIGIT, CSI_PARAM),
                [0x3A] = GO(COLON, CSI_PARAM),
                [0x3B] = GO(SEPARATOR, CSI_PARAM),
                [0x3C ... 0x3F] = GO(PREFIX, CSI_PARAM),
                [0x40 ... 0x7E] = GO(CSI_DISPATCH, GROUND),
            },
        [CSI_PARAM] =
            {
                CONTROLS,
                ANYWHERE,
                NO_HIGH(CSI_IGNORE),
                [0x20 ... 0x2F] = GO(COLLECT, CSI_INTERMEDIATE),
                [0x30 ... 0x39] = GO(DIGIT, CSI_PARAM),
                [0x3A] = GO(COLON, CSI_PARAM),
                [0x3B] = GO(SEPARATOR, CSI_PARAM),
                [0x3C ... 0x3F] = GO(NOTHING, CSI_IGNORE),
                [0x40 ... 0x7E] = GO(CSI_DISPATCH, GROUND),
            },
        [CSI_INTERMEDIATE] =
            {
                CONTROLS,
                ANYWHERE,
                NO_HIGH(CSI_IGNORE),
                [0x20 ... 0x2F] = GO(COLLECT, CSI_INTERMEDIATE),
                [0x30 ... 0x3F] = GO(NOTHING, CSI_IGNORE),
                [0x40 ... 0x7E] = GO(CSI_DISPATCH, GROUND),
            },
        [CSI_IGNORE] =
            {
                CONTROLS,
                ANYWHERE,
                NO_HIGH(CSI_IGNORE),
                [0x20 ... 0x3F] = GO(NOTHING, CSI_IGNORE),
                [0x40 ... 0x7E] = GO(INVALID, GROUND),
            },
        [DCS_ENTRY] =
            {
                ANYWHERE,
                NO_HIGH(DCS_IGNORE),
                [0x20 ... 0x2F] = GO(COLLECT, DCS_INTERMEDIATE),
                [0x30 ... 0x39] = GO(DIGIT, DCS_PARAM),
                [0x3A] = GO(COLON, DCS_PARAM),
                [0x3B] = GO(SEPARATOR, DCS_PARAM),
                [0x3C ... 0x3F] = GO(PREFIX, DCS_PARAM),
                [0x40 ... 0x7E] = GO(DCS_START, STRING),
                NO_CONTROLS,
            },
        [DCS_PARAM] =
            {
                ANYWHERE,
                NO_HIGH(DCS_IGNORE),
                [0x20 ... 0x2F] = GO(COLLECT, DCS_INTERMEDIATE),
                [0x30 ... 0x39] = GO(DIGIT, DCS_PARAM),
                [0x3A] = GO(COLON, DCS_PARAM),
                [0x3B] = GO(SEPARATOR, DCS_PARAM),
                [0x3C ... 0x3F] = GO(NOTHING, DCS_IGNORE),
                [0x40 ... 0x7E] = GO(DCS_START, STRING),
                NO_CONTROLS,
            },
        [DCS_INTERMEDIATE] =
            {
                ANYWHERE,
                NO_HIGH(DCS_IGNORE),
                [0x20 ... 0x2F] = GO(COLLECT, DCS_INTERMEDIATE),
                [0x30 ... 0x3F] = GO(NOTHING, DCS_IGNORE),
                [0x40 ... 0x7E] = GO(DCS_START, STRING),
                NO_CONTROLS,
            },
        /* Ignored string: ESC ends it, and the '\' after the ESC has no effect. */
        [DCS_IGNORE] =
            {
                [0x00 ... 0x17] = GO(NOTHING, STAY),
                [0x19] = GO(NOTHING, STAY),
                [0x1C ... 0xFF] = GO(NOTHING, STAY),
                [0x18] = GO(CANCEL, GROUND),
                [0x1A] = GO(CANCEL, GROUND),
                [0x1B] = GO(INVALID, ESCAPE),
            },
        [STRING] =
            {
                [0x00 ... 0x06] = GO(PUT, STRING),
                [0x08 ... 0x17] = GO(PUT, STRING),
                [0x19] = GO(PUT, STRING),
                [0x1C ... 0xFF] = GO(PUT, STRING),
                [0x07] = GO(STRING_END, GROUND),
                [0x18] = GO(CANCEL, GROUND),
                [0x1A] = GO(CANCEL, GROUND),
                [0x1B] = GO(NOTHING, STRING_ESC),
            },
        /* Any byte but '\' begins a new sequence and discards the string: see end_string(). */
        [STRING_ESC] = {[0x00 ... 0xFF] = GO(STRING_END, GROUND)},
};

void parser_init(struct parser *p, const struct parser_ops *ops, void *context)
{
    *p = (struct parser){.ops = ops, .context = context, .string = BUF_INIT(TERM_STRING_MAX + 1)};
}

void parser_done(struct parser *p)
{
    buf_done(&p->string);
}

bool parser_is_ground(const struct parser *p)
{
    return p->state == GROUND;
}

static void parser_clear(struct parser *p)
{
    p->prefix = 0;
    p->n_intermediates = 0;
    p->n_params = 0;
    p->overflow = false;
    p->sub = 0;
}

/* Parameters ---------------------------------------------------------------------------------- */

static void parser_add_digit(struct parser *p, uint8_t byte)
{
    if (p->n_params == 0) {
        p->n_params = 1;
        p->params[0] = -1;
    }
    if (p->overflow)
        return;
    int *param = &p->params[p->n_params - 1];
    int value = (*param < 0 ? 0 : *param) * 10 + (byte - '0');
    *param = MIN(value, PARSER_PARAM_MAX);
}

static void parser_add_separator(struct parser *p, bool colon)
{
    if (p->n_params == 0) {
        p->n_params = 1;
        p->params[0] = -1;
    }
    if (p->n_params == PARSER_PARAMS) {
        p->overflow = true;
        return;
    }
    if (colon)
        p->sub |= 1u << p->n_params;
    p->params[p->n_params++] = -1;
}

static void parser_collect(struct parser *p, uint8_t byte)
{
    if (p->n_intermediates < PARSER_INTERMEDIATES)
        p->intermediates[p->n_intermediates] = byte;
    if (p->n_intermediates <= PARSER_INTERMEDIATES)
        p->n_intermediates++;
}

/* Strings ------------------------------------------------------------------------------------- */

static void start_string(struct parser *p, enum parser_string kind)
{
    p->string_kind = (uint8_t)kind;
    p->truncated = false;
    buf_reset(&p->string);
}

static enum parser_string parser_string_kind(uint8_t byte)
{
    switch (byte) {
    case ']':
        return PARSER_OSC;
    case '^':
        return PARSER_PM;
    case '_':
        return PARSER_APC;
    default:
        return PARSER_SOS;
    }
}

static void parser_add_string(struct parser *p, const uint8_t *bytes, size_t n)
{
    size_t room = TERM_STRING_MAX - p->string.n;
    if (n > room)
        p->truncated = true;
    if (room)
        buf_add(&p->string, bytes, MIN(n, room));
}

/* Handles BEL, or the byte after an ESC, in a string. Returns false if the byte begins a new
 * sequence, which discards the string. */
static bool end_string(struct parser *p, uint8_t byte)
{
    p->bell = byte == 0x07;
    if (p->state == STRING_ESC && byte != '\\') {
        parser_clear(p);
        p->state = ESCAPE;
        return false;
    }
    p->state = GROUND;
    p->ops->string(p->context, (enum parser_string)p->string_kind);
    return true;
}

/* Text ---------------------------------------------------------------------------------------- */

static size_t high_length(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;
    while (p < end && *p >= 0x80)
        p++;
    return (size_t)(p - start);
}

/* Input --------------------------------------------------------------------------------------- */

static void parser_run_action(struct parser *p, enum parser_action action, uint8_t byte)
{
    switch (action) {
    case NOTHING:
    case PUT:
    case STRING_END:
        break;
    case CONTROL:
        p->ops->control(p->context, byte);
        break;
    case CLEAR:
        parser_clear(p);
        break;
    case COLLECT:
        parser_collect(p, byte);
        break;
    case PREFIX:
        p->prefix = byte;
        break;
    case DIGIT:
        parser_add_digit(p, byte);
        break;
    case SEPARATOR:
    case COLON:
        parser_add_separator(p, action == COLON);
        break;
    case ESC_DISPATCH:
        p->ops->escape(p->context, byte);
        break;
    case CSI_DISPATCH:
        p->ops->csi(p->context, byte);
        break;
    case DCS_START:
        p->final = byte;
        start_string(p, PARSER_DCS);
        break;
    case STRING_START:
        start_string(p, parser_string_kind(byte));
        break;
    case INVALID:
        p->ops->invalid(p->context);
        parser_clear(p);
        break;
    case CANCEL:
        p->ops->control(p->context, byte);
        break;
    }
}

/* Returns false if the byte must be processed again in the new state. */
static bool parser_step(struct parser *p, const uint8_t *byte)
{
    uint8_t entry = table[p->state][*byte];
    enum parser_action action = (enum parser_action)(entry >> 4);
    if (*byte == 0x1B && p->state != STRING) {
        p->start = byte;
        p->n_raw = 0;
    }
    p->at = byte + 1;
    if (*byte >= 0x80 && (p->state == ESCAPE || p->state == ESCAPE_INTERMEDIATE)) {
        p->state = GROUND; /* start of a character: abandon the sequence */
        return false;
    }
    if (*byte == 0x07 && p->state == STRING && p->string_kind != PARSER_OSC) {
        parser_add_string(p, byte, 1); /* BEL terminates only an OSC */
        return true;
    }
    if (action == STRING_END)
        return end_string(p, *byte);
    if ((entry & 15) != STAY)
        p->state = entry & 15;
    parser_run_action(p, action, *byte);
    return true;
}

/* Consumes text in the ground state. Returns the number of bytes consumed. */
static size_t feed_text(struct parser *p, const uint8_t *bytes, const uint8_t *end)
{
    size_t n = runs_ascii(bytes, end);
    if (n) {
        p->ops->ascii(p->context, bytes, n);
        return n;
    }
    n = high_length(bytes, end);
    return n ? p->ops->text(p->context, bytes, n) : 0;
}

/* Fast path of parser_add_digit() and parser_add_separator() for digits and semicolons. */
static const uint8_t *take_params(struct parser *p, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        unsigned number = *at - (unsigned)'0';
        if (number > 9) {
            if (*at != ';')
                break;
            parser_add_separator(p, false);
            p->state = CSI_PARAM;
            at++;
            continue;
        }
        parser_add_digit(p, *at++);
        int value = p->params[p->n_params - 1];
        for (; at < end && (number = *at - (unsigned)'0') <= 9; at++)
            value = MIN(value * 10 + (int)number, PARSER_PARAM_MAX);
        if (!p->overflow)
            p->params[p->n_params - 1] = value;
        p->state = CSI_PARAM;
    }
    return at;
}

/* Fast path for the most common form: ESC [, parameters, final byte. Returns the number of bytes
 * consumed; the rest is left to the table. */
static size_t feed_csi(struct parser *p, const uint8_t *bytes, const uint8_t *end)
{
    const uint8_t *at = bytes;
    if (p->state == GROUND) {
        if (end - at < 2 || at[0] != 0x1B || at[1] != '[')
            return 0;
        parser_clear(p);
        p->start = at;
        p->n_raw = 0;
        p->state = CSI_ENTRY;
        at += 2;
    }
    at = take_params(p, at, end);
    if (at < end && *at >= 0x40 && *at <= 0x7E) {
        uint8_t final = *at++;
        p->at = at;
        p->state = GROUND;
        p->ops->csi(p->context, final);
    }
    return (size_t)(at - bytes);
}

/* Saves the start of a sequence that continues in the next input. */
static void keep_raw(struct parser *p, const uint8_t *end)
{
    size_t n = p->start ? (size_t)(end - p->start) : 0;
    n = MIN(n, (size_t)(PARSER_RAW - p->n_raw));
    if (p->state != GROUND && n) {
        memcpy(p->raw + p->n_raw, p->start, n);
        p->n_raw = (uint8_t)(p->n_raw + n);
    }
    p->start = NULL;
}

size_t parser_feed(struct parser *p, const uint8_t *bytes, size_t n)
{
    const uint8_t *at = bytes, *end = bytes + n;
    p->stop = false;
    p->start = p->state == GROUND ? NULL : bytes;
    while (at < end && !p->stop) {
        size_t taken = 0;
        if (p->state == GROUND && *at >= 0x20) {
            taken = feed_text(p, at, end);
            if (p->state != GROUND)
                p->start = at + taken; /* entered through a C1 control */
        } else if (p->state == GROUND || p->state == CSI_ENTRY || p->state == CSI_PARAM) {
            taken = feed_csi(p, at, end);
        } else if (p->state == STRING) {
            taken = runs_string(at, end);
            parser_add_string(p, at, taken);
        }
        at += taken;
        if (taken == 0)
            at += parser_step(p, at);
    }
    keep_raw(p, at);
    return (size_t)(at - bytes);
}

void parser_c1(struct parser *p, uint8_t control)
{
    static const uint8_t as_escape = 0x40; /* the C1 control c is the same as ESC (c - 0x40) */
    uint8_t byte = (uint8_t)(control - as_escape);
    parser_clear(p);
    p->raw[0] = 0x1B;
    p->n_raw = 1;
    p->start = &byte;
    p->state = ESCAPE;
    parser_step(p, &byte);
    p->raw[1] = byte;
    p->n_raw = 2;
    p->start = p->at = NULL;
}

struct str parser_raw(const struct parser *p, uint8_t raw[PARSER_RAW])
{
    size_t n = p->start && p->at > p->start ? (size_t)(p->at - p->start) : 0;
    n = MIN(n, (size_t)(PARSER_RAW - p->n_raw));
    memcpy(raw, p->raw, p->n_raw);
    if (n)
        memcpy(raw + p->n_raw, p->start, n);
    return str_n((const char *)raw, p->n_raw + n);
}
