/* Control sequences. Tables map final byte, prefix and intermediate to a handler. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_state.h"

/* Cursor -------------------------------------------------------------------------------------- */

static void cuu(struct term *t)
{
    t->drawn++;
    cursor_up(t, param(t, 0, 1));
}

static void cud(struct term *t)
{
    cursor_down(t, param(t, 0, 1));
}

static void cuf(struct term *t)
{
    cursor_forward(t, param(t, 0, 1));
}

static void cub(struct term *t)
{
    cursor_back(t, param(t, 0, 1));
}

static void cnl(struct term *t)
{
    cursor_down(t, param(t, 0, 1));
    cursor_return(t);
}

static void cpl(struct term *t)
{
    t->drawn++;
    cursor_up(t, param(t, 0, 1));
    cursor_return(t);
}

/* Cursor position as reported to the program: relative to the margins in origin mode. */
static int seen_row(const struct term *t)
{
    return mode_is(t, MODE_ORIGIN) ? t->row - t->top : t->row;
}

static int seen_col(const struct term *t)
{
    return mode_is(t, MODE_ORIGIN) ? t->col - t->left : t->col;
}

static void cha(struct term *t)
{
    cursor_address(t, seen_row(t), param(t, 0, 1) - 1);
}

static void vpa(struct term *t)
{
    t->drawn++;
    cursor_address(t, param(t, 0, 1) - 1, seen_col(t));
}

static void hpr(struct term *t)
{
    cursor_set(t, t->row, t->col + param(t, 0, 1));
}

static void vpr(struct term *t)
{
    cursor_set(t, t->row + param(t, 0, 1), t->col);
}

static void cup(struct term *t)
{
    t->drawn++;
    cursor_address(t, param(t, 0, 1) - 1, param(t, 1, 1) - 1);
}

static void cht(struct term *t)
{
    cursor_tab(t, param(t, 0, 1));
}

static void cbt(struct term *t)
{
    cursor_back_tab(t, param(t, 0, 1));
}

static void tbc(struct term *t)
{
    int what = param(t, 0, 0);
    if (what == 0)
        tab_set(t, t->col, false);
    else if (what == 3)
        memset(t->tabs, 0, sizeof(t->tabs));
    else
        term_unknown(t);
}

static void decst8c(struct term *t)
{
    if (param(t, 0, 0) == 5)
        tabs_reset(t);
    else
        term_unknown(t);
}

static void decstbm(struct term *t)
{
    int top = param(t, 0, 1), bottom = MIN(param(t, 1, t->rows), t->rows);
    if (top >= bottom)
        return;
    t->top = top - 1;
    t->bottom = bottom - 1;
    cursor_address(t, 0, 0);
}

static void decslrm(struct term *t)
{
    int left = param(t, 0, 1), right = MIN(param(t, 1, t->cols), t->cols);
    if (left >= right)
        return;
    t->left = left - 1;
    t->right = right - 1;
    cursor_address(t, 0, 0);
}

/* CSI s: sets the side margins if DECLRMM is set, otherwise saves the cursor. */
static void decslrm_or_save(struct term *t)
{
    if (mode_is(t, MODE_MARGINS))
        decslrm(t);
    else if (t->parser.n_params == 0)
        cursor_save(t);
    else
        term_unknown(t);
}

static void decscusr(struct term *t)
{
    int style = param(t, 0, 0);
    if (style > 6)
        term_unknown(t);
    else
        t->cursor_style = (unsigned)style;
}

/* Editing ------------------------------------------------------------------------------------- */

static void ich(struct term *t)
{
    edit_insert_blanks(t, param(t, 0, 1));
}

static void dch(struct term *t)
{
    edit_delete_chars(t, param(t, 0, 1));
}

static void il(struct term *t)
{
    edit_insert_lines(t, param(t, 0, 1));
}

static void dl(struct term *t)
{
    edit_delete_lines(t, param(t, 0, 1));
}

static void ech(struct term *t)
{
    int n = MIN(param(t, 0, 1), t->cols - t->col);
    erase_range(t, t->row, t->col, t->col + n, ERASE_ALL);
    t->pending = false;
}

static void ed(struct term *t)
{
    t->drawn += param(t, 0, 0) != 0; /* ED 0 does not count: line editors use it */
    erase_screen(t, param(t, 0, 0), ERASE_ALL);
}

static void el(struct term *t)
{
    erase_line(t, param(t, 0, 0), ERASE_ALL);
}

static void decsed(struct term *t)
{
    erase_screen(t, param(t, 0, 0), ERASE_SELECTIVE);
}

static void decsel(struct term *t)
{
    erase_line(t, param(t, 0, 0), ERASE_SELECTIVE);
}

static void su(struct term *t)
{
    scroll_up(t, param(t, 0, 1));
}

static void sd(struct term *t)
{
    if (t->parser.n_params > 1)
        term_unknown(t); /* highlight tracking, which would wait for the mouse */
    else
        scroll_up(t, -param(t, 0, 1));
}

static void sl(struct term *t)
{
    if (in_margins(t))
        scroll_left(t, param(t, 0, 1));
}

static void sr(struct term *t)
{
    if (in_margins(t))
        scroll_left(t, -param(t, 0, 1));
}

static void decic(struct term *t)
{
    edit_insert_columns(t, param(t, 0, 1));
}

static void decdc(struct term *t)
{
    edit_delete_columns(t, param(t, 0, 1));
}

static void decsca(struct term *t)
{
    int on = param(t, 0, 0);
    if (on > 2)
        return;
    t->pen.attrs = (uint16_t)((t->pen.attrs & ~STYLE_PROTECTED) | (on == 1 ? STYLE_PROTECTED : 0));
    pen_changed(t);
}

/* Rectangles ---------------------------------------------------------------------------------- */

static void deccara(struct term *t)
{
    rect_change(t, false);
}

static void decrara(struct term *t)
{
    rect_change(t, true);
}

static void decera(struct term *t)
{
    rect_erase(t, ERASE_ALL);
}

static void decsera(struct term *t)
{
    rect_erase(t, ERASE_SELECTIVE);
}

static void decsace(struct term *t)
{
    t->extent = (unsigned)MIN(param(t, 0, 0), 2);
}

/* Modes --------------------------------------------------------------------------------------- */

static void set_modes(struct term *t, bool dec, bool on)
{
    const struct parser *p = &t->parser;
    for (unsigned i = 0; i < p->n_params; i++)
        mode_set(t, p->params[i], dec, on);
}

static void sm(struct term *t)
{
    set_modes(t, false, true);
}

static void rm(struct term *t)
{
    set_modes(t, false, false);
}

static void decset(struct term *t)
{
    set_modes(t, true, true);
}

static void decrst(struct term *t)
{
    set_modes(t, true, false);
}

static void xtsave(struct term *t)
{
    for (unsigned i = 0; i < t->parser.n_params; i++)
        mode_save(t, t->parser.params[i], false);
}

static void xtrestore(struct term *t)
{
    for (unsigned i = 0; i < t->parser.n_params; i++)
        mode_save(t, t->parser.params[i], true);
}

/* Terminals below level 3 do not support DECRQM. */
static bool knows_modes(struct term *t)
{
    if (t->level < 63)
        term_no_answer(t);
    return t->level >= 63;
}

static void decrqm(struct term *t)
{
    int number = param(t, 0, 0);
    if (!knows_modes(t))
        return;
    reply_csi(t, "?%d;%d$y", number, mode_report(t, number, true));
}

static void rqm(struct term *t)
{
    int number = param(t, 0, 0);
    if (!knows_modes(t))
        return;
    reply_csi(t, "%d;%d$y", number, mode_report(t, number, false));
}

static void soft_reset(struct term *t)
{
    modes_reset(t, true);
    margins_reset(t);
    t->pen = (struct style){0};
    t->charsets = (struct charsets){0};
    t->screen->saved = (struct saved_cursor){0};
    t->modify_other = t->format_other = 0;
    t->pending = false;
    pen_changed(t);
    text_mode_changed(t);
}

static void decscl(struct term *t)
{
    int level = param(t, 0, 0), bits = parser_param_or(&t->parser, 1, 1);
    if (level < 61 || level > 65) {
        term_unknown(t);
        return;
    }
    term_reset(t);
    t->level = (unsigned)MIN(level, LEVEL_MAX);
    t->c1_replies = level > 61 && bits != 1;
}

/* Keyboards ----------------------------------------------------------------------------------- */

static void kitty_push(struct term *t)
{
    struct kitty_stack *s = &t->screen->kitty;
    if (s->n == KITTY_STACK) {
        memmove(s->flags, s->flags + 1, KITTY_STACK - 1);
        s->n--;
    }
    s->flags[s->n++] = (uint8_t)(param(t, 0, 0) & 31);
}

static void kitty_pop(struct term *t)
{
    struct kitty_stack *s = &t->screen->kitty;
    unsigned n = (unsigned)param(t, 0, 1);
    s->n -= MIN(n, s->n);
}

static void kitty_set(struct term *t)
{
    struct kitty_stack *s = &t->screen->kitty;
    unsigned flags = (unsigned)param(t, 0, 0) & 31, how = (unsigned)param(t, 1, 1);
    if (s->n == 0)
        s->flags[s->n++] = 0;
    uint8_t *now = &s->flags[s->n - 1];
    if (how == 1)
        *now = (uint8_t)flags;
    else if (how == 2)
        *now = (uint8_t)(*now | flags);
    else if (how == 3)
        *now = (uint8_t)(*now & ~flags);
}

static void kitty_query(struct term *t)
{
    const struct kitty_stack *s = &t->screen->kitty;
    reply_csi(t, "?%du", s->n ? s->flags[s->n - 1] : 0);
}

/* modifyOtherKeys is resource 4; the others concern keys that have only one encoding here. */
static void xtmodkeys(struct term *t)
{
    if (t->parser.n_params == 0 || param(t, 0, 0) == 4)
        t->modify_other = (unsigned)MIN(param(t, 1, 0), 2);
}

static void xtunmodkeys(struct term *t)
{
    if (param(t, 0, 4) == 4)
        t->modify_other = 0;
}

static void xtqmodkeys(struct term *t)
{
    if (param(t, 0, 0) == 4)
        reply_csi(t, ">4;%um", t->modify_other);
    else
        term_no_answer(t);
}

static void xtfmtkeys(struct term *t)
{
    if (t->parser.n_params == 0 || param(t, 0, 0) == 4)
        t->format_other = param(t, 1, 0) == 1;
}

/* XTSMTITLE, XTRMTITLE: 0 sets titles in hexadecimal, 1 reports them in hexadecimal. UTF-8 (2, 3)
 * is always on. */
static void title_modes(struct term *t, bool on)
{
    const struct parser *p = &t->parser;
    if (p->n_params == 0)
        t->title_modes = 0;
    for (unsigned i = 0; i < p->n_params; i++) {
        unsigned bit = p->params[i] == 0 || p->params[i] == 1 ? 1u << p->params[i] : 0;
        t->title_modes = on ? t->title_modes | bit : t->title_modes & ~bit;
    }
}

static void xtsmtitle(struct term *t)
{
    title_modes(t, true);
}

static void xtrmtitle(struct term *t)
{
    title_modes(t, false);
}

/* Reports ------------------------------------------------------------------------------------- */

static void dsr(struct term *t)
{
    report_status(t, false);
}

static void decdsr(struct term *t)
{
    report_status(t, true);
}

static void decreqtparm(struct term *t)
{
    int what = param(t, 0, 0);
    if (what <= 1)
        reply_csi(t, "%d;1;1;128;128;1;0x", what + 2);
}

static void xtversion(struct term *t)
{
    if (param(t, 0, 0) == 0)
        reply_dcs(t, ">|cordon(" CORDON_VERSION ")");
    else
        term_no_answer(t);
}

static void decrqde(struct term *t)
{
    reply_csi(t, "%d;%d;1;1;1\"w", t->rows, t->cols);
}

static void decrqupss(struct term *t)
{
    reply_dcs(t, "0!u%%5");
}

static void xtchecksum(struct term *t)
{
    t->checksum = (unsigned)param(t, 0, 0);
}

static void rep(struct term *t)
{
    text_repeat(t, param(t, 0, 1));
}

/* Style and colour stacks --------------------------------------------------------------------- */

static void xtpushsgr(struct term *t)
{
    uint32_t which = 0;
    for (unsigned i = 0; i < t->parser.n_params; i++)
        if (t->parser.params[i] >= 0 && t->parser.params[i] < 32)
            which |= UINT32_C(1) << t->parser.params[i];
    if (t->n_sgr == SGR_STACK)
        return;
    t->sgr_which[t->n_sgr] = which;
    t->sgr_stack[t->n_sgr++] = t->pen;
}

static void xtpopsgr(struct term *t)
{
    if (t->n_sgr == 0)
        return;
    t->n_sgr--;
    sgr_restore(&t->pen, &t->sgr_stack[t->n_sgr], t->sgr_which[t->n_sgr]);
    pen_changed(t);
}

static void xtpushcolors(struct term *t)
{
    if (t->n_colors == COLORS_STACK)
        return;
    struct palette *copy = base_alloc(sizeof(*copy));
    *copy = t->palette;
    t->color_stack[t->n_colors++] = copy;
}

static void xtpopcolors(struct term *t)
{
    if (t->n_colors == 0)
        return;
    struct palette *top = t->color_stack[--t->n_colors];
    t->palette = *top;
    free(top);
}

static void xtreportcolors(struct term *t)
{
    reply_csi(t, "?%u;%u#Q", t->n_colors, t->n_colors);
}

static void csi_no_answer(struct term *t)
{
    term_no_answer(t);
}

/* Recognized, without effect on the screen: printing, Linux console cursor colours, … */
static void csi_ignore(struct term *t)
{
    (void)t;
}

/* Tables -------------------------------------------------------------------------------------- */

typedef void (*handler)(struct term *t);

/* Without prefix and intermediate, indexed by final byte. */
static const handler plain[64] = {
    ['@' - '@'] = ich,
    ['A' - '@'] = cuu,
    ['B' - '@'] = cud,
    ['C' - '@'] = cuf,
    ['D' - '@'] = cub,
    ['E' - '@'] = cnl,
    ['F' - '@'] = cpl,
    ['G' - '@'] = cha,
    ['H' - '@'] = cup,
    ['I' - '@'] = cht,
    ['J' - '@'] = ed,
    ['K' - '@'] = el,
    ['L' - '@'] = il,
    ['M' - '@'] = dl,
    ['P' - '@'] = dch,
    ['S' - '@'] = su,
    ['T' - '@'] = sd,
    ['X' - '@'] = ech,
    ['Z' - '@'] = cbt,
    ['^' - '@'] = sd,
    ['`' - '@'] = cha,
    ['a' - '@'] = hpr,
    ['b' - '@'] = rep,
    ['c' - '@'] = report_attributes,
    ['d' - '@'] = vpa,
    ['e' - '@'] = vpr,
    ['f' - '@'] = cup,
    ['g' - '@'] = tbc,
    ['h' - '@'] = sm,
    ['i' - '@'] = csi_ignore,
    ['l' - '@'] = rm,
    ['m' - '@'] = sgr,
    ['n' - '@'] = dsr,
    ['r' - '@'] = decstbm,
    ['s' - '@'] = decslrm_or_save,
    ['t' - '@'] = window_do,
    ['u' - '@'] = cursor_restore,
    ['x' - '@'] = decreqtparm,
};

struct csi_row {
    uint8_t prefix, intermediate, final;
    handler run;
};

static const struct csi_row others[] = {
    {'?', 0, 'h', decset},
    {'?', 0, 'l', decrst},
    {'?', 0, 'J', decsed},
    {'?', 0, 'K', decsel},
    {'?', 0, 'W', decst8c},
    {'?', 0, 'i', csi_ignore},
    {'?', 0, 'm', xtqmodkeys},
    {'?', 0, 'n', decdsr},
    {'?', 0, 'r', xtrestore},
    {'?', 0, 's', xtsave},
    {'?', 0, 'u', kitty_query},
    {'?', 0, 'c', csi_ignore},
    {'?', 0, 'S', csi_no_answer},
    {'?', '$', 'p', decrqm},
    {'>', 0, 'T', xtrmtitle},
    {'>', 0, 'c', report_attributes},
    {'>', 0, 'f', xtfmtkeys},
    {'>', 0, 'm', xtmodkeys},
    {'>', 0, 'n', xtunmodkeys},
    {'>', 0, 'p', csi_ignore},
    {'>', 0, 'q', xtversion},
    {'>', 0, 't', xtsmtitle},
    {'>', 0, 'u', kitty_push},
    {'<', 0, 'u', kitty_pop},
    {'=', 0, 'c', report_attributes},
    {'=', 0, 'u', kitty_set},
    {0, ' ', '@', sl},
    {0, ' ', 'A', sr},
    {0, ' ', 'q', decscusr},
    {0, ' ', 't', csi_ignore},
    {0, ' ', 'u', csi_ignore},
    {0, '!', 'p', soft_reset},
    {0, '"', 'p', decscl},
    {0, '"', 'q', decsca},
    {0, '"', 'v', decrqde},
    {0, '#', 'P', xtpushcolors},
    {0, '#', 'Q', xtpopcolors},
    {0, '#', 'R', xtreportcolors},
    {0, '#', 'p', xtpushsgr},
    {0, '#', 'q', xtpopsgr},
    {0, '#', 'y', xtchecksum},
    {0, '#', '{', xtpushsgr},
    {0, '#', '}', xtpopsgr},
    {0, '$', 'p', rqm},
    {0, '$', 'r', deccara},
    {0, '$', 't', decrara},
    {0, '$', 'v', rect_copy},
    {0, '$', 'w', report_state},
    {0, '$', 'x', rect_fill},
    {0, '$', 'z', decera},
    {0, '$', '{', decsera},
    {0, '$', '|', window_columns},
    {0, '$', '}', csi_ignore},
    {0, '$', '~', csi_ignore},
    {0, '&', 'u', decrqupss},
    {0, '\'', '}', decic},
    {0, '\'', '~', decdc},
    {0, '\'', 'z', csi_ignore},
    {0, '\'', '{', csi_ignore},
    {0, '\'', '|', csi_no_answer},
    {0, '*', 'x', decsace},
    {0, '*', 'y', rect_checksum},
    {0, '*', '|', window_lines},
};

static handler csi_find_handler(const struct parser *p, uint8_t final)
{
    if (p->prefix == 0 && p->n_intermediates == 0)
        return final >= '@' && final < 0x7F ? plain[final - '@'] : NULL;
    uint8_t intermediate = p->n_intermediates ? p->intermediates[0] : 0;
    if (p->n_intermediates > 1)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (others[i].final == final && others[i].prefix == p->prefix &&
            others[i].intermediate == intermediate)
            return others[i].run;
    return NULL;
}

void csi_dispatch(void *context, uint8_t final)
{
    struct term *t = context;
    handler run = csi_find_handler(&t->parser, final);
    if (t->n_utf8)
        text_flush(t);
    if (!run)
        term_unknown(t);
    else
        run(t);
    if (run != rep)
        t->joinable = false;
}
