/* Files that often contain secrets or settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/warn.h"

#include "path/lexical.h"

#include <strings.h>

enum warn_kind {
    NAME,   /* the whole name */
    PREFIX, /* prefix of the name */
    SUFFIX, /* suffix of the name */
};

static const struct {
    const char *text;
    enum warn_kind kind;
    const char *why;
} rows[] = {
    {".env", NAME, "environment file: may hold secrets"},
    {".env", SUFFIX, "environment file: may hold secrets"},
    {".env.", PREFIX, "environment file: may hold secrets"},
    {".envrc", NAME, "environment file: may hold secrets, and is run by direnv"},
    {"config.json", NAME, "configuration file: may hold credentials"},
    {"credentials", NAME, "credentials"},
    {"credentials.", PREFIX, "credentials"},
    {"secrets.", PREFIX, "secrets"},
    {".netrc", NAME, "credentials of network hosts"},
    {".pgpass", NAME, "database passwords"},
    {".htpasswd", NAME, "web server passwords"},
    {".git-credentials", NAME, "git credentials"},
    {".npmrc", NAME, "may hold registry tokens"},
    {".pypirc", NAME, "may hold registry tokens"},
    {"id_rsa", NAME, "private key"},
    {"id_dsa", NAME, "private key"},
    {"id_ecdsa", NAME, "private key"},
    {"id_ed25519", NAME, "private key"},
    {".pem", SUFFIX, "may be a private key"},
    {".key", SUFFIX, "may be a private key"},
    {".p12", SUFFIX, "may hold a private key"},
    {".pfx", SUFFIX, "may hold a private key"},
    {".kdbx", SUFFIX, "password database"},
};

/* Examples that are meant to be shared. */
static const char *const harmless[] = {".env.example", ".env.sample", ".env.template"};

static bool warn_matches(struct str name, const char *text, enum warn_kind kind)
{
    size_t n = strlen(text);
    if (kind == NAME)
        return name.n == n && strncasecmp(name.p, text, n) == 0;
    if (kind == PREFIX)
        return name.n >= n && strncasecmp(name.p, text, n) == 0;
    return name.n > n && strncasecmp(name.p + name.n - n, text, n) == 0;
}

const char *warn_about(struct str path)
{
    struct str name = lexical_name(path);
    for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
        if (warn_matches(name, harmless[i], NAME))
            return NULL;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (warn_matches(name, rows[i].text, rows[i].kind))
            return rows[i].why;
    return NULL;
}
