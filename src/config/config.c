/* Settings of the user and of the project. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "base/doc.h"
#include "base/utf8.h"
#include "base/yaml_text.h"
#include "io/file.h"
#include "path/beneath.h"
#include "path/home.h"
#include "path/root.h"
#include "tui/bind.h"
#include "tui/editor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    CONFIG_MAX = 1 << 20,
};

enum {
    RULES_MAX = 1000,
    WORD_MAX = 4096, /* maximum length of a name, URL or command */
    MODELS_MAX = 1000,
    AGENTS_MAX = 64,
    WINDOW_MAX = 1000 * 1000 * 1000,
    PRICE_MAX = 1000 * 1000,
    STYLES_SET = 100,
};

static const char *const approval_names[APPROVE_MODES] = {"never", "on-request", "always"};
static const char *const color_names[CONFIG_COLORS] = {
    "auto", "none", "ansi16", "ansi256", "truecolor"};

#define MARKERS                                                                         \
    FIELD_STRS("project_markers", struct config, project_markers,                       \
        "names of files or directories that mark a project's root, in addition to the " \
        "built-in ones",                                                                \
        .def = "[]", FIELD_RANGE(0, ROOT_EXTRA_MAX / 2))

#define PRICE(json, member, help) \
    FIELD_DOUBLE(json, struct config_model, member, help, .def = "0", FIELD_RANGE(0, PRICE_MAX))

static const struct field model_fields[] = {
    FIELD_STR("name", struct config_model, name, "name of a model, or a prefix of several names",
        .flags = FIELD_REQUIRED, FIELD_RANGE(1, WORD_MAX)),
    FIELD_U64("context_window", struct config_model, context_window,
        "maximum number of tokens of a request and its answer", .def = "0",
        FIELD_RANGE(0, WINDOW_MAX)),
    FIELD_DOUBLE("input_price", struct config_model, input_price,
        "price of a million tokens of a request", .def = "0", FIELD_RANGE(0, PRICE_MAX),
        FIELD_HAS(struct config_model, has_price)),
    PRICE("output_price", output_price, "price of a million tokens of an answer"),
    PRICE("cache_read_price", cache_read_price,
        "price of a million tokens read from the service's cache"),
    PRICE("cache_write_price", cache_write_price,
        "price of a million tokens written to the service's cache"),
};
static const struct shape model_shape =
    SHAPE("model", struct config_model, model_fields, "properties of a model");

static const struct field user_fields[] = {
    MARKERS,
    FIELD_STR("provider", struct config, provider,
        "provider of the model: anthropic, openai or scripted", FIELD_RANGE(1, WORD_MAX)),
    FIELD_STR("model", struct config, model, "name of the model", FIELD_RANGE(1, WORD_MAX)),
    FIELD_STR(
        "base_url", struct config, base_url, "base URL of the service", FIELD_RANGE(1, WORD_MAX)),
    FIELD_STR("key_command", struct config, key_command,
        "command line that prints the service's API key; used if no variable is set",
        FIELD_RANGE(1, WORD_MAX)),
    FIELD_OBJECTS("models", struct config, models, n_models, &model_shape,
        "context windows and prices of models", FIELD_RANGE(0, MODELS_MAX)),
    FIELD_OBJECTS("agents", struct config, agents, n_agents, &box_agent_shape,
        "agents that boxes can run, in addition to the built-in ones", FIELD_RANGE(0, AGENTS_MAX)),
    FIELD_STRS("allow", struct config, allow,
        "tool calls that are allowed without asking: TOOL:PATTERN, such as \"shell:git "
        "*\"",
        .def = "[]", FIELD_RANGE(0, RULES_MAX)),
    FIELD_ENUM("approval", struct config, approval, approval_names,
        "when to ask before a change; --approval overrides it", .def = "\"never\""),
    FIELD_OBJECT("sandbox", struct config, sandbox, &config_sandbox_shape,
        "sandbox for commands; --sandbox overrides its mode"),
    FIELD_ENUM("colors", struct config, colors, color_names,
        "colours in conversations; auto: by TERM, COLORTERM and NO_COLOR", .def = "\"auto\""),
    FIELD_MAP("theme", struct config, theme,
        "styles of the parts of a conversation: name of a part, and a style such as "
        "\"bold cyan\"",
        .def = "{}", FIELD_RANGE(0, STYLES_SET)),
    FIELD_MAP("keys", struct config, keys,
        "key bindings in conversations: a key such as \"Ctrl+g\", and its action", .def = "{}",
        FIELD_RANGE(0, BIND_MAX)),
    FIELD_U64("history", struct config, history,
        "number of prompts that are saved for later conversations; 0: none", .def = "1000",
        FIELD_RANGE(0, EDITOR_HISTORY)),
};
static const struct field project_fields[] = {
    MARKERS,
    FIELD_OBJECT("sandbox", struct config, sandbox, &config_narrow_shape,
        "the user's additions, as narrowed by the project"),
};

const struct shape config_user_shape = SHAPE("config", struct config, user_fields, "user settings");
const struct shape config_project_shape =
    SHAPE("project config", struct config, project_fields, "settings that a project adds");

bool config_has_state(struct arena *a)
{
    const char *state = getenv("CORDON_HOME");
    return (state && state[0]) || home_dir(a);
}

bool config_state_path(struct arena *a, const char *name, const char **ret_path, struct err *err)
{
    const char *state = getenv("CORDON_HOME"), *home = home_dir(a);
    if (state && state[0] && state[0] != '/')
        return err_set(err, E_CONFIG, "CORDON_HOME is '%s', which is not an absolute path", state);
    if (state && state[0])
        *ret_path = arena_printf(a, "%s/%s", state, name);
    else if (home)
        *ret_path = arena_printf(a, "%s/.cordon/%s", home, name);
    else
        return err_set(err, E_CONFIG, "there is no home directory: set HOME or CORDON_HOME");
    return true;
}

bool config_is_weaker(const struct config *config)
{
    return config->sandbox.mode == CONFIG_LANDLOCK;
}

const struct config_model *config_find_model(const struct config *config, struct str model)
{
    const struct config_model *best = NULL;
    for (size_t i = 0; i < config->n_models; i++) {
        const struct config_model *m = &config->models[i];
        if (str_starts_with(model, m->name) && (!best || m->name.n > best->name.n))
            best = m;
    }
    return best;
}

/* Only blank lines and comments, as in a file without settings. */
static bool config_is_blank(struct str text)
{
    struct str line;
    text = utf8_skip_mark(text);
    while (str_cut(text, '\n', &line, &text)) {
        while (line.n && strchr(" \t\r", line.p[0]))
            line = str_skip(line, 1);
        if (line.n && line.p[0] != '#')
            return false;
    }
    return true;
}

/* For a user's setting in a project's file, explains where it belongs. */
static void explain_project(struct err *err)
{
    const struct err_pair *field = err_ctx_get(err, "field");
    for (size_t i = 0; field && field->text && i < ARRAY_LEN(user_fields); i++)
        if (strcmp(field->text, user_fields[i].name) == 0 && strstr(err->message, "unknown key")) {
            AUTO_BUF struct buf b = BUF_INIT(64 << 10);
            buf_printf(&b,
                "%s: unknown key in a project's settings, which may contain only project_markers "
                "and "
                "sandbox; put it in your own settings ('cordon config path')",
                field->text);
            free(err->message);
            err->message = buf_take(&b);
            return;
        }
}

bool config_parse(const struct config_source *source, const struct shape *shape, struct arena *a,
    struct config *ret_config, struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    struct config config = {0};
    if (!config_is_blank(source->text)) {
        if (!doc_parse(source->text, source->path, E_CONFIG, &tree, err))
            return false;
    } else {
        if (!yaml_check_text(utf8_skip_mark(source->text), E_CONFIG, err))
            return place_blame_file(err, source->path);
        tree = json_object();
    }
    if (!field_read(shape, tree, a, E_CONFIG, &config, err)) {
        if (shape == &config_project_shape)
            explain_project(err);
        return doc_blame(err, source->text, source->path);
    }
    config_expand_sandbox(&config.sandbox, a);
    if (!config_check(&config, err))
        return doc_blame(err, source->text, source->path);
    *ret_config = config;
    return true;
}

json_t *config_tree(const struct config_source *source)
{
    json_t *tree = NULL;
    AUTO_ERR struct err ignored = {0};
    if (config_is_blank(source->text) ||
        !doc_parse(source->text, source->path, E_CONFIG, &tree, &ignored))
        return json_object();
    return tree;
}

/* Takes ownership of the descriptor; -1 with ENOENT in errnum means no settings. */
static bool config_read_source(int owned_fd, int errnum, const char *name, struct arena *a,
    struct config_source *ret_source, struct err *err)
{
    AUTO_FD int fd = owned_fd;
    AUTO_BUF struct buf text = BUF_INIT(2 * CONFIG_MAX);
    struct stat st;
    *ret_source = (struct config_source){.path = name, .text = STR("")};
    if (fd < 0 && (errnum == ENOENT || errnum == ENOTDIR))
        return true;
    if (fd < 0 && errnum == ELOOP)
        return err_set(err, E_CONFIG,
            "'%s' is reached through a symbolic link, which is not followed there: make it a "
            "regular file in a real directory",
            name);
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, fd < 0 ? errnum : errno, "cannot open '%s'", name);
    if (!S_ISREG(st.st_mode) || st.st_size > CONFIG_MAX)
        return err_set(
            err, E_CONFIG, "'%s' is not a regular file of at most %d bytes", name, CONFIG_MAX);
    if (!file_read(fd, CONFIG_MAX, name, &text, err))
        return false;
    ret_source->text = arena_str(a, buf_str(&text));
    ret_source->is_there = true;
    return true;
}

bool config_read_file(
    const char *path, struct arena *a, struct config_source *ret_source, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return config_read_source(fd, errno, path, a, ret_source, err);
}

const char *config_user_path(struct arena *a)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = home_dir(a);
    if (base && base[0] == '/')
        return arena_printf(a, "%s/cordon/config.yaml", base);
    return home ? arena_printf(a, "%s/.config/cordon/config.yaml", home) : NULL;
}

bool config_read_user(struct arena *a, struct config_source *ret_source, struct err *err)
{
    const char *path = config_user_path(a);
    *ret_source = (struct config_source){.text = STR("")};
    return !path || config_read_file(path, a, ret_source, err);
}

bool config_read_project(
    int project_fd, struct arena *a, struct config_source *ret_source, struct err *err)
{
    static const char name[] = ".cordon/config.yaml";
    int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    int fd = beneath_open(project_fd, name, flags, 0, BENEATH_NO_SYMLINKS);
    return config_read_source(fd, errno, name, a, ret_source, err);
}

bool config_load_user(struct arena *a, struct config *ret_config, struct err *err)
{
    struct config_source source;
    return config_read_user(a, &source, err) &&
           config_parse(&source, &config_user_shape, a, ret_config, err);
}

bool config_add_project(int project_fd, struct arena *a, struct config *config, struct err *err)
{
    struct config_source source;
    struct config added;
    if (!config_read_project(project_fd, a, &source, err) ||
        !config_parse(&source, &config_project_shape, a, &added, err))
        return false;
    struct str_list all = {.n = config->project_markers.n + added.project_markers.n};
    all.p = ARENA_NEW(a, struct str, all.n);
    for (size_t i = 0; i < all.n; i++) {
        size_t own = config->project_markers.n;
        all.p[i] = i < own ? config->project_markers.p[i] : added.project_markers.p[i - own];
    }
    config->project_markers = all;
    return config_narrow_sandbox(&added.sandbox, &config->sandbox, err) ||
           doc_blame(err, source.text, source.path);
}
