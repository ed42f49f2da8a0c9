/* /undo and /diff: changes that tools made to files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "chat/chat.h"
#include "io/file.h"
#include "path/beneath.h"
#include "tool/tool_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

enum {
    NAMED_MAX = 20, /* files listed by name */
    DIFF_MAX = 4 << 20,
    PROMPT_SHOWN = 60, /* bytes of a turn's prompt that are shown */
};

static bool chat_undo_has_record(struct chat *chat)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    if (chat->setup.undo)
        return true;
    buf_printf(&b,
        "the tools work in the box '%s', which keeps its changes separate from the "
        "project: use 'cordon box diff %s' to show them, 'cordon box reset %s' to discard "
        "them",
        chat->setup.options->box, chat->setup.options->box, chat->setup.options->box);
    chat_note(chat, buf_z(&b));
    return false;
}

/* Adds the start of the turn's prompt. */
static void chat_undo_add_prompt(const struct chat *chat, size_t turn, struct buf *b)
{
    AUTO_BUF struct buf text = BUF_INIT(JSON_SIZE_MAX);
    struct str line, rest;
    chat_past_add_typed(json_array_get(store_all(chat->setup.store), turn), &text);
    rest = buf_str(&text);
    if (!str_cut(rest, '\n', &line, &rest))
        return;
    size_t n = utf8_cut(line, PROMPT_SHOWN);
    buf_printf(b, " from '" STR_FMT "%s'", STR_ARG(str_head(line, n)), n < line.n ? "…" : "");
}

/* Whether a command ran in the turn that starts with this message. */
static bool ran_commands(const struct chat *chat, size_t turn)
{
    const json_t *all = store_all(chat->setup.store), *m, *block;
    for (size_t i = turn + 1; (m = json_array_get(all, i)) && message_type(m) != MESSAGE_USER;
         i++) {
        size_t k;
        json_array_foreach(json_object_get(m, "content"), k, block)
        {
            const struct tool *tool = tool_find(json_str(json_object_get(block, "name")));
            if (block_type(block) == BLOCK_TOOL_CALL && tool && tool->is_command)
                return true;
        }
    }
    return false;
}

static const char *chat_undo_outcome(const struct undo_item *item)
{
    if (!item->old.ino)
        return item->new.ino ? "deleted" : "nothing to undo";
    return "restored";
}

static void tell_undone(struct chat *chat, const struct undo_list *l)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    buf_printf(&b, "undid the changes");
    chat_undo_add_prompt(chat, l->turn, &b);
    if (!str_is(l->root, chat->setup.tools.options.cwd) && !str_is(l->root, "/"))
        buf_printf(&b, " in " STR_FMT, STR_ARG(l->root));
    for (size_t i = 0; i < MIN(l->n, (size_t)NAMED_MAX); i++)
        buf_printf(&b, "\n  %s" STR_FMT ": %s", undo_prefix(l->root), STR_ARG(l->items[i].path),
            chat_undo_outcome(&l->items[i]));
    if (l->n > NAMED_MAX)
        buf_printf(&b, "\n  and %zu more", l->n - NAMED_MAX);
    if (ran_commands(chat, l->turn))
        buf_add_z(
            &b, "\ncommands also ran in that turn: their changes are not tracked and not undone");
    chat_note(chat, buf_z(&b));
}

/* Informs the model, which would otherwise assume that its changes are still there. */
static void chat_undo_notify_model(struct chat *chat, const struct undo_list *l)
{
    struct buf *b = &chat->aside;
    buf_add_z(b, "[The user undid your changes to files");
    chat_undo_add_prompt(chat, l->turn, b);
    buf_add_z(b, ". These files are back in their previous state:");
    for (size_t i = 0; i < MIN(l->n, (size_t)NAMED_MAX); i++)
        buf_printf(
            b, "%s %s" STR_FMT, i ? "," : "", undo_prefix(l->root), STR_ARG(l->items[i].path));
    if (l->n > NAMED_MAX)
        buf_printf(b, " and %zu more", l->n - NAMED_MAX);
    buf_add_z(b, "]\n\n");
}

void chat_undo_run(struct chat *chat, struct str words)
{
    AUTO_UNDO_LIST struct undo_list list = {0};
    AUTO_ERR struct err err = {0};
    (void)words;
    if (!chat_undo_has_record(chat))
        return;
    if (!undo_back(chat->setup.undo, &list, &err)) {
        if (err.code == E_NOT_FOUND)
            chat_note(chat, err.message);
        else
            chat_note_error(chat, &err);
        return;
    }
    tell_undone(chat, &list);
    chat_undo_notify_model(chat, &list);
}

/* /diff --------------------------------------------------------------------------------------- */

struct differ {
    struct chat *chat;
    int root_fd;
    int64_t budget;
    struct buf diff;
    size_t n; /* files that differ */
};

/* Reads the current content of a file, or the target of a symlink. */
static bool chat_undo_read_file(const struct differ *d, struct str path, struct stat *ret_st,
    struct buf *content, struct err *err)
{
    char target[PATH_MAX];
    struct stat st = {0};
    AUTO_FD int seen =
        beneath_open(d->root_fd, path.p, O_PATH | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    *ret_st = st;
    if (seen < 0 || fstat(seen, &st) != 0)
        return true;
    *ret_st = st;
    ssize_t n = S_ISLNK(st.st_mode) ? readlinkat(seen, "", target, sizeof(target)) : 0;
    buf_add(content, target, (size_t)MAX(n, 0));
    if (!S_ISREG(st.st_mode))
        return true;
    AUTO_FD int fd = beneath_open(
        d->root_fd, path.p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, BENEATH_NO_SYMLINKS);
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot read '" STR_FMT "'", STR_ARG(path));
    return file_read(fd, TOOLBOX_FILE_MAX, path.p, content, err);
}

static bool chat_undo_is_binary(struct str text)
{
    return text.n && memchr(text.p, '\0', text.n);
}

static bool chat_undo_add_item(struct differ *d, const struct undo_item *item, struct err *err)
{
    AUTO_BUF struct buf old = BUF_INIT((size_t)UNDO_FILE_MAX + 1), new = BUF_INIT(128 << 20);
    AUTO_BUF struct buf note = BUF_INIT(200);
    struct stat st;
    if (!undo_read(d->chat->setup.undo, item, &old, err) ||
        !chat_undo_read_file(d, item->path, &st, &new, err))
        return false;
    bool here = st.st_mode && !S_ISDIR(st.st_mode),
         mode = here && item->old.ino && item->old.mode != st.st_mode;
    if (here == (item->old.ino != 0) && !mode && str_eq(buf_str(&old), buf_str(&new)))
        return true;
    bool binary =
        chat_undo_is_binary(buf_str(&old)) || chat_undo_is_binary(buf_str(&new)) || !item->kept;
    if (mode)
        buf_printf(&note, "mode %06o to %06o", item->old.mode, st.st_mode);
    if (binary)
        buf_printf(&note, "%s%s", note.n ? ", " : "",
            item->kept ? "not text" : "previous contents not saved");
    d->n++;
    plan_add(&d->diff, &d->budget,
        &(struct plan_file){.name = item->path,
            .existed = item->old.ino != 0,
            .exists = here,
            .old = binary ? STR("") : buf_str(&old),
            .new = binary ? STR("") : buf_str(&new),
            .note = note.n ? buf_z(&note) : NULL});
    return true;
}

static bool make_diff(struct differ *d, const struct undo_list *l, struct err *err)
{
    AUTO_FD int root = l->n ? open(l->root.p, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (l->n && root < 0)
        return err_errno(err, E_IO, errno, "cannot open '" STR_FMT "'", STR_ARG(l->root));
    d->root_fd = root;
    for (size_t i = 0; i < l->n; i++)
        if (!chat_undo_add_item(d, &l->items[i], err))
            return false;
    return buf_ok(&d->diff) ||
           err_set(err, E_IO, "the changes in %zu files are too large to show here", d->n);
}

void chat_undo_diff(struct chat *chat, struct str words)
{
    AUTO_UNDO_LIST struct undo_list list = {0};
    AUTO_ERR struct err err = {0};
    struct differ d = {.chat = chat, .budget = PLAN_BUDGET, .diff = BUF_INIT(DIFF_MAX)};
    (void)words;
    if (!chat_undo_has_record(chat))
        return;
    if (!undo_changes(chat->setup.undo, &list, &err) || !make_diff(&d, &list, &err))
        chat_note_error(chat, &err);
    else if (d.n == 0)
        chat_note(chat, list.n ? "the files that tools changed are back in their original state"
                               : "no tool changed a file in this session");
    else
        chat_commands_show_block(chat, "diff", buf_str(&d.diff));
    buf_done(&d.diff);
}
