/* CA certificates: which files count. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/certs.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct {
    const char *name, *file, *dir; /* below the test's directory; "": not set */
    bool any;
} rows[] = {
    {"a file", "ca.pem", "", true},
    {"an empty file", "empty.pem", "", false},
    {"no file", "none.pem", "", false},
    {"a directory with a hashed name", "", "hashed", true},
    {"an empty directory", "", "nothing", false},
    {"a directory with other names", "", "other", false},
    {"no directory", "", "none", false},
    {"an empty file, and a directory", "empty.pem", "hashed", true},
};

static void set(const char *variable, const char *name)
{
    if (name[0])
        setenv(variable, test_path("%s", name), 1);
    else
        unsetenv(variable);
}

TEST(certs_are_counted)
{
    test_write(test_path("ca.pem"), "a certificate");
    test_write(test_path("empty.pem"), "");
    test_write(test_path("hashed/4042bcee.0"), "a certificate");
    test_write(test_path("other/ca-bundle.trust.crt"), "a certificate");
    test_write(test_path("other/4042bcee.txt"), "a text");
    CHECK(mkdir(test_path("nothing"), 0755) == 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(i, rows[i].name);
        set("SSL_CERT_FILE", rows[i].file);
        set("SSL_CERT_DIR", rows[i].dir);
        CHECK_INT(certs_find().any, rows[i].any);
    }
    char list[4096];
    snprintf(list, sizeof(list), "%s:%s", test_path("nothing"), test_path("hashed"));
    unsetenv("SSL_CERT_FILE");
    setenv("SSL_CERT_DIR", list, 1);
    CHECK(certs_find().any);
    unsetenv("SSL_CERT_DIR");
}
