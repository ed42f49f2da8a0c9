/* Locations of CA certificates in Linux distributions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/certs.h"

#include "base/arena.h"
#include "io/dir.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Only root can write to these locations. */
static const char *const files[] = {
    "/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Arch, Gentoo, Alpine, NixOS */
    "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, RHEL */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* the same, newer versions */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/ssl/cert.pem",                                 /* Alpine without ca-certificates */
    "/etc/pki/tls/cacert.pem",
};

static const char *const dirs[] = {
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
};

enum {
    ENTRIES_MAX = 100000,
};

static bool file_has_any(const char *path)
{
    struct stat st;
    return access(path, R_OK) == 0 && stat(path, &st) == 0 && st.st_size > 0;
}

/* OpenSSL looks up a certificate by the hash of its subject: "4042bcee.0". */
static bool is_hashed(const char *name)
{
    return strspn(name, "0123456789abcdef") == 8 && name[8] == '.' && name[9] >= '0' &&
           name[9] <= '9';
}

static bool dir_has_any(const char *path)
{
    AUTO_DIR struct dir d = DIR_INIT(ENTRIES_MAX);
    bool found = false, listed = dir_open_path(&d, path);
    while (listed && !found && dir_next(&d))
        found = is_hashed(d.name);
    return found;
}

/* Checks the directories of a colon-separated list, as OpenSSL accepts it. */
static bool dirs_have_any(const char *paths)
{
    AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
    struct str path, rest = str_z(paths);
    while (rest.n && str_cut(rest, ':', &path, &rest))
        if (dir_has_any(arena_strdup(&a, path)))
            return true;
    return false;
}

static const char *certs_first_of(
    const char *const *paths, size_t n, bool (*has_any)(const char *path))
{
    for (size_t i = 0; i < n; i++)
        if (has_any(paths[i]))
            return paths[i];
    return NULL;
}

static const char *named_by(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] ? value : NULL;
}

struct certs certs_find(void)
{
    struct certs c = {.file = named_by("SSL_CERT_FILE"), .dir = named_by("SSL_CERT_DIR")};
    if (!c.file && !c.dir)
        c.file = certs_first_of(files, ARRAY_LEN(files), file_has_any);
    if (!c.file && !c.dir)
        c.dir = certs_first_of(dirs, ARRAY_LEN(dirs), dir_has_any);
    c.any = (c.file && file_has_any(c.file)) || (c.dir && dirs_have_any(c.dir));
    return c;
}
