/* What the user types that is no prompt. */
#include "cli/talk.h"
#include "path/walk.h"

#include <fcntl.h>

enum {
    FILES_SEEN = 20000, /* entries of directories, for a completion */
};

static void say_help(struct talk *t, struct str words);

static void quit(struct talk *t, struct str words)
{
    (void)words;
    t->leave = true;
}

static const struct command {
    const char *name, *words, *help;
    void (*run)(struct talk *t, struct str words);
    bool idle; /* not while the agent works */
} commands[] = {
    {"/help", "", "what there is", say_help, false},
    {"/model", "[NAME]", "who answers, or who shall", talk_model, true},
    {"/session", "[ID|NAME|new]", "which session this is, or go on with another", talk_session,
        true},
    {"/fork", "[N]", "a new session, with all or the first N messages", talk_fork, true},
    {"/compact", "", "go on with a summary of the conversation", talk_compact, true},
    {"/diff", "", "what tools changed in this session", talk_diff, true},
    {"/undo", "", "take back what tools changed in the last turn", talk_undo, true},
    {"/approve", "[MODE|RULE]", "when to ask before a change, and what needs no question",
        talk_consent, false},
    {"/export", "[FILE]", "write the conversation to FILE.md or FILE.json", talk_export, true},
    {"/open", "", "print what was collapsed last, then the one before it", talk_open, false},
    {"/quit", "", "leave", quit, false},
};

static void say_help(struct talk *t, struct str words)
{
    AUTO_BUF struct buf b = BUF_INIT(8192), name = BUF_INIT(100);
    (void)words;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        buf_reset(&name);
        buf_printf(&name, "%s %s", commands[i].name, commands[i].words);
        buf_printf(&b, "%-22s %s\n", buf_z(&name), commands[i].help);
    }
    buf_add_z(&b, "!COMMAND               run it where tools run; the next prompt tells the model\n"
                  "@FILE                  Tab completes it\n\n"
                  "Alt+Enter   a new line\nCtrl+o      look at what was collapsed, the last first\n"
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

/* Longer than any run of backquotes in the text: it can't end the block. */
static void add_fence(struct buf *b, struct str text)
{
    size_t run = 0, most = 2;
    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == '`' ? run + 1 : 0;
        most = MAX(most, run);
    }
    for (size_t i = 0; i <= most; i++)
        buf_add_byte(b, '`');
}

void talk_show_block(struct talk *t, const char *language, struct str text)
{
    AUTO_BUF struct buf b = BUF_INIT(64 << 20), masked = BUF_INIT(64 << 20);
    mask_add_text(&t->job.mask, text, &masked);
    add_fence(&b, buf_str(&masked));
    buf_printf(&b, "%s\n", language);
    buf_add_str(&b, str_trim_end(buf_str(&masked), '\n'));
    buf_add_byte(&b, '\n');
    add_fence(&b, buf_str(&masked));
    buf_add_byte(&b, '\n');
    pthread_mutex_lock(&t->lock);
    chat_text(t->chat, buf_str(&b));
    chat_end(t->chat);
    pthread_mutex_unlock(&t->lock);
}

static struct str trim(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\n'))
        s = str_skip(s, 1);
    return str_trim_end(str_trim_end(s, '\n'), ' ');
}

static void run_command(struct talk *t, const struct command *c, struct str words)
{
    AUTO_BUF struct buf b = BUF_INIT(4096);
    if (words.n && !c->words[0])
        buf_printf(&b, "%s takes no words", c->name);
    else if (c->idle && t->busy)
        buf_printf(&b, "%s waits for nothing: say it again when the turn is over (Escape ends it)",
            c->name);
    if (b.n)
        talk_note(t, buf_z(&b));
    else
        c->run(t, words);
}

/* A word that begins with / and has no other one in it: a path is no command. */
static bool is_command(struct str word)
{
    return str_starts_with(word, STR("/")) && str_find(str_skip(word, 1), '/') < 0 &&
           str_find(word, '\n') < 0;
}

bool talk_command(struct talk *t, struct str text)
{
    ptrdiff_t blank = str_find(text, ' ');
    struct str name = blank < 0 ? text : str_head(text, (size_t)blank);
    if (str_starts_with(text, STR("!"))) {
        talk_shell(t, trim(str_skip(text, 1)));
        return true;
    }
    if (!is_command(name))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_is(name, commands[i].name)) {
            run_command(t, &commands[i], trim(str_skip(text, name.n)));
            return true;
        }
    talk_note(t, "there is no such command; /help says which there are");
    return true;
}
