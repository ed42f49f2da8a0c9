/* Caret encoding, version 1. */
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
    uint32_t last; /* highest code point that this form is the shortest for */
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

/* What each ASCII byte becomes, as constant data: the common case needs no decision. */
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

/* Encodes the character at the start; returns how many bytes of input it took. */
static size_t encode_wide(struct str rest, char *out, size_t *n_out)
{
    uint32_t codepoint;
    size_t taken = utf8_decode(rest, &codepoint);
    if (taken == 0) {
        *n_out += escape_write(out, RAW_BYTE, 2, (unsigned char)rest.p[0]);
        return 1;
    }
    const struct form *form = forms;
    while (codepoint > form->last)
        form++;
    *n_out += escape_write(out, form->letter, form->digits, codepoint);
    return taken;
}

void caret_encode(struct str bytes, struct buf *out)
{
    while (bytes.n) {
        size_t chunk = MIN(bytes.n, (size_t)CHUNK), i = 0;
        /* A chunk may end within a character, which then takes up to three bytes more. */
        char *room = buf_reserve(out, CARET_GROWTH * chunk + ESCAPE_MAX);
        if (!room)
            return;
        size_t n = 0;
        while (i < chunk) {
            unsigned char c = (unsigned char)bytes.p[i];
            if (c < ARRAY_LEN(units)) {
                memcpy(
                    room + n, &units[c], sizeof(units[c])); /* one store; the last byte is slack */
                n += units[c].length;
                i++;
            } else {
                i += encode_wide(str_skip(bytes, i), room + n, &n);
            }
        }
        buf_grown(out, n);
        bytes = str_skip(bytes, i);
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

static int hex_value(char c)
{
    return hex_values[(unsigned char)c] - 1;
}

static bool bad_at(struct err *err, size_t position)
{
    return err_ctx_int(err, "position", (int64_t)position);
}

/* Reads exactly this many hex digits. */
static bool read_hex(struct str digits, size_t count, size_t at, uint32_t *ret, struct err *err)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == digits.n) {
            err_set(err, E_CLI_INVALID_ARG,
                "the encoding ends within the sequence at byte %zu, which needs %zu hex digits", at,
                count);
            return bad_at(err, at);
        }
        int digit = hex_value(digits.p[i]);
        if (digit < 0) {
            err_set(err, E_CLI_INVALID_ARG,
                "the sequence at byte %zu has a byte that is no hex digit (needs %zu of them)", at,
                count);
            return bad_at(err, at);
        }
        value = value << 4 | (uint32_t)digit;
    }
    *ret = value;
    return true;
}

static bool add_codepoint(
    uint32_t codepoint, enum caret_use use, size_t at, struct buf *out, struct err *err)
{
    if (!utf8_is_scalar(codepoint)) {
        err_set(err, E_CLI_INVALID_ARG, "U+%X at byte %zu is no character (%s)",
            (unsigned)codepoint, at, codepoint > UTF8_LAST ? "above U+10FFFF" : "a surrogate");
        return bad_at(err, at);
    }
    if (codepoint == 0 && use == CARET_PATH) {
        err_set(
            err, E_CLI_INVALID_ARG, "the sequence at byte %zu is NUL, which no path can hold", at);
        return bad_at(err, at);
    }
    char bytes[UTF8_MAX];
    buf_add(out, bytes, utf8_write(codepoint, bytes));
    return true;
}

static bool add_raw_byte(uint32_t byte, size_t at, struct buf *out, struct err *err)
{
    if (byte < 0x80) {
        err_set(err, E_CLI_INVALID_ARG,
            "^x%02X at byte %zu: ^x is for bytes from 80 up; write ^%02X", (unsigned)byte, at,
            (unsigned)byte);
        return bad_at(err, at);
    }
    buf_add_byte(out, (char)byte);
    return true;
}

static const struct form *form_of(char letter)
{
    for (size_t i = 1; i < ARRAY_LEN(forms); i++)
        if ((letter | 0x20) == forms[i].letter)
            return &forms[i];
    return &forms[0];
}

/* Decodes the escape at `at`; returns its length in *ret_length. */
static bool decode_escape(struct str encoded, size_t at, enum caret_use use, struct buf *out,
    size_t *ret_length, struct err *err)
{
    char letter = at + 1 < encoded.n ? encoded.p[at + 1] : '\0';
    char lower = (char)(letter | 0x20);
    if (lower == SHORTENED && encoded.n - at == 2 + FNV_HEX - 1) {
        err_set(err, E_CLI_INVALID_ARG,
            "this name was shortened (^z at byte %zu): the full path is in the box's meta.json",
            at);
        return bad_at(err, at);
    }
    bool raw = lower == RAW_BYTE;
    const struct form *form = form_of(letter);
    size_t skip = raw || form->letter ? 2 : 1;
    uint32_t value = 0;
    if (!read_hex(str_skip(encoded, at + skip), form->digits, at, &value, err))
        return false;
    bool ok = raw ? add_raw_byte(value, at, out, err) : add_codepoint(value, use, at, out, err);
    if (ok)
        *ret_length = skip + form->digits;
    return ok;
}

/* The commonest escape by far: two digits of ASCII. Returns its byte, or -1 for the long way. */
static int plain_escape(const char *p, const char *end)
{
    if (end - p < 3)
        return -1;
    int high = hex_value(p[1]), low = hex_value(p[2]);
    return (high | low) < 0 || high > 7 ? -1 : high << 4 | low;
}

bool caret_decode(struct str encoded, enum caret_use use, struct buf *out, struct err *err)
{
    const char *p = encoded.p, *end = encoded.p + encoded.n;
    while (p < end) {
        /* No form decodes to more bytes than it takes. */
        size_t chunk = MIN((size_t)(end - p), (size_t)CHUNK);
        char *room = buf_reserve(out, chunk), *to = room;
        if (!room)
            return err_set(err, E_CLI_INVALID_ARG, "the encoding is too long");
        const char *chunk_end = p + chunk;
        int byte = 0;
        while (p < chunk_end) {
            if (*p != '^') {
                *to++ = *p++;
                continue;
            }
            byte = plain_escape(p, end);
            if (byte <= 0)
                break;
            *to++ = (char)byte;
            p += 3;
        }
        buf_grown(out, (size_t)(to - room));
        size_t length = 0;
        if (p < chunk_end &&
            !decode_escape(encoded, (size_t)(p - encoded.p), use, out, &length, err))
            return false;
        p += length;
    }
    if (!buf_ok(out))
        return err_set(err, E_CLI_INVALID_ARG, "the encoding is too long");
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
    /* Cut before an escape that would not be whole. */
    struct str head = str_head(buf_str(&encoded), keep);
    ptrdiff_t caret = str_find_last(head, '^');
    if (caret >= 0 && head.n - (size_t)caret < ESCAPE_MAX)
        head.n = (size_t)caret;
    snprintf(name, CARET_NAME_MAX + 1, STR_FMT "^%c%s", STR_ARG(head), SHORTENED, hex);
}
