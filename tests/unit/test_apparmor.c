/* The AppArmor profile: which programs it names, and the existing file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/apparmor.h"

#include "test.h"

#include <stdio.h>
#include <unistd.h>

#define SELF "/usr/bin/env" /* any program that root owns */

static const struct {
    const char *name, *programs, *want;
} rows[] = {
    {"none", "", " " SELF},
    {"itself", " " SELF, " " SELF},
    {"another one of root's", " /usr/bin/cat", " /usr/bin/cat " SELF},
    {"one that is not there", " /usr/bin/no-such-program", " /usr/bin/no-such-program " SELF},
    {"one in a directory of others", " /tmp/no-such-program " SELF, " " SELF},
    {"one behind a link of others", " /proc/self/cwd/cordon /usr/bin/cat", " /usr/bin/cat " SELF},
    {"one in the test's directory", NULL, " " SELF},
};

TEST(apparmor_names_programs_that_only_root_can_change)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        struct apparmor profile = APPARMOR_INIT;
        char own[4096], text[8192], want[8192];
        test_row(i, rows[i].name);
        snprintf(own, sizeof(own), " %s", test_path("bin/cordon"));
        snprintf(text, sizeof(text), "one\n@{cordon} =%s\ntwo\n",
            rows[i].programs ? rows[i].programs : own);
        snprintf(want, sizeof(want), "one\n@{cordon} =%s\ntwo\n", rows[i].want);
        if (CHECK_OK(apparmor_make(text, SELF, &profile, &err), &err))
            CHECK_STR(buf_str(&profile.text), str_z(want));
        apparmor_done(&profile);
    }
}

TEST(apparmor_refuses_a_program_of_others)
{
    AUTO_ERR struct err err = {0}, unplain = {0};
    struct apparmor profile = APPARMOR_INIT;
    test_write(test_path("cordon"), "");
    CHECK(!apparmor_make(apparmor_text, test_path("cordon"), &profile, &err));
    CHECK_ERR(&err, E_POLICY_DENIED, "can be changed by users other than root");
    CHECK(!apparmor_make(apparmor_text, "/usr/bin/a b", &profile, &unplain));
    CHECK_ERR(&unplain, E_CONFIG, "cannot create a profile for");
    apparmor_done(&profile);
}

TEST(apparmor_looks_at_the_file_that_is_there)
{
    struct apparmor profile = APPARMOR_INIT;
    buf_add_str(&profile.text, STR("text\n"));
    CHECK_INT(apparmor_look(test_path("none"), &profile), APPARMOR_FILE_NONE);
    test_write(test_path("same"), "text\n");
    CHECK_INT(apparmor_look(test_path("same"), &profile), APPARMOR_FILE_SAME);
    test_write(test_path("other"), "text\n# mine\n");
    CHECK_INT(apparmor_look(test_path("other"), &profile), APPARMOR_FILE_OTHER);
    CHECK(symlink(test_path("same"), test_path("link")) == 0);
    CHECK_INT(apparmor_look(test_path("link"), &profile), APPARMOR_FILE_OTHER);
    apparmor_done(&profile);
}
