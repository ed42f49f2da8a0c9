/* The screen as an SVG: a window frame, the layer of shapes, and text in runs of exact width. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/draw.h"
#include "term/layer.h"

#include "base/utf8.h"

enum {
    W = LOOK_CELL_WIDTH,
    H = LOOK_CELL_HEIGHT,
    PAD = 16,
    BAR = 38,
    RADIUS = 11,
    WIDTH_MIN = 180,
    TITLE_SIDES = 2 * 84, /* space for the buttons, on both sides */
    TITLE_CHAR = 7,       /* approximate width of a character in the title */
};

static void add_attributes(struct buf *out, const struct look *look)
{
    if (look->fg != LOOK_FG)
        buf_printf(out, " fill=\"#%06x\"", look->fg);
    if (look->bold)
        buf_add_z(out, " font-weight=\"700\"");
    if (look->italic)
        buf_add_z(out, " font-style=\"italic\"");
    if (look->blink)
        buf_add_z(out, " class=\"k\"");
}

/* Adds the characters of a run from col to end. */
static void add_letters(const struct snapshot *s, unsigned row, const struct look *look,
    unsigned col, unsigned end, struct buf *out)
{
    buf_printf(out, "<text x=\"%u\" y=\"%u\"", col * W, row * H + LOOK_BASELINE);
    if (end - col > 1)
        buf_printf(out, " textLength=\"%u\" lengthAdjust=\"spacingAndGlyphs\"", (end - col) * W);
    add_attributes(out, look);
    buf_add_byte(out, '>');
    for (; col < end; col++)
        look_add_markup(out, look_cell(s, row, col)->text);
    buf_add_z(out, "</text>\n");
}

static bool svg_is_space(const struct snapshot *s, unsigned row, unsigned col, unsigned end)
{
    return col >= end || str_is(look_cell(s, row, col)->text, " ");
}

/* Only words separated by single spaces share an element: viewers handle repeated spaces
 * differently. */
static void svg_add_words(
    const struct snapshot *s, unsigned row, const struct run *run, struct buf *out)
{
    unsigned end = run->col + run->n, col = run->col;
    while (col < end) {
        if (svg_is_space(s, row, col, end)) {
            col++;
            continue;
        }
        unsigned stop = col;
        while (!svg_is_space(s, row, stop, end) || !svg_is_space(s, row, stop + 1, end))
            stop++;
        add_letters(s, row, &run->look, col, stop, out);
        col = stop;
    }
}

static void svg_add_cell(
    const struct snapshot *s, unsigned row, const struct run *run, struct buf *out)
{
    buf_printf(out, "<text x=\"%g\" y=\"%u\" text-anchor=\"middle\"", (run->col + run->n / 2.0) * W,
        row * H + LOOK_BASELINE);
    add_attributes(out, &run->look);
    buf_add_byte(out, '>');
    look_add_markup(out, look_cell(s, row, run->col)->text);
    buf_add_z(out, "</text>\n");
}

static void add_title(struct str title, unsigned width, struct buf *out)
{
    size_t room = width > TITLE_SIDES ? (width - TITLE_SIDES) / TITLE_CHAR : 0, at = 0, chars = 0;
    uint32_t codepoint;
    while (at < title.n && chars < room) {
        size_t n = utf8_decode(str_skip(title, at), &codepoint);
        at += n ? n : 1;
        chars++;
    }
    if (at == 0)
        return;
    buf_printf(out,
        "<text x=\"%g\" y=\"24\" text-anchor=\"middle\" fill=\"#%06x\" font-size=\"13\" "
        "font-weight=\"500\" font-family=\"system-ui,-apple-system,'Segoe UI',sans-serif\">",
        width / 2.0, (unsigned)LOOK_TITLE);
    look_add_markup(out, str_head(title, at));
    buf_add_z(out, at < title.n ? "\xE2\x80\xA6</text>\n" : "</text>\n");
}

static void add_window(const struct snapshot *s, unsigned width, unsigned height, struct buf *out)
{
    static const uint32_t buttons[] = {0xFF6159, 0xFFBD2E, 0x2ACA44};
    buf_printf(out,
        "<rect x=\".5\" y=\".5\" width=\"%u\" height=\"%u\" rx=\"%d\" fill=\"#%06x\"/>\n"
        "<path d=\"M.5 %dV%da%d %d 0 0 1 %d -%dH%ua%d %d 0 0 1 %d %dV%dZ\" fill=\"#%06x\"/>\n"
        "<path d=\"M.5 %d.5H%u.5\" stroke=\"#0e1015\"/>\n"
        "<rect x=\".5\" y=\".5\" width=\"%u\" height=\"%u\" rx=\"%d\" fill=\"none\" "
        "stroke=\"#%06x\"/>\n",
        width - 1, height - 1, RADIUS, (unsigned)LOOK_BG, BAR, RADIUS, RADIUS, RADIUS, RADIUS,
        RADIUS, width - 1 - RADIUS, RADIUS, RADIUS, RADIUS, RADIUS, BAR, (unsigned)LOOK_BAR, BAR,
        width - 1, width - 1, height - 1, RADIUS, (unsigned)LOOK_BORDER);
    for (unsigned i = 0; i < ARRAY_LEN(buttons); i++)
        buf_printf(out, "<circle cx=\"%u\" cy=\"19.5\" r=\"6\" fill=\"#%06x\"/>\n", 21 + 20 * i,
            buttons[i]);
    add_title(s->title, width, out);
}

void draw_svg(const struct snapshot *s, struct buf *out)
{
    BUG_ON(!s->cells);
    unsigned width = MAX(s->cols * W + 2 * PAD, (unsigned)WIDTH_MIN);
    unsigned height = s->rows * H + 2 * PAD + BAR;
    buf_printf(out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
        "viewBox=\"0 0 %u %u\" role=\"img\">\n<title>",
        width, height, width, height);
    look_add_markup(out, s->title.n ? s->title : STR("Terminal"));
    buf_add_z(out, "</title>\n<style>@media (prefers-reduced-motion:no-preference){"
                   ".k{animation:k 1.2s steps(1) infinite}}@keyframes k{50%{opacity:0}}</style>\n");
    add_window(s, width, height, out);
    buf_printf(out, "<g transform=\"translate(%d %d)\">\n", PAD, BAR + PAD);
    layer_draw(s, out);
    buf_printf(out,
        "<g font-family=\"" LOOK_FONTS "\" font-size=\"%d\" fill=\"#%06x\" xml:space=\"preserve\" "
        "style=\"white-space:pre;font-variant-ligatures:none\" direction=\"ltr\" "
        "unicode-bidi=\"bidi-override\">\n",
        LOOK_FONT_SIZE, (unsigned)LOOK_FG);
    for (unsigned row = 0; row < s->rows; row++) {
        struct run run;
        for (unsigned col = 0; run_next(s, row, col, &run); col = run.col + run.n) {
            if (run.kind == RUN_LETTERS)
                svg_add_words(s, row, &run, out);
            else if (run.kind == RUN_ONE)
                svg_add_cell(s, row, &run, out);
        }
    }
    buf_add_z(out, "</g>\n</g>\n</svg>\n");
}
