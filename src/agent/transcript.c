/* A run as a script. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/transcript.h"

#include "io/file.h"
#include "llm/message.h"

#include <errno.h>
#include <fcntl.h>

struct transcript {
    char *path;
    int fd;
    json_t *script, *turns;
};

bool transcript_open(
    const char *path, const char *model, struct transcript **ret_transcript, struct err *err)
{
    /* O_NONBLOCK: do not block on a FIFO without a reader. */
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot write the script '%s'", path);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    struct transcript *t = base_alloc(sizeof(*t));
    t->fd = fd;
    t->path = strdup(path);
    BUG_ON(!t->path);
    t->script = json_object();
    json_put(t->script, "version", json_integer(1));
    if (model && model[0])
        json_put(t->script, "model", json_text(str_z(model)));
    t->turns = json_array();
    json_put(t->script, "turns", t->turns);
    *ret_transcript = t;
    return true;
}

static void copy_keys(const json_t *from, json_t *to, const char *const *keys)
{
    for (size_t i = 0; keys[i]; i++) {
        json_t *value = json_object_get(from, keys[i]);
        if (value && !(json_is_string(value) && json_string_length(value) == 0))
            json_put(to, keys[i], json_incref(value));
    }
}

static json_t *part_of(const json_t *block)
{
    static const char *const text[] = {"text", NULL},
                             *const thinking[] = {"thinking", "signature", NULL},
                             *const call[] = {"name", "arguments", "id", NULL};
    json_t *part = json_object(), *inner;
    switch (block_type(block)) {
    case BLOCK_TEXT:
        copy_keys(block, part, text);
        break;
    case BLOCK_THINKING:
        copy_keys(block, part, thinking);
        break;
    case BLOCK_REDACTED_THINKING:
        json_put(part, "redacted_thinking", json_incref(json_object_get(block, "data")));
        break;
    case BLOCK_TOOL_CALL:
        inner = json_object();
        copy_keys(block, inner, call);
        json_put(part, "tool_call", inner);
        break;
    default:
        break;
    }
    return part;
}

void transcript_add(struct transcript *t, const json_t *answer)
{
    static const char *const keys[] = {"usage", NULL};
    json_t *turn = json_object(), *content = json_array(), *block;
    /* Prefer our own stop reason: services use different words for the same. */
    struct str stop = json_str(json_object_get(answer, "stop_reason"));
    if (str_is(stop, "unknown"))
        stop = json_str(json_object_get(answer, "raw_stop_reason"));
    size_t i;
    json_array_foreach(json_object_get(answer, "content"), i, block)
    {
        json_t *part = part_of(block);
        if (json_object_size(part))
            json_push(content, part);
        else
            json_decref(part);
    }
    json_put(turn, "content", content);
    if (stop.n)
        json_put(turn, "stop_reason", json_text(stop));
    copy_keys(answer, turn, keys);
    json_push(t->turns, turn);
}

bool transcript_close(struct transcript *t, const struct mask *mask, struct err *err)
{
    if (!t)
        return true;
    AUTO_BUF struct buf text = BUF_INIT(JSON_SIZE_MAX);
    AUTO_JSON json_t *clean = mask_tree(mask, t->script);
    json_add_pretty(&text, clean);
    buf_add_byte(&text, '\n');
    bool ok = true;
    if (!buf_ok(&text))
        ok = err_set(err, E_IO, "the script '%s' is larger than %d bytes", t->path, JSON_SIZE_MAX);
    else if (ftruncate(t->fd, 0) != 0 && errno != EINVAL)
        ok = err_errno(err, E_IO, errno, "cannot write the script '%s'", t->path);
    else
        ok = file_write(t->fd, buf_str(&text), t->path, err);
    close(t->fd);
    json_decref(t->script);
    free(t->path);
    free(t);
    return ok;
}
