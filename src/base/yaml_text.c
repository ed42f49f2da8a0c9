/* Characters that make YAML look different from its parsed form. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml_text.h"

#include "base/json.h"
#include "base/place.h"
#include "base/utf8.h"

#include <yaml.h>

enum yaml_text_kind {
    SHOWN,
    BREAK,    /* a line break for the parser, but not for most programs */
    HIDDEN,   /* no glyph, no width */
    BLANK,    /* looks like a space */
    JOINER,   /* without a glyph, but ordinary between letters of some scripts, and in emoji */
    SELECTOR, /* selects a variant of the character before it */
    OPENER,   /* changes the text direction up to its closer */
    CLOSER,
};

enum {
    RETURN = '\r',
    NEXT_LINE = 0x85,
    KEYCAP = 0x20E3,
    POP_EMBEDDING = 0x202C,
    FIRST_ISOLATE = 0x2066,
    POP_ISOLATE = 0x2069,
    OPEN_MAX = 32, /* nested direction controls: more are rejected */
    ASCII_END = 0x80,
    SOFT_HYPHEN = 0xAD,
    LEFT_MARK = 0x200E,
    RIGHT_MARK = 0x200F,
    BRAILLE_BLANK = 0x2800,
    BLACK_FLAG = 0x1F3F4,
    CANCEL_TAG = 0xE007F,
    FLAG_TAGS_MAX = 6, /* length of a region code: gbsct */
};

/* Sorted. Characters that utf8_shown_as_is() rejects and that have no row are HIDDEN. */
static const struct {
    uint32_t first, last;
    enum yaml_text_kind kind;
} kinds[] = {
    {NEXT_LINE, NEXT_LINE, BREAK},
    {0xA0, 0xA0, BLANK},
    {0x034F, 0x034F, HIDDEN}, /* combining grapheme joiner */
    {0x115F, 0x1160, HIDDEN}, /* Hangul fillers */
    {0x1680, 0x1680, BLANK},
    {0x17B4, 0x17B5, HIDDEN}, /* Khmer inherent vowels */
    {0x180B, 0x180D, SELECTOR},
    {0x180E, 0x180E, HIDDEN}, /* Mongolian vowel separator */
    {0x180F, 0x180F, SELECTOR},
    {0x2000, 0x200A, BLANK},
    {0x200C, 0x200D, JOINER},
    {0x2028, 0x2029, BREAK},
    {0x202A, 0x202B, OPENER},
    {POP_EMBEDDING, POP_EMBEDDING, CLOSER},
    {0x202D, 0x202E, OPENER},
    {0x202F, 0x202F, BLANK},
    {0x205F, 0x205F, BLANK},
    {FIRST_ISOLATE, 0x2068, OPENER},
    {POP_ISOLATE, POP_ISOLATE, CLOSER},
    {0x2800, 0x2800, BLANK}, /* Braille pattern without dots */
    {0x3000, 0x3000, BLANK},
    {0x3164, 0x3164, HIDDEN}, /* Hangul fillers */
    {0xFE00, 0xFE0F, SELECTOR},
    {0xFFA0, 0xFFA0, HIDDEN},
    {0xFFF0, 0xFFF8, HIDDEN},
    {0x13430, 0x13440, HIDDEN}, /* hieroglyph, shorthand and music format controls */
    {0x1BCA0, 0x1BCA3, HIDDEN},
    {0x1D159, 0x1D159, HIDDEN},
    {0x1D173, 0x1D17A, HIDDEN},
    {0xE0000, 0xE00FF, HIDDEN}, /* tags, and the range reserved for more */
    {0xE0100, 0xE01EF, SELECTOR},
    {0xE01F0, 0xE0FFF, HIDDEN},
};

/* Control characters are left to the parser. */
static enum yaml_text_kind yaml_text_kind_of(uint32_t codepoint)
{
    if (codepoint < ASCII_END)
        return SHOWN;
    for (size_t i = 0; i < ARRAY_LEN(kinds) && kinds[i].first <= codepoint; i++)
        if (codepoint <= kinds[i].last)
            return kinds[i].kind;
    return codepoint > 0x9F && !utf8_shown_as_is(codepoint) ? HIDDEN : SHOWN;
}

/* A position in the text, in bytes and in characters, since the parser counts characters. */
struct yaml_text_walk {
    struct str text;
    size_t at;       /* bytes */
    size_t index;    /* characters */
    uint32_t before; /* the previous character, or 0 */
    unsigned tags;   /* number of consecutive tags before this position */
    bool comment;    /* within a comment */
    enum err_code code;
    struct err *err;
};

static uint32_t yaml_text_peek(const struct yaml_text_walk *w, size_t *ret_length)
{
    uint32_t codepoint = 0;
    *ret_length = utf8_decode(str_skip(w->text, w->at), &codepoint);
    return codepoint;
}

/* A letter or a digit of a region code. */
static bool is_tag(uint32_t codepoint)
{
    return (codepoint >= 0xE0030 && codepoint <= 0xE0039) ||
           (codepoint >= 0xE0061 && codepoint <= 0xE007A);
}

static void yaml_text_step(struct yaml_text_walk *w)
{
    size_t n;
    w->before = yaml_text_peek(w, &n);
    w->tags = is_tag(w->before) ? w->tags + 1 : 0;
    w->at += n;
    w->index++;
}

static uint32_t yaml_text_peek_next(const struct yaml_text_walk *w)
{
    struct yaml_text_walk next = *w;
    size_t n;
    yaml_text_step(&next);
    return next.at < next.text.n ? yaml_text_peek(&next, &n) : 0;
}

static const char *const refusals[] = {
    [BREAK] = "the line break U+%04X is not allowed, only LF and CR LF end a line: remove it, or "
              "write \"\\u%04X\" in double quotes",
    [HIDDEN] = "the invisible character U+%04X is outside quotes: remove it, or write "
               "\"\\u%04X\" in double quotes",
    [BLANK] = "the blank U+%04X is outside quotes: use a space, or write \"\\u%04X\" in double "
              "quotes",
    [OPENER] = "the direction control U+%04X is not ended within its quotes: remove it, or write "
               "\"\\u%04X\" in double quotes",
};

static bool yaml_text_refuse(
    const struct yaml_text_walk *w, size_t at, uint32_t codepoint, enum yaml_text_kind kind)
{
    if (codepoint == RETURN)
        err_set(w->err, w->code,
            "a carriage return without a line feed after it is not allowed: remove it, or write "
            "\"\\r\" in double quotes");
    else if (w->comment && kind == BLANK)
        err_set(w->err, w->code,
            "the blank U+%04X is not between visible characters of a comment: use a space",
            codepoint);
    else if (w->comment && kind != BREAK)
        err_set(w->err, w->code, "the invisible character U+%04X is in a comment: remove it",
            codepoint);
    else if (codepoint > 0xFFFF)
        err_set(w->err, w->code,
            "the invisible character U+%04X is outside quotes: remove it, or write "
            "\"\\U%08X\" in double quotes",
            codepoint, codepoint);
    else
        err_set(w->err, w->code, refusals[kind], codepoint, codepoint);
    return place_blame(w->err, place_point(w->text, at));
}

/* Line breaks are also rejected inside quotes, where the parser would fold them. *ret_more: there
 * are other characters to check. */
static bool check_breaks(struct str text, enum err_code code, bool *ret_more, struct err *err)
{
    struct yaml_text_walk w = {.text = text, .code = code, .err = err};
    bool more = false;
    while (w.at < text.n) {
        unsigned char byte = (unsigned char)text.p[w.at];
        if (byte < ASCII_END && byte != RETURN) { /* the common case */
            w.at++;
            continue;
        }
        size_t n;
        uint32_t codepoint = yaml_text_peek(&w, &n);
        enum yaml_text_kind kind = yaml_text_kind_of(codepoint);
        if (n == 0) {
            err_set(err, code, "not valid UTF-8");
            return place_blame(err, place_point(text, w.at));
        }
        if (kind == BREAK || (codepoint == RETURN && yaml_text_peek_next(&w) != '\n'))
            return yaml_text_refuse(&w, w.at, codepoint, BREAK);
        more |= kind != SHOWN;
        yaml_text_step(&w);
    }
    *ret_more = more;
    return true;
}

/* Ordinary text of a language: between two visible characters that have no meaning in YAML. */
static bool is_ordinary(const struct yaml_text_walk *w, enum yaml_text_kind kind)
{
    enum yaml_text_kind before = yaml_text_kind_of(w->before);
    uint32_t next = yaml_text_peek_next(w);
    if (kind == SELECTOR && next == KEYCAP && w->before)
        return (w->before >= '0' && w->before <= '9') || w->before == '#' || w->before == '*';
    if (kind == SELECTOR)
        return w->before >= ASCII_END && before == SHOWN;
    if (kind != JOINER && kind != BLANK)
        return false;
    return w->before >= ASCII_END && (before == SHOWN || (before == SELECTOR && kind == JOINER)) &&
           next >= ASCII_END && yaml_text_kind_of(next) == SHOWN;
}

/* Right-to-left letters. */
static bool is_rtl(uint32_t c)
{
    return (c >= 0x0590 && c <= 0x08FF) || (c >= 0xFB1D && c <= 0xFDFF) ||
           (c >= 0xFE70 && c <= 0xFEFC) || (c >= 0x10800 && c <= 0x10FFF) ||
           (c >= 0x1E800 && c <= 0x1EFFF);
}

static bool is_visible(uint32_t codepoint)
{
    return codepoint > ' ' && codepoint != 0x7F && yaml_text_kind_of(codepoint) == SHOWN;
}

/* A region flag: the black flag, the region code in tags, the cancel tag. */
static bool is_flag(const struct yaml_text_walk *w, uint32_t codepoint)
{
    uint32_t next = yaml_text_peek_next(w);
    bool begun = w->tags ? w->tags <= FLAG_TAGS_MAX : w->before == BLACK_FLAG;
    if (codepoint == CANCEL_TAG)
        return begun && w->tags > 0;
    return is_tag(codepoint) && begun && w->tags < FLAG_TAGS_MAX &&
           (is_tag(next) || next == CANCEL_TAG);
}

/* A comment has no structure: orthographic characters are allowed between any visible
 * characters. */
static bool is_spelling(
    const struct yaml_text_walk *w, uint32_t codepoint, enum yaml_text_kind kind)
{
    uint32_t next = yaml_text_peek_next(w);
    if (codepoint == LEFT_MARK || codepoint == RIGHT_MARK)
        return is_rtl(w->before) || is_rtl(next);
    if (kind == BLANK ? codepoint != BRAILLE_BLANK : codepoint == SOFT_HYPHEN)
        return is_visible(w->before) && is_visible(next);
    return is_flag(w, codepoint);
}

static bool check_outside(struct yaml_text_walk *w, size_t end)
{
    for (; w->index < end && w->at < w->text.n; yaml_text_step(w)) {
        size_t n;
        uint32_t codepoint = yaml_text_peek(w, &n);
        enum yaml_text_kind kind = yaml_text_kind_of(codepoint);
        w->comment &= codepoint != '\n';
        if (kind != SHOWN && !is_ordinary(w, kind) &&
            !(w->comment && is_spelling(w, codepoint, kind)))
            return yaml_text_refuse(w, w->at, codepoint, kind == BLANK ? BLANK : HIDDEN);
    }
    return true;
}

/* Between two tokens there are only blanks, line breaks and comments. */
static bool check_between(struct yaml_text_walk *w, size_t end)
{
    bool ok = true;
    while (ok && w->index < end && w->at < w->text.n) {
        w->comment |= w->text.p[w->at] == '#';
        ok = check_outside(w, w->index + 1);
    }
    w->comment = false;
    return ok;
}

/* Direction controls that are still open, innermost last. */
struct turns {
    size_t n;
    struct {
        size_t at;
        uint32_t codepoint;
    } open[OPEN_MAX];
};

static bool is_isolate(uint32_t codepoint)
{
    return codepoint >= FIRST_ISOLATE;
}

/* The end of an isolate also ends the embeddings in it; the end of an embedding never closes an
 * isolate. */
static void close_turn(struct turns *t, uint32_t codepoint)
{
    size_t n = t->n;
    if (codepoint == POP_EMBEDDING) {
        t->n -= n > 0 && !is_isolate(t->open[n - 1].codepoint);
        return;
    }
    while (n > 0 && !is_isolate(t->open[n - 1].codepoint))
        n--;
    if (n > 0)
        t->n = n - 1;
}

/* A direction control is in effect up to the end of its line. One that is still open at the closing
 * quote would reorder the text after it. */
static bool check_quoted(struct yaml_text_walk *w, size_t end)
{
    struct turns turns = {0};
    for (; w->index < end && w->at < w->text.n; yaml_text_step(w)) {
        size_t n;
        uint32_t codepoint = yaml_text_peek(w, &n);
        enum yaml_text_kind kind = yaml_text_kind_of(codepoint);
        if (codepoint == '\n')
            turns.n = 0;
        if (kind == CLOSER)
            close_turn(&turns, codepoint);
        if (kind == OPENER && turns.n == OPEN_MAX)
            return yaml_text_refuse(w, w->at, codepoint, OPENER);
        if (kind == OPENER) {
            turns.open[turns.n].at = w->at;
            turns.open[turns.n++].codepoint = codepoint;
        }
    }
    return turns.n == 0 || yaml_text_refuse(w, turns.open[0].at, turns.open[0].codepoint, OPENER);
}

static bool yaml_text_is_quoted(const yaml_token_t *token)
{
    return token->type == YAML_SCALAR_TOKEN &&
           (token->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
               token->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static int yaml_text_nesting(const yaml_token_t *token)
{
    switch (token->type) {
    case YAML_BLOCK_SEQUENCE_START_TOKEN:
    case YAML_BLOCK_MAPPING_START_TOKEN:
    case YAML_FLOW_SEQUENCE_START_TOKEN:
    case YAML_FLOW_MAPPING_START_TOKEN:
        return 1;
    case YAML_BLOCK_END_TOKEN:
    case YAML_FLOW_SEQUENCE_END_TOKEN:
    case YAML_FLOW_MAPPING_END_TOKEN:
        return -1;
    default:
        return 0;
    }
}

/* The end of the text scanned before a syntax error, which yaml_parse() reports later. An unclosed
 * quoted scalar is excluded. */
static size_t error_index(const yaml_parser_t *parser, struct yaml_text_walk w)
{
    while (w.index < parser->context_mark.index && w.at < w.text.n)
        yaml_text_step(&w);
    bool open = w.at < w.text.n && w.index == parser->context_mark.index &&
                (w.text.p[w.at] == '"' || w.text.p[w.at] == '\'');
    return open ? w.index : parser->mark.index;
}

static bool refuse_depth(const struct yaml_text_walk *w, yaml_mark_t mark)
{
    err_set(w->err, w->code, "nested more than %d levels deep", JSON_DEPTH_MAX);
    return place_blame(w->err, (struct point){(unsigned)mark.line + 1, (unsigned)mark.column + 1});
}

/* Quoted text is found by the parser's own tokens, so that both agree. Everything else counts as
 * outside, including comments and blanks, which belong to no token; comments allow more characters.
 * Nesting is limited because the scanner visits all open brackets for each token. */
static bool check_tokens(yaml_parser_t *parser, struct yaml_text_walk *w)
{
    bool ended = false, ok = true;
    int depth = 0;
    while (ok && !ended) {
        yaml_token_t token;
        if (!yaml_parser_scan(parser, &token))
            return check_outside(w, error_index(parser, *w));
        ended = token.type == YAML_STREAM_END_TOKEN || token.type == YAML_NO_TOKEN;
        depth += yaml_text_nesting(&token);
        ok = check_between(w, token.start_mark.index);
        if (ok && yaml_text_is_quoted(&token))
            ok = check_quoted(w, token.end_mark.index);
        else if (ok && depth > JSON_DEPTH_MAX)
            ok = refuse_depth(w, token.start_mark);
        else if (ok)
            ok = check_outside(w, token.end_mark.index);
        yaml_token_delete(&token);
    }
    return ok && check_between(w, SIZE_MAX);
}

static bool check_encoding(struct str text, enum err_code code, struct err *err)
{
    const char *other = utf8_other_encoding(text);
    if (!other)
        return true;
    err_set(err, code, "not valid UTF-8 but %s: save it as UTF-8", other);
    return place_blame(err, (struct point){1, 1});
}

bool yaml_check_text(struct str text, enum err_code code, struct err *err)
{
    bool more = false;
    if (!check_encoding(text, code, err) || !check_breaks(text, code, &more, err))
        return false;
    if (!more)
        return true;
    struct yaml_text_walk w = {.text = text, .code = code, .err = err};
    yaml_parser_t parser;
    BUG_ON(!yaml_parser_initialize(&parser));
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    bool ok = check_tokens(&parser, &w);
    yaml_parser_delete(&parser);
    return ok;
}

/* Writing ------------------------------------------------------------------------------------- */

static void yaml_text_add_character(struct buf *b, uint32_t codepoint, struct str bytes)
{
    static const char letters[] = "\"\"\\\\\nn\tt\rr";
    for (size_t i = 0; letters[i]; i += 2)
        if (codepoint == (unsigned char)letters[i]) {
            buf_add(b, (char[]){'\\', letters[i + 1]}, 2);
            return;
        }
    bool allowed = (codepoint & 0xFFFE) != 0xFFFE; /* the parser rejects U+FFFE and U+FFFF */
    if (allowed && utf8_shown_as_is(codepoint) && yaml_text_kind_of(codepoint) == SHOWN)
        buf_add_str(b, bytes);
    else
        buf_printf(b, codepoint > 0xFFFF ? "\\U%08X" : "\\u%04X", codepoint);
}

void yaml_add_text(struct buf *b, struct str bytes)
{
    buf_add_byte(b, '"');
    while (bytes.n) {
        uint32_t codepoint = UTF8_REPLACEMENT;
        size_t n = utf8_decode(bytes, &codepoint);
        if (n == 0) {
            n = utf8_invalid_length(bytes);
            buf_add_str(b, STR("\xEF\xBF\xBD"));
        } else {
            yaml_text_add_character(b, codepoint, str_head(bytes, n));
        }
        bytes = str_skip(bytes, n);
    }
    buf_add_byte(b, '"');
}
