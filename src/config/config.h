/* Settings: the user's, and those that a project adds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/field.h"
#include "box/rows.h"
#include "policy/extra.h"
#include "tool/approve.h"

/* Settings of a model. Prices are per million tokens, in any currency. */
struct config_model {
    struct str name; /* name of a model, or prefix of several */
    uint64_t context_window;
    double input_price, output_price, cache_read_price, cache_write_price;
    bool has_price;
};

enum config_colors {
    CONFIG_COLORS_AUTO,
    CONFIG_COLORS_NONE,
    CONFIG_COLORS_16,
    CONFIG_COLORS_256,
    CONFIG_COLORS_RGB,
    CONFIG_COLORS,
};

/* Sandbox of commands, in the terms of policies, unless an option chooses another. */
struct config_sandbox {
    enum config_mode {
        CONFIG_NATIVE,
        CONFIG_LANDLOCK,
        CONFIG_MODES,
    } mode;
    bool unsafe_ack;
    struct policy_extra extra; /* for tools and boxes, in addition to their own policy */
};
extern const struct shape config_sandbox_shape;
extern const struct shape config_narrow_shape; /* a project's part */
MUST_USE bool config_check_additions(const struct config_sandbox *sandbox, struct err *err);

/* Makes the paths absolute that begin with "~/". */
void config_expand_sandbox(struct config_sandbox *sandbox, struct arena *a);

/* Takes a project's part into account. E_CONFIG with the "field" if it is not a part of it. */
MUST_USE bool config_narrow_sandbox(
    const struct config_sandbox *project, struct config_sandbox *sandbox, struct err *err);

struct config {
    struct str_list project_markers;
    struct str_list allow; /* rules for tool calls (tool/rule.h); like all below, only the user's */
    struct str provider, model, base_url; /* for agents; no value: not set */
    struct str key_command;               /* prints the key of the service */
    struct config_model *models;
    size_t n_models;
    struct box_agent *agents; /* in addition to those of box/rows.h */
    size_t n_agents;
    enum approve_mode approval;
    struct config_sandbox sandbox;
    enum config_colors colors; /* for conversations, like all below */
    struct str_map theme;      /* a name of tui/theme.h, and a style */
    struct str_map keys;       /* a key, and an action of tui/bind.h */
    uint64_t history;          /* number of prompts kept */
};

/* Loads ${XDG_CONFIG_HOME:-~/.config}/cordon/config.yaml. A missing file gives the defaults; an
 * invalid one fails with E_CONFIG. */
MUST_USE bool config_load_user(struct arena *a, struct config *ret_config, struct err *err);

/* Adds the markers of <project>/.cordon/config.yaml, and narrows the additions to the sandbox as it
 * says; E_CONFIG if it asks for more than the user's own settings. */
MUST_USE bool config_add_project(
    int project_fd, struct arena *a, struct config *config, struct err *err);

/* Whether commands run in the weaker sandbox; the settings have then acknowledged it. */
bool config_is_weaker(const struct config *config);
#define CONFIG_WEAKER_WORDS "weaker sandbox because of your settings (sandbox.mode: landlock)"

/* Path of the user's settings, whether the file exists or not; NULL: no home directory. */
const char *config_user_path(struct arena *a);

/* The same in steps, for callers that need the location of a setting. A missing file has empty
 * text. */
struct config_source {
    const char *path; /* NULL: no home directory */
    bool is_there;
    struct str text;
};
MUST_USE bool config_read_user(struct arena *a, struct config_source *ret_source, struct err *err);
MUST_USE bool config_read_project(
    int project_fd, struct arena *a, struct config_source *ret_source, struct err *err);
MUST_USE bool config_read_file(
    const char *path, struct arena *a, struct config_source *ret_source, struct err *err);
MUST_USE bool config_parse(const struct config_source *source, const struct shape *shape,
    struct arena *a, struct config *ret_config, struct err *err);
/* Tree of a text that was parsed before; {} if empty. */
MUST_USE json_t *config_tree(const struct config_source *source);

/* Checks that the tables cannot express (config_check.c). The error's "field" has the location. */
MUST_USE bool config_check(const struct config *config, struct err *err);

/* Does not fail for settings that were loaded. */
struct bindings;
struct bind_action;
MUST_USE bool config_bindings(const struct config *config, struct bindings *b, struct err *err);
/* Keys of an action: its default key, unless that is bound to something else, and keys from the
 * settings. config_keys() returns a new list of strings; config_add_keys() adds text for the name
 * of an action. */
MUST_USE json_t *config_keys(
    const struct config *config, const struct bindings *b, const struct bind_action *action);
void config_add_keys(
    const struct config *config, const struct bindings *b, const char *action, struct buf *out);

/* Settings of a model: the entry with the longest matching prefix, or NULL. */
const struct config_model *config_find_model(const struct config *config, struct str model);

/* Shapes of both files, for tests and documentation. */
extern const struct shape config_user_shape;
extern const struct shape config_project_shape;

/* Whether there is a directory for state: CORDON_HOME or a home directory. */
bool config_has_state(struct arena *a);

/* Path of a name below $CORDON_HOME (default: ~/.cordon). Fails with E_CONFIG if CORDON_HOME is
 * relative, or unset without a home directory. */
MUST_USE bool config_state_path(
    struct arena *a, const char *name, const char **ret_path, struct err *err);

#endif
