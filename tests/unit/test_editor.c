/* The editor: keys in, text and cursor out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "shown.h"

#include "tui/editor.h"

#include <time.h>

enum {
    CONTENT_MAX = 16 << 20,
};

static enum editor_event play(struct editor *e, const char *script)
{
    enum editor_event event = EDITOR_IGNORED;
    for (struct str rest = str_z(script); rest.n;) {
        ptrdiff_t open = str_find(rest, '<'), close = str_find(rest, '>');
        if (open != 0) {
            size_t n = open < 0 ? rest.n : (size_t)open;
            event = editor_text(e, str_head(rest, n));
            rest = str_skip(rest, n);
            continue;
        }
        char key[64];
        snprintf(key, sizeof(key), "%.*s", (int)close - 1, rest.p + 1);
        event = editor_key(e, key);
        rest = str_skip(rest, (size_t)close + 1);
    }
    return event;
}

/* The content, with | where the cursor is. */
static void state_of(const struct editor *e, struct buf *out)
{
    AUTO_BUF struct buf content = BUF_INIT(CONTENT_MAX);
    size_t cursor = editor_cursor(e);
    editor_content(e, &content);
    buf_add_str(out, str_head(buf_str(&content), cursor));
    buf_add_byte(out, '|');
    buf_add_str(out, str_skip(buf_str(&content), cursor));
}

static const struct {
    const char *keys, *want;
} rows[] = {
    {"", "|"},
    {"abc", "abc|"},
    {"abc<Left><Left>x", "ax|bc"},
    {"abc<Ctrl+a>x<Ctrl+e>y", "xabcy|"},
    {"abc<Ctrl+b><Ctrl+b><Ctrl+f>x", "abx|c"},
    {"abc<Home><Right>x<End>", "axbc|"},
    {"a<Left><Left><Left>b<Right><Right><Right>c", "bac|"},
    {"one two three<Alt+b><Alt+b>", "one |two three"},
    {"one two<Ctrl+a><Alt+f>", "one| two"},
    {"one-two<Alt+b>", "one-|two"},
    {"one two<Ctrl+Left><Ctrl+Left><Ctrl+Right>", "one| two"},
    {"abc<Ctrl+a><Ctrl+d>", "|bc"},
    {"abc<Home><Delete><Delete>", "|c"},
    {"abc<Backspace><Ctrl+h>", "a|"},
    {"<Backspace><Delete><Ctrl+w><Ctrl+k><Ctrl+u><Alt+d><Ctrl+t><Ctrl+_><Ctrl+y><Alt+y>", "|"},
    {"one two.three<Ctrl+w>", "one |"},
    {"one two.three<Alt+Backspace>", "one two.|"},
    {"one two<Home><Alt+d>", "| two"},
    {"one two<Home><Alt+d><Ctrl+e><Ctrl+y>", " twoone|"},
    {"one two three<Ctrl+w><Ctrl+w><Ctrl+y>", "one two three|"},
    {"one two<Ctrl+w><Left><Right><Ctrl+w><Ctrl+y>", "one |"},
    {"one two<Ctrl+w><Left><Right><Ctrl+w><Ctrl+y><Alt+y>", "two|"},
    {"one two<Ctrl+w><Left><Right><Ctrl+w><Ctrl+y><Alt+y><Alt+y>", "one |"},
    {"one two<Ctrl+u>x<Ctrl+y>", "xone two|"},
    {"one two<Home><Alt+f><Ctrl+k>", "one|"},
    {"a<Alt+Enter>b<Ctrl+u>", "a\n|"},
    {"a<Alt+Enter>b<Ctrl+u><Ctrl+u>", "a|"},
    {"a<Alt+Enter>b<Up><Ctrl+k>", "a|b"},
    {"ab<Ctrl+t>", "ba|"},
    {"abc<Left><Ctrl+t>", "acb|"},
    {"abc<Home><Ctrl+t>", "|abc"},
    {"a<Ctrl+t>", "a|"},
    {"a\\<Enter>b", "a\nb|"},
    {"a<Shift+Enter>b<Ctrl+j>c", "a\nb\nc|"},
    {"abc<Alt+Enter>de<Alt+Enter>fgh<Up><Up>", "abc|\nde\nfgh"},
    {"abc<Alt+Enter>d<Alt+Enter>fgh<Up><Up><Down><Down>x", "abc\nd\nfghx|"},
    {"abc<Alt+Enter>de<Home>x<Ctrl+Home>y<Ctrl+End>z", "yabc\nxdez|"},
    {"one two<Ctrl+_>", "one two|"}, /* replaced below: typed as one text */
    {"one<Ctrl+w><Ctrl+_>", "one|"},
    {"a<Left>b<Ctrl+_>", "|a"},
    {"a<Left>b<Ctrl+_><Ctrl+_>", "|"},
    {"one<Ctrl+w>\x01x<Ctrl+_>", "|"},
    {"one<Ctrl+w>\x01x<Ctrl+_><Ctrl+_>", "one|"},
    /* Clusters. */
    {"e\xcc\x81x<Left><Backspace>", "|x"},
    {"👨‍👩‍👧a<Left><Left><Delete>", "|a"},
    {"日本<Left>x", "日x|本"},
    {"🇩🇪🇫🇷<Left><Backspace>", "|🇫🇷"},
    {"日本語<Ctrl+t>", "日語本|"},
    {"é ü<Alt+b><Alt+b>", "|é ü"},
    /* Unknown keys. */
    {"a<F5><Insert>b", "ab|"},
};

TEST(editor_keys)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf got = BUF_INIT(CONTENT_MAX);
        struct editor *e = editor_new(&(struct editor_options){0});
        test_row(i, rows[i].keys);
        if (strcmp(rows[i].keys, "one two<Ctrl+_>") == 0) {
            for (const char *c = "one two"; *c; c++)
                (void)editor_text(e, str_n(c, 1));
            (void)play(e, "<Ctrl+_>");
            state_of(e, &got);
            CHECK_Z(buf_z(&got), "one|");
        } else {
            (void)play(e, rows[i].keys);
            state_of(e, &got);
            CHECK_Z(buf_z(&got), rows[i].want);
        }
        editor_free(e);
    }
}

static const struct {
    const char *keys;
    enum editor_event want;
} event_rows[] = {
    {"a<Enter>", EDITOR_SENT},
    {"<Enter>", EDITOR_SENT},
    {"a\\<Enter>", EDITOR_DONE},
    {"<Ctrl+c>", EDITOR_INTERRUPT},
    {"<Ctrl+d>", EDITOR_END},
    {"a<Ctrl+d>", EDITOR_DONE},
    {"<Ctrl+z>", EDITOR_SUSPEND},
    {"<Ctrl+l>", EDITOR_REDRAW},
    {"<F1>", EDITOR_IGNORED},
    {"<Ctrl+o>", EDITOR_IGNORED},
    {"<Escape>", EDITOR_IGNORED},
    {"<Tab>", EDITOR_IGNORED},
};

TEST(editor_events)
{
    for (size_t i = 0; i < ARRAY_LEN(event_rows); i++) {
        struct editor *e = editor_new(&(struct editor_options){0});
        test_row(i, event_rows[i].keys);
        CHECK_INT(play(e, event_rows[i].keys), event_rows[i].want);
        editor_free(e);
    }
}

static const struct {
    const char *keys, *want;
} history_rows[] = {
    {"<Up>", "third|"},
    {"<Up><Up>", "second\nline|"},
    {"<Up><Up><Up>", "seco|nd\nline"}, /* within it first */
    {"<Up><Up><Up><Up>", "first|"},
    {"<Up><Up><Up><Up><Up><Up>", "first|"},
    {"draft<Up><Down>", "draft|"},
    {"draft<Alt+p><Alt+p><Alt+n><Alt+n><Alt+n>", "draft|"},
    {"<Up>x<Ctrl+_>", "third|"},
    {"fi<Ctrl+r>", "fi|rst"},
    {"s<Ctrl+r>", "s|econd\nline"},
    {"zz<Ctrl+r>", "zz|"},
    {"<Ctrl+r><Ctrl+r>", "|second\nline"},
    {"fi<Ctrl+r><Down>", "second\nline|"},
};

TEST(editor_history)
{
    for (size_t i = 0; i < ARRAY_LEN(history_rows); i++) {
        AUTO_BUF struct buf got = BUF_INIT(CONTENT_MAX);
        struct editor *e = editor_new(&(struct editor_options){0});
        test_row(i, history_rows[i].keys);
        editor_remember(e, STR("first"));
        editor_remember(e, STR("second\nline"));
        editor_remember(e, STR(""));
        editor_remember(e, STR("third"));
        editor_remember(e, STR("third"));
        (void)play(e, history_rows[i].keys);
        state_of(e, &got);
        CHECK_Z(buf_z(&got), history_rows[i].want);
        editor_free(e);
    }
}

static void draw(const struct editor *e, unsigned width, unsigned most, struct buf *out)
{
    AUTO_TEXT struct text t = TEXT_INIT;
    struct editor_place cursor;
    editor_draw(e,
        &(struct editor_view){
            .width = width, .rows = most, .prompt = STR("> "), .hint = STR("ask")},
        &t, &cursor);
    CHECK(shown_is_safe(&t));
    CHECK(cursor.row < t.n);
    CHECK(cursor.col < MAX(width, 1u));
    for (size_t i = 0; i < t.n; i++) {
        CHECK(t.lines[i].width <= MAX(width, 1u));
        shown_line(&t, i, out);
        buf_add_byte(out, '\n');
    }
    buf_printf(out, "@%zu,%zu", cursor.row, cursor.col);
}

static const struct {
    const char *keys;
    unsigned width, rows;
    const char *want;
} view_rows[] = {
    {"", 20, 5, "⟦6:> ⟧⟦f:ask⟧\n@0,2"},
    {"abc", 20, 5, "⟦6:> ⟧abc\n@0,5"},
    {"abc<Alt+Enter>d", 20, 5, "⟦6:> ⟧abc\n  d\n@1,3"},
    {"abcdefgh", 6, 5, "⟦6:> ⟧abcd\n  efgh\n\n@2,2"},
    {"abcdefgh<Left>", 6, 5, "⟦6:> ⟧abcd\n  efgh\n@1,5"},
    {"abcdefgh<Home><Right><Right><Right><Right>", 6, 5, "⟦6:> ⟧abcd\n  efgh\n@1,2"},
    {"日本語", 7, 5, "⟦6:> ⟧日本\n  語\n@1,4"},
    {"日本語<Left>", 7, 5, "⟦6:> ⟧日本\n  語\n@1,2"},
    {"a<Alt+Enter>b<Alt+Enter>c<Alt+Enter>d", 20, 2, "  c\n  d\n@1,3"},
    {"a<Alt+Enter>b<Alt+Enter>c<Alt+Enter>d<Ctrl+Home>", 20, 2, "⟦6:> ⟧a\n  b\n@0,2"},
    {"ab", 3, 5, "ab\n@0,2"},
    {"ab", 1, 5, "a\nb\n\n@2,0"},
    {"a\tb", 20, 5, "⟦6:> ⟧a    b\n@0,8"},
};

TEST(editor_rows)
{
    for (size_t i = 0; i < ARRAY_LEN(view_rows); i++) {
        AUTO_BUF struct buf got = BUF_INIT(CONTENT_MAX);
        struct editor *e = editor_new(&(struct editor_options){0});
        test_row(i, view_rows[i].keys);
        (void)play(e, view_rows[i].keys);
        draw(e, view_rows[i].width, view_rows[i].rows, &got);
        CHECK_Z(buf_z(&got), view_rows[i].want);
        editor_free(e);
    }
}

/* Pastes -------------------------------------------------------------------------------------- */

static struct str many_lines(struct buf *b, int n)
{
    for (int i = 0; i < n; i++)
        buf_printf(b, "%d\n", i);
    return buf_str(b);
}

TEST(editor_pastes)
{
    AUTO_BUF struct buf lines = BUF_INIT(CONTENT_MAX), got = BUF_INIT(CONTENT_MAX);
    struct editor *e = editor_new(&(struct editor_options){0});
    struct str pasted = many_lines(&lines, 1000);
    (void)play(e, "see ");
    (void)editor_paste(e, pasted);
    (void)play(e, " ok");
    draw(e, 60, 5, &got);
    CHECK_Z(buf_z(&got), "⟦6:> ⟧see ⟦6:[pasted 1,000 lines]⟧ ok\n@0,29");
    buf_reset(&got);
    editor_content(e, &got);
    CHECK_INT(got.n, pasted.n + 7);
    CHECK(memmem(got.p, got.n, pasted.p, pasted.n));
    /* It is one character, which can be deleted and restored. */
    (void)play(e, "<Left><Left><Left><Backspace>");
    buf_reset(&got);
    state_of(e, &got);
    CHECK_Z(buf_z(&got), "see | ok");
    (void)play(e, "<Ctrl+_>");
    buf_reset(&got);
    editor_content(e, &got);
    CHECK_INT(got.n, pasted.n + 7);
    /* Also after the text was sent. */
    (void)play(e, "<Ctrl+e><Ctrl+u>");
    editor_clear(e);
    (void)play(e, "<Ctrl+y>");
    buf_reset(&got);
    editor_content(e, &got);
    CHECK_INT(got.n, pasted.n + 7);
    editor_free(e);
}

static const struct {
    const char *name, *in, *want;
} paste_rows[] = {
    {"short", "a\r\nb\rc", "a\nb\nc|"},
    {"controls",
        "a\033[31mb\x01\x7f"
        "c\xc2\x9b",
        "a[31mbc|"},
    {"a tab", "a\tb", "a\tb|"},
    {"bytes",
        "a\xff"
        "b",
        "a\xef\xbf\xbd"
        "b|"},
    {"the placeholder of a paste", "\xf4\x8f\x80\x80", "\xef\xbf\xbd|"},
};

TEST(editor_pastes_are_cleaned)
{
    for (size_t i = 0; i < ARRAY_LEN(paste_rows); i++) {
        AUTO_BUF struct buf got = BUF_INIT(CONTENT_MAX);
        struct editor *e = editor_new(&(struct editor_options){0});
        test_row(i, paste_rows[i].name);
        (void)editor_paste(e, str_z(paste_rows[i].in));
        state_of(e, &got);
        CHECK_Z(buf_z(&got), paste_rows[i].want);
        editor_free(e);
    }
}

/* Candidates ---------------------------------------------------------------------------------- */

static void candidates(void *context, struct str word, struct editor_list *list)
{
    static const char *const all[][2] = {{"/help", "all commands"}, {"/model", "its name"},
        {"/quit", "the end"}, {"@src/", ""}, {"@src/a.c", ""}, {"@src/b c.c", ""}};
    (*(int *)context)++;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (str_starts_with(str_z(all[i][0]), word))
            editor_offer(list, str_z(all[i][0]), str_z(all[i][1]));
}

static const struct {
    const char *keys, *want;
} complete_rows[] = {
    {"/", "⟦6:> ⟧/\n  ⟦v:/help⟧   ⟦f:all commands⟧\n  /model  ⟦f:its name⟧\n  /quit   ⟦f:the "
          "end⟧\n@0,3"},
    {"/h<Tab>", "⟦6:> ⟧/help\n@0,8"},
    {"/<Down><Enter>", "⟦6:> ⟧/model\n@0,9"},
    {"/<Up><Tab>", "⟦6:> ⟧/quit\n@0,8"},
    {"/h<Escape>", "⟦6:> ⟧/h\n@0,4"},
    {"/x", "⟦6:> ⟧/x\n@0,4"},
    {"a /", "⟦6:> ⟧a /\n@0,5"},
    {"see @src/a<Tab>x", "⟦6:> ⟧see @src/a.c x\n@0,16"},
    {"@s<Tab>", "⟦6:> ⟧@src/\n  ⟦v:@src/⟧\n  @src/a.c\n  @src/b c.c\n@0,7"},
    {"@src/a.c<Left>", "⟦6:> ⟧@src/a.c\n@0,9"},
    {"/help<Tab>", "⟦6:> ⟧/help\n@0,8"},
    {"see @src/a.c<Tab>x", "⟦6:> ⟧see @src/a.c x\n@0,16"},
};

TEST(editor_completes)
{
    for (size_t i = 0; i < ARRAY_LEN(complete_rows); i++) {
        AUTO_BUF struct buf got = BUF_INIT(CONTENT_MAX);
        int asked = 0;
        struct editor *e =
            editor_new(&(struct editor_options){.complete = candidates, .context = &asked});
        test_row(i, complete_rows[i].keys);
        (void)play(e, complete_rows[i].keys);
        draw(e, 40, 5, &got);
        if (i > 0) /* the first case checks only the choice */
            CHECK_Z(buf_z(&got), complete_rows[i].want);
        else
            CHECK(strstr(
                buf_z(&got), "⟦v:/help⟧   ⟦f:all commands⟧\n  /model  ⟦f:its name⟧\n  /quit"));
        editor_free(e);
    }
}

static void many(void *context, struct str word, struct editor_list *list)
{
    char text[16];
    for (int i = 0; i < *(int *)context && str_is(word, "@"); i++) {
        snprintf(text, sizeof(text), "@%d", i);
        editor_offer(list, str_z(text), STR(""));
    }
}

TEST(editor_shows_the_number_of_candidates)
{
    static const struct {
        int n;
        const char *keys, *want;
    } lists[] = {
        {6, "@", "  @5\n@0,3"},
        {7, "@", "  @5\n  ⟦f:… 1 more⟧\n@0,3"},
        {11, "@<Up>", "  ⟦v:@10⟧\n  ⟦f:… 5 more⟧\n@0,3"},
        {64, "@", "  @5\n  ⟦f:… 58 more⟧\n@0,3"},
        {65, "@", "  @5\n  ⟦f:… 58+ more⟧\n@0,3"},
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        AUTO_BUF struct buf got = BUF_INIT(CONTENT_MAX);
        int n = lists[i].n;
        struct editor *e = editor_new(&(struct editor_options){.complete = many, .context = &n});
        test_row(i, lists[i].keys);
        (void)play(e, lists[i].keys);
        draw(e, 40, 5, &got);
        CHECK(str_ends_with(buf_str(&got), str_z(lists[i].want)));
        editor_free(e);
    }
}

/* Bytes of a terminal ------------------------------------------------------------------------- */

TEST(editor_accepts_input_of_a_terminal)
{
    static const struct {
        const char *bytes, *want;
    } typed_rows[] = {
        {"ab\033[D\033[Dx", "x|ab"},
        {"ab\033OD\x01x", "x|ab"},
        {"a\033\rb", "a\nb|"},
        {"a\033[13;2ub", "a\nb|"},
        {"a\033[27;2;13~b", "a\nb|"},
        {"ab\033[1~x", "x|ab"},
        {"one two\033b\033\x7f", "|two"},
        {"a\x08", "|"},
        {"\033[200~x\ny\033[201~z", "x\nyz|"},
        {"a b\033[1;5Dx", "a x|b"},
    };
    struct typed_keys *k = typed_keys_new();
    for (size_t i = 0; i < ARRAY_LEN(typed_rows); i++) {
        AUTO_BUF struct buf got = BUF_INIT(CONTENT_MAX);
        struct editor *e = editor_new(&(struct editor_options){0});
        struct typed typed;
        test_row(i, typed_rows[i].bytes);
        for (struct str rest = str_z(typed_rows[i].bytes); rest.n;) {
            rest = str_skip(rest, typed_next(k, rest, true, &typed));
            (void)editor_typed(e, &typed);
        }
        state_of(e, &got);
        CHECK_Z(buf_z(&got), typed_rows[i].want);
        editor_free(e);
    }
    typed_keys_free(k);
}

/* A megabyte, as one line and as many: handling and drawing each key take no noticeable time. */
TEST(editor_holds_a_megabyte)
{
    static const char *const units[] = {"word ", "line\n", "日本", "e\xcc\x81"};
    static const char *const script =
        "x<Left><Backspace><Up><Down><Home><End><Alt+b><Ctrl+w><Ctrl+_>"
        "<Ctrl+t><Ctrl+k><Ctrl+y>";
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        AUTO_BUF struct buf content = BUF_INIT(CONTENT_MAX), got = BUF_INIT(CONTENT_MAX);
        struct editor *e = editor_new(&(struct editor_options){0});
        test_row(i, units[i]);
        while (content.n < 1 << 20)
            buf_add_z(&content, units[i]);
        editor_set(e, buf_str(&content));
        clock_t start = clock();
        for (int n = 0; n < 20; n++) {
            (void)play(e, script);
            buf_reset(&got);
            draw(e, 80, 10, &got);
        }
        CHECK((clock() - start) / (CLOCKS_PER_SEC / 1000) < 4000);
        if (getenv("SHOW_TIMES"))
            printf("# %s: %ld ms\n", i == 1 ? "lines" : units[i],
                (clock() - start) / (CLOCKS_PER_SEC / 1000));
        editor_free(e);
    }
}
