/* Where distributions keep CA certificates. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/certs.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const files[] = {
    "/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Arch, Gentoo, Alpine, NixOS */
    "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, RHEL */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* the same, newer ones */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/ssl/cert.pem",                                 /* Alpine without ca-certificates */
    "/etc/pki/tls/cacert.pem", "/data/data/com.termux/files/usr/etc/tls/cert.pem", /* Termux */
};

static const char *const dirs[] = {
    "/etc/ssl/certs", "/etc/pki/tls/certs", "/system/etc/security/cacerts", /* Android */
};

static const char *first_of(const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (access(paths[i], R_OK) == 0)
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
        c.file = first_of(files, ARRAY_LEN(files));
    if (!c.file && !c.dir)
        c.dir = first_of(dirs, ARRAY_LEN(dirs));
    return c;
}
