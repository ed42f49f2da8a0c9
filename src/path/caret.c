/* Caret encoding, version 1. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/caret.h"

#include "base/fnv.h"
#include "base/utf8.h"

enum {
    CHUNK = 64 * 1024,
    ESCAPE_MAX = 8, /* "^j10FFFF" */
};

static const char hex_digits[] = "0123456789ABCDEF";

/* The forms of an escape: the letter after the caret and the number of digits. */
static const struct form {
    char letter; /* 0: none */
    unsigned char digits;
    uint32_t last; /* highest code point for which this form is the shortest */
} forms[] = {
    {0, 2, 0xFF},
    {'g', 3, 0xFFF},
    {'h', 4, 0xFFFF},
    {'i', 5, 0xFFFFF},
    {'j', 6, UTF8_LAST},
};
enum {
    RAW_BYTE = 'x',
    SHORTENED = 'z',
};

/* The encoding of each ASCII byte as constant data: fast path for the common case. */
#define IS_SAFE(c)                                                                             \
    (((c) >= '0' && (c) <= '9') || ((c) >= 'A' && (c) <= 'Z') || ((c) >= 'a' && (c) <= 'z') || \
        (c) == '-' || (c) == '_' || (c) == '`' || (c) == '{' || (c) == '}')
#define HEX(digit) ((digit) < 10 ? '0' + (digit) : 'A' + (digit)-10)
#define UNIT(c)                                                                   \
    {                                                                             \
        {IS_SAFE(c) ? (c) : '^', HEX((c) >> 4), HEX((c)&0xF)}, IS_SAFE(c) ? 1 : 3 \
    }
#define UNITS_4(c)  UNIT(c), UNIT((c) + 1), UNIT((c) + 2), UNIT((c) + 3)
#define UNITS_16(c) UNITS_4(c), UNITS_4((c) + 4), UNITS_4((c) + 8), UNITS_4((c) + 12)

static const struct {
    char text[3];
    unsigned char length;
} units[128] = {UNITS_16(0), UNITS_16(16), UNITS_16(32), UNITS_16(48), UNITS_16(64), UNITS_16(80),
    UNITS_16(96), UNITS_16(112)};

static size_t escape_write(char *out, char letter, size_t digits, uint32_t value)
{
    size_t n = 0;
    out[n++] = '^';
    if (letter)
        out[n++] = letter;
    for (size_t i = digits; i > 0; i--)
        out[n++] = hex_digits[value >> (4 * (i - 1)) & 0xF];
    return n;
}

/* Encodes the character at the start; returns the end of the output, and the number of input bytes
 * consumed. */
static char *encode_wide(struct str rest, char *out, size_t *ret_taken)
{
    uint32_t codepoint;
    *ret_taken = utf8_decode(rest, &codepoint);
    if (*ret_taken == 0) {
        *ret_taken = 1;
        return out + escape_write(out, RAW_BYTE, 2, (unsigned char)rest.p[0]);
    }
    const struct form *form = forms;
    while (codepoint > form->last)
        form++;
    return out + escape_write(out, form->letter, form->digits, codepoint);
}

void caret_encode(struct str bytes, struct buf *out)
{
    const char *p = bytes.p, *end = bytes.p + bytes.n;
    while (p < end) {
        /* A chunk may end within a character, which then consumes up to three more bytes. */
        const char *stop = p + MIN(end - p, (ptrdiff_t)CHUNK);
        char *room = buf_reserve(out, CARET_GROWTH * (size_t)(stop - p) + ESCAPE_MAX), *to = room;
        if (!room)
            return;
        while (p < stop) {
            unsigned char c = (unsigned char)*p;
            if (c < ARRAY_LEN(units)) {
                memcpy(to, &units[c], sizeof(units[c])); /* one store; the last byte is padding */
                to += units[c].length;
                p++;
            } else {
                size_t taken;
                to = encode_wide(str_n(p, (size_t)(end - p)), to, &taken);
                p += taken;
            }
        }
        buf_grown(out, (size_t)(to - room));
    }
}

/* The value of a hex digit plus one; 0 for anything else. */
static const unsigned char hex_values[256] = {
    ['0'] = 1,
    ['1'] = 2,
    ['2'] = 3,
    ['3'] = 4,
    ['4'] = 5,
    ['5'] = 6,
    ['6'] = 7,
    ['7'] = 8,
    ['8'] = 9,
    ['9'] = 10,
    ['A'] = 11,
    ['B'] = 12,
    ['C'] = 13,
    ['D'] = 14,
    ['E'] = 15,
    ['F'] = 16,
    ['a'] = 11,
    ['b'] = 12,
    ['c'] = 13,
    ['d'] = 14,
    ['e'] = 15,
    ['f'] = 16,
};

/* A parsed escape. */
struct escape {
    size_t skip;   /* the caret, and the letter if present */
    size_t digits; /* required */
    size_t valid;  /* present */
    uint32_t value;
    bool raw;
};

/* Number of digits after each letter (lower case); 0: not a letter of an escape. */
static const unsigned char letter_digits[256] = {
    ['g'] = 3,
    ['h'] = 4,
    ['i'] = 5,
    ['j'] = 6,
    [RAW_BYTE] = 2,
};

static inline struct escape escape_read(const char *p, const char *end)
{
    unsigned char letter = end - p > 1 ? (unsigned char)(p[1] | 0x20) : 0;
    struct escape e = {.skip = 2, .digits = letter_digits[letter], .raw = letter == RAW_BYTE};
    if (!e.digits) {
        e.skip = 1;
        e.digits = 2;
    }
    size_t there = (size_t)(end - p);
    there = there > e.skip ? MIN(there - e.skip, e.digits) : 0;
    while (e.valid < there) {
        unsigned char value = hex_values[(unsigned char)p[e.skip + e.valid]];
        if (!value)
            break;
        e.value = e.value << 4 | (value - 1u);
        e.valid++;
    }
    return e;
}

static inline bool escape_ok(const struct escape *e, enum caret_use use)
{
    if (e->valid < e->digits)
        return false;
    if (e->raw)
        return e->value >= 0x80;
    return utf8_is_scalar(e->value) && (e->value || use == CARET_BYTES);
}

/* Reports why the escape at `at` can't be decoded. */
static bool escape_error(struct str encoded, size_t at, struct err *err)
{
    struct str rest = str_skip(encoded, at);
    struct escape e = escape_read(rest.p, rest.p + rest.n);
    if (rest.n == 2 + FNV_HEX - 1 && (rest.p[1] | 0x20) == SHORTENED)
        err_set(err, E_CLI_INVALID_ARG,
            "this name was shortened (^z at byte %zu): the full path is in the box's meta.json",
            at);
    else if (e.skip + e.valid >= rest.n && e.valid < e.digits)
        err_set(err, E_CLI_INVALID_ARG,
            "the encoding ends within the sequence at byte %zu, which needs %zu hex digits", at,
            e.digits);
    else if (e.valid < e.digits)
        err_set(err, E_CLI_INVALID_ARG,
            "the sequence at byte %zu has a byte that is not a hex digit (%zu are needed)", at,
            e.digits);
    else if (e.raw)
        err_set(err, E_CLI_INVALID_ARG, "^x%02X at byte %zu: ^x is for bytes from 80 up; use ^%02X",
            (unsigned)e.value, at, (unsigned)e.value);
    else if (e.value == 0)
        err_set(err, E_CLI_INVALID_ARG,
            "the sequence at byte %zu is NUL, which a path cannot contain", at);
    else
        err_set(err, E_CLI_INVALID_ARG, "U+%X at byte %zu is not a valid character (%s)",
            (unsigned)e.value, at, e.value > UTF8_LAST ? "above U+10FFFF" : "a surrogate");
    return err_ctx_int(err, "position", (int64_t)at);
}

/* Decodes from p up to stop, or to the end of an escape that crosses it; returns the position where
 * it stopped, which is before stop at a bad escape. The output always fits: every form is at least
 * as long as the bytes it encodes. */
static const char *decode_chunk(
    const char *p, const char *stop, const char *end, enum caret_use use, char **to)
{
    char *out = *to;
    while (p < stop) {
        if (*p != '^') {
            *out++ = *p++;
            continue;
        }
        /* The most common case: two digits, ASCII. */
        unsigned high = end - p > 2 ? hex_values[(unsigned char)p[1]] - 1u : 8;
        unsigned low = high < 8 ? hex_values[(unsigned char)p[2]] - 1u : 16;
        if (low < 16 && (high | low)) {
            *out++ = (char)(high << 4 | low);
            p += 3;
            continue;
        }
        struct escape e = escape_read(p, end);
        if (!escape_ok(&e, use))
            break;
        if (e.raw || e.value < 0x80)
            *out++ = (char)e.value;
        else
            out += utf8_write(e.value, out);
        p += e.skip + e.digits;
    }
    *to = out;
    return p;
}

bool caret_decode(struct str encoded, enum caret_use use, struct buf *out, struct err *err)
{
    const char *p = encoded.p, *end = encoded.p + encoded.n;
    while (p < end) {
        const char *stop = p + MIN(end - p, (ptrdiff_t)CHUNK);
        char *room = buf_reserve(out, (size_t)(stop - p) + UTF8_MAX), *to = room;
        if (!room)
            return err_set(err, E_CLI_INVALID_ARG, "the encoding is too long");
        p = decode_chunk(p, stop, end, use, &to);
        buf_grown(out, (size_t)(to - room));
        if (p < stop)
            return escape_error(encoded, (size_t)(p - encoded.p), err);
    }
    return true;
}

void caret_name(struct str path, char name[CARET_NAME_MAX + 1])
{
    AUTO_BUF struct buf encoded = BUF_INIT(CARET_GROWTH * path.n + ESCAPE_MAX + 1);
    caret_encode(path, &encoded);
    BUG_ON(!buf_ok(&encoded));
    if (encoded.n <= CARET_NAME_MAX) {
        memcpy(name, buf_z(&encoded), encoded.n + 1);
        return;
    }
    char hex[FNV_HEX];
    fnv_hex(fnv_add(FNV_START, path), hex);
    size_t keep = CARET_NAME_MAX - 2 - (FNV_HEX - 1);
    /* Don't cut within an escape. */
    struct str head = str_head(buf_str(&encoded), keep);
    ptrdiff_t caret = str_find_last(head, '^');
    if (caret >= 0 && head.n - (size_t)caret < ESCAPE_MAX)
        head.n = (size_t)caret;
    snprintf(name, CARET_NAME_MAX + 1, STR_FMT "^%c%s", STR_ARG(head), SHORTENED, hex);
}
