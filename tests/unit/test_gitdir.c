/* Directories with a `.git`, and the order of changed paths. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tree.h"

#include "path/change.h"
#include "path/gitdir.h"

#include <sys/stat.h>
#include <unistd.h>

TEST(gitdir_is_a_repository_with_all_its_parts)
{
    static const struct {
        const char *name;
        bool head, objects, refs, file; /* file: objects is not a directory */
        bool want;
    } rows[] = {
        {"whole", true, true, true, false, true},
        {"no HEAD", false, true, true, false, false},
        {"no objects", true, false, true, false, false},
        {"no refs", true, true, false, false, false},
        {"a file in place of objects", true, true, true, true, false},
        {"nothing", false, false, false, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        test_write(test_path("%zu/.git/config", i), "");
        if (rows[i].head)
            test_write(test_path("%zu/.git/HEAD", i), "ref: refs/heads/main\n");
        if (rows[i].objects)
            test_write(test_path(rows[i].file ? "%zu/.git/objects" : "%zu/.git/objects/x", i), "");
        if (rows[i].refs)
            test_write(test_path("%zu/.git/refs/heads/main", i), "");
        AUTO_FD int dir = tree_open(test_path("%zu", i));
        CHECK_INT(gitdir_is_repository(dir), rows[i].want);
    }
    AUTO_FD int none = tree_open(test_dir());
    CHECK(!gitdir_is_repository(none));
}

TEST(gitdir_names_that_stand_for_git)
{
    static const struct {
        struct str name;
        bool want;
    } rows[] = {
        {STR(".git"), true},
        {STR(".GiT"), true},
        {STR(".git. ."), true},
        {STR(".git:stream"), true},
        {STR(".git ::$INDEX_ALLOCATION"), true},
        {STR("git~1"), true},
        {STR("GIT~1."), true},
        {STR("git~2"), false},
        {STR("git"), false},
        {STR(".gitx"), false},
        {STR(" .git"), false},
        {STR("..."), false},
        {STR(":"), false},
        {STR(""), false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name.p);
        CHECK_INT(gitdir_stands_for_git(rows[i].name), rows[i].want);
    }
}

TEST(change_order_has_directories_before_their_files)
{
    static const struct {
        struct str a, b;
        int want;
    } rows[] = {
        {STR("a"), STR("a"), 0},
        {STR("a"), STR("b"), -1},
        {STR("a"), STR("a/b"), -1},
        {STR("a"), STR("ab"), -1},
        {STR("a/b"), STR("a-b"), -1}, /* '/' sorts before every other byte */
        {STR("a\xc3"), STR("ab"), 1},
        {STR(""), STR("a"), -1},
        {{"ax", 1}, {"ay", 1}, 0}, /* bytes after the end do not count */
        {{"ax", 1}, {"ay", 2}, -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int order = change_order(rows[i].a, rows[i].b), back = change_order(rows[i].b, rows[i].a);
        test_row(i, rows[i].a.p);
        CHECK_INT((order > 0) - (order < 0), rows[i].want);
        CHECK_INT((back > 0) - (back < 0), -rows[i].want);
    }
}
