/* String sequences: OSC and DCS; others are ignored or reported as unknown. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "term/term_state.h"

/* Titles -------------------------------------------------------------------------------------- */

/* Keeps only printable characters: the title may be reported back to the program. */
static void set_text(struct buf *b, struct str text)
{
    uint32_t codepoint;
    buf_reset(b);
    while (text.n && b->n + UTF8_MAX <= TERM_TITLE_MAX) {
        size_t n = utf8_decode(text, &codepoint);
        if (n == 0) {
            buf_add_z(b, "\xEF\xBF\xBD");
            n = utf8_invalid_length(text);
        } else if (codepoint >= 0x20 && utf8_shown_as_is(codepoint)) {
            buf_add(b, text.p, n);
        }
        text = str_skip(text, n);
    }
}

/* Decodes hexadecimal digits, if the program enabled them (XTSMTITLE). */
static bool from_hex(struct str text, struct buf *b)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i + 1 < text.n; i += 2) {
        const char *high = strchr(digits, text.p[i] | 0x20),
                   *low = strchr(digits, text.p[i + 1] | 0x20);
        if (!high || !low || !*high || !*low)
            return false;
        buf_add_byte(b, (char)((high - digits) << 4 | (low - digits)));
    }
    return true;
}

void title_set(struct term *t, bool title, bool icon, struct str text)
{
    AUTO_BUF struct buf decoded = BUF_INIT(TERM_STRING_MAX);
    if (t->title_modes & 1 && from_hex(text, &decoded))
        text = buf_str(&decoded);
    if (title) {
        set_text(&t->title, text);
        term_tell(t, TERM_EVENT_TITLE, buf_str(&t->title), 0);
    }
    if (icon) {
        set_text(&t->icon, text);
        term_tell(t, TERM_EVENT_ICON, buf_str(&t->icon), 0);
    }
}

/* Links --------------------------------------------------------------------------------------- */

static struct str link_id_of(struct str params)
{
    struct str param;
    while (str_cut(params, ':', &param, &params))
        if (str_starts_with(param, STR("id=")))
            return str_skip(param, 3);
    return (struct str){0};
}

/* "id=…;URI"; an empty URI ends the link. */
static void osc_set_link(struct term *t, struct str text)
{
    ptrdiff_t at = str_find(text, ';');
    if (at < 0) {
        term_unknown(t);
        return;
    }
    struct str id = link_id_of(str_head(text, (size_t)at)), uri = str_skip(text, (size_t)at + 1);
    if (!utf8_printable(uri) || !utf8_printable(id))
        uri = STR("");
    uint32_t link = link_intern(&t->links, uri, id);
    if (uri.n && link == 0 && link_table_full(&t->links) && term_may_compact(t)) {
        term_compact(t);
        link = link_intern(&t->links, uri, id);
    }
    t->pen.link = link;
    pen_changed(t);
}

/* OSC ----------------------------------------------------------------------------------------- */

static void osc_run_number(struct term *t, int number, struct str text)
{
    switch (number) {
    case 0:
    case 1:
    case 2:
        title_set(t, number != 1, number != 2, text);
        break;
    case 8:
        osc_set_link(t, text);
        break;
    case 52:
        term_tell(t, TERM_EVENT_CLIPBOARD, text, 0);
        break;
    case 7:   /* working directory */
    case 9:   /* notifications, progress */
    case 22:  /* pointer shape */
    case 133: /* prompt markers */
    case 777:
    case 1337:
        break;
    case 4:
    case 5:
    case 104:
    case 105:
        palette_osc(t, number, text);
        break;
    default:
        if ((number >= 10 && number <= 19) || (number >= 110 && number <= 119))
            palette_osc(t, number, text);
        else
            term_unknown(t);
    }
}

void osc_dispatch(struct term *t, struct str text)
{
    int64_t number = 0;
    ptrdiff_t end = str_find(text, ';');
    struct str digits = end < 0 ? text : str_head(text, (size_t)end);
    struct str rest = end < 0 ? STR("") : str_skip(text, (size_t)end + 1);
    if (text.n && (text.p[0] == 'l' || text.p[0] == 'L')) /* shelltool syntax */
        title_set(t, text.p[0] == 'l', text.p[0] == 'L', str_skip(text, 1));
    else if (!str_to_int(digits, 0, 99999, &number))
        term_unknown(t);
    else
        osc_run_number(t, (int)number, rest);
}

/* DCS ----------------------------------------------------------------------------------------- */

static bool is_dcs(const struct parser *p, uint8_t intermediate, uint8_t final)
{
    return p->prefix == 0 && p->n_intermediates == 1 && p->intermediates[0] == intermediate &&
           p->final == final;
}

void dcs_dispatch(struct term *t, struct str text)
{
    const struct parser *p = &t->parser;
    if (is_dcs(p, '$', 'q'))
        report_setting(t, text);
    else if (is_dcs(p, '+', 'q'))
        report_capabilities(t, text);
    else
        term_unknown(t);
}

void string_dispatch(void *context, enum parser_string kind)
{
    struct term *t = context;
    struct str text = buf_str(&t->parser.string);
    if (t->n_utf8)
        text_flush(t);
    t->joinable = false;
    if (t->parser.truncated) {
        term_tell(t, TERM_EVENT_TRUNCATED, str_head(text, TERM_UNKNOWN_TEXT), 0);
        return;
    }
    if (kind == PARSER_OSC)
        osc_dispatch(t, text);
    else if (kind == PARSER_DCS)
        dcs_dispatch(t, text);
    else if (kind == PARSER_APC)
        term_unknown(t); /* e.g. kitty graphics */
}
