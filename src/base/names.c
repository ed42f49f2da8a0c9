/* Selection of the name services (NSS). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include "base/base.h"

#ifdef CORDON_STATIC

#include <nss.h>
#include <pthread.h>

static void names_configure(void)
{
    /* Both are part of libc.a. If this fails, lookups fail later. */
    (void)!__nss_configure_lookup("hosts", "files dns");
    (void)!__nss_configure_lookup("passwd", "files");
}

void names_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, names_configure);
}

#else

void names_prepare(void)
{
}

#endif
