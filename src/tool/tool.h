/* The tools that a model may call: their arguments, permissions and results.
 *
 *     struct tool_result result;
 *     tool_call(toolbox, STR("read_file"), arguments, &result);
 *     AUTO_JSON json_t *json = tool_result_json(&result);
 *     tool_result_done(&result);
 *
 * A tool is one file: a struct of arguments, a field table, a run function. registry.c lists it.
 * Every mistake a model can make gives a result with an error code, never a failure of the call:
 * the model reads it and tries again.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "base/field.h"
#include "path/writer.h"
#include "tool/toolbox.h"

enum {
    TOOL_ARGUMENTS_MAX = 32 << 20, /* bytes of JSON */
    TOOL_ARGS_SIZE = 512,          /* maximum size of the struct that a tool's table fills */
    TOOL_ARGS_ARENA = 256 << 20,
    TOOL_CONTENT_MAX = 1 << 20, /* sent to the model; the output limits are far below */
};

struct tool_change {
    struct str path; /* relative to the root */
    enum writer_action action;
    uint64_t bytes_written;
};

/* There may be content with an error: the output of a command that failed. */
struct tool_result {
    struct arena arena; /* memory for the other members */
    struct err error;   /* no code: success */
    struct buf message; /* one line for the user */
    struct buf content; /* for the model */
    bool has_output;    /* the content is a command's output, even if it failed */
    bool truncated;     /* something was omitted from the content */
    json_t *details;    /* an object */
    struct tool_change *changes;
    size_t n_changes;
    struct str edited; /* the call's text as edited by the user; unset: not edited */
    uint64_t duration_us;
};

struct tool {
    const char *name;
    const char *alias;        /* another name that models use, or NULL */
    const char *about;        /* description for the model */
    const struct shape *args; /* for parsing, and for the JSON Schema */
    const char *example;      /* valid arguments, as JSON */
    const char *grammar;      /* Lark grammar of its first argument; NULL: any text */
    bool mutating;            /* changes files or runs commands: may need consent */
    bool is_command;          /* its subject is a command line */
    bool no_rules;            /* only the user can allow it */
    const char *text;         /* the argument that the user may edit when asked, or NULL */
    /* Fills in the result. Returns false on error; content and details may still be set. */
    bool (*run)(struct toolbox *box, const void *args, struct tool_result *result, struct err *err);
    /* Writes the subject for the question and for rules: the command line, or the resolved paths,
     * one per line. Empty if this call changes nothing. NULL if not mutating. */
    bool (*subject)(struct toolbox *box, const void *args, struct buf *subject, struct err *err);
    /* Computes the change to files (tool/tool_plan.h). Returns false with the error that run()
     * would give. NULL if the tool does not change files itself. */
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

/* All tools, in the order in which they are described to a model. */
extern const struct tool *const tools[];
extern const size_t n_tools;

/* Finds a tool by name or alias; NULL if unknown. */
const struct tool *tool_find(struct str name);

/* Fills the struct of a tool's arguments, TOOL_ARGS_SIZE bytes. E_TOOL_VALIDATION names the
 * argument and gives an example. */
MUST_USE bool tool_read_arguments(const struct tool *tool, const json_t *arguments, struct arena *a,
    void *ret_args, struct err *err);

/* Calls a tool; arguments are JSON text. Errors are in the result, also for an unknown tool. */
void tool_call(
    struct toolbox *box, struct str name, struct str arguments, struct tool_result *ret_result);
/* The same with a tree, which the caller keeps. */
void tool_call_json(
    struct toolbox *box, struct str name, const json_t *arguments, struct tool_result *ret_result);

/* Reports a call whose arguments could not be obtained. Takes over the error. */
void tool_refuse(
    struct toolbox *box, struct str name, struct err *why, struct tool_result *ret_result);

/* {"name","aliases","description","parameters","format"?,"mutating"} */
MUST_USE json_t *tool_spec(const struct tool *tool);

/* {"tools": [...]}, all of them. */
MUST_USE json_t *tool_specs(void);

/* {"status","code"?,"message","truncated","content","details","changes"?} */
MUST_USE json_t *tool_result_json(const struct tool_result *result);

void tool_result_init(struct tool_result *result);
void tool_result_done(struct tool_result *result);

/* For tools: the message, details and warnings of the result. */
void tool_says(struct tool_result *result, const char *format, ...) PRINTF_LIKE(2, 3);
void tool_detail(struct tool_result *result, const char *key, json_t *value);
/* Reports that the command could not be executed: it has no exit code. Always returns false. */
bool tool_not_started(struct tool_result *result, struct err *err);
void tool_warns(struct tool_result *result, const char *format, ...) PRINTF_LIKE(2, 3);
/* Appends the resolved path and a newline to a tool's subject. */
MUST_USE bool tool_subject_path(
    struct toolbox *box, struct str path, struct buf *subject, struct err *err);
/* Warns about a file that often holds secrets, and asks for consent if the mode requires it. */
MUST_USE bool tool_looks_twice(struct toolbox *box, const struct tool *tool,
    const struct resolved *where, struct tool_result *result, struct err *err);
void tool_changed(struct tool_result *result, const struct writer_result *written);

#endif
