/* The settings in effect in a directory, and the source of each: a file and its line, a variable of
 * the environment, or the default.
 *
 *     AUTO(config_sources_done) struct config_sources s = {0};
 *     if (!config_sources_load(".", arena, &s, &config, err)) return false;
 *     json_t *rows = config_sources_json(&s, &config);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_CONFIG_SOURCES_H
#define CONFIG_CONFIG_SOURCES_H

#include "config/config.h"

struct config_sources {
    struct config_source user, project;
    json_t *user_tree, *project_tree;
};

/* Reads the user's settings and those of the project of a directory. On failure the sources that
 * were read before are set. */
MUST_USE bool config_sources_load(const char *dir, struct arena *a, struct config_sources *s,
    struct config *ret_config, struct err *err);
void config_sources_done(struct config_sources *s);

/* Returns a new list: {"key", "value", "from"} for every setting of the user. "from" lists the
 * sources, {"source", "file", "line"} or {"source", "variable"}; none: the default. */
MUST_USE json_t *config_sources_json(const struct config_sources *s, const struct config *config);

#endif
