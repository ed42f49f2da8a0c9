/* Proposals from denials. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/additions.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "base/yaml_text.h"

#include <limits.h>

static struct str additions_text(const json_t *entry, const char *key)
{
    return json_str(json_object_get(entry, key));
}

/* Whether an entry can be added under this operation; those without a fix can't. */
static bool is_addition(const json_t *entry, const char *op)
{
    struct str target = additions_text(entry, "target");
    return str_is(additions_text(entry, "op"), op) && additions_text(entry, "fix").n &&
           !json_object_get(entry, "inexact") && target.n < PATH_MAX;
}

static bool has_additions(const json_t *denied, const char *op)
{
    for (size_t i = 0; i < json_array_size(denied); i++)
        if (is_addition(json_array_get(denied, i), op))
            return true;
    return false;
}

/* A file that does not exist can't be in a policy, but its directory can. */
static struct str path_to_add(const json_t *entry, const char *op)
{
    struct str path = additions_text(entry, "target");
    char name[PATH_MAX];
    memcpy(name, path.p, path.n);
    name[path.n] = '\0';
    if (strcmp(op, "write") == 0 && access(name, F_OK) != 0)
        path = str_head(path, (size_t)MAX(str_find_last(path, '/'), 0));
    return path;
}

static bool was_added(const json_t *denied, size_t before, const char *op, struct str path)
{
    for (size_t i = 0; i < before; i++) {
        const json_t *entry = json_array_get(denied, i);
        if (is_addition(entry, op) && str_eq(path_to_add(entry, op), path))
            return true;
    }
    return false;
}

static void additions_add_list(struct buf *b, const json_t *denied, const char *op, const char *key)
{
    if (!has_additions(denied, op))
        return;
    buf_printf(b, "  %s:\n", key);
    for (size_t i = 0; i < json_array_size(denied); i++) {
        const json_t *entry = json_array_get(denied, i);
        if (!is_addition(entry, op))
            continue;
        struct str path = path_to_add(entry, op);
        if (was_added(denied, i, op, path))
            continue;
        buf_add_z(b, "    - ");
        yaml_add_text(b, path);
        buf_add_z(b, "  # for ");
        utf8_add_printable(b, additions_text(entry, "program"));
        buf_add_byte(b, '\n');
    }
}

/* Entries that no policy can allow, and the reasons. */
static void add_rest(struct buf *b, const json_t *denied)
{
    bool first = true;
    for (size_t i = 0; i < json_array_size(denied); i++) {
        const json_t *entry = json_array_get(denied, i);
        if (additions_text(entry, "fix").n && !json_object_get(entry, "inexact"))
            continue;
        if (first)
            buf_add_z(b, "# A policy cannot allow:\n");
        first = false;
        buf_add_z(b, "#   ");
        utf8_add_printable(b, additions_text(entry, "op"));
        buf_add_byte(b, ' ');
        utf8_add_printable(b, additions_text(entry, "target"));
        buf_add_z(b, " (");
        utf8_add_printable(b, additions_text(entry, "rule"));
        buf_add_z(b, ")\n");
    }
}

void additions_add(struct buf *b, const json_t *denied)
{
    const bool writes = has_additions(denied, "write");
    if (json_array_size(denied) == 0) {
        buf_add_z(b, "# Nothing was denied.\n");
        return;
    }
    buf_add_z(b, "# Additions to the policy: what the sandbox denied. Check each before you add "
                 "it.\n");
    if (writes || has_additions(denied, "read"))
        buf_add_z(b, "fs:\n");
    additions_add_list(b, denied, "read", "allowed_read");
    additions_add_list(b, denied, "write", "allowed_write");
    if (writes)
        buf_add_z(b, "fs_write_unsafe_ack: true\n");
    if (has_additions(denied, "exec"))
        buf_add_z(b, "exec:\n");
    additions_add_list(b, denied, "exec", "allowed_executables");
    if (has_additions(denied, "connect"))
        buf_add_z(b, "network: enabled  # all or nothing\nnetwork_unsafe_ack: true\n");
    add_rest(b, denied);
}
