/* Checks of the public API's errors and texts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"

#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    TRIGGER_MAX_MS = 60 * 1000,
};

bool api_has(const char *text, const char *part)
{
    return text && strstr(text, part);
}

void api_check_error(struct cordon_error *error, const char *code, const char *part)
{
    CHECK_Z(error->code ? error->code : "no error", code);
    if (!CHECK(api_has(error->message, part)))
        printf("# the message is: %s\n", error->message ? error->message : "none");
    CHECK(api_has(error->json, code));
    cordon_error_clear(error);
}

bool api_check_ok(struct cordon_error *error)
{
    bool ok = CHECK(!error->code);
    if (!ok)
        printf("# %s: %s\n", error->code, error->message);
    cordon_error_clear(error);
    return ok;
}

void api_check_text(char *text, const char *part)
{
    if (!CHECK(api_has(text, part)))
        printf("# wanted: %s\n# got: %.2000s\n", part, text ? text : "nothing");
    free(text);
}

static void *trigger_run(void *context)
{
    struct api_trigger *t = context;
    char events[4096];
    while (access(t->path, F_OK) != 0) {
        struct pollfd wait = {.fd = t->watch, .events = POLLIN};
        if (poll(&wait, 1, TRIGGER_MAX_MS) <= 0 || read(t->watch, events, sizeof(events)) <= 0)
            break;
    }
    cordon_cancel_trigger(t->cancel);
    return NULL;
}

void api_trigger_begin(struct api_trigger *t, const char *name, struct cordon_cancel *cancel)
{
    *t = (struct api_trigger){.cancel = cancel, .watch = inotify_init1(IN_CLOEXEC)};
    snprintf(t->path, sizeof(t->path), "%s", test_path("%s", name));
    unlink(t->path);
    char *slash = strrchr(t->path, '/');
    *slash = '\0';
    CHECK(inotify_add_watch(t->watch, t->path, IN_CREATE) >= 0);
    *slash = '/';
    CHECK_INT(pthread_create(&t->thread, NULL, trigger_run, t), 0);
}

void api_trigger_end(struct api_trigger *t)
{
    CHECK_INT(pthread_join(t->thread, NULL), 0);
    CHECK_INT(access(t->path, F_OK), 0);
    close(t->watch);
}

static char *home_before;

void api_home_begin(void)
{
    const char *before = getenv("CORDON_HOME");
    if (!home_before)
        home_before = strdup(before ? before : "");
    setenv("CORDON_HOME", test_path("state"), 1);
}

void api_home_end(void)
{
    if (home_before && home_before[0])
        setenv("CORDON_HOME", home_before, 1);
    else
        unsetenv("CORDON_HOME");
    free(home_before);
    home_before = NULL;
}

const char *api_find_cordon(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);
    char *slash = NULL;
    for (int i = 0; n > 0 && i < 2; i++) {
        path[n] = '\0';
        slash = strrchr(path, '/');
        n = slash ? slash - path : 0;
    }
    if (n <= 0)
        return NULL;
    memcpy(slash, "/cordon", sizeof("/cordon"));
    return access(path, X_OK) == 0 ? path : NULL;
}
