/* /undo and /diff: what tools changed in files. */
#include "base/utf8.h"
#include "cli/talk.h"

enum {
    NAMED_MAX = 20,    /* files that are named one by one */
    PROMPT_SHOWN = 60, /* bytes of the prompt of a turn */
};

static bool has_record(struct talk *t)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    if (t->job.undo)
        return true;
    buf_printf(&b,
        "the tools work in the box '%s', which keeps its changes apart from the project: 'cordon "
        "box diff %s' shows them, 'cordon box reset %s' drops them",
        t->job.options->box, t->job.options->box, t->job.options->box);
    talk_note(t, buf_z(&b));
    return false;
}

/* How the turn began, in its first words. */
static void add_prompt(const struct talk *t, size_t turn, struct buf *b)
{
    AUTO_BUF struct buf text = BUF_INIT(JSON_SIZE_MAX);
    struct str line, rest;
    message_add_text(json_array_get(store_all(t->job.store), turn), &text);
    rest = buf_str(&text);
    if (!str_cut(rest, '\n', &line, &rest))
        return;
    size_t n = utf8_cut(line, PROMPT_SHOWN);
    buf_printf(b, " of '" STR_FMT "%s'", STR_ARG(str_head(line, n)), n < line.n ? "…" : "");
}

/* Whether a command ran between this message and the next one of the user. */
static bool ran_commands(const struct talk *t, size_t turn)
{
    const json_t *all = store_all(t->job.store), *m, *block;
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

static const char *fate(const struct undo_item *item)
{
    if (!item->old.ino)
        return item->new.ino ? "is gone again" : "came and went";
    return item->new.ino ? "is as it was" : "is back";
}

static void tell_undone(struct talk *t, const struct undo_list *l)
{
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    buf_printf(&b, "taken back: the changes");
    add_prompt(t, l->turn, &b);
    for (size_t i = 0; i < MIN(l->n, (size_t)NAMED_MAX); i++)
        buf_printf(&b, "\n  " STR_FMT " %s", STR_ARG(l->items[i].path), fate(&l->items[i]));
    if (l->n > NAMED_MAX)
        buf_printf(&b, "\n  and %zu more", l->n - NAMED_MAX);
    if (ran_commands(t, l->turn))
        buf_add_z(&b, "\ncommands ran in that turn, too: what they changed is not known here, and "
                      "not taken back");
    talk_note(t, buf_z(&b));
}

/* The model would go on as if its changes were there. */
static void tell_model(struct talk *t, const struct undo_list *l)
{
    struct buf *b = &t->aside;
    buf_add_z(b, "[The user took back your changes of files");
    add_prompt(t, l->turn, b);
    buf_add_z(b, ". These are as they were before:");
    for (size_t i = 0; i < MIN(l->n, (size_t)NAMED_MAX); i++)
        buf_printf(b, "%s " STR_FMT, i ? "," : "", STR_ARG(l->items[i].path));
    if (l->n > NAMED_MAX)
        buf_printf(b, " and %zu more", l->n - NAMED_MAX);
    buf_add_z(b, "]\n\n");
}

void talk_undo(struct talk *t, struct str words)
{
    AUTO_UNDO_LIST struct undo_list list = {0};
    AUTO_ERR struct err err = {0};
    (void)words;
    if (!has_record(t))
        return;
    if (!undo_back(t->job.undo, &list, &err)) {
        if (err.code == E_NOT_FOUND)
            talk_note(t, err.message);
        else
            talk_note_error(t, &err);
        return;
    }
    tell_undone(t, &list);
    tell_model(t, &list);
}
