/* Messages between a supervisor and its clients: packets, and rows of a screen in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "boxd/link.h"
#include "term/restyle.h"
#include "tui/canvas.h"

#include <fcntl.h>
#include <sys/socket.h>

enum {
    ROWS = 8,
    COLS = 30,
    ROUNDS = 300,
    BYTES = 1 << 20,
};

static uint32_t random_state;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

/* Cells --------------------------------------------------------------------------------------- */

static const char *const pieces[] = {"abc", " ", "\033[31mred", "\033[0m", "\033[1;4;44m", "日本",
    "e\xcc\x81", "\033[8mhidden\033[28m", "\033[7m", "\r\n", "\033[3;5H", "\033[K", "│",
    "\033[38;2;1;2;3m", "\033[?5h", "\033[?5l", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
    "\t"};

static void check_same(const struct canvas *got, const struct canvas *want)
{
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned col = 0; col < canvas_cols(want); col++)
            if (memcmp(canvas_cell(got, row, col), canvas_cell(want, row, col),
                    sizeof(struct canvas_cell)) != 0) {
                const struct canvas_cell *a = canvas_cell(got, row, col),
                                         *b = canvas_cell(want, row, col);
                CHECK_INT(row * 1000 + col, -1);
                CHECK_STR(str_n(a->text, a->n), str_n(b->text, b->n));
                CHECK_INT(a->style.attrs, b->style.attrs);
                CHECK_INT(a->style.bg, b->style.bg);
                CHECK_INT(a->style.fg, b->style.fg);
                CHECK_INT(a->width, b->width);
                return;
            }
}

#define color_of(kind, number) ((uint32_t)(kind) << 24 | (number))

static void draw_by_cells(const struct term *t, struct canvas *c, unsigned from, unsigned cols)
{
    AUTO_BUF struct buf bytes = BUF_INIT(BYTES);
    for (unsigned row = 0; row < ROWS; row++) {
        buf_reset(&bytes);
        cells_put(t, (int)row, LINK_SIZE_MAX, &bytes);
        CHECK(
            canvas_put_row(c, buf_str(&bytes), &(struct canvas_place){row, 0, from, from + cols}));
    }
}

TEST(cells_equal_the_screen)
{
    random_state = 7;
    struct term *t = term_new(&(struct term_options){.rows = ROWS, .cols = COLS});
    struct canvas *direct = canvas_new(ROWS, COLS), *sent = canvas_new(ROWS, COLS);
    for (int round = 0; round < ROUNDS; round++) {
        term_feed(t, str_z(pieces[next_random(ARRAY_LEN(pieces))]));
        unsigned from = next_random(3) ? 0 : next_random(COLS), cols = COLS - from;
        canvas_clear(direct);
        canvas_clear(sent);
        canvas_show(direct, t, &(struct canvas_part){0, 0, ROWS, cols, 0, from});
        draw_by_cells(t, sent, from, cols);
        check_same(sent, direct);
    }
    canvas_free(direct);
    canvas_free(sent);
    term_free(t);
}

TEST(cells_refuse_invalid_encodings)
{
    static const struct {
        const char *bytes;
        size_t n;
        bool ok;
    } rows[] = {{"", 0, true}, {"\1\1a", 3, true}, {"\1", 1, false}, {"\1\2a", 3, false},
        {"\0\1a", 3, false}, {"\3\1a", 3, false}, {"\x81\1a", 3, false}, {"\1\0", 2, true},
        {"\5\1a", 3, false},
        {"\xb5\xb5\xb5\xb5\xb5#\xb5\xb5\xb5\xb5\xb5\xb5\xb5\xb5\xb5\xb5\xb5\xb5\1\0f\0", 22, false},
        {"\1\53abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq", 45, false}};
    struct canvas *c = canvas_new(2, 10);
    const struct canvas_place place = {0, 0, 0, 10};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, "");
        CHECK_INT(canvas_put_row(c, str_n(rows[i].bytes, rows[i].n), &place), rows[i].ok);
    }
    for (int i = 0; i < ROUNDS; i++) {
        char noise[200];
        for (size_t k = 0; k < sizeof(noise); k++)
            noise[k] = (char)next_random(256);
        (void)canvas_put_row(c, str_n(noise, sizeof(noise)), &place);
    }
    canvas_free(c);
}

/* The numbers of a style, each with its last valid and its first invalid value. */
TEST(cells_with_a_wrong_style_are_refused)
{
    static const struct {
        struct style style;
        bool ok;
    } rows[] = {
        {{.underline = UNDERLINE_DASHED}, true}, {{.underline = UNDERLINE_DASHED + 1}, false},
        {{.underline = 255}, false}, {{.fg = color_of(COLOR_ANSI, 15)}, true},
        {{.fg = color_of(COLOR_ANSI, 16)}, false}, {{.bg = color_of(COLOR_INDEXED, 255)}, true},
        {{.bg = color_of(COLOR_INDEXED, 256)}, false},
        {{.underline = 1, .underline_color = color_of(COLOR_RGB, 0xFFFFFF)}, true},
        {{.underline = 1, .underline_color = color_of(COLOR_RGB + 1, 0)}, false},
        {{.fg = color_of(COLOR_DEFAULT, 1)}, false}, {{.fg = UINT32_MAX}, false},
        {{.attrs = UINT16_MAX, .unused = 255, .link = UINT32_MAX}, true}, /* cleared */
    };
    struct canvas *c = canvas_new(2, 10);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf bytes = BUF_INIT(100), out = BUF_INIT(10000), direct = BUF_INIT(1000);
        struct style pen = {0};
        test_row(i, "");
        buf_add_byte(&bytes, '\x81');
        buf_add(&bytes, &rows[i].style, sizeof(rows[i].style));
        buf_add(&bytes, "\1a", 2);
        CHECK_INT(
            canvas_put_row(c, buf_str(&bytes), &(struct canvas_place){0, 0, 0, 10}), rows[i].ok);
        canvas_write(c, &out);
        restyle(&pen, &rows[i].style, &direct); /* which is safe by itself */
        CHECK(buf_ok(&out) && buf_ok(&direct));
        CHECK(!strstr(buf_z(&direct), "[;") && !strstr(buf_z(&direct), ";;"));
    }
    canvas_free(c);
}

/* Packets ------------------------------------------------------------------------------------- */

static struct link_packet packet;

TEST(link_carries_headers_bodies_and_descriptors)
{
    int pair[2], pipes[2];
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    CHECK_INT(pipe2(pipes, O_CLOEXEC), 0);
    const struct link_size size = {7, 9};
    struct link_size got;
    const int fds[LINK_FDS] = {pipes[0], pipes[1], -1};
    CHECK(link_receive(pair[1], &packet) == LINK_NOTHING);
    CHECK(link_send(pair[0], LINK_SIZE, &size, sizeof(size), STR(""), fds) == LINK_SENT);
    CHECK(link_send(pair[0], LINK_TEXT, NULL, 0, STR("typed"), NULL) == LINK_SENT);
    CHECK(link_receive(pair[1], &packet) == LINK_GOT && packet.word == LINK_SIZE);
    CHECK(link_body(&packet, &got, sizeof(got)) && got.rows == 7 && got.cols == 9);
    CHECK(packet.fds[0] >= 0 && packet.fds[1] >= 0 && packet.fds[2] == -1);
    link_drop_fds(&packet);
    CHECK(link_receive(pair[1], &packet) == LINK_GOT && !link_body(&packet, &got, sizeof(got)));
    CHECK_STR(packet.body, STR("typed"));
    close(pair[0]);
    CHECK(link_receive(pair[1], &packet) == LINK_CLOSED);
    CHECK(link_send(pair[1], LINK_TEXT, NULL, 0, STR("x"), NULL) == LINK_LOST);
    close(pair[1]);
    close(pipes[0]);
    close(pipes[1]);
}

/* A packet that is not ours ends the connection. */
TEST(link_refuses_strangers)
{
    static char large[LINK_PACKET_MAX + 100];
    const uint32_t other[] = {LINK_VERSION + 1, LINK_TEXT};
    const struct {
        const void *bytes;
        size_t n;
    } rows[] = {{"x", 1}, {other, sizeof(other)}, {large, sizeof(large)}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int pair[2];
        test_row(i, "");
        CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
        CHECK(send(pair[0], rows[i].bytes, rows[i].n, 0) == (ssize_t)rows[i].n);
        CHECK(link_receive(pair[1], &packet) == LINK_CLOSED);
        close(pair[0]);
        close(pair[1]);
    }
}

TEST(link_never_waits)
{
    int pair[2], n = 0;
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    while (n < 1000 * 1000 && link_send(pair[0], LINK_DRAWN, NULL, 0, STR(""), NULL) == LINK_SENT)
        n++;
    CHECK(n > 0 && n < 1000 * 1000);
    close(pair[0]);
    close(pair[1]);
}

TEST(link_errors_arrive_completely)
{
    AUTO_ERR struct err err = {0}, got = {0};
    err_set(&err, E_CONFLICT, "the box '%s' \033 runs", "a");
    err_ctx(&err, "name", "a");
    err_ctx_int(&err, "port", 80);
    AUTO_FREE char *text = link_put_err(&err);
    CHECK(!link_get_err(str_z(text), &got));
    CHECK_INT(got.code, E_CONFLICT);
    CHECK_STR(str_z(got.message), str_z(err.message));
    CHECK_STR(str_z(err_ctx_get(&got, "name")->text), STR("a"));
    CHECK_INT(err_ctx_get(&got, "port")->number, 80);
    CHECK(!link_get_err(STR("{"), &got) && got.code == E_PROTOCOL);
}

TEST(link_socket_is_reached_by_its_directory)
{
    AUTO_ERR struct err err = {0}, none = {0};
    AUTO_FD int dir = open(test_path("."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD int listener = -1, again = -1, fd = -1;
    CHECK(!link_connect(dir, &fd, &none) && none.code == E_NOT_FOUND);
    CHECK(link_listen(dir, &listener, &err) && link_connect(dir, &fd, &err));
    AUTO_FD int other = link_accept(listener);
    CHECK(other >= 0);
    CHECK(link_send(fd, LINK_TEXT, NULL, 0, STR("a"), NULL) == LINK_SENT);
    CHECK(link_receive(other, &packet) == LINK_GOT);
    CHECK(link_listen(dir, &again, &err)); /* replaces the socket of a killed process */
    link_remove(dir);
}
