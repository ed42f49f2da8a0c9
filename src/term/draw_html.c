/* The screen as an HTML page: an SVG with the layer of shapes, and selectable text on top. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "term/draw.h"
#include "term/layer.h"

static const char style_sheet[] =
    ":root{color-scheme:dark}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;min-height:100vh;display:grid;place-content:center;padding:32px;"
    "background:#0b0c10 radial-gradient(ellipse at 50% 0,#23283a,#0b0c10 70%)}\n"
    ".w{border-radius:11px;background:#14161c;overflow:hidden;"
    "box-shadow:0 0 0 1px #343946,0 24px 64px #000a,0 4px 14px #0008}\n"
    "header{position:relative;height:38px;background:#1e2129;border-bottom:1px solid #0e1015}\n"
    "header i{position:absolute;top:13px;width:12px;height:12px;border-radius:50%}\n"
    "header i:nth-child(1){left:15px;background:#ff6159}\n"
    "header i:nth-child(2){left:35px;background:#ffbd2e}\n"
    "header i:nth-child(3){left:55px;background:#2aca44}\n"
    "h1{margin:0 80px;font:500 13px/38px system-ui,-apple-system,'Segoe UI',sans-serif;"
    "color:#9aa3b5;text-align:center;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;"
    "width:0;min-width:calc(100% - 160px)}\n"
    ".p{padding:14px 16px 16px;overflow-x:auto}\n"
    ".s{position:relative;font:15px/19px " LOOK_FONTS ";"
    "font-variant-ligatures:none;font-feature-settings:'liga' 0,'calt' 0}\n"
    ".s svg{position:absolute;left:0;top:0;width:100%;height:100%}\n"
    "pre{position:relative;margin:0;font:inherit;color:#d6dce8;direction:ltr;"
    "unicode-bidi:bidi-override;tab-size:1}\n"
    "pre u{display:inline-block;height:19px;vertical-align:top;text-decoration:none;"
    "white-space:pre;text-align:center}\n"
    ".x{color:transparent;overflow:hidden}\n"
    ".b{font-weight:700}\n"
    ".i{font-style:italic}\n"
    "a{color:inherit;text-decoration:none}\n"
    "a:hover{background:#6caef533}\n"
    "@media (prefers-reduced-motion:no-preference){.k{animation:k 1.2s steps(1) infinite}}\n"
    "@keyframes k{50%{opacity:0}}\n"
    "@media print{body{background:none}}\n";

static bool is_web(struct str link)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (link.n > n && strncasecmp(link.p, schemes[i], n) == 0)
            return true;
    }
    return false;
}

/* Adds the attributes for a run's look; none for the default. */
static void add_look(struct buf *out, const struct run *run)
{
    const struct look *look = &run->look;
    char names[8];
    size_t n = 0;
    if (look->bold)
        names[n++] = 'b';
    if (look->italic)
        names[n++] = 'i';
    if (look->blink)
        names[n++] = 'k';
    if (run->kind == RUN_SHAPES)
        names[n++] = 'x';
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%c%s", i ? " " : " class=\"", names[i], i + 1 == n ? "\"" : "");
    bool placed = run->kind != RUN_LETTERS;
    bool colored = look->fg != LOOK_FG && run->kind != RUN_SHAPES;
    if (placed || colored)
        buf_add_z(out, " style=\"");
    if (placed)
        buf_printf(out, "width:%uch%s", run->n, colored ? ";" : "");
    if (colored)
        buf_printf(out, "color:#%06x", look->fg);
    if (placed || colored)
        buf_add_byte(out, '"');
}

static void add_cells(
    const struct snapshot *s, unsigned row, const struct run *run, struct buf *out)
{
    for (unsigned col = run->col; col < run->col + run->n; col++) {
        const struct snapshot_cell *cell = look_cell(s, row, col);
        if (run->look.hidden && cell->width)
            buf_printf(out, "%*s", (int)cell->width, "");
        else
            look_add_markup(out, cell->text);
    }
}

static void draw_html_add_run(
    const struct snapshot *s, unsigned row, const struct run *run, struct buf *out)
{
    bool web = is_web(run->link);
    if (run->link.n) {
        buf_add_z(out, web ? "<a rel=\"noopener noreferrer\" href=\"" : "<span title=\"");
        look_add_markup(out, run->link);
        buf_add_z(out, "\">");
    }
    AUTO_BUF struct buf look = BUF_INIT(256);
    add_look(&look, run);
    const char *tag = run->kind == RUN_LETTERS ? "span" : "u";
    if (look.n)
        buf_printf(out, "<%s%s>", tag, buf_z(&look));
    add_cells(s, row, run, out);
    if (look.n)
        buf_printf(out, "</%s>", tag);
    if (run->link.n)
        buf_add_z(out, web ? "</a>" : "</span>");
}

static void html_add_row(const struct snapshot *s, unsigned row, struct buf *out)
{
    struct run run;
    size_t end = out->n; /* without trailing blanks */
    for (unsigned col = 0; run_next(s, row, col, &run); col = run.col + run.n) {
        draw_html_add_run(s, row, &run, out);
        if (!run.blank && buf_ok(out))
            end = out->n;
    }
    buf_truncate(out, end);
    buf_add_byte(out, '\n');
}

void draw_html(const struct snapshot *s, struct buf *out)
{
    BUG_ON(!s->cells);
    buf_add_z(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" "
                   "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    look_add_markup(out, s->title.n ? s->title : STR("Terminal"));
    buf_printf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style_sheet);
    buf_add_z(out, "<main class=\"w\">\n<header><i></i><i></i><i></i><h1>");
    look_add_markup(out, s->title);
    buf_printf(out,
        "</h1></header>\n<div class=\"p\"><div class=\"s\" style=\"width:%uch;height:%upx\">\n"
        "<svg viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\n",
        s->cols, s->rows * LOOK_CELL_HEIGHT, s->cols * LOOK_CELL_WIDTH, s->rows * LOOK_CELL_HEIGHT);
    layer_draw(s, out);
    buf_add_z(out, "</svg>\n<pre>\n");
    for (unsigned row = 0; row < s->rows; row++)
        html_add_row(s, row, out);
    buf_add_z(out, "</pre></div></div>\n</main>\n</body>\n</html>\n");
}
