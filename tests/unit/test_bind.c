/* Rebound keys, and styles of a theme. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "tui/bind.h"
#include "tui/console.h"
#include "tui/theme.h"

TEST(bind_gives_keys_another_meaning)
{
    struct bindings b = {0};
    AUTO_ERR struct err err = {0};
    CHECK(strcmp(bind_key(&b, "Ctrl+o"), "Ctrl+o") == 0);
    CHECK_OK(bind_add(&b, STR("ctrl+G"), STR("open"), &err), &err);
    CHECK_OK(bind_add(&b, STR("Ctrl+o"), STR("none"), &err), &err);
    CHECK_OK(bind_add(&b, STR("Shift+Enter"), STR("send"), &err), &err);
    CHECK_OK(bind_add(&b, STR("F2"), STR("send"), &err), &err);
    CHECK_OK(bind_add(&b, STR("Ctrl+Space"), STR("complete"), &err), &err);
    static const struct {
        const char *key, *as;
    } rows[] = {
        {"Ctrl+g", "Ctrl+o"},
        {"Ctrl+o", NULL},
        {"Shift+Enter", "Enter"},
        {"F2", "Enter"},
        {"Enter", "Enter"},
        {"Ctrl+Space", "Tab"},
        {"Tab", "Tab"},
        {"Alt+x", "Alt+x"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *as = bind_key(&b, rows[i].key);
        test_row(i, rows[i].key);
        CHECK((as == NULL) == (rows[i].as == NULL));
        CHECK(!as || strcmp(as, rows[i].as) == 0);
    }
}

TEST(bind_refuses)
{
    static const struct {
        const char *key, *action, *words;
    } rows[] = {
        {"Ctrl+i", "open", "'Tab'"},
        {"Ctrl+m", "open", "'Enter'"},
        {"Ctrl+[", "open", "'Escape'"},
        {"Shift+Space", "open", "'Space'"},
        {"x", "open", "types text"},
        {"\303\251", "open", "types text"},
        {"Space", "open", "types text"},
        {"F2", "", "no such action ''"},
        {"F2", "Open", "did you mean 'open'"},
        {"", "open", ""},
        {"Ctrl+", "open", ""},
        {"F1", "send", "already"},
    };
    struct bindings b = {0};
    AUTO_ERR struct err err = {0};
    CHECK_OK(bind_add(&b, STR("F1"), STR("open"), &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].key);
        CHECK(!bind_add(&b, str_z(rows[i].key), str_z(rows[i].action), &err));
        CHECK(err.code == E_CONFIG);
        CHECK(err.message && strstr(err.message, rows[i].words));
    }
    CHECK(b.n == 1);
}

/* An action's default key must be one that a binding could name, and every action has a
 * description. */
TEST(bind_table_is_complete)
{
    for (const struct bind_action *a = bind_actions; a->name; a++) {
        struct bindings b = {0};
        AUTO_ERR struct err err = {0};
        test_row(0, a->name);
        CHECK(a->help && a->help[0]);
        if (a->key)
            CHECK_OK(bind_add(&b, str_z(a->key), STR("none"), &err), &err);
        for (const struct bind_action *other = bind_actions; other != a; other++)
            CHECK(
                strcmp(a->name, other->name) != 0 && !(a->key && strcmp(a->key, other->key) == 0));
    }
}

TEST(theme_reads_styles)
{
    static const struct {
        const char *text;
        struct style style;
    } rows[] = {
        {"plain", {0}},
        {"red", {.fg = (uint32_t)COLOR_ANSI << 24 | 1}},
        {"bright-red", {.fg = (uint32_t)COLOR_ANSI << 24 | 9}},
        {" bold   17 ", {.fg = (uint32_t)COLOR_INDEXED << 24 | 17, .attrs = STYLE_BOLD}},
        {"#Ff8800 on black",
            {.fg = (uint32_t)COLOR_RGB << 24 | 0xFF8800, .bg = (uint32_t)COLOR_ANSI << 24}},
        {"underline italic faint strike inverse",
            {.attrs = STYLE_ITALIC | STYLE_FAINT | STYLE_STRIKE | STYLE_INVERSE,
                .underline = UNDERLINE_SINGLE}},
    };
    static const char *const wrong[] = {"", " ", "on", "red on", "red on bold", "256", "-1",
        "#12345", "#12345g", "bright-bold", "Red"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct style style;
        AUTO_ERR struct err err = {0};
        test_row(i, rows[i].text);
        CHECK_OK(theme_parse(str_z(rows[i].text), &style, &err), &err);
        CHECK(memcmp(&style, &rows[i].style, sizeof(style)) == 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct style style;
        AUTO_ERR struct err err = {0};
        test_row(i, wrong[i]);
        CHECK(!theme_parse(str_z(wrong[i]), &style, &err) && err.code == E_CONFIG);
    }
}

TEST(theme_names_are_complete)
{
    for (unsigned i = 1; i < THEMES; i++) {
        enum theme found = THEME_TEXT;
        AUTO_ERR struct err err = {0};
        test_row(i, "theme");
        CHECK(theme_names[i]);
        CHECK_OK(theme_find(str_z(theme_names[i]), &found, &err), &err);
        CHECK(found == i);
    }
}
