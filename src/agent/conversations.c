/* Stored conversations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/conversations.h"

#include "agent/exchange.h"
#include "agent/undo.h"
#include "config/config.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

bool conversations_dir(struct arena *a, const char **ret_dir, struct err *err)
{
    return config_state_path(a, "sessions", ret_dir, err);
}

void conversations_send_notes(const struct store *s, struct notices warnings)
{
    const json_t *note;
    size_t i;
    json_array_foreach(store_notes(s), i, note)
        notice_send(warnings, "%s: %s", store_id(s), json_string_value(note));
}

bool conversations_open(struct arena *a, const char *word, struct notices warnings,
    struct store **ret_store, struct err *err)
{
    const char *dir;
    if (!conversations_dir(a, &dir, err) || !store_open(dir, word, STORE_READ, ret_store, err))
        return false;
    conversations_send_notes(*ret_store, warnings);
    return true;
}

/* Input that is not a file, such as a pipe, is read into memory first. */
static bool conversations_open_input(const char *name, int *ret_fd, struct err *err)
{
    struct stat st;
    bool dash = strcmp(name, "-") == 0;
    AUTO_FD int fd = dash ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return err_errno(err, E_NOT_FOUND, errno, "cannot read '%s'", name);
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot read '%s'", name);
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
        *ret_fd = TAKE_FD(fd);
        return true;
    }
    AUTO_BUF struct buf text = BUF_INIT((size_t)STORE_BYTES_MAX + (1 << 20));
    AUTO_FD int memory = file_nameless();
    if (!file_read(fd, (size_t)STORE_BYTES_MAX, name, &text, err) ||
        !file_write(memory, buf_str(&text), name, err))
        return false;
    *ret_fd = TAKE_FD(memory);
    return true;
}

bool conversations_import(struct arena *a, const char *name, bool replace, struct notices warnings,
    struct store **ret_store, struct err *err)
{
    const struct str hide[] = {
        str_z(getenv("ANTHROPIC_API_KEY") ? getenv("ANTHROPIC_API_KEY") : ""),
        str_z(getenv("OPENAI_API_KEY")), {0}};
    const char *dir;
    struct exchange_import import = {
        .name = strcmp(name, "-") ? name : "standard input", .replace = replace, .hide = hide};
    if (!conversations_dir(a, &dir, err) || !conversations_open_input(name, &import.fd, err) ||
        !exchange_import(dir, &import, ret_store, err))
        return false;
    conversations_send_notes(*ret_store, warnings);
    return true;
}

bool conversations_fork(struct arena *a, const char *word, const char *new_id,
    struct notices warnings, struct store **ret_store, struct err *err)
{
    const char *dir, *id;
    size_t n;
    if (!conversations_dir(a, &dir, err) || !exchange_parse_fork(word, a, &id, &n, err) ||
        !exchange_fork(dir, id, n, new_id, ret_store, err)) {
        if (err->code == E_CONFLICT && new_id)
            err_set(
                err, E_CONFLICT, "the session '%s' already exists; choose another --id", new_id);
        return false;
    }
    conversations_send_notes(*ret_store, warnings);
    return true;
}

bool conversations_remove(struct arena *a, const char *word, const char **ret_id, struct err *err)
{
    const char *dir, *undo, *id;
    if (!conversations_dir(a, &dir, err) || !config_state_path(a, "undo", &undo, err) ||
        !catalog_find(dir, str_z(word), a, &id, err) || !catalog_remove(dir, id, err))
        return false;
    undo_remove(undo, id);
    *ret_id = id;
    return true;
}

json_t *conversations_list_json(const struct catalog *c)
{
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < c->n; i++)
        json_push(list, field_write(&catalog_shape, &c->entries[i]));
    json_put(object, "sessions", list);
    return object;
}

json_t *conversations_json(const struct store *s)
{
    static const char *const keys[] = {
        "id", "created_at", "title", "cwd", "provider", "model", "system_prompt"};
    json_t *object = json_object();
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (store_text(s, keys[i]).p)
            json_put(object, keys[i], json_text(store_text(s, keys[i])));
    AUTO_JSON json_t *counting = store_messages(s);
    json_put(object, "updated_at", json_text(store_updated_at(s)));
    json_put(object, "file", json_text(str_z(store_path(s))));
    json_put(object, "messages", json_incref((json_t *)store_all(s)));
    json_put(object, "counting", json_integer((json_int_t)json_array_size(counting)));
    if (store_is_imported(s))
        json_put(object, "imported", json_true());
    json_put(object, "notes", json_incref((json_t *)store_notes(s)));
    return object;
}
