/* The system's CA certificates for verifying servers. SSL_CERT_FILE and SSL_CERT_DIR override the
 * default locations.
 *
 *     struct certs c = certs_find();
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_CERTS_H
#define LLM_CERTS_H

#include "base/base.h"

struct certs {
    const char *file, *dir; /* NULL: none; both NULL: no server is trusted */
    bool any;               /* there is at least one certificate */
};

struct certs certs_find(void);

#endif
