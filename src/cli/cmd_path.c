/* cordon path: encode, decode, parse, root, resolve, check, glob. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmds.h"
#include "config/project.h"
#include "path/boundary.h"
#include "path/caret.h"
#include "path/dirarg.h"
#include "path/exact.h"
#include "path/glob.h"
#include "path/lexical.h"
#include "path/warn.h"
#include "path/workspace.h"

/* encode, decode ------------------------------------------------------------------------------ */

struct encode_options {
    bool name;
};

static bool print_pair(struct cli *cli, struct str input, struct str output, struct err *err)
{
    if (!cli->json) {
        out_name(cli, output, '\n');
        return true;
    }
    json_t *object = json_object();
    exact_put(object, "input", input);
    exact_put(object, "output", output);
    return out_json(cli, object, err);
}

static bool path_run_encode(struct cli *cli, const struct args *args, struct err *err)
{
    const struct encode_options *options = args->options;
    struct str input = str_z(args->v[0]);
    if (options->name) {
        char name[CARET_NAME_MAX + 1];
        caret_name(input, name);
        return print_pair(cli, input, str_z(name), err);
    }
    AUTO_BUF struct buf output = BUF_INIT(CARET_GROWTH * input.n + 64);
    caret_encode(input, &output);
    return print_pair(cli, input, buf_str(&output), err);
}

static bool path_run_decode(struct cli *cli, const struct args *args, struct err *err)
{
    struct str input = str_z(args->v[0]);
    AUTO_BUF struct buf output = BUF_INIT(input.n + 64);
    if (!caret_decode(input, CARET_PATH, &output, err))
        return err_wrap(err, "'%s' is not a valid caret encoding", args->v[0]);
    return print_pair(cli, input, buf_str(&output), err);
}

static const struct opt encode_opts[] = {
    OPT_SET("name", 0, struct encode_options, name,
        "encode as the name of a directory entry: a name over 255 bytes is shortened and "
        "ends in a hash"),
};

static const struct example encode_examples[] = {
    {"cordon path encode /home/me/my.app", "prints ^2Fhome^2Fme^2Fmy^2Eapp"},
};

static const struct cmd cmd_encode = {
    .name = "encode",
    .summary = "encode a path as one file name",
    .about = "Caret encoding, version 1: 0-9 A-Z a-z - _ ` { } are unchanged, any other "
             "character becomes ^XX (its code point; ^gXXX ^hXXXX ^iXXXXX ^jXXXXXX for larger "
             "ones), and a byte that is not UTF-8 becomes ^xXX. Every sequence of bytes has a "
             "unique encoding.",
    .usage = "PATH",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(encode_opts, struct encode_options),
    CMD_EXAMPLES(encode_examples),
    .run = path_run_encode,
};

static const struct example decode_examples[] = {
    {"cordon path decode ^2Ftmp^2Fx", "prints /tmp/x"},
};

static const struct cmd cmd_decode = {
    .name = "decode",
    .summary = "decode the output of encode",
    .about = "Accepts either case, over-long forms and literal characters. Refuses truncated "
             "input, invalid hex digits, surrogates, values above 10FFFF and NUL.",
    .usage = "ENCODED",
    .min_args = 1,
    .max_args = 1,
    CMD_EXAMPLES(decode_examples),
    .run = path_run_decode,
};

/* parse --------------------------------------------------------------------------------------- */

static bool path_run_parse(struct cli *cli, const struct args *args, struct err *err)
{
    struct str cwd;
    struct dirarg dir;
    if (!lexical_cwd(cli->arena, &cwd, err) ||
        !dirarg_parse(str_z(args->v[0]), cwd, cli->arena, &dir, err))
        return false;
    if (!cli->json) {
        out_text(cli, STR("path   "));
        out_name(cli, dir.path, '\n');
        out_line(cli, "mode   %s", dir.mode ? dirarg_mode_name(dir.mode) : "(default)");
        out_line(cli, "force  %s", dir.force ? "yes" : "no");
        return true;
    }
    json_t *object = json_object();
    exact_put(object, "path", dir.path);
    json_put(object, "mode", json_string(dirarg_mode_name(dir.mode)));
    json_put(object, "force", json_boolean(dir.force));
    return out_json(cli, object, err);
}

static const struct example parse_examples[] = {
    {"cordon path parse ./app:rw:force", "the path ./app, mode rw, forced"},
};

static const struct cmd cmd_parse = {
    .name = "parse",
    .summary = "split a directory argument into its parts",
    .about = "Suffixes :copy :overlay :rw :force in any order, from the right; anything else "
             "is part of the path. Two different modes are an error; an empty path is the "
             "current directory. The file system is not accessed.",
    .usage = "DIR[:copy|:overlay|:rw][:force]",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_DIR,
    CMD_EXAMPLES(parse_examples),
    .run = path_run_parse,
};

/* root ---------------------------------------------------------------------------------------- */

static bool path_run_root(struct cli *cli, const struct args *args, struct err *err)
{
    AUTO_PROJECT struct project p = PROJECT_INIT;
    if (!project_find(cli->arena, args->n ? args->v[0] : ".", &p, err))
        return false;
    if (!cli->json) {
        out_name(cli, p.root.dir, '\n');
        return true;
    }
    json_t *object = json_object();
    exact_put(object, "root", p.root.dir);
    exact_put(object, "marker", p.root.marker);
    return out_json(cli, object, err);
}

static const struct cmd cmd_root = {
    .name = "root",
    .summary = "find the root of the project",
    .about = "Searches upward for .git (a directory or a file), then package.json, "
             "pyproject.toml, Cargo.toml, go.mod, pom.xml, build.gradle, the markers in the "
             "settings (project_markers), and .cordon. The home directory and / are not "
             "projects unless the search starts there. Without a marker, the directory itself "
             "is the root.",
    .usage = "[DIR]",
    .max_args = 1,
    .arg_kind = ARG_DIR,
    .run = path_run_root,
};

/* resolve, check ------------------------------------------------------------------------------ */

struct path_check_options {
    const char *workspace;
    const char *workspace_flag; /* that gave the name */
    bool allow_system;
};

/* The project as a boundary: read-only, or only an agent's workspace. */
static bool make_boundary(
    struct cli *cli, const struct path_check_options *options, struct boundary *b, struct err *err)
{
    AUTO_PROJECT struct project p = PROJECT_INIT;
    if (!project_find(cli->arena, ".", &p, err) ||
        !project_recover(cli->arena, &p, out_notices(cli), err))
        return false;
    if (options->workspace) {
        AUTO_FD int workspace = workspace_open(p.fd, options->workspace, err);
        if (workspace < 0)
            return err->code == E_CLI_INVALID_ARG && err_wrap(err, "%s", options->workspace_flag);
        if (!boundary_add_fd(b, workspace, BOUNDARY_RW, BOUNDARY_AGENT_WORKSPACE, err) ||
            !boundary_add_fd(b, p.fd, BOUNDARY_NONE, BOUNDARY_USER_PROJECT, err))
            return false;
    } else if (!boundary_add_fd(b, p.fd, BOUNDARY_RO, BOUNDARY_USER_PROJECT, err) ||
               !boundary_set_base(b, ".", err)) {
        return false;
    }
    return !options->allow_system || boundary_add_system(b, err);
}

struct path_checked {
    struct resolved where;
    enum boundary_class class;
    enum boundary_access access;
};

/* Without --workspace, the workspace of any agent counts. */
static bool in_a_workspace(const struct resolved *where)
{
    struct str dir, rest = where->rel;
    static const char *const dirs[] = {".cordon", "workspaces"};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (!lexical_next(&rest, &dir) || !str_is(dir, dirs[i]))
            return false;
    if (!lexical_next(&rest, &dir) || !workspace_agent_valid(dir))
        return false;
    return rest.n > 0 || !where->exists || S_ISDIR(where->st.st_mode);
}

/* Adds the class of a path outside the boundary, and the option that allows it. */
static bool path_add_class(const struct path_check_options *options, struct err *err)
{
    const struct err_pair *class = err_ctx_get(err, "class"), *to = err_ctx_get(err, "resolved");
    AUTO_BUF struct buf message = BUF_INIT(64 * 1024);
    if (err->code != E_FS_VIOLATION || !class || !class->text)
        return false;
    /* Links to other files in /proc are never followed. */
    bool system = strcmp(class->text, boundary_class_name(BOUNDARY_SYSTEM_RESTRICTED)) == 0 && to &&
                  to->text && !lexical_is_below(STR("/proc"), str_z(to->text));
    buf_printf(&message, "%s; class: %s%s", err->message, class->text,
        system && !options->allow_system ? ", which --allow-system lets you read" : "");
    if (!buf_ok(&message))
        return false;
    free(err->message);
    err->message = buf_take(&message);
    return false;
}

static bool path_check_boundary(
    struct cli *cli, const struct args *args, struct path_checked *ret_checked, struct err *err)
{
    AUTO_BOUNDARY struct boundary *b = boundary_new();
    struct path_checked c;
    if (!make_boundary(cli, args->options, b, err))
        return false;
    if (!boundary_resolve(b, str_z(args->v[0]), cli->arena, &c.where, err))
        return path_add_class(args->options, err);
    c.class = c.where.root->class;
    c.access = c.where.root->access;
    if (c.class == BOUNDARY_USER_PROJECT && in_a_workspace(&c.where)) {
        c.class = BOUNDARY_AGENT_WORKSPACE;
        c.access = BOUNDARY_RW;
    }
    c.where.root = NULL; /* freed with the boundary */
    *ret_checked = c;
    return true;
}

static json_t *checked_json(const struct path_checked *c)
{
    json_t *object = json_object();
    exact_put(object, "path", c->where.path);
    json_put(object, "class", json_string(boundary_class_name(c->class)));
    json_put(object, "access", json_string(boundary_access_name(c->access)));
    return object;
}

static bool path_run_resolve(struct cli *cli, const struct args *args, struct err *err)
{
    struct path_checked c;
    if (!path_check_boundary(cli, args, &c, err))
        return false;
    if (cli->json)
        return out_json(cli, checked_json(&c), err);
    out_name(cli, c.where.path, '\n');
    return true;
}

static bool path_run_check(struct cli *cli, const struct args *args, struct err *err)
{
    struct path_checked c;
    if (!path_check_boundary(cli, args, &c, err))
        return false;
    const char *warning = warn_about(str_z(args->v[0]));
    if (!warning)
        warning = warn_about(c.where.path);
    if (cli->json) {
        json_t *object = checked_json(&c), *warnings = json_array();
        if (warning)
            json_push(warnings, json_string(warning));
        json_put(object, "warnings", warnings);
        return out_json(cli, object, err);
    }
    out_styled(cli, OUT_GREEN, boundary_class_name(c.class));
    out_line(cli, "  %s", boundary_access_name(c.access));
    out_name(cli, c.where.path, '\n');
    if (warning)
        out_line(cli, "warning: %s", warning);
    return true;
}

static const struct opt check_opts[] = {
    OPT_STRING_WAS("agent", "workspace", struct path_check_options, workspace, workspace_flag,
        "NAME", ARG_ANY,
        "resolve in this workspace of an agent, which is created if needed; refuse paths "
        "outside it"),
    OPT_SET("allow-system", 0, struct path_check_options, allow_system,
        "allow reading system directories such as /usr and /etc"),
};

static const struct cmd cmd_resolve = {
    .name = "resolve",
    .summary = "print the target of a path, following links",
    .about = "Relative paths start in the current directory. A path that leaves the project, "
             "through any kind of link, is refused (exit status 13). A path that does not "
             "exist is checked by its deepest existing directory.",
    .usage = "PATH",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(check_opts, struct path_check_options),
    .run = path_run_resolve,
};

static const struct example check_examples[] = {
    {"cordon path check src/main.c", "user_project  ro"},
    {"cordon path check --workspace bot notes.md", "agent_workspace  rw"},
    {"cordon path check --json /etc/passwd",
        "exit status 13; error.context.class is system_restricted"},
};

static const struct cmd cmd_check = {
    .name = "check",
    .summary = "print the class, access and warnings of a path",
    .about = "Classes: agent_workspace (rw), user_project (ro), system_restricted and "
             "outside_boundaries (none, exit status 13). Warns about files that often contain "
             "secrets.",
    .usage = "PATH",
    .min_args = 1,
    .max_args = 1,
    .arg_kind = ARG_FILE,
    CMD_OPTS(check_opts, struct path_check_options),
    CMD_EXAMPLES(check_examples),
    .run = path_run_check,
};

/* glob ---------------------------------------------------------------------------------------- */

struct glob_options {
    bool null;
};

struct glob_output {
    struct cli *cli;
    json_t *object; /* with --json */
    char end;
};

static bool print_match(void *context, struct str path)
{
    struct glob_output *out = context;
    if (out->object)
        exact_push(out->object, "matches", path);
    else
        out_name(out->cli, path, out->end);
    return true;
}

static void warn_of_problems(struct cli *cli, const struct walk_problems *problems)
{
    size_t shown = MIN(problems->n, (size_t)WALK_PROBLEMS_KEPT);
    for (size_t i = 0; i < shown; i++)
        out_warn(
            cli, "omitted '%s': %s", problems->kept[i].path, walk_problem_text(&problems->kept[i]));
    if (problems->n > shown)
        out_warn(cli, "omitted %zu more", problems->n - shown);
}

/* Lists the files that were left out in the JSON result. */
static void add_problems(json_t *object, const struct walk_problems *problems)
{
    if (problems->n == 0)
        return;
    json_put(object, "left_out", json_array());
    for (size_t i = 0; i < MIN(problems->n, (size_t)WALK_PROBLEMS_KEPT); i++)
        exact_push(object, "left_out", str_z(problems->kept[i].path));
}

/* Makes an absolute path into the project relative to its root. */
static struct str below_root(struct str pattern, struct str root)
{
    bool inside = pattern.n && pattern.p[0] == '/' && lexical_is_below(root, pattern) &&
                  lexical_rest(root, pattern).n;
    return inside ? lexical_rest(root, pattern) : pattern;
}

static bool path_run_glob(struct cli *cli, const struct args *args, struct err *err)
{
    const struct glob_options *options = args->options;
    AUTO_PROJECT struct project p = PROJECT_INIT;
    struct glob *glob;
    if (!project_find(cli->arena, ".", &p, err) ||
        !project_recover(cli->arena, &p, out_notices(cli), err) ||
        !glob_compile(below_root(str_z(args->v[0]), p.root.dir), cli->arena, &glob, err))
        return false;
    AUTO_WALK_PROBLEMS struct walk_problems problems = {0};
    struct walk_options walk = {.ignore = true, .problems = &problems};
    AUTO_JSON json_t *object = cli->json ? json_object() : NULL;
    if (object) {
        exact_put(object, "root", p.root.dir);
        json_put(object, "matches", json_array());
    }
    struct glob_output out = {cli, object, options->null ? '\0' : '\n'};
    if (!glob_find(p.fd, glob, &walk, print_match, &out, err))
        return false;
    warn_of_problems(cli, &problems);
    if (object)
        add_problems(object, &problems);
    return !object || out_json(cli, json_take(&object), err);
}

static const struct opt glob_opts[] = {
    OPT_SET("null", '0', struct glob_options, null, "end each name with NUL instead of a newline"),
};

static const struct example glob_examples[] = {
    {"cordon path glob '**/*.{c,h}'", "all C files in the project"},
    {"cordon path glob -0 'src/**' | xargs -0 wc -l", "safe for any file name"},
};

static const struct cmd cmd_glob = {
    .name = "glob",
    .summary = "list the project's files that match a pattern",
    .about = "Patterns are relative to the project root: * ? [a-z] {a,b}, and ** for any "
             "directories; wildcards match a leading dot. Files that .gitignore, .cordonignore "
             "or .git/info/exclude ignore are omitted, by git's rules; .git, node_modules and "
             ".cordon are never entered. The output is sorted by bytes.",
    .usage = "PATTERN",
    .min_args = 1,
    .max_args = 1,
    CMD_OPTS(glob_opts, struct glob_options),
    CMD_EXAMPLES(glob_examples),
    .run = path_run_glob,
};

static const struct cmd *const subs[] = {
    &cmd_encode,
    &cmd_decode,
    &cmd_parse,
    &cmd_root,
    &cmd_resolve,
    &cmd_check,
    &cmd_glob,
    NULL,
};

const struct cmd cmd_path = {
    .name = "path",
    .minor = true,
    .summary = "encode, find, resolve, check and list paths",
    .about = "Shows how the boundary that all tools use treats paths: the root of the project, "
             "the target of a path, and an agent's access to it.",
    .subs = subs,
};
