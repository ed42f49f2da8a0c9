/* Works on a session as the agent does, and prints which messages were reported as durable:
 * `store_steps DIR WORD N` opens or creates the session and appends N messages. Prints a line after
 * each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/store.h"
#include "llm/message.h"

static void tell(const char *word, size_t n)
{
    char line[64];
    int length = snprintf(line, sizeof(line), "%s %zu\n", word, n);
    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(3);
}

static bool steps(const char *dir, const char *word, size_t n, struct err *err)
{
    struct store *s = NULL;
    struct store_spec spec = {.id = str_z(word)};
    if (store_is_path(word))
        spec = (struct store_spec){.path = word, .id = STR("s1")};
    if (!store_open(dir, word, STORE_WRITE, &s, err)) {
        if (err->code != E_NOT_FOUND)
            return false;
        err_done(err);
        if (!store_create(dir, &spec, &s, err))
            return false;
    }
    tell("had", json_array_size(store_all(s)));
    for (size_t i = 0; i < n; i++) {
        AUTO_JSON json_t *m =
            message_user(STR("a message of some length, so that it can be cut in two"));
        if (!store_append(s, m, err))
            return false;
        tell("has", json_array_size(store_all(s)));
    }
    return store_finish(s, err);
}

int main(int argc, char **argv)
{
    AUTO_ERR struct err err = {0};
    int64_t n;
    if (argc != 4 || !str_to_int(str_z(argv[3]), 0, 1000, &n))
        return 2;
    if (steps(argv[1], argv[2], (size_t)n, &err))
        return 0;
    fprintf(stderr, "%s\n", err.message);
    return 1;
}
