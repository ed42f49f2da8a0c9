/* Settings: the user's, and what a project adds to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "base/field.h"
#include "box/rows.h"
#include "tool/approve.h"

/* What is known of a model. Prices are per million tokens, in any currency. */
struct config_model {
    struct str name; /* of a model, or the start of several names */
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

/* Words of policies, for what has none of its own. */
struct config_sandbox {
    enum config_mode {
        CONFIG_NATIVE,
        CONFIG_LANDLOCK,
        CONFIG_MODES,
    } mode;
    bool unsafe_ack;
};

struct config {
    struct str_list project_markers;
    struct str_list allow; /* rules for tool calls (tool/rule.h); only the user's, as all below */
    struct str provider, model, base_url; /* of agents; no value: none */
    struct str key_command;               /* prints the key of the service */
    struct config_model *models;
    size_t n_models;
    struct box_agent *agents; /* beside those of box/rows.h */
    size_t n_agents;
    enum approve_mode approval;
    struct config_sandbox sandbox;
    enum config_colors colors; /* of conversations, as all below */
    struct str_map theme;      /* a name of tui/theme.h, and a style */
    struct str_map keys;       /* a key, and an action of tui/bind.h */
    uint64_t history;          /* prompts that are kept */
};

/* ${XDG_CONFIG_HOME:-~/.config}/cordon/config.yaml; a file that is not there gives the defaults,
 * one that is wrong E_CONFIG. */
MUST_USE bool config_load_user(struct arena *a, struct config *ret_config, struct err *err);

/* <project>/.cordon/config.yaml, which may only add markers: adds them to what is there. */
MUST_USE bool config_add_project(
    int project_fd, struct arena *a, struct config *config, struct err *err);

/* Whether commands run in the weaker sandbox; it is acknowledged then. */
bool config_is_weaker(const struct config *config);
#define CONFIG_WEAKER_WORDS "weaker sandbox by your settings (sandbox.mode: landlock)"

/* Where the user's are, or would be; NULL: there is no home directory. */
const char *config_user_path(struct arena *a);

/* The same in pieces, for who wants to know where something stands. A file that is not there has no
 * text. */
struct config_source {
    const char *path; /* NULL: there is no home directory */
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
/* The tree of its text, which was parsed before: {} for none. */
MUST_USE json_t *config_tree(const struct config_source *source);

/* What the tables can't say (config_check.c): the error's "field" says where it is. */
MUST_USE bool config_check(const struct config *config, struct err *err);

/* For settings that were loaded, these succeed. */
struct bindings;
struct bind_action;
MUST_USE bool config_bindings(const struct config *config, struct bindings *b, struct err *err);
/* Which keys do it: the one that it has, unless that one does something else now, and those of the
 * settings. A new list of texts; or in words, for the name of an action. */
MUST_USE json_t *config_keys(
    const struct config *config, const struct bindings *b, const struct bind_action *action);
void config_add_keys(
    const struct config *config, const struct bindings *b, const char *action, struct buf *out);

/* What the settings say of a model: the entry with the longest name that it starts with; NULL:
 * none.
 */
const struct config_model *config_find_model(const struct config *config, struct str model);

/* The shapes of both files, for tests and documentation. */
extern const struct shape config_user_shape;
extern const struct shape config_project_shape;

/* Whether there is a place for state at all: CORDON_HOME or a home directory. */
bool config_has_state(struct arena *a);

/* $CORDON_HOME (default ~/.cordon) and a name below it; E_CONFIG if there is no home. */
MUST_USE bool config_state_path(
    struct arena *a, const char *name, const char **ret_path, struct err *err);

#endif
