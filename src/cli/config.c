/* Settings of the user and of the project. */
#include "cli/config.h"

#include "base/doc.h"
#include "path/beneath.h"
#include "path/file.h"
#include "path/home.h"
#include "path/root.h"
#include "tool/rule.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    CONFIG_MAX = 1 << 20,
};

enum {
    RULES_MAX = 1000,
    WORD_MAX = 4096, /* of a name, an address, a command */
    MODELS_MAX = 1000,
    AGENTS_MAX = 64,
    WINDOW_MAX = 1000 * 1000 * 1000,
    PRICE_MAX = 1000 * 1000,
};

#define MARKERS                                                                               \
    FIELD_STRS("project_markers", struct config, project_markers,                             \
        "names of files or directories that mark a project's root, beside the built-in ones", \
        .def = "[]", FIELD_RANGE(0, ROOT_EXTRA_MAX / 2))

#define PRICE(json, member, help) \
    FIELD_DOUBLE(json, struct config_model, member, help, .def = "0", FIELD_RANGE(0, PRICE_MAX))

static const struct field model_fields[] = {
    FIELD_STR("name", struct config_model, name, "a model's name, or how several names start",
        .flags = FIELD_REQUIRED, FIELD_RANGE(1, WORD_MAX)),
    FIELD_U64("context_window", struct config_model, context_window,
        "how many tokens a request and its answer can have", .def = "0",
        FIELD_RANGE(0, WINDOW_MAX)),
    FIELD_DOUBLE("input_price", struct config_model, input_price,
        "what a million tokens of a request cost", .def = "0", FIELD_RANGE(0, PRICE_MAX),
        FIELD_HAS(struct config_model, has_price)),
    PRICE("output_price", output_price, "the same for answers"),
    PRICE("cache_read_price", cache_read_price, "the same for input from the service's cache"),
    PRICE("cache_write_price", cache_write_price, "the same for input that it keeps there"),
};
static const struct shape model_shape =
    SHAPE("model", struct config_model, model_fields, "what is known of a model");

static const struct field user_fields[] = {
    MARKERS,
    FIELD_STR("provider", struct config, provider,
        "who answers agents: anthropic, openai, scripted", FIELD_RANGE(1, WORD_MAX)),
    FIELD_STR("model", struct config, model, "the model's name", FIELD_RANGE(1, WORD_MAX)),
    FIELD_STR(
        "base_url", struct config, base_url, "where the service is", FIELD_RANGE(1, WORD_MAX)),
    FIELD_STR("key_command", struct config, key_command,
        "a command line that prints the service's key, if no variable has it",
        FIELD_RANGE(1, WORD_MAX)),
    FIELD_OBJECTS("models", struct config, models, n_models, &model_shape,
        "windows and prices of models", FIELD_RANGE(0, MODELS_MAX)),
    FIELD_OBJECTS("agents", struct config, agents, n_agents, &box_agent_shape,
        "agents that boxes can run, beside the built-in ones", FIELD_RANGE(0, AGENTS_MAX)),
    FIELD_STRS("allow", struct config, allow,
        "tool calls that need no question: TOOL:PATTERN, such as \"shell:git *\"", .def = "[]",
        FIELD_RANGE(0, RULES_MAX)),
};
static const struct field project_fields[] = {MARKERS};

const struct shape config_user_shape =
    SHAPE("config", struct config, user_fields, "a user's settings");
const struct shape config_project_shape =
    SHAPE("project config", struct config, project_fields, "what a project adds to the settings");

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

static bool check_markers(const struct config *config, const char *name, struct err *err)
{
    for (size_t i = 0; i < config->project_markers.n; i++) {
        struct str marker = config->project_markers.p[i];
        if (!root_marker_valid(marker)) {
            err_set(err, E_CONFIG, "%s: project_markers[%zu]: '" STR_FMT "' is not one file name",
                name, i, STR_ARG(marker));
            return err_ctx(err, "file", "%s", name);
        }
    }
    return true;
}

static bool check_rules(const struct config *config, const char *name, struct err *err)
{
    for (size_t i = 0; i < config->allow.n; i++)
        if (!rule_check(config->allow.p[i], err))
            return err_wrap(err, "%s: allow[%zu]", name, i);
    return true;
}

static bool check_agents(const struct config *config, const char *name, struct err *err)
{
    for (size_t i = 0; i < config->n_agents; i++) {
        for (size_t k = 0; k < i; k++)
            if (str_eq(config->agents[i].name, config->agents[k].name))
                return err_set(err, E_CONFIG, "%s: agents[%zu]: there is another '" STR_FMT "'",
                    name, i, STR_ARG(config->agents[i].name));
        if (!agent_check(&config->agents[i], err))
            return err_wrap(err, "%s: agents[%zu]", name, i);
    }
    return true;
}

static bool check_provider(const struct config *config, const char *name, struct err *err)
{
    static const char *const known[] = {"anthropic", "openai", "scripted"};
    if (!config->provider.p)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(config->provider, known[i]))
            return true;
    err_set(err, E_CONFIG,
        "%s: provider: there is no '" STR_FMT "'; there are: anthropic, openai, scripted", name,
        STR_ARG(config->provider));
    return err_ctx(err, "file", "%s", name);
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

/* Nothing but blank lines and comments: what people leave when they have no settings. */
static bool says_nothing(struct str text)
{
    struct str line;
    while (str_cut(text, '\n', &line, &text)) {
        while (line.n && strchr(" \t\r", line.p[0]))
            line = str_skip(line, 1);
        if (line.n && line.p[0] != '#')
            return false;
    }
    return true;
}

static bool parse(struct str text, const char *name, const struct shape *shape, struct arena *a,
    struct config *ret_config, struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    struct config config = {0};
    if (!says_nothing(text)) {
        if (!doc_parse(text, name, E_CONFIG, &tree, err))
            return false;
        if (!field_read(shape, tree, a, E_CONFIG, &config, err))
            return doc_blame(err, text, name);
        if (!check_markers(&config, name, err) || !check_rules(&config, name, err) ||
            !check_provider(&config, name, err) || !check_agents(&config, name, err))
            return false;
    }
    *ret_config = config;
    return true;
}

/* Takes the descriptor over; -1 with ENOENT in errnum means there are no settings. */
static bool load(int owned_fd, int errnum, const char *name, const struct shape *shape,
    struct arena *a, struct config *ret_config, struct err *err)
{
    AUTO_FD int fd = owned_fd;
    AUTO_BUF struct buf text = BUF_INIT(2 * CONFIG_MAX);
    struct stat st;
    if (fd < 0 && (errnum == ENOENT || errnum == ENOTDIR)) {
        *ret_config = (struct config){0};
        return true;
    }
    if (fd < 0 && errnum == ELOOP)
        return err_set(err, E_CONFIG,
            "'%s' is reached through a link, and links are not followed there: make it a real "
            "file in a real directory",
            name);
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, fd < 0 ? errnum : errno, "cannot open '%s'", name);
    if (!S_ISREG(st.st_mode) || st.st_size > CONFIG_MAX)
        return err_set(
            err, E_CONFIG, "'%s' is not a regular file of at most %d bytes", name, CONFIG_MAX);
    return file_read(fd, CONFIG_MAX, name, &text, err) &&
           parse(buf_str(&text), name, shape, a, ret_config, err);
}

bool config_load_user(struct arena *a, struct config *ret_config, struct err *err)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = home_dir(a), *path;
    if (base && base[0] == '/') {
        path = arena_printf(a, "%s/cordon/config.yaml", base);
    } else if (home) {
        path = arena_printf(a, "%s/.config/cordon/config.yaml", home);
    } else {
        *ret_config = (struct config){0};
        return true;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return load(fd, errno, path, &config_user_shape, a, ret_config, err);
}

bool config_add_project(int project_fd, struct arena *a, struct config *config, struct err *err)
{
    static const char name[] = ".cordon/config.yaml";
    int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    int fd = beneath_open(project_fd, name, flags, 0, BENEATH_NO_SYMLINKS);
    struct config added;
    if (!load(fd, errno, name, &config_project_shape, a, &added, err))
        return false;
    struct str_list all = {.n = config->project_markers.n + added.project_markers.n};
    all.p = ARENA_NEW(a, struct str, all.n);
    for (size_t i = 0; i < all.n; i++) {
        size_t own = config->project_markers.n;
        all.p[i] = i < own ? config->project_markers.p[i] : added.project_markers.p[i - own];
    }
    config->project_markers = all;
    return true;
}
