/* Terminal queries: DA, DSR, DECRQSS, XTGETTCAP, DECRQPSR. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

/* Device attributes --------------------------------------------------------------------------- */

void report_attributes(struct term *t)
{
    uint8_t prefix = t->parser.prefix;
    if (param(t, 0, 0) != 0) {
        term_no_answer(t);
        return;
    }
    if (prefix == '>') /* VT420, with an xterm version that programs recognize */
        reply_csi(t, ">41;354;0c");
    else if (prefix == '=')
        reply_dcs(t, "!|00000000");
    else if (t->level == 61)
        reply_csi(t, "?1;2c");
    else /* 132 columns, printer, selective erase, national sets, technical characters, locator,
            state reports, windows, horizontal scrolling, colour, rectangles */
        reply_csi(t, "?%u;1;2;6;9;15;16;17;18;21;22;28;29c", t->level);
}

/* Status -------------------------------------------------------------------------------------- */

static void report_cursor(struct term *t, bool dec)
{
    bool origin = mode_is(t, MODE_ORIGIN);
    int row = t->row + 1 - (origin ? t->top : 0), col = t->col + 1 - (origin ? t->left : 0);
    if (dec && t->level >= 64)
        reply_csi(t, "?%d;%d;1R", row, col);
    else
        reply_csi(t, "%s%d;%dR", dec ? "?" : "", row, col);
}

void report_status(struct term *t, bool dec)
{
    static const struct {
        int number;
        const char *answer;
    } answers[] = {
        {15, "?13n"},                              /* no printer */
        {25, "?20n"},                              /* user-defined keys are not locked */
        {26, "?27;1;0;0n"},                        /* a North American keyboard */
        {53, "?50n"},                              /* no locator */
        {55, "?50n"}, {56, "?57;0n"}, {62, "0*{"}, /* no room for macros */
        {75, "?70n"},                              /* no errors */
        {85, "?83n"},                              /* one session */
        {996, "?997;1n"},                          /* dark colour scheme */
    };
    int what = param(t, 0, 0);
    if (what == 6) {
        report_cursor(t, dec);
        return;
    }
    if (!dec && what == 5) {
        reply_csi(t, "0n");
        return;
    }
    if (dec && what == 63) {
        reply_dcs(t, "%d!~0000", param(t, 1, 0));
        return;
    }
    for (size_t i = 0; dec && i < ARRAY_LEN(answers); i++)
        if (answers[i].number == what) {
            reply_csi(t, "%s", answers[i].answer);
            return;
        }
    term_no_answer(t);
}

/* DECRQSS ------------------------------------------------------------------------------------- */

static bool report_add_setting(const struct term *t, struct str what, struct buf *b)
{
    if (str_is(what, "m")) {
        sgr_write(&t->pen, b);
        buf_add_z(b, "m");
    } else if (str_is(what, "r")) {
        buf_printf(b, "%d;%dr", t->top + 1, t->bottom + 1);
    } else if (str_is(what, "s")) {
        buf_printf(b, "%d;%ds", t->left + 1, t->right + 1);
    } else if (str_is(what, " q")) {
        buf_printf(b, "%u q", t->cursor_style ? t->cursor_style : 1);
    } else if (str_is(what, "\"q")) {
        buf_printf(b, "%d\"q", t->pen.attrs & STYLE_PROTECTED ? 1 : 0);
    } else if (str_is(what, "\"p")) {
        buf_printf(b, "%u;%d\"p", t->level, t->c1_replies ? 0 : 1);
    } else if (str_is(what, "*x")) {
        buf_printf(b, "%u*x", t->extent);
    } else if (str_is(what, "t")) {
        buf_printf(b, "%dt", t->rows);
    } else if (str_is(what, "$}") || str_is(what, "$~")) {
        buf_printf(b, "0" STR_FMT, STR_ARG(what)); /* no status line */
    } else if (str_is(what, "$|")) {
        buf_printf(b, "%d$|", t->cols);
    } else if (str_is(what, "*|")) {
        buf_printf(b, "%d*|", t->rows);
    } else {
        return false;
    }
    return true;
}

void report_setting(struct term *t, struct str what)
{
    AUTO_BUF struct buf b = BUF_INIT(512);
    if (report_add_setting(t, what, &b) && buf_ok(&b)) {
        reply_dcs(t, "1$r%s", buf_z(&b));
        return;
    }
    reply_dcs(t, "0$r");
    term_no_answer(t);
}

/* XTGETTCAP ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *value;
} capabilities[] = {
    {"TN", "xterm-256color"},
    {"name", "xterm-256color"},
    {"Co", "256"},
    {"colors", "256"},
    {"RGB", "8/8/8"},
    {"Tc", ""},
    {"Su", ""},
    {"Smulx", "\\E[4:%p1%dm"},
    {"Setulc", "\\E[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m"},
};

enum {
    NAMES_MAX = 32, /* per query */
};

static void add_hex(struct buf *b, const char *text)
{
    for (; *text; text++)
        buf_printf(b, "%02X", (unsigned char)*text);
}

/* Names are hexadecimal in both query and answer. */
static bool is_hex_of(struct str hex, const char *name)
{
    char digits[3];
    if (hex.n != 2 * strlen(name))
        return false;
    for (size_t i = 0; name[i]; i++) {
        snprintf(digits, sizeof(digits), "%02x", (unsigned char)name[i]);
        if ((hex.p[2 * i] | 0x20) != (digits[0] | 0x20) ||
            (hex.p[2 * i + 1] | 0x20) != (digits[1] | 0x20))
            return false;
    }
    return true;
}

static bool report_capability(struct term *t, struct str name)
{
    AUTO_BUF struct buf b = BUF_INIT(1024);
    for (size_t i = 0; i < ARRAY_LEN(capabilities); i++) {
        if (!is_hex_of(name, capabilities[i].name))
            continue;
        add_hex(&b, capabilities[i].name);
        if (capabilities[i].value[0])
            buf_add_z(&b, "=");
        add_hex(&b, capabilities[i].value);
        reply_dcs(t, "1+r%s", buf_z(&b));
        return true;
    }
    return false;
}

void report_capabilities(struct term *t, struct str names)
{
    struct str name;
    for (int i = 0; i < NAMES_MAX && str_cut(names, ';', &name, &names); i++)
        if (!report_capability(t, name)) {
            reply_dcs(t, "0+r");
            term_no_answer(t);
        }
}

/* DECRQPSR ------------------------------------------------------------------------------------ */

static char report_flag_bits(bool a, bool b, bool c, bool d)
{
    return (char)(0x40 | (a ? 1 : 0) | (b ? 2 : 0) | (c ? 4 : 0) | (d ? 8 : 0));
}

static void report_cursor_state(struct term *t)
{
    static const char finals[] = {[CHARSET_ASCII] = 'B', [CHARSET_LINES] = '0', [CHARSET_UK] = 'A'};
    const struct style *s = &t->pen;
    const uint8_t *g = t->charsets.g;
    reply_dcs(t, "1$u%d;%d;1;%c;%c;%c;%d;2;@;%c%c%c%c", t->row + 1, t->col + 1,
        report_flag_bits(
            s->attrs & STYLE_BOLD, s->underline, s->attrs & STYLE_BLINK, s->attrs & STYLE_INVERSE),
        report_flag_bits(s->attrs & STYLE_PROTECTED, false, false, false),
        report_flag_bits(
            mode_is(t, MODE_ORIGIN), t->charsets.once == 2, t->charsets.once == 3, t->pending),
        t->charsets.gl, finals[g[0]], finals[g[1]], finals[g[2]], finals[g[3]]);
}

static void report_tabs(struct term *t)
{
    AUTO_BUF struct buf b = BUF_INIT(8 * 1024);
    for (int col = 0; col < t->cols; col++)
        if (t->tabs[col / 64] >> (col % 64) & 1)
            buf_printf(&b, "%s%d", b.n ? "/" : "", col + 1);
    reply_dcs(t, "2$u%s", buf_z(&b));
}

void report_state(struct term *t)
{
    int what = param(t, 0, 0);
    if (what == 1)
        report_cursor_state(t);
    else if (what == 2)
        report_tabs(t);
    else
        term_no_answer(t);
}
