/* CA certificates that servers are checked with: where this system keeps them. SSL_CERT_FILE and
 * SSL_CERT_DIR say otherwise.
 *
 *     struct certs c = certs_find();
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_CERTS_H
#define LLM_CERTS_H

#include "base/base.h"

struct certs {
    const char *file, *dir; /* NULL: none; both: no server is trusted */
    bool any;               /* there is at least one certificate */
};

struct certs certs_find(void);

#endif
