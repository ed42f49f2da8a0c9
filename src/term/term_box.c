/* Box drawing and block characters as shapes.
 *
 * A line character has up to four arms from the cell's centre, each light, heavy or double. An arm
 * is one rectangle (two if double); its start depends on the arms that cross it, so that corners
 * close and double lines open at crossings.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/term_box.h"

#include "term/look.h"

enum {
    BOX_FIRST = 0x2500,
    BOX_DASHES = 0x2504,
    BOX_DASHES_2 = 0x254C,
    BOX_ARCS = 0x256D,
    BOX_DIAGONALS = 0x2571,
    BOX_AFTER_DIAGONALS = 0x2574,
    BLOCK_FIRST = 0x2580,
    BLOCK_LAST = 0x259F,
    PROMPT_FIRST = 0xE0B0,
    PROMPT_LAST = 0xE0B3,

    W = LOOK_CELL_WIDTH,
    H = LOOK_CELL_HEIGHT,
};

enum box_arm {
    NONE,
    LIGHT,
    HEAVY,
    DOUBLE,
};

enum {
    UP,
    RIGHT,
    DOWN,
    LEFT,
    ARMS,
};

/* Up, right, down, left. */
static const uint8_t arms[BLOCK_FIRST - BOX_FIRST][ARMS] = {
    // clang-format off
    {0, 1, 0, 1}, {0, 2, 0, 2}, {1, 0, 1, 0}, {2, 0, 2, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, /* 2500 */
    {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 1, 0}, {0, 2, 1, 0}, {0, 1, 2, 0}, {0, 2, 2, 0}, /* 2508 */
    {0, 0, 1, 1}, {0, 0, 1, 2}, {0, 0, 2, 1}, {0, 0, 2, 2}, {1, 1, 0, 0}, {1, 2, 0, 0}, {2, 1, 0, 0}, {2, 2, 0, 0}, /* 2510 */
    {1, 0, 0, 1}, {1, 0, 0, 2}, {2, 0, 0, 1}, {2, 0, 0, 2}, {1, 1, 1, 0}, {1, 2, 1, 0}, {2, 1, 1, 0}, {1, 1, 2, 0}, /* 2518 */
    {2, 1, 2, 0}, {2, 2, 1, 0}, {1, 2, 2, 0}, {2, 2, 2, 0}, {1, 0, 1, 1}, {1, 0, 1, 2}, {2, 0, 1, 1}, {1, 0, 2, 1}, /* 2520 */
    {2, 0, 2, 1}, {2, 0, 1, 2}, {1, 0, 2, 2}, {2, 0, 2, 2}, {0, 1, 1, 1}, {0, 1, 1, 2}, {0, 2, 1, 1}, {0, 2, 1, 2}, /* 2528 */
    {0, 1, 2, 1}, {0, 1, 2, 2}, {0, 2, 2, 1}, {0, 2, 2, 2}, {1, 1, 0, 1}, {1, 1, 0, 2}, {1, 2, 0, 1}, {1, 2, 0, 2}, /* 2530 */
    {2, 1, 0, 1}, {2, 1, 0, 2}, {2, 2, 0, 1}, {2, 2, 0, 2}, {1, 1, 1, 1}, {1, 1, 1, 2}, {1, 2, 1, 1}, {1, 2, 1, 2}, /* 2538 */
    {2, 1, 1, 1}, {1, 1, 2, 1}, {2, 1, 2, 1}, {2, 1, 1, 2}, {2, 2, 1, 1}, {1, 1, 2, 2}, {1, 2, 2, 1}, {2, 2, 1, 2}, /* 2540 */
    {1, 2, 2, 2}, {2, 1, 2, 2}, {2, 2, 2, 1}, {2, 2, 2, 2}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, /* 2548 */
    {0, 3, 0, 3}, {3, 0, 3, 0}, {0, 3, 1, 0}, {0, 1, 3, 0}, {0, 3, 3, 0}, {0, 0, 1, 3}, {0, 0, 3, 1}, {0, 0, 3, 3}, /* 2550 */
    {1, 3, 0, 0}, {3, 1, 0, 0}, {3, 3, 0, 0}, {1, 0, 0, 3}, {3, 0, 0, 1}, {3, 0, 0, 3}, {1, 3, 1, 0}, {3, 1, 3, 0}, /* 2558 */
    {3, 3, 3, 0}, {1, 0, 1, 3}, {3, 0, 3, 1}, {3, 0, 3, 3}, {0, 3, 1, 3}, {0, 1, 3, 1}, {0, 3, 3, 3}, {1, 3, 0, 3}, /* 2560 */
    {3, 1, 0, 1}, {3, 3, 0, 3}, {1, 3, 1, 3}, {3, 1, 3, 1}, {3, 3, 3, 3}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, /* 2568 */
    {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, /* 2570 */
    {0, 0, 0, 2}, {2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}, {0, 2, 0, 1}, {1, 0, 2, 0}, {0, 1, 0, 2}, {2, 0, 1, 0}, /* 2578 */
    // clang-format on
};

/* Half the thickness of a line, and the distance of a double line's strokes from the centre. */
static const double half[] = {[NONE] = 0, [LIGHT] = 0.5, [HEAVY] = 1.5, [DOUBLE] = 0.5};
static const double apart = 2;

struct box_cell {
    double x, y;
    const struct box_paths *paths;
};

static void box_add_rect(const struct box_cell *c, double x0, double y0, double x1, double y1)
{
    buf_printf(
        c->paths->crisp, "M%g %gH%gV%gH%gZ", c->x + x0, c->y + y0, c->x + x1, c->y + y1, c->x + x0);
}

/* Adds a stroke from `from` to the cell's edge in a direction. `from` is measured from the centre
 * along the arm, `side` (the stroke's middle) across it; `thick` is half the thickness. */
static void arm_rect(
    const struct box_cell *c, unsigned direction, double from, double side, double thick)
{
    double mx = W / 2.0, my = H / 2.0;
    switch (direction) {
    case UP:
        box_add_rect(c, mx + side - thick, 0, mx + side + thick, my - from);
        break;
    case DOWN:
        box_add_rect(c, mx + side - thick, my + from, mx + side + thick, H);
        break;
    case LEFT:
        box_add_rect(c, 0, my + side - thick, mx - from, my + side + thick);
        break;
    default:
        box_add_rect(c, mx + from, my + side - thick, W, my + side + thick);
        break;
    }
}

/* Adds a light or heavy arm; a and b are the arms across it. */
static void single_arm(const struct box_cell *c, const uint8_t row[ARMS], unsigned direction)
{
    uint8_t a = row[(direction + 1) % ARMS], b = row[(direction + 3) % ARMS];
    uint8_t opposite = row[(direction + 2) % ARMS];
    double from = -MAX(half[a], half[b]);
    if (opposite && !a && !b)
        from = -half[LIGHT]; /* the halves overlap, so that no scaling shows a gap */
    if (!opposite && a == DOUBLE && b == DOUBLE)
        from = apart - half[DOUBLE]; /* ends at the near stroke */
    else if (!opposite && (a == DOUBLE || b == DOUBLE))
        from = -apart - half[DOUBLE]; /* corner: ends at the far stroke */
    arm_rect(c, direction, from, 0, half[row[direction]]);
}

static void double_arm(const struct box_cell *c, const uint8_t row[ARMS], unsigned direction)
{
    /* Vertical arms are crossed by left and right, horizontal ones by up and down. */
    bool upright = direction == UP || direction == DOWN;
    uint8_t across[2] = {row[upright ? LEFT : UP], row[upright ? RIGHT : DOWN]};
    for (unsigned i = 0; i < 2; i++) {
        uint8_t here = across[i], there = across[1 - i];
        double from = -MAX(half[here], half[there]);
        if (here == DOUBLE)
            from = apart - half[DOUBLE]; /* inner corner */
        else if (there == DOUBLE)
            from = -apart - half[DOUBLE]; /* outer corner */
        arm_rect(c, direction, from, i ? apart : -apart, half[DOUBLE]);
    }
}

static void add_arms(const struct box_cell *c, const uint8_t row[ARMS])
{
    for (unsigned direction = 0; direction < ARMS; direction++) {
        if (row[direction] == DOUBLE)
            double_arm(c, row, direction);
        else if (row[direction])
            single_arm(c, row, direction);
    }
}

/* Code points are in the order light, heavy, light vertical, heavy vertical. */
static void add_dashes(const struct box_cell *c, unsigned n, bool heavy, bool upright)
{
    double thick = half[heavy ? HEAVY : LIGHT], length = upright ? H : W;
    for (unsigned i = 0; i < n; i++) {
        double step = length / n, from = step * i + step / 5, to = step * (i + 1) - step / 5;
        if (upright)
            box_add_rect(c, W / 2.0 - thick, from, W / 2.0 + thick, to);
        else
            box_add_rect(c, from, H / 2.0 - thick, to, H / 2.0 + thick);
    }
}

/* Order of the arcs: down and right, down and left, up and left, up and right. A quarter ring and
 * the line that leads to it; sx and sy are the directions of the arms. */
static void add_arc(const struct box_cell *c, int sx, int sy)
{
    double mx = c->x + W / 2.0, my = c->y + H / 2.0, r = W / 2.0;
    double x_edge = mx + sx * r, y_arc = my + sy * r, y_edge = my + sy * H / 2.0;
    double out = r + half[LIGHT], in = r - half[LIGHT];
    int sweep = sx * sy > 0;
    buf_printf(c->paths->smooth, "M%g %gV%gA%g %g 0 0 %d %g %gV%gA%g %g 0 0 %d %g %gV%gZ",
        mx - sx * half[LIGHT], y_edge, y_arc, out, out, sweep, x_edge, my - sy * half[LIGHT],
        my + sy * half[LIGHT], in, in, !sweep, mx + sx * half[LIGHT], y_arc, y_edge);
}

static void add_diagonal(const struct box_cell *c, bool rising)
{
    double x0 = c->x, x1 = c->x + W, top = rising ? x1 : x0, bottom = rising ? x0 : x1;
    double t = 0.6, y0 = c->y, y1 = c->y + H;
    buf_printf(
        c->paths->smooth, "M%g %gH%gL%g %gH%gZ", top - t, y0, top + t, bottom + t, y1, bottom - t);
}

static void box_add_line(const struct box_cell *c, uint32_t cp)
{
    static const int8_t arcs[][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    unsigned dash = cp - (cp >= BOX_DASHES_2 ? BOX_DASHES_2 : BOX_DASHES);
    if (cp >= BOX_DASHES && cp < BOX_DASHES + 8)
        add_dashes(c, dash < 4 ? 3 : 4, dash & 1, dash & 2);
    else if (cp >= BOX_DASHES_2 && cp < BOX_DASHES_2 + 4)
        add_dashes(c, 2, dash & 1, dash & 2);
    else if (cp >= BOX_ARCS && cp < BOX_DIAGONALS)
        add_arc(c, arcs[cp - BOX_ARCS][0], arcs[cp - BOX_ARCS][1]);
    else if (cp >= BOX_DIAGONALS && cp < BOX_AFTER_DIAGONALS) {
        if (cp != BOX_DIAGONALS + 1)
            add_diagonal(c, true);
        if (cp != BOX_DIAGONALS)
            add_diagonal(c, false);
    } else {
        add_arms(c, arms[cp - BOX_FIRST]);
    }
}

/* U+2596 to 259F: quadrants as a mask: 1 upper left, 2 upper right, 4 lower left, 8 lower right. */
static const uint8_t quarters[] = {4, 8, 1, 13, 9, 7, 11, 2, 6, 14};

static void box_add_block(const struct box_cell *c, uint32_t cp)
{
    unsigned n = cp - BLOCK_FIRST;
    if (n == 0) /* upper half */
        box_add_rect(c, 0, 0, W, H / 2.0);
    else if (n <= 8) /* lower eighths, up to full */
        box_add_rect(c, 0, H - H * n / 8.0, W, H);
    else if (n < 0x10) /* left eighths, 7 down to 1 */
        box_add_rect(c, 0, 0, W * (0x10 - n) / 8.0, H);
    else if (n == 0x10)
        box_add_rect(c, W / 2.0, 0, W, H);
    else if (n <= 0x13) /* shades: only the colour differs, see box_shade() */
        box_add_rect(c, 0, 0, W, H);
    else if (n == 0x14)
        box_add_rect(c, 0, 0, W, H / 8.0);
    else if (n == 0x15)
        box_add_rect(c, W * 7 / 8.0, 0, W, H);
    for (unsigned i = 0; n >= 0x16 && i < 4; i++) {
        double x = i & 1 ? W / 2.0 : 0, y = i & 2 ? H / 2.0 : 0;
        if (quarters[n - 0x16] & 1u << i)
            box_add_rect(c, x, y, x + W / 2.0, y + H / 2.0);
    }
}

/* Filled triangles and outlines, pointing right and left. */
static void box_add_prompt(const struct box_cell *c, unsigned n)
{
    double base = c->x + (n & 2 ? W : 0), tip = c->x + (n & 2 ? 0 : W), y = c->y,
           t = n & 2 ? -1 : 1;
    if (n & 1)
        buf_printf(c->paths->smooth, "M%g %gH%gL%g %gL%g %gH%gL%g %gZ", base, y, base + t, tip,
            y + H / 2.0, base + t, y + H, base, tip - t, y + H / 2.0);
    else
        buf_printf(c->paths->smooth, "M%g %gL%g %gL%g %gZ", base, y, tip, y + H / 2.0, base, y + H);
}

bool box_known(uint32_t codepoint)
{
    return (codepoint >= BOX_FIRST && codepoint <= BLOCK_LAST) ||
           (codepoint >= PROMPT_FIRST && codepoint <= PROMPT_LAST);
}

void box_add(uint32_t codepoint, unsigned x, unsigned y, const struct box_paths *paths)
{
    struct box_cell c = {x, y, paths};
    if (codepoint >= PROMPT_FIRST)
        box_add_prompt(&c, codepoint - PROMPT_FIRST);
    else if (codepoint >= BLOCK_FIRST)
        box_add_block(&c, codepoint);
    else
        box_add_line(&c, codepoint);
}

unsigned box_shade(uint32_t codepoint)
{
    switch (codepoint) {
    case 0x2591:
        return 25;
    case 0x2592:
        return 50;
    case 0x2593:
        return 75;
    default:
        return 100;
    }
}
