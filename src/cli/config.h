/* Settings: the user's, and what a project adds to them. */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "base/field.h"

struct config {
    struct str_list project_markers;
    struct str_list allow; /* rules for tool calls (tool/rule.h); only the user's */
};

/* ${XDG_CONFIG_HOME:-~/.config}/cordon/config.yaml; a file that is not there gives the defaults,
 * one that is wrong E_CONFIG. */
MUST_USE bool config_load_user(struct arena *a, struct config *ret_config, struct err *err);

/* <project>/.cordon/config.yaml, which may only add markers: adds them to what is there. */
MUST_USE bool config_add_project(
    int project_fd, struct arena *a, struct config *config, struct err *err);

/* The shapes of both files, for tests and documentation. */
extern const struct shape config_user_shape;
extern const struct shape config_project_shape;

/* Whether there is a place for state at all: CORDON_HOME or a home directory. */
bool config_has_state(struct arena *a);

/* $CORDON_HOME (default ~/.cordon) and a name below it; E_CONFIG if there is no home. */
MUST_USE bool config_state_path(
    struct arena *a, const char *name, const char **ret_path, struct err *err);

#endif
