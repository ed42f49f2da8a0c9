/* The developer's /etc: names to hide, and both forms of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "sandbox/etc_view.h"
#include "tree.h"

#include <sys/stat.h>
#include <unistd.h>

TEST(etc_view_omits_known_places_of_secrets)
{
    static const struct {
        const char *path;
        bool want;
    } rows[] = {
        {"shadow", true},
        {"shadow-", true},
        {"shadows/x", false}, /* its parent is omitted */
        {"sudoers.d", true},
        {"ssl/private", true},
        {"ssl/certs", false},
        {"pki/tls/private", true},
        {"pki/tls/certs", false},
        {"ssh/ssh_host_rsa_key", true},
        {"ssh/ssh_config", false},
        {"apt/auth.conf.d", true},
        {"apt/sources.list", false},
        {"machine-id", true},
        {"passwd", false},
        {"java-17-openjdk", false},
        {"x/shadow", false},
        {"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].path);
        CHECK_INT(etc_view_omits(rows[i].path), rows[i].want);
    }
}

static void make_etc(void)
{
    static const struct {
        const char *path;
        mode_t mode;
    } files[] = {
        {"plain", 0644},
        {"private", 0600},
        {"shadow", 0644},
        {"open/a", 0644},
        {"open/in/b", 0444},
        {"mixed/a", 0644},
        {"mixed/b", 0640},
        {"mixed/in/c", 0644},
        {"closed/a", 0644},
        {"pki/tls/private/k", 0644},
        {"pki/tls/public", 0644},
    };
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        tree_file(test_path("e/%s", files[i].path), files[i].path, files[i].mode);
        CHECK_INT(chmod(test_path("e/%s", files[i].path), files[i].mode), 0);
    }
    static const char *const dirs[] = {
        "", "open", "open/in", "mixed", "mixed/in", "pki", "pki/tls", "pki/tls/private"};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        CHECK_INT(chmod(test_path("e/%s", dirs[i]), 0755), 0);
    CHECK_INT(chmod(test_path("e/closed"), 0700), 0);
    CHECK_INT(symlink("open/a", test_path("e/link")), 0);
}

static const struct plan_step *find_step(const struct etc_view *view, const char *at)
{
    for (size_t i = 0; i < view->n; i++)
        if (str_is(view->steps[i].at, at))
            return &view->steps[i];
    return NULL;
}

/* Kinds of the steps for each path: as root or a user with groups; as a user without; and without
 * layers. */
TEST(etc_view_has_two_forms)
{
    enum {
        NONE = 99
    };
    static const struct {
        const char *at;
        int modes, user, entries;
    } rows[] = {
        {"/etc", PLAN_LAYERED, PLAN_LAYERED, NONE},
        {"/etc/plain", NONE, NONE, PLAN_FILE},
        {"/etc/private", PLAN_OMIT, NONE, NONE},
        {"/etc/shadow", PLAN_OMIT, PLAN_OMIT, NONE},
        {"/etc/link", NONE, NONE, PLAN_LINK},
        {"/etc/open", NONE, NONE, PLAN_BIND},
        {"/etc/open/a", NONE, NONE, NONE},
        {"/etc/mixed", NONE, NONE, PLAN_DIR},
        {"/etc/mixed/a", NONE, NONE, PLAN_FILE},
        {"/etc/mixed/b", PLAN_OMIT, NONE, NONE},
        {"/etc/mixed/in", NONE, NONE, PLAN_BIND},
        {"/etc/closed", PLAN_OMIT, NONE, NONE},
        {"/etc/closed/a", NONE, NONE, NONE},
        {"/etc/pki/tls/private", PLAN_OMIT, PLAN_OMIT, NONE},
        {"/etc/pki/tls/public", NONE, NONE, PLAN_FILE},
    };
    make_etc();
    for (int form = 0; form < 3; form++) {
        AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
        struct etc_view view;
        const struct etc_input in = {
            .from = test_path("e"), .layered = form < 2, .modes = form == 0};
        etc_view_collect(&in, &a, &view);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const struct plan_step *step = find_step(&view, rows[i].at);
            const int want[] = {rows[i].modes, rows[i].user, rows[i].entries};
            test_row(i, rows[i].at);
            CHECK_INT(step ? (int)step->kind : NONE, want[form]);
        }
    }
}

TEST(etc_view_shows_files_as_they_are)
{
    AUTO_ARENA struct arena a = ARENA_INIT(64 << 20);
    struct etc_view view;
    make_etc();
    etc_view_collect(&(struct etc_input){.from = test_path("e")}, &a, &view);
    CHECK_STR(find_step(&view, "/etc/plain")->text, STR("plain"));
    CHECK_STR(find_step(&view, "/etc/link")->text, STR("open/a"));
    CHECK_STR(find_step(&view, "/etc/open")->text, str_z(test_path("e/open")));
    CHECK_INT(find_step(&view, "/etc/open")->access, PLAN_READ | PLAN_IS_DIR);
    etc_view_collect(&(struct etc_input){.from = test_path("missing")}, &a, &view);
    CHECK_INT(view.n, 0);
}
