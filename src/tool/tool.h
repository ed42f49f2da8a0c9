/* The tools that a model may call: what each takes, what it may do, what it gives.
 *
 *     struct tool_result result;
 *     tool_call(toolbox, STR("read_file"), arguments, &result);
 *     AUTO_JSON json_t *json = tool_result_json(&result);
 *     tool_result_done(&result);
 *
 * A tool is one file: a struct of arguments, a field table, a run. Its row stands in registry.c.
 * Everything that a model can get wrong is a result with a code, never a failure of the call: the
 * model reads it and tries again.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "base/field.h"
#include "path/writer.h"
#include "tool/toolbox.h"

enum {
    TOOL_ARGUMENTS_MAX = 32 << 20, /* bytes of JSON */
    TOOL_ARGS_SIZE = 512,          /* of the struct that a tool's table fills, at most */
    TOOL_ARGS_ARENA = 256 << 20,
    TOOL_CONTENT_MAX = 1 << 20, /* what goes to the model; the caps are far below */
};

struct tool_change {
    struct str path; /* relative to the root */
    enum writer_action action;
    uint64_t bytes_written;
};

/* Content may be there beside an error: what a command printed before it failed. */
struct tool_result {
    struct arena arena; /* what the rest points to */
    struct err error;   /* no code: it went well */
    struct buf message; /* one line for people */
    struct buf content; /* for the model */
    bool has_output;    /* the content is a command's, also if it failed */
    bool truncated;     /* something was left out of the content */
    json_t *details;    /* an object */
    struct tool_change *changes;
    size_t n_changes;
    struct str edited; /* what a person made of the call's text before; no value: nobody did */
    uint64_t duration_us;
};

struct tool {
    const char *name;
    const char *alias;        /* another name that models use, or NULL */
    const char *about;        /* what a model is told */
    const struct shape *args; /* reading, and the JSON Schema */
    const char *example;      /* arguments that are right, as JSON */
    const char *grammar;      /* of its first argument, in Lark; NULL: any text */
    bool mutating;            /* changes files or runs commands: consent may be needed */
    bool is_command;          /* its subject is a command line */
    bool no_rules;            /* only a person can allow it */
    const char *text;         /* the argument that a person may change when asked, or NULL */
    /* Fills in the result. False: an error, in which case content and details may still be there.
     */
    bool (*run)(struct toolbox *box, const void *args, struct tool_result *result, struct err *err);
    /* What it would touch, for a question and for rules: the command line, or where its paths lead,
     * one a line. Nothing: this call changes nothing. NULL for one that is not mutating. */
    bool (*subject)(struct toolbox *box, const void *args, struct buf *subject, struct err *err);
    /* What it would make of files (tool/plan.h). False: it could not, as run would say. NULL for
     * one that changes none itself. */
    bool (*plan)(struct toolbox *box, const void *args, struct buf *diff,
        struct tool_result *result, struct err *err);
};

extern const struct tool tool_list_dir;
extern const struct tool tool_read_file;
extern const struct tool tool_grep_files;
extern const struct tool tool_glob_files;
extern const struct tool tool_write_file;
extern const struct tool tool_edit_file;
extern const struct tool tool_apply_patch_json;
extern const struct tool tool_apply_patch_freeform;
extern const struct tool tool_shell;
extern const struct tool tool_exec_command;
extern const struct tool tool_write_stdin;

/* All of them, in the order in which a model is told of them. */
extern const struct tool *const tools[];
extern const size_t n_tools;

/* By name or alias; NULL: none. */
const struct tool *tool_find(struct str name);

/* Fills the struct of a tool's arguments, TOOL_ARGS_SIZE bytes. E_TOOL_VALIDATION names the
 * argument, and gives an example. */
MUST_USE bool tool_read_arguments(const struct tool *tool, const json_t *arguments, struct arena *a,
    void *ret_args, struct err *err);

/* Runs one: arguments are JSON text. The result says everything, also that there is no such tool.
 */
void tool_call(
    struct toolbox *box, struct str name, struct str arguments, struct tool_result *ret_result);
/* The same with a tree, which stays the caller's. */
void tool_call_json(
    struct toolbox *box, struct str name, const json_t *arguments, struct tool_result *ret_result);

/* One whose arguments could not be had: its result says why. Takes the error over. */
void tool_refuse(
    struct toolbox *box, struct str name, struct err *why, struct tool_result *ret_result);

/* {"name","aliases","description","parameters","format"?,"mutating"} */
MUST_USE json_t *tool_spec(const struct tool *tool);

/* {"status","code"?,"message","truncated","content","details","changes"?} */
MUST_USE json_t *tool_result_json(const struct tool_result *result);

void tool_result_init(struct tool_result *result);
void tool_result_done(struct tool_result *result);

/* For tools: what a model is told, and what was changed. */
void tool_says(struct tool_result *result, const char *format, ...) PRINTF_LIKE(2, 3);
void tool_detail(struct tool_result *result, const char *key, json_t *value);
void tool_warns(struct tool_result *result, const char *format, ...) PRINTF_LIKE(2, 3);
/* Appends where a path leads, and a newline: for a tool's subject. */
MUST_USE bool tool_subject_path(
    struct toolbox *box, struct str path, struct buf *subject, struct err *err);
/* A file that often holds secrets: says so, and asks where the mode wants it. */
MUST_USE bool tool_looks_twice(struct toolbox *box, const struct tool *tool,
    const struct resolved *where, struct tool_result *result, struct err *err);
void tool_changed(struct tool_result *result, const struct writer_result *written);

#endif
