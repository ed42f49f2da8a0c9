/* A provider of answers: a service, or a script; and the stream of one answer, which is pulled.
 *
 *     struct stream *s;
 *     if (!provider_stream(provider, &request, &s, err)) return false;
 *     while ((step = stream_next(s, &event, err)) == STREAM_EVENT) ...
 *     AUTO_JSON json_t *message = NULL;
 *     stream_message(s, &message, err);
 *     stream_close(s);
 *
 * States: new -> streaming -> complete | error | closed. A message is available from the first
 * stream_next() on: complete after the end, partial after an error (stop reason "error", or
 * "aborted" if it was canceled or closed). Nothing is sent before the first stream_next(). One
 * thread pulls; another may close, which ends its wait at once.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_PROVIDER_H
#define LLM_PROVIDER_H

#include "llm/llm_event.h"
#include "llm/request.h"

enum stream_step {
    STREAM_EVENT,
    STREAM_END,
    STREAM_FAILED,
};

enum stream_state {
    STREAM_NEW,
    STREAM_STREAMING,
    STREAM_COMPLETE,
    STREAM_ERROR,
    STREAM_CLOSED,
    STREAM_STATES,
};

struct stream; /* opaque */

enum stream_step stream_next(struct stream *s, struct llm_event *ret_event, struct err *err);
/* Returns a new reference. E_PROTOCOL before the first stream_next(). */
MUST_USE bool stream_message(struct stream *s, json_t **ret_message, struct err *err);
enum stream_state stream_state(const struct stream *s);
/* Ends the request, in any state; the message of a streaming one becomes "aborted" and stays valid
 * until stream_free(). */
void stream_close(struct stream *s);
void stream_free(struct stream *s); /* accepts NULL; closes */

/* Reported before the wait for each retry; all events since the stream began are void. */
struct retry_notice {
    unsigned attempt; /* from 1 */
    uint64_t delay_ms;
    const struct err *reason;
};

/* Names of all providers, NULL-terminated. */
extern const char *const provider_names[];

struct provider_options {
    const char *name;     /* "anthropic", "openai", "scripted"; NULL: by the keys that are set */
    const char *base_url; /* NULL: the variable, then the default */
    struct str key;       /* no value: the variable */
    const char *model;    /* NULL: the default */
    const char *script;   /* scripted: a file; NULL: the embedded one */
    int max_retries;      /* -1: the default */
    int cancel_fd;        /* -1: none */
    uint64_t deadline_ms; /* clock_mono_ms(); 0: none */
    uint64_t idle_timeout_ms; /* maximum time without data from the service; 0: the default */
    void (*on_retry)(void *context, const struct retry_notice *notice);
    void *context;
};

/* Checks the form of a base URL; E_CONFIG. */
MUST_USE bool provider_check_url(struct str url, struct err *err);

struct provider; /* opaque */

/* Starts loading libcurl in a background thread if these options lead to a service: it takes longer
 * than everything else before the first request. Decides nothing. */
void provider_prepare(const struct provider_options *options);

/* E_CONFIG: the service has no key (not needed with another base URL than the default), or the URL
 * is invalid. E_IO, E_PROTOCOL: the script. */
MUST_USE bool provider_open(
    const struct provider_options *options, struct provider **ret_provider, struct err *err);
/* Also waits for the thread of provider_prepare(); accepts NULL. */
void provider_close(struct provider *p);
const char *provider_name(const struct provider *p);
const char *provider_model(const struct provider *p);
struct str provider_key(const struct provider *p);         /* must be masked wherever it appears */
bool provider_is_default_script(const struct provider *p); /* no real model: tell the user */

/* The request must outlive the stream. */
MUST_USE bool provider_stream(struct provider *p, const struct llm_request *request,
    struct stream **ret_stream, struct err *err);

#endif
