/* A conversation as rows: which are final, and which still change. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "shown.h"

#include "tui/chat_rows.h"

enum {
    SHOWN_MAX = 1 << 20,
};

/* Questions, diffs, and the viewer. */
static void play_more(struct chat_rows *c, char step, struct str text)
{
    switch (step) {
    case 'D':
        chat_rows_diff(c, text);
        break;
    case 'l':
        (void)chat_rows_look(c, *text.p == '<' ? -1 : *text.p == '>' ? 1 : 0);
        break;
    case 'x':
        chat_rows_look_end(c);
        break;
    case '?':
        chat_rows_ask(c, &(struct chat_rows_question){.words = STR("shell wants to run:"),
                             .subject = text,
                             .is_command = true,
                             .why = STR("so")});
        break;
    case '!':
        chat_rows_ask(c, &(struct chat_rows_question){.words = STR("x wants to change:"),
                             .subject = STR("f"),
                             .diff = text,
                             .why = STR("so")});
        break;
    case 'a':
        chat_rows_asked(c, text.n ? text : (struct str){0});
        break;
    }
}

/* Steps: a letter selects the action, the rest is its text. */
static void play(struct chat_rows *c, const char *const *steps)
{
    for (; *steps; steps++) {
        struct str text = str_z(*steps + 1);
        switch (**steps) {
        case 'u':
            chat_rows_user(c, text);
            break;
        case 't':
            chat_rows_text(c, text);
            break;
        case 'k':
            chat_rows_thinking(c, text);
            break;
        case '.':
            chat_rows_end(c);
            break;
        case 'c':
            chat_rows_call(c, STR("1"), STR("shell"), text);
            break;
        case 'd':
            chat_rows_call(c, STR("2"), STR("read_file"), text);
            break;
        case 'r':
            chat_rows_result(c, STR("1"), false, text);
            break;
        case 'f':
            chat_rows_result(c, STR("1"), true, text);
            break;
        case 'n':
            chat_rows_note(c, text);
            break;
        case 'Y':
            chat_rows_retry(c, text);
            break;
        case 'e':
            chat_rows_error(c, text);
            break;
        case 'q':
            chat_rows_queue(c, text);
            break;
        case 'o':
            (void)chat_rows_open(c);
            break;
        case 'R':
            chat_rows_restart(c);
            break;
        default:
            play_more(c, **steps, text);
            break;
        case 'w':
            chat_rows_set_size(c, 10, 24);
            break;
        }
    }
}

#define CHANGE "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n"

static const struct {
    const char *name;
    const char *steps[8];
    const char *stay, *region;
} rows[] = {
    {"nothing", {NULL}, "", ""},
    {"a question", {"uwhy\nnot?"}, "⟦6:> ⟧⟦b:why⟧\n  ⟦b:not?⟧\n", ""},
    {"an answer comes", {"uwhy", "tone *two", "t* three"}, "⟦6:> ⟧⟦b:why⟧\n\n",
        "one ⟦i:two⟧ three\n"},
    {"a paragraph is done", {"tone\n\ntwo"}, "one\n", "\ntwo\n"},
    {"an answer is done", {"uwhy", "tone", "."}, "⟦6:> ⟧⟦b:why⟧\n\none\n", ""},
    {"two turns", {"ua", "tb", "uc"}, "⟦6:> ⟧⟦b:a⟧\n\nb\n\n⟦6:> ⟧⟦b:c⟧\n", ""},
    {"thinking", {"kdeep\nthoughts"}, "", "⟦f:⠋ thinking⟧\n"},
    {"thought", {"kdeep\nthoughts", "tx"}, "⟦f:◇ thought, 2 lines⟧\n\n", "x\n"},
    {"thought, opened", {"kdeep\nthoughts", ".", "o"},
        "⟦f:◇ thought, 2 lines⟧\n⟦f:  │ ⟧deep\n⟦f:  │ ⟧thoughts\n", ""},
    {"a call", {"cmake test"}, "", "⠋ shell make test\n"},
    {"two calls", {"cmake test", "da.c"}, "", "⠋ shell make test\n⠋ read_file a.c\n"},
    {"a call of several lines", {"cone\ntwo"}, "", "⠋ shell one …\n"},
    {"a result", {"cmake", "rok\nfine\n"}, "⟦2:✓ ⟧shell make⟦f:  2 lines⟧\n", ""},
    {"a result, opened", {"cmake", "rok\n", "o", "o"}, "⟦2:✓ ⟧shell make⟦f:  1 line⟧\n⟦f:  │ ⟧ok\n",
        ""},
    {"a failure is open", {"cmake", "fbad\nworse"},
        "⟦1:✗ ⟧shell make\n⟦f:  │ ⟧bad\n⟦f:  │ ⟧worse\n", ""},
    {"a diff is open", {"cgit diff", "r--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"},
        "⟦2:✓ ⟧shell git diff\n⟦f:  │ ⟧⟦b:--- a⟧\n⟦f:  │ ⟧⟦b:+++ b⟧\n⟦f:  │ ⟧⟦6:@@ -1 +1 @@⟧\n"
        "⟦f:  │ ⟧⟦1:-x⟧\n⟦f:  │ ⟧⟦2:+y⟧\n",
        ""},
    {"a result without a call", {"rx"}, "⟦2:✓ ⟧1⟦f:  1 line⟧\n", ""},
    {"text before a call", {"tlook:", "cls"}, "look:\n", "⠋ shell ls\n"},
    {"an error", {"ua", "ebroken"}, "⟦6:> ⟧⟦b:a⟧\n\n⟦1:✗ broken⟧\n", ""},
    {"a question", {"cmake x", "?make\nx"},
        "⟦b3:? ⟧⟦b:shell wants to run:⟧\n⟦b3:  │ ⟧make\n⟦b3:  │ ⟧x\n⟦f:  reason: so⟧\n", ""},
    {"a question, answered", {"cmake x", "?make", "a"},
        "⟦b3:? ⟧⟦b:shell wants to run:⟧\n⟦b3:  │ ⟧make\n⟦f:  reason: so⟧\n", "⠋ shell make x\n"},
    {"a question, edited", {"cmake x", "?make", "amake y", "rok"},
        "⟦b3:? ⟧⟦b:shell wants to run:⟧\n⟦b3:  │ ⟧make\n⟦f:  reason: so⟧\n\n"
        "⟦f:· edited; running instead:⟧\n⟦b3:  │ ⟧make y\n\n⟦2:✓ ⟧shell make y⟦f:  1 line⟧\n",
        ""},
    {"a change", {"cf", "D" CHANGE, "rchanged"},
        "⟦2:✓ ⟧shell f⟦2:  +1⟧⟦1:  -1⟧\n⟦f:  │ ⟧⟦6:@@ -1 +1 @@⟧\n⟦f:  │ ⟧⟦1:-x⟧\n⟦f:  │ ⟧⟦2:+y⟧\n",
        ""},
    {"a change that failed", {"cf", "D" CHANGE, "fno"}, "⟦1:✗ ⟧shell f\n⟦f:  │ ⟧no\n", ""},
    {"a change that was asked is shown once", {"cf", "!" CHANGE, "a", "D" CHANGE, "rok", "o"},
        "⟦b3:? ⟧⟦b:x wants to change:⟧\n  ⟦b:f⟧⟦2:  +1⟧⟦1:  -1⟧\n⟦f:  │ ⟧⟦6:@@ -1 +1 @@⟧\n"
        "⟦f:  │ ⟧⟦1:-x⟧\n⟦f:  │ ⟧⟦2:+y⟧\n⟦f:  reason: so⟧\n\n⟦2:✓ ⟧shell f⟦2:  +1⟧⟦1:  -1⟧\n",
        ""},
    {"a look", {"cmake", "rone", "kdeep", ".", "l"},
        "⟦2:✓ ⟧shell make⟦f:  1 line⟧\n⟦f:◇ thought, 1 line⟧\n",
        "\n⟦f:◇ 2 of 2  ⟧⟦b:thought⟧\n⟦f:  │ ⟧deep\n  ⟦f:←→ others  Escape closes⟧\n"},
    {"a look at the one before", {"cmake", "rone", "kdeep", ".", "l", "l<", "l<"},
        "⟦2:✓ ⟧shell make⟦f:  1 line⟧\n⟦f:◇ thought, 1 line⟧\n",
        "\n⟦f:◇ 1 of 2  ⟧⟦b:shell make⟧\n⟦f:  │ ⟧one\n  ⟦f:←→ others  Escape closes⟧\n"},
    {"a look that ended", {"cmake", "rone", "l", "x"}, "⟦2:✓ ⟧shell make⟦f:  1 line⟧\n", ""},
    {"a look, printed", {"cmake", "rone", "kdeep", ".", "l", "l<", "o"},
        "⟦2:✓ ⟧shell make⟦f:  1 line⟧\n⟦f:◇ thought, 1 line⟧\n⟦f:◇ shell make⟧\n⟦f:  │ ⟧one\n", ""},
    {"nothing to look at", {"l", "l<", "x"}, "", ""},
    {"a restart", {"uq", "tlost", "R", "tnew"}, "⟦6:> ⟧⟦b:q⟧\n\n⟦f:· the answer starts again⟧\n\n",
        "new\n"},
    {"a retry", {"uq", "Ylater"}, "⟦6:> ⟧⟦b:q⟧\n", "\n⟦f:· later⟧\n"},
    {"retries do not pile up", {"uq", "Ylater", "Ymuch later", "tnew"},
        "⟦6:> ⟧⟦b:q⟧\n\n⟦f:· much later⟧\n\n", "new\n"},
    {"retries that fail", {"uq", "Yone", "Ytwo", "eno"}, "⟦6:> ⟧⟦b:q⟧\n\n⟦f:· two⟧\n\n⟦1:✗ no⟧\n",
        ""},
    {"a retry after a part of an answer", {"tpart", "Yone", "Ytwo", "tall"},
        "part\n\n⟦f:· two⟧\n\n", "all\n"},
    {"a queue", {"qone\ntwo", "qthree"}, "", "⟦f:queued: one⟧\n⟦f:queued: three⟧\n"},
    {"escapes", {"u\033[2J", "c\033]0;x\a", "f\033[31mred\r\n"},
        "⟦6:> ⟧⟦b:\\x1B[2J⟧\n\n⟦1:✗ ⟧shell \\x1B]0;x\\x07\n⟦f:  │ ⟧\\x1B[31mred\n", ""},
    {"narrow", {"w", "cmake test it", "rx"}, "⟦2:✓⟧…⟦f:  1 line⟧\n", ""},
};

TEST(chat_rows)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text stay = TEXT_INIT, region = TEXT_INIT;
        AUTO_BUF struct buf stayed = BUF_INIT(SHOWN_MAX), live = BUF_INIT(SHOWN_MAX);
        struct chat_rows *c = chat_rows_new(&(struct chat_rows_options){.width = 40});
        test_row(i, rows[i].name);
        play(c, rows[i].steps);
        chat_rows_take(c, 0, &stay, &region);
        shown(&stay, &stayed);
        shown(&region, &live);
        CHECK_Z(buf_z(&stayed), rows[i].stay);
        CHECK_Z(buf_z(&live), rows[i].region);
        CHECK(shown_is_safe(&stay) && shown_is_safe(&region));
        text_reset(&stay);
        chat_rows_take(c, 0, &stay, &region);
        CHECK_INT(stay.n, 0);
        chat_rows_free(c);
    }
}

TEST(chat_rows_keeps_little)
{
    AUTO_BUF struct buf output = BUF_INIT(4 << 20);
    AUTO_TEXT struct text stay = TEXT_INIT, region = TEXT_INIT;
    struct chat_rows *c = chat_rows_new(&(struct chat_rows_options){.width = 40});
    while (output.n < 3 << 20)
        buf_add_z(&output, "a line of output\n");
    for (int i = 0; i < 200; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        chat_rows_call(c, str_z(id), STR("shell"), buf_str(&output));
        chat_rows_thinking(c, buf_str(&output));
    }
    chat_rows_take(c, 0, &stay, &region);
    CHECK_INT(region.n, CHAT_ROWS_CALLS + 1);
    chat_rows_result(c, STR("0"), true, buf_str(&output));
    text_reset(&stay);
    chat_rows_take(c, 0, &stay, &region);
    CHECK(stay.n <= CHAT_ROWS_FAILED_LINES + 2);
    CHECK(chat_rows_open(c));
    text_reset(&stay);
    chat_rows_take(c, 0, &stay, &region);
    CHECK(stay.n <= CHAT_ROWS_KEPT / 17 + 2);
    chat_rows_free(c);
}

/* At most this many rows at once, all of them in order, and then those after them. */
TEST(chat_rows_hands_out_a_few_rows)
{
    AUTO_TEXT struct text region = TEXT_INIT;
    AUTO_BUF struct buf got = BUF_INIT(SHOWN_MAX), want = BUF_INIT(SHOWN_MAX);
    struct chat_rows *c = chat_rows_new(&(struct chat_rows_options){.width = 40, .most = 7});
    bool more = true;
    for (int i = 0; i < 1000; i++) {
        AUTO_TEXT struct text stay = TEXT_INIT;
        char line[32];
        snprintf(line, sizeof(line), "[%d]", i);
        chat_rows_note(c, str_z(line));
        buf_printf(&want, "⟦f:· %s⟧\n", line);
        if (i % 9 == 0) {
            more = chat_rows_take(c, 0, &stay, &region);
            CHECK_INT(more, i > 0);
            CHECK(stay.n <= 7);
            shown(&stay, &got);
        }
    }
    chat_rows_text(c, STR("still coming"));
    buf_add_z(&want, "\n");
    while (more) {
        AUTO_TEXT struct text stay = TEXT_INIT;
        CHECK_INT(region.n, 0);
        more = chat_rows_take(c, 0, &stay, &region);
        shown(&stay, &got);
    }
    CHECK_Z(buf_z(&got), buf_z(&want));
    CHECK_INT(region.n, 1);
    chat_rows_free(c);
}
