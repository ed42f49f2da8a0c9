/* libcurl, loaded on demand: its functions are called as `curl->NAME`.
 *
 *     const struct curl *curl;
 *     if (!curl_get(&curl, err)) return false;
 *     CURL *easy = curl->easy_init();
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_CURL_H
#define LLM_CURL_H

#include "base/err.h"

#include <curl/curl.h>

#define CURL_CALLS(X)      \
    X(version)             \
    X(global_init)         \
    X(easy_init)           \
    X(easy_setopt)         \
    X(easy_getinfo)        \
    X(easy_pause)          \
    X(easy_cleanup)        \
    X(slist_append)        \
    X(slist_free_all)      \
    X(multi_init)          \
    X(multi_add_handle)    \
    X(multi_remove_handle) \
    X(multi_perform)       \
    X(multi_poll)          \
    X(multi_info_read)     \
    X(multi_cleanup)

struct curl {
#define CURL_MEMBER(name) __typeof__(curl_##name) *name;
    CURL_CALLS(CURL_MEMBER)
#undef CURL_MEMBER
};

/* E_CONFIG: not installed, or too old. */
MUST_USE bool curl_get(const struct curl **ret_curl, struct err *err);

/* Name and version of libcurl and its TLS library: "libcurl/7.88.1 OpenSSL/3.0.16". */
struct str curl_names(const struct curl *curl);

/* Starts curl_get() in a thread, once. */
void curl_prepare(void);
/* Waits for that thread: the process must not exit while libraries are being initialised. */
void curl_settle(void);

#endif
