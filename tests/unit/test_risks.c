/* Changes to files that are executed automatically, seen through symlinks; symlinks that lead out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "tree.h"

#include "base/buf.h"
#include "change/risks.h"
#include "change/upper.h"

#include <sys/stat.h>

/* Creates files and symlinks below a directory: "a b -> target c". */
static void make_tree(const char *root, const char *words)
{
    char text[400], *rest = text, *word, *before = NULL;
    bool link = false;
    snprintf(text, sizeof(text), "%s", words);
    BUG_ON(mkdir(root, 0755) != 0);
    while ((word = strsep(&rest, " "))) {
        char path[400];
        snprintf(path, sizeof(path), "%s/%s", root, link ? before : word);
        if (link) {
            BUG_ON(unlink(path) != 0 || symlink(word, path) != 0);
            link = false;
        } else if (strcmp(word, "->") == 0) {
            link = true;
        } else if (*word) {
            tree_file(path, root, 0644);
            before = word;
        }
    }
}

static void describe(const struct delta *d, const struct risks *a, struct buf *text)
{
    static const char *const classes[] = {"", " steers", " runs"};
    for (size_t i = 0; i < a->n; i++) {
        const struct risks_row *row = &a->rows[i];
        if (row->class == SELFRUN_NONE && !row->leads_out)
            continue;
        buf_printf(text, "%s%s%s", text->n ? "; " : "", d->items[i].path.p, classes[row->class]);
        if (row->as.n)
            buf_printf(text, " as " STR_FMT, STR_ARG(row->as));
        if (row->leads_out)
            buf_printf(text, " out " STR_FMT, STR_ARG(row->target));
    }
}

static const struct {
    const char *name, *project, *changes, *want;
} rows[] = {
    {"by its own name", "a", "a .envrc sub/Makefile", ".envrc runs; sub/Makefile steers"},
    {"a link in a directory's place", "a", ".cargo -> c c/config.toml",
        ".cargo runs; c/config.toml runs as .cargo/config.toml"},
    {"a link that is there already", "c/config.toml .cargo -> c", "c/config.toml",
        "c/config.toml runs as .cargo/config.toml"},
    {"another file below it", "c/config.toml .vscode -> c", "d/x c/deep/y",
        "c/deep/y runs as .vscode/deep/y"},
    {"a link that is there, of a file", "scripts/env .envrc -> scripts/env", "scripts/env",
        "scripts/env runs as .envrc"},
    {"a link that only leads", "gh/x .github -> gh", "gh/workflows/ci.yml gh/CODEOWNERS",
        "gh/workflows/ci.yml runs as .github/workflows/ci.yml"},
    {"a new link that only leads", "gh/workflows/ci.yml", ".github -> gh", ".github runs"},
    {"two links, one below the other", "gh/x flows/a .github -> gh gh/workflows -> ../flows",
        "flows/ci.yml", "flows/ci.yml runs as .github/workflows/ci.yml"},
    {"a link in a directory that is seen through one",
        "h/x s/hook .husky -> h h/pre-commit -> ../s/hook", "s/hook",
        "s/hook runs as .husky/pre-commit"},
    {"a chain", "c/config.toml x -> c .cargo -> x", "c/config.toml",
        "c/config.toml runs as .cargo/config.toml"},
    {"a link on the way is led elsewhere", "c/config.toml d/config.toml x -> c .cargo -> x",
        "x -> d", "x runs as .cargo"},
    {"a link below the top", "sub/c/config.toml sub/.cargo -> c", "sub/c/config.toml",
        "sub/c/config.toml runs as sub/.cargo/config.toml"},
    {"a link up", "c/config.toml sub/a sub/.cargo -> ../c", "c/config.toml",
        "c/config.toml runs as sub/.cargo/config.toml"},
    {"an absolute link in the project", "c/config.toml .cargo -> /top/project/c", "c/config.toml",
        "c/config.toml runs as .cargo/config.toml"},
    {"in any case", "c/config.toml .CARGO -> c", "c/config.toml",
        "c/config.toml runs as .CARGO/config.toml"},
    {"advice for agents", "docs/agents.txt AGENTS.md -> docs/agents.txt", "docs/agents.txt",
        "docs/agents.txt steers as AGENTS.md"},
    {"a link that is removed with its file", "c/config.toml .cargo -> c", ".cargo c/config.toml",
        ".cargo runs"},
    {"a link to such a file", "a .envrc", "x -> .envrc", "x runs as .envrc"},
    {"a link into git", "a", "x -> .git/config", "x runs as .git/config"},
    {"a repository under another name", "r/HEAD r/objects/x r/refs/y",
        "r/config r/hooks/pre-push b", "r/config runs; r/hooks/pre-push runs"},
    {"a new repository", "a", "r/HEAD r/objects-a r/objects/x r/refs/y r/config",
        "r/HEAD runs; r/config runs; r/objects-a runs; r/objects/x runs; r/refs/y runs"},
    {"a repository that becomes one", "r/objects/x r/refs/y", "r/HEAD r/config",
        "r/HEAD runs; r/config runs"},
    {"no repository", "r/objects/x r/refs/y", "r/config", ""},
    {"a link out, absolute", "a", "keys -> /root/.ssh/authorized_keys",
        "keys out /root/.ssh/authorized_keys"},
    {"a link out, upwards", "a", "d/x -> ../../y", "d/x out ../../y"},
    {"a link out beside the project", "a", "x -> /top/project-b/y", "x out /top/project-b/y"},
    {"a link out and back", "a", "x -> ../project/a", "x out ../project/a"},
    {"a link out by way of the project", "a", "x -> /top/project/../y", "x out /top/project/../y"},
    {"a link out by way of a link", "a up -> ..", "x -> up/y", "x out up/y"},
    {"both", "a", ".envrc -> /tmp/x", ".envrc runs out /tmp/x"},
    {"a link that stays", "a d/b", "x -> d/b d/y -> ../a z -> /top/project/a", ""},
    {"a link to itself", "a", "x -> x y -> z z -> y", ""},
    {"a dangling link", "a", "x -> d/none", ""},
    {"everything through a link to the top", "a .vscode -> .", "b/c", "b/c runs as .vscode/b/c"},
    {"a link out that is there already", "a x -> /etc", "b", ""},
    {"a link in a repository", "c/config.toml sub/.git/.cargo -> ../../c", "c/config.toml", ""},
};

TEST(box_risks_follow_links)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char project[200], upper[200];
        AUTO_ERR struct err err = {0};
        AUTO_DELTA struct delta d = DELTA_INIT;
        AUTO_RISKS struct risks a = RISKS_INIT;
        AUTO_BUF struct buf text = BUF_INIT(4096), target = BUF_INIT(4096);
        struct str targets[8] = {{0}};
        AUTO_ARENA struct arena arena = ARENA_INIT(1 << 16);
        test_row(i, rows[i].name);
        snprintf(project, sizeof(project), "%s", test_path("p%zu", i));
        snprintf(upper, sizeof(upper), "%s", test_path("u%zu", i));
        make_tree(project, rows[i].project);
        make_tree(upper, rows[i].changes);
        AUTO_FD int project_fd = tree_open(project), upper_fd = tree_open(upper);
        if (!CHECK_OK(upper_read(project_fd, upper_fd, &(struct upper_options){0}, &d, &err), &err))
            continue;
        for (size_t k = 0; k < d.n; k++) {
            buf_reset(&target);
            if (S_ISLNK(d.items[k].new.mode) &&
                CHECK_OK(delta_read(upper_fd, &d.items[k], DELTA_NEW, &target, &err), &err))
                targets[k] = arena_str(&arena, buf_str(&target));
        }
        const struct risks_input in = {project_fd, STR("/top/project"), &d, targets};
        CHECK_OK(risks_find(&a, &in, &err), &err);
        describe(&d, &a, &text);
        CHECK_Z(buf_z(&text), rows[i].want);
    }
}
