/* libcurl, loaded when it is needed: it and what it needs take more time than all the rest. */
#include "llm/curl.h"

#include <dlfcn.h>
#include <pthread.h>

/* With one kind of TLS or another. */
static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

static struct curl loaded;
static const char *missing; /* what there is not */
static pthread_once_t once_loaded = PTHREAD_ONCE_INIT, once_begun = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const struct {
        const char *name;
        size_t at;
    } calls[] = {
#define CURL_ROW(call) {"curl_" #call, offsetof(struct curl, call)},
        CURL_CALLS(CURL_ROW)
#undef CURL_ROW
    };
    void *library = NULL;
    for (size_t i = 0; !library && i < ARRAY_LEN(names); i++)
        library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        missing = names[0];
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        void *call = dlsym(library, calls[i].name);
        if (!call)
            missing = calls[i].name;
        memcpy((char *)&loaded + calls[i].at, &call, sizeof(call));
    }
}

/* In the thread that uses it: TLS libraries keep things for each thread that begins them. */
static void begin(void)
{
    if (!missing && loaded.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        missing = "curl_global_init";
}

bool curl_get(const struct curl **ret_curl, struct err *err)
{
    pthread_once(&once_loaded, load);
    pthread_once(&once_begun, begin);
    if (missing == names[0])
        return err_set(err, E_CONFIG,
            "libcurl.so.4 is not there, and without it no service can be reached; on Debian: "
            "apt install libcurl4");
    if (missing)
        return err_set(err, E_CONFIG,
            "this machine's libcurl does not work: %s is missing or fails; 7.66 or later is needed",
            missing);
    *ret_curl = &loaded;
    return true;
}

static void *load_aside(void *unused)
{
    (void)unused;
    pthread_once(&once_loaded, load);
    return NULL;
}

void curl_prepare(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &attr, load_aside, NULL);
    (void)failed; /* then it is loaded when it is needed */
    pthread_attr_destroy(&attr);
}
