/* What the user types that is no prompt. */
#include "cli/talk.h"
#include "path/walk.h"

#include <fcntl.h>

enum {
    FILES_SEEN = 20000, /* entries of directories, for a completion */
};

static void say_help(struct talk *t);

static void say_session(struct talk *t)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    buf_printf(&b, "session %s", store_id(t->job.store));
    talk_note(t, buf_z(&b));
}

static void say_model(struct talk *t)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    buf_printf(&b, "%s, %s", provider_name(t->job.provider), provider_model(t->job.provider));
    talk_note(t, buf_z(&b));
}

static void quit(struct talk *t)
{
    t->leave = true;
}

static const struct {
    const char *name, *help;
    void (*run)(struct talk *t);
} commands[] = {
    {"/help", "what there is", say_help},
    {"/model", "who answers", say_model},
    {"/session", "which session this is", say_session},
    {"/quit", "leave", quit},
};

static void say_help(struct talk *t)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        buf_printf(&b, "%-10s %s\n", commands[i].name, commands[i].help);
    buf_add_z(&b, "Alt+Enter   a new line\nCtrl+o      look at what was collapsed, the last first\n"
                  "Escape      interrupt, and send what waits\n"
                  "Ctrl+c      interrupt; twice: leave\nCtrl+d      leave");
    talk_note(t, buf_z(&b));
}

/* Files of the project that begin so, directory by directory, without what git ignores. */
static void complete_file(struct str start, struct editor_list *list)
{
    AUTO_ERR struct err ignored = {0};
    AUTO_FD int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_WALK struct walk *w = NULL;
    const struct walk_entry *e;
    size_t n = 0, seen = 0;
    if (here < 0 || !walk_open(here, &(struct walk_options){.ignore = true}, &w, &ignored))
        return;
    while (n < EDITOR_CANDIDATES && seen++ < FILES_SEEN && walk_next(w, &e, &ignored) && e) {
        bool dir = e->type == DT_DIR;
        bool on_the_way = dir && str_starts_with(start, e->path) && start.n > e->path.n &&
                          start.p[e->path.n] == '/';
        if (dir && !on_the_way)
            walk_skip(w);
        if (e->closed || !str_starts_with(e->path, start))
            continue;
        AUTO_BUF struct buf word = BUF_INIT(EDITOR_CANDIDATE_BYTES);
        buf_printf(&word, "@" STR_FMT "%s", STR_ARG(e->path), dir ? "/" : "");
        if (buf_ok(&word))
            editor_offer(list, buf_str(&word), STR(""));
        n++;
    }
}

void talk_complete(void *context, struct str word, struct editor_list *list)
{
    const struct talk *t = context;
    if (t->question.editing)
        return;
    if (str_starts_with(word, STR("@"))) {
        complete_file(str_skip(word, 1), list);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_starts_with(str_z(commands[i].name), word))
            editor_offer(list, str_z(commands[i].name), str_z(commands[i].help));
}

bool talk_command(struct talk *t, struct str text)
{
    text = str_trim_end(text, ' ');
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_is(text, commands[i].name)) {
            commands[i].run(t);
            return true;
        }
    if (!str_starts_with(text, STR("/")) || str_find(text, ' ') >= 0 ||
        str_find(str_skip(text, 1), '/') >= 0)
        return false;
    talk_note(t, "there is no such command; /help says which there are");
    return true;
}
