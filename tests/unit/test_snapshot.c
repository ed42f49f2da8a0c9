/* Snapshots: their contents, differences, the JSON, and the shapes of line characters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/utf8.h"
#include "term/draw.h"
#include "term/look.h"
#include "term/snapshot_json.h"
#include "term/term_box.h"
#include "term/term_events.h"

static struct term *feed(unsigned rows, unsigned cols, const char *bytes)
{
    struct term *t = term_new(&(struct term_options){.rows = rows, .cols = cols});
    term_feed(t, str_z(bytes));
    return t;
}

static void take(struct arena *a, unsigned cols, const char *bytes, struct snapshot *s)
{
    struct term *t = feed(3, cols, bytes);
    snapshot_take(t, a, SNAPSHOT_CELLS, s);
    term_free(t);
}

TEST(snapshot_has_lines_and_cells)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct snapshot s;
    take(&a, 6, "\033]2;t\033\\a b\r\n\033[31m日\033[0me\xcc\x81\r\n\033[41m   ", &s);
    CHECK_STR(s.lines[0], STR("a b"));
    CHECK_STR(s.lines[1], STR("日e\xcc\x81"));
    CHECK_STR(s.lines[2], STR("")); /* blanks of any colour */
    CHECK_STR(s.title, STR("t"));
    CHECK_INT(s.cursor.row, 2);
    CHECK_INT(s.cursor.col, 3);
    const struct snapshot_cell *row = s.cells + 6;
    static const struct {
        const char *text;
        unsigned width;
    } cells[] = {{"日", 2}, {"", 0}, {"e\xcc\x81", 1}, {" ", 1}};
    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        test_row(i, cells[i].text);
        CHECK_STR(row[i].text, str_z(cells[i].text));
        CHECK_INT(row[i].width, cells[i].width);
    }
    CHECK(row[0].style.fg == color_ansi(1));
    CHECK(s.cells[12].style.bg == color_ansi(1));
}

TEST(snapshot_lines_are_the_same_without_cells)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct term *t = feed(3, 5, "x  y\r\n 日 \r\n");
    struct snapshot with, without;
    snapshot_take(t, &a, SNAPSHOT_CELLS, &with);
    snapshot_take(t, &a, 0, &without);
    term_free(t);
    CHECK(!without.cells);
    for (unsigned row = 0; row < 3; row++)
        CHECK_STR(without.lines[row], with.lines[row]);
    CHECK(with.hash == without.hash);
}

/* A link is stored once, however many cells have it. */
TEST(snapshot_copies_a_link_once)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct snapshot s;
    take(&a, 4, "\033]8;;http://a\033\\xy\033]8;;\033\\z\033]8;;http://b\033\\w\033]8;;\033\\", &s);
    CHECK_STR(s.cells[0].link, STR("http://a"));
    CHECK(s.cells[0].link.p == s.cells[1].link.p);
    CHECK(!s.cells[2].link.p);
    CHECK_STR(s.cells[3].link, STR("http://b"));
}

TEST(snapshot_diff_finds_columns)
{
    static const struct {
        const char *was, *is;
        size_t n;
        struct snapshot_change first;
    } rows[] = {
        {"abc", "abc", 0, {0}}, {"abc", "aXc", 1, {0, 1, 2}},
        {"abc", "\033[1ma\033[mbc", 1, {0, 0, 1}}, {"\r\n  xy", "\r\n  xz", 1, {1, 3, 4}},
        {"a\r\nb\r\nc", "a\r\nB\r\nC", 2, {1, 0, 1}}, {"日本", "日x", 1, {0, 2, 4}},
        {"\033]8;;http://a\033\\x", "\033]8;;http://b\033\\x", 1, {0, 0, 1}},
        /* Another number for the same link is not a difference. */
        {"\033]8;;http://a\033\\x", "\033]8;;http://b\033\\\033]8;;http://a\033\\x", 0, {0}},
        {"\033[1\"qx", "x", 0, {0}}, /* protection is not visible */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].is);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct snapshot was, is;
        struct snapshot_diff d;
        take(&a, 8, rows[i].was, &was);
        take(&a, 8, rows[i].is, &is);
        snapshot_diff(&was, &is, &a, &d);
        CHECK_INT(d.n_rows, rows[i].n);
        CHECK(!d.size && !d.title && !d.screen);
        if (rows[i].n && d.n_rows) {
            CHECK_INT(d.rows[0].row, rows[i].first.row);
            CHECK_INT(d.rows[0].first, rows[i].first.first);
            CHECK_INT(d.rows[0].end, rows[i].first.end);
        }
    }
}

TEST(snapshot_diff_finds_the_rest)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct snapshot was, is;
    struct snapshot_diff d;
    take(&a, 4, "a", &was);
    take(&a, 4, "a\033[H\033]2;x\033\\", &is);
    snapshot_diff(&was, &is, &a, &d);
    CHECK(d.cursor && d.title && !d.screen && !d.size && d.n_rows == 0);
    take(&a, 4, "\033[?1049h", &is);
    snapshot_diff(&was, &is, &a, &d);
    CHECK(d.screen && d.n_rows == 1);
    take(&a, 6, "a", &is);
    snapshot_diff(&was, &is, &a, &d);
    if (CHECK(d.size && d.n_rows == 3))
        CHECK_INT(d.rows[2].end, 6);
    /* Without cells the whole row differs. */
    take(&a, 4, "b", &is);
    was.cells = NULL;
    snapshot_diff(&was, &is, &a, &d);
    if (CHECK_INT(d.n_rows, 1))
        CHECK(d.rows[0].first == 0 && d.rows[0].end == 4);
}

TEST(style_json_has_extras_only_when_set)
{
#define SIX(fg, bg, b, i, u, v)                                                                   \
    "\"fg\":" fg ",\"bg\":" bg ",\"bold\":" b ",\"italic\":" i ",\"underline\":" u ",\"inverse\"" \
    ":" v
    const struct {
        struct style style;
        const char *link, *want;
    } rows[] = {
        {{0}, NULL, "{" SIX("\"default\"", "\"default\"", "false", "false", "false", "false") "}"},
        {{.fg = color_ansi(9), .bg = color_indexed(200), .attrs = STYLE_BOLD | STYLE_INVERSE}, NULL,
            "{" SIX("{\"ansi_16\":9}", "{\"ansi_256\":200}", "true", "false", "false", "true") "}"},
        {{.fg = color_rgb(1, 2, 255),
             .underline = UNDERLINE_CURLY,
             .underline_color = color_indexed(1),
             .attrs = STYLE_ITALIC | STYLE_RAPID},
            "http://\"",
            "{" SIX("{\"rgb\":{\"r\":1,\"g\":2,\"b\":255}}", "\"default\"", "false", "true", "true",
                "false") ",\"blink\":true,\"underline_style\":\"curly\",\"underline_color\":"
                         "{\"ansi_256\":1},\"link\":\"http://\\\"\"}"},
        {{.attrs = STYLE_FAINT | STYLE_CONCEAL | STYLE_STRIKE | STYLE_OVERLINE | STYLE_PROTECTED},
            NULL,
            "{" SIX("\"default\"", "\"default\"", "false", "false", "false",
                "false") ",\"faint\":"
                         "true,\"conceal\":true,\"strike\":true,\"overline\":true}"},
    };
#undef SIX
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].want);
        AUTO_BUF struct buf out = BUF_INIT(4096);
        AUTO_JSON json_t *json = style_json(&rows[i].style, str_z(rows[i].link));
        json_add_compact(&out, json);
        CHECK_Z(buf_z(&out), rows[i].want);
    }
}

TEST(palette_has_its_cube_and_greys)
{
    CHECK_INT(look_palette(16), 0x000000);
    CHECK_INT(look_palette(21), 0x0000FF);
    CHECK_INT(look_palette(196), 0xFF0000);
    CHECK_INT(look_palette(231), 0xFFFFFF);
    CHECK_INT(look_palette(232), 0x080808);
    CHECK_INT(look_palette(255), 0xEEEEEE);
    CHECK_INT(look_mix(0x000000, 0xFFFFFF, 50), 0x808080);
    CHECK_INT(look_mix(0x123456, 0xFFFFFF, 0), 0x123456);
}

/* Each of them draws something, and lines reach the edges that their names say. */
TEST(box_shapes_are_there)
{
    for (uint32_t c = 0x2500; c < 0x25A0; c++) {
        test_row(c, "box");
        AUTO_BUF struct buf crisp = BUF_INIT(4096), smooth = BUF_INIT(4096);
        CHECK(box_known(c));
        box_add(c, 0, 0, &(struct box_paths){&crisp, &smooth});
        CHECK(crisp.n + smooth.n > 0);
    }
    CHECK(!box_known(0x24FF) && !box_known(0x25A0) && !box_known('-'));
    AUTO_BUF struct buf crisp = BUF_INIT(4096), smooth = BUF_INIT(4096);
    box_add(0x253C, 0, 0, &(struct box_paths){&crisp, &smooth}); /* ┼ */
    CHECK_Z(buf_z(&crisp), "M4 0H5V10H4ZM4 9H9V10H4ZM4 9H5V19H4ZM0 9H5V10H0Z");
}

TEST(markup_is_escaped)
{
    static const struct {
        struct str text;
        const char *want;
    } rows[] = {
        {STR("</pre><script>"), "&lt;/pre&gt;&lt;script&gt;"},
        {STR("a&b \"c\" 'd' ]]>"), "a&amp;b &quot;c&quot; &#39;d&#39; ]]&gt;"},
        {STR("a\x1b[0m\x07\x7f"), "a[0m"},
        {STR("x\xe2\x80\xaey\xe2\x81\xa6z\xef\xbf\xbf"), "xyz\xef\xbf\xbd"},
        {STR("\xff<\xc3"), "\xef\xbf\xbd&lt;\xef\xbf\xbd"},
        {STR("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"),
            "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].want);
        AUTO_BUF struct buf out = BUF_INIT(4096);
        look_add_markup(&out, rows[i].text);
        CHECK_Z(buf_z(&out), rows[i].want);
    }
}

/* A screen, printed as escape sequences into a new terminal, is the same screen. */
TEST(ansi_gives_the_same_screen)
{
    static const char *const rows[] = {
        "plain",
        "\033[1mbold\033[22mnot \033[2mfaint\033[1mboth\033[0m",
        "\033[4:3;58:5:9mcurly\033[4mone\033[21mtwo\033[24;59mnone",
        "\033[31;42ma\033[91;102mb\033[38;5;1;48;5;200mc\033[38;2;1;2;3md\033[39me\033[49mf",
        "\033[3;5;7;9;53mall\033[23mless\033[25;27;29;55mnone\033[8mhidden\033[m",
        "\033[6;58:2::1:2:3;4:5mrapid\033[5mboth\033[m",
        "\033[44m日本\033[m한 e\xcc\x81\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7.",
        "\033]8;;http://a/?b;c\033\\link\033]8;;http://b\033\\other\033]8;;\033\\none",
        "\r\n\n     \033[7m     \033[m   x",
        "01234567890123456789\033[41m01234567890123456789",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i]);
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        AUTO_BUF struct buf out = BUF_INIT(1 << 20);
        struct snapshot was, is;
        struct snapshot_diff d;
        take(&a, 20, rows[i], &was);
        draw_ansi(&was, &out);
        struct term *t = term_new(&(struct term_options){.rows = 3, .cols = 20, .onlcr = true});
        term_feed(t, buf_str(&out));
        snapshot_take(t, &a, SNAPSHOT_CELLS, &is);
        term_free(t);
        snapshot_diff(&was, &is, &a, &d);
        if (!CHECK_INT(d.n_rows, 0))
            CHECK_Z(buf_z(&out), rows[i]);
    }
}

TEST(events_are_counted_and_bounded)
{
    struct events *e = events_new();
    struct term *t =
        term_new(&(struct term_options){.rows = 2, .cols = 20, .event = events_add, .context = e});
    for (unsigned i = 0; i < 2000; i++) {
        char title[64];
        snprintf(title, sizeof(title), "\a\xff\xfe\033[?99$z\033]2;%u\033\\", i);
        term_feed(t, str_z(title));
    }
    AUTO_JSON json_t *list = events_json(e, t);
    CHECK_INT(json_array_size(list), EVENTS_MAX);
    CHECK_INT(events_dropped(e), 2000 - (EVENTS_MAX - 3));
    static const struct {
        const char *type, *text;
        int64_t count;
    } want[] = {
        {"bell", "", 2000},
        {"replaced_character", "\\xFF", 4000},
        {"unknown_sequence", "\033[?99$z", 2000},
        {"title", "0", 1},
        {"title", "1", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const json_t *event = json_array_get(list, i);
        test_row(i, want[i].type);
        CHECK_Z(json_string_value(json_object_get(event, "type")), want[i].type);
        CHECK_Z(json_string_value(json_object_get(event, "text")), want[i].text);
        CHECK_INT(json_integer_value(json_object_get(event, "count")), want[i].count);
    }
    term_free(t);
    events_free(e);
}
