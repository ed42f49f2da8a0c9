/* Diffs for people, and rows of pieces. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "shown.h"

#include "tui/bar.h"
#include "tui/diffview.h"

enum {
    SHOWN_MAX = 1 << 20,
};

#define EDIT                                                  \
    "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n" \
    " a\n-- not a head\n+++ nor this\n\\ No newline at end of file\n"

static const struct {
    const char *name, *diff;
    size_t lines, files, added, removed;
    const char *shown;
} rows[] = {
    {"nothing", "", 0, 0, 0, 0, ""},
    {"an edit", EDIT, 0, 1, 1, 1,
        "  ⟦b:f⟧⟦2:  +1⟧⟦1:  -1⟧\n⟦f:  │ ⟧⟦6:@@ -1,2 +1,2 @@⟧\n⟦f:  │ ⟧ a\n"
        "⟦f:  │ ⟧⟦1:-- not a head⟧\n⟦f:  │ ⟧⟦2:+++ nor this⟧\n"
        "⟦f:  │ \\ No newline at end of file⟧\n"},
    {"cut", EDIT, 2, 1, 1, 1,
        "  ⟦b:f⟧⟦2:  +1⟧⟦1:  -1⟧\n⟦f:  │ ⟧⟦6:@@ -1,2 +1,2 @@⟧\n⟦f:  │ ⟧ a\n"
        "⟦f:  │ … 3 more lines⟧\n"},
    {"new, deleted, with blanks in its name",
        "diff --git a/a b b/a b\nnew file\n--- /dev/null\n+++ b/a b\n@@ -0,0 +1 @@\n+x\n"
        "diff --git a/g b/g\ndeleted file\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        0, 2, 1, 1,
        "  ⟦b:a b⟧⟦2:  +1⟧⟦f:  new⟧\n⟦f:  │ ⟧⟦2:+x⟧\n"
        "  ⟦b:g⟧⟦1:  -1⟧⟦f:  deleted⟧\n⟦f:  │ ⟧⟦6:@@ -1 +0,0 @@⟧\n⟦f:  │ ⟧⟦1:-x⟧\n"},
    {"moved, as it is", "diff --git a/f b/d/g\nrename from f\nrename to d/g\n", 0, 1, 0, 0,
        "  ⟦b:d/g⟧⟦f:  was f⟧\n"},
    {"a mode", "diff --git a/f b/f\nnow executable\n", 0, 1, 0, 0, "  ⟦b:f⟧  ⟦f:now executable⟧\n"},
    {"the same", "diff --git a/f b/f\n", 0, 1, 0, 0, "  ⟦b:f⟧⟦f:  no line changes⟧\n"},
    {"escapes",
        "diff --git a/\033c b/\033c\nnew file\n--- /dev/null\n+++ b/\033c\n@@ -0,0 +1 "
        "@@\n+\033[2J\n",
        0, 1, 1, 0, "  ⟦b:\\x1Bc⟧⟦2:  +1⟧⟦f:  new⟧\n⟦f:  │ ⟧⟦2:+\\x1B[2J⟧\n"},
    {"no diff", "hello\n", 0, 1, 0, 0, "⟦f:  │ ⟧hello\n"},
    {"half a head", "diff --git a", 0, 1, 0, 0, NULL},
    {"half a head and more", "diff --git \n@@\n+", 0, 1, 1, 0, NULL},
};

TEST(diffview_rows)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_TEXT struct text text = TEXT_INIT;
        AUTO_BUF struct buf got = BUF_INIT(SHOWN_MAX);
        struct diffview_count n = diffview_count(str_z(rows[i].diff));
        test_row(i, rows[i].name);
        CHECK_INT(n.files, rows[i].files);
        CHECK_INT(n.added, rows[i].added);
        CHECK_INT(n.removed, rows[i].removed);
        diffview_put(str_z(rows[i].diff),
            &(struct diffview){.width = 60, .headings = true, .lines = rows[i].lines}, &text);
        shown(&text, &got);
        if (rows[i].shown)
            CHECK_Z(buf_z(&got), rows[i].shown);
        CHECK(shown_is_safe(&text));
    }
}

static const struct {
    unsigned width;
    const char *shown;
} widths[] = {
    {80, "dir  branch  日本  90% full\n"},
    {27, "dir  branch  日本  90% full\n"},
    {26, "dir  branch  日本\n"},
    {17, "dir  branch  日本\n"},
    {16, "dir  日本\n"},
    {9, "dir  日本\n"},
    {8, "dir\n"},
    {2, "di\n"},
    {1, "d\n"},
};

TEST(bar_drops_the_lightest)
{
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        AUTO_TEXT struct text text = TEXT_INIT;
        AUTO_BUF struct buf got = BUF_INIT(SHOWN_MAX);
        struct bar bar = {0};
        test_row(i, widths[i].shown);
        bar_add(&bar, 9, THEME_TEXT, STR("dir"));
        bar_add(&bar, 5, THEME_TEXT, STR("branch"));
        bar_add(&bar, 7, THEME_TEXT, STR("日本"));
        bar_add(&bar, 8, THEME_TEXT, STR(""));
        bar_add(&bar, 1, THEME_TEXT, STR("90% full"));
        bar_put(&bar, widths[i].width, &text);
        shown(&text, &got);
        CHECK_Z(buf_z(&got), widths[i].shown);
    }
}
