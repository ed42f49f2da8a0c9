/* Runs a command in a box without a supervisor, for view.py.
 *
 *     box_run NAME [program=P] [proxy=PORT] [plan] -- SCRIPT
 *
 * Runs `sh -c SCRIPT`, or P with the argument SCRIPT. `plan` prints the plan instead.
 * BOX_RUN_STATE_DIR in the environment overrides the agent's state directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/box.h"
#include "box/view.h"
#include "path/home.h"
#include "sandbox/launch.h"

#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

static int complain(struct err *err)
{
    fprintf(stderr, "%s: %s\n", err_name(err->code), err->message);
    err_done(err);
    return 99;
}

static void pass_on(int from, FILE *to)
{
    char bytes[4096];
    ssize_t n;
    while ((n = read(from, bytes, sizeof(bytes))) > 0)
        fwrite(bytes, 1, (size_t)n, to);
}

static int run(const struct box_view *view, const char *script)
{
    const char *const shell[] = {"sh", "-c", script, NULL};
    const char *const program[] = {view->program, script, NULL};
    struct child child;
    struct child_event news;
    struct err err = {0};
    if (!launch_start(&(struct launch){.plan = &view->confined.plan,
                          .argv = view->program ? program : shell,
                          .envp = view->confined.envp},
            &child, &err))
        return complain(&err);
    pass_on(child.out, stdout);
    pass_on(child.err, stderr);
    bool ok = child_read_event(&child, &news, &err);
    child_close(&child);
    if (!ok)
        return complain(&err);
    return news.word == CHILD_EXITED && WIFEXITED(news.value) ? WEXITSTATUS(news.value) : 98;
}

int main(int argc, char **argv)
{
    AUTO_ARENA struct arena a = ARENA_INIT(256 << 20);
    AUTO(boxes_close) struct boxes boxes = BOXES_NONE;
    AUTO(box_close) struct box box = BOX_NONE;
    struct view_input input = {.environ = (const char *const *)environ, .home = home_dir(&a)};
    const char *dir = arena_printf(&a, "%s/sandboxes", getenv("CORDON_HOME"));
    const char *script = argv[argc - 1];
    bool plan = false;
    struct box_view view;
    struct err err = {0};
    for (int i = 2; i < argc - 1; i++) {
        struct str word = str_z(argv[i]);
        if (str_starts_with(word, STR("program=")))
            input.program = word.p + 8;
        if (str_starts_with(word, STR("proxy=")))
            input.proxy_port = (uint16_t)strtoul(word.p + 6, NULL, 10);
        plan = plan || str_is(word, "plan");
    }
    if (!boxes_open(dir, BOXES_LOOK, &boxes, &err) ||
        !box_open(&boxes, str_z(argv[1]), &(struct agent_rows){0}, &a, &box, &err))
        return complain(&err);
    struct box_agent agent = *box.agent;
    if (getenv("BOX_RUN_STATE_DIR"))
        agent.state_dir = str_z(getenv("BOX_RUN_STATE_DIR"));
    box.agent = &agent;
    if (!view_make(&box, &input, &a, &view, &err))
        return complain(&err);
    if (!plan)
        return run(&view, script);
    AUTO_JSON json_t *tree = plan_json(&view.confined.plan);
    AUTO_BUF struct buf text = BUF_INIT(16 << 20);
    json_add_pretty(&text, tree);
    puts(buf_z(&text));
    return 0;
}
