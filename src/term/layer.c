/* Backgrounds, box drawing, underlines and the cursor of a screen. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/layer.h"

#include "term/term_box.h"

enum {
    W = LOOK_CELL_WIDTH,
    H = LOOK_CELL_HEIGHT,
    UNDERLINE_Y = 16,
    STRIKE_Y = 10,
    PART_MAX = 256 << 20,
};

/* Collects paths until the colour changes. */
struct shapes {
    uint32_t fill;
    struct buf crisp, smooth;         /* pending path data */
    struct buf crisp_out, smooth_out; /* finished elements */
};

static void flush_part(struct buf *data, uint32_t fill, struct buf *out)
{
    if (data->n)
        buf_printf(out, "<path fill=\"#%06x\" d=\"%s\"/>\n", fill, buf_z(data));
    buf_reset(data);
}

static void shapes_color(struct shapes *s, uint32_t fill)
{
    if (s->fill == fill)
        return;
    flush_part(&s->crisp, s->fill, &s->crisp_out);
    flush_part(&s->smooth, s->fill, &s->smooth_out);
    s->fill = fill;
}

static void layer_add_bar(struct shapes *s, double x, double y, double width, double height)
{
    buf_printf(&s->crisp, "M%g %gh%gv%gh%gZ", x, y, width, height, -width);
}

/* Dotted and dashed lines. The period divides the cell width, so that adjacent cells align. */
static void layer_add_broken_line(
    struct shapes *s, unsigned x, unsigned y, unsigned width, unsigned on, unsigned period)
{
    for (unsigned at = 0; at < width; at += period)
        layer_add_bar(s, x + at + (period - on) / 2, y, on, 1);
}

/* One wave per cell, outlined along its upper edge and back along the lower one. */
static void layer_add_curly_line(struct shapes *s, unsigned x, unsigned y, unsigned width)
{
    static const double high = 3.4, thick = 1.2;
    double step = W / 2.0;
    buf_printf(&s->smooth, "M%u %g", x, y - thick / 2);
    for (unsigned i = 0; i < width / W; i++)
        buf_printf(&s->smooth, "q%g %g %g 0t%g 0", step / 2, -high, step, step);
    buf_printf(&s->smooth, "v%g", thick);
    for (unsigned i = 0; i < width / W; i++)
        buf_printf(&s->smooth, "q%g %g %g 0t%g 0", -step / 2, high, -step, -step);
    buf_add_byte(&s->smooth, 'Z');
}

static void add_underline(struct shapes *s, unsigned kind, unsigned x, unsigned y, unsigned width)
{
    y += UNDERLINE_Y;
    switch (kind) {
    case UNDERLINE_SINGLE:
        layer_add_bar(s, x, y, width, 1);
        break;
    case UNDERLINE_DOUBLE:
        layer_add_bar(s, x, y - 1, width, 1);
        layer_add_bar(s, x, y + 1, width, 1);
        break;
    case UNDERLINE_CURLY:
        layer_add_curly_line(s, x, y, width);
        break;
    case UNDERLINE_DOTTED:
        layer_add_broken_line(s, x, y, width, 1, 3);
        break;
    case UNDERLINE_DASHED:
        layer_add_broken_line(s, x, y, width, 5, W);
        break;
    default:
        break;
    }
}

static void add_decorations(
    struct shapes *s, const struct look *look, unsigned x, unsigned y, unsigned width)
{
    if (look->underline) {
        shapes_color(s, look->underline_color);
        add_underline(s, look->underline, x, y, width);
    }
    if (look->strike || look->overline)
        shapes_color(s, look->fg);
    if (look->strike)
        layer_add_bar(s, x, y + STRIKE_Y, width, 1);
    if (look->overline)
        layer_add_bar(s, x, y, width, 1);
}

static void add_boxes(struct shapes *s, const struct snapshot *snap, unsigned row, unsigned col)
{
    const struct snapshot_cell *cell = look_cell(snap, row, col);
    if (!layer_has(cell))
        return;
    struct look look = look_of(snap, row, col);
    if (look.hidden)
        return;
    uint32_t codepoint = look_codepoint(cell);
    shapes_color(s, look_mix(look.bg, look.fg, box_shade(codepoint)));
    box_add(codepoint, col * W, row * H, &(struct box_paths){&s->crisp, &s->smooth});
}

static void add_backgrounds(const struct snapshot *s, unsigned row, struct buf *out)
{
    for (unsigned col = 0, n; col < s->cols; col += n) {
        struct look look = look_of(s, row, col);
        n = MAX(look_cell(s, row, col)->width, 1);
        while (col + n < s->cols && look_of(s, row, col + n).bg == look.bg)
            n += MAX(look_cell(s, row, col + n)->width, 1);
        if (look.bg != LOOK_BG)
            buf_printf(out, "<path fill=\"#%06x\" d=\"M%u %uh%uv%uh-%uZ\"/>\n", look.bg, col * W,
                row * H, n * W, (unsigned)H, n * W);
    }
}

static void layer_add_cursor(const struct snapshot *s, struct shapes *shapes)
{
    unsigned col, width;
    if (s->cursor.shape == 0 || !look_cursor(s, &col, &width))
        return; /* a block cursor is drawn as a background */
    shapes_color(shapes, LOOK_CURSOR);
    if (s->cursor.shape == 1)
        layer_add_bar(shapes, col * W, s->cursor.row * H + H - 2.0, width * W, 2);
    else
        layer_add_bar(shapes, col * W, s->cursor.row * H, 2, H);
}

void layer_draw(const struct snapshot *s, struct buf *out)
{
    struct shapes shapes = {
        .crisp = BUF_INIT(PART_MAX),
        .smooth = BUF_INIT(PART_MAX),
        .crisp_out = BUF_INIT(PART_MAX),
        .smooth_out = BUF_INIT(PART_MAX),
    };
    buf_add_z(out, "<g shape-rendering=\"crispEdges\">\n");
    for (unsigned row = 0; row < s->rows; row++) {
        struct run run;
        add_backgrounds(s, row, out);
        for (unsigned col = 0; col < s->cols; col++)
            add_boxes(&shapes, s, row, col);
        for (unsigned col = 0; run_next(s, row, col, &run); col = run.col + run.n)
            add_decorations(&shapes, &run.look, run.col * W, row * H, run.n * W);
    }
    layer_add_cursor(s, &shapes);
    shapes_color(&shapes, ~shapes.fill);
    buf_add_str(out, buf_str(&shapes.crisp_out));
    buf_add_z(out, "</g>\n");
    buf_add_str(out, buf_str(&shapes.smooth_out));
    out->overflow |= !buf_ok(&shapes.crisp_out) || !buf_ok(&shapes.smooth_out);
    buf_done(&shapes.crisp);
    buf_done(&shapes.smooth);
    buf_done(&shapes.crisp_out);
    buf_done(&shapes.smooth_out);
}

bool layer_has(const struct snapshot_cell *cell)
{
    return cell->width == 1 && box_known(look_codepoint(cell));
}

/* Runs ---------------------------------------------------------------------------------------- */

static enum run_kind layer_run_kind(const struct snapshot_cell *cell, const struct look *look)
{
    if (look->hidden || layer_has(cell))
        return RUN_SHAPES;
    return look_plain(cell) ? RUN_LETTERS : RUN_ONE;
}

bool run_next(const struct snapshot *s, unsigned row, unsigned col, struct run *ret_run)
{
    if (col >= s->cols)
        return false;
    const struct snapshot_cell *cell = look_cell(s, row, col);
    struct run run = {.col = col, .look = look_of(s, row, col), .link = cell->link};
    run.kind = layer_run_kind(cell, &run.look);
    run.blank = str_is(cell->text, " ");
    run.n = MAX(cell->width, 1);
    while (run.kind != RUN_ONE && col + run.n < s->cols) {
        cell = look_cell(s, row, col + run.n);
        struct look look = look_of(s, row, col + run.n);
        if (layer_run_kind(cell, &look) != run.kind || !look_same(&look, &run.look) ||
            !str_eq(cell->link, run.link))
            break;
        run.blank = run.blank && str_is(cell->text, " ");
        run.n += MAX(cell->width, 1);
    }
    *ret_run = run;
    return true;
}
