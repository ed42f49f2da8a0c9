/* Consent: whether a tool call may go ahead.
 *
 *     if (!approve_call(&box->approve, &(struct approve_question){...}, err)) return false;
 *
 * `never` asks nobody and allows; `on-request` asks for mutating calls that no rule covers, and for
 * files that deserve a second look; `always` asks for every mutating call. Where nobody can be
 * asked the answer is E_APPROVAL_REQUIRED, with the flag or rule that would allow it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_APPROVE_H
#define TOOL_APPROVE_H

#include "base/err.h"
#include "base/field.h"

enum approve_mode {
    APPROVE_NEVER,
    APPROVE_ON_REQUEST,
    APPROVE_ALWAYS,
    APPROVE_MODES,
};

enum approve_answer {
    APPROVE_NO,
    APPROVE_YES,
    APPROVE_CANCELED,   /* nobody answers: the call is interrupted */
    APPROVE_YES_ALWAYS, /* for this tool and pattern, as long as the box is open; needs a rule */
    APPROVE_EDITED,     /* yes, with another text; needs an edit */
};

/* What a person may change before it is carried out. */
struct approve_edit {
    const char *name; /* of the argument */
    struct str text;  /* as it was given */
    struct buf now;   /* as the person wants it */
    bool done;
};

struct approve_question {
    const char *tool;
    struct str subject; /* the command line, or the paths, one a line */
    bool is_command;    /* rules are matched on its simple commands */
    bool mutating;
    bool no_rules;       /* only a person can allow it */
    const char *warning; /* why it deserves a second look, or NULL */
    const char *why;     /* filled in: why somebody is asked */
    /* What it would make of files: asked for where a person is, for `diff`. False: nothing, and
     * nobody is asked. May be NULL. */
    bool (*plan)(void *context, struct str *ret_diff, struct err *err);
    void *context;
    struct str diff;           /* filled in; no value: none */
    struct approve_edit *edit; /* NULL: nothing */
    const json_t *arguments;   /* of the call; NULL: not known */
};

struct approve_options {
    enum approve_mode mode;
    struct str_list allow; /* rules: "shell:git *" */
    /* Asks a person; NULL: there is nobody. The rule is what `always` would add, if it can. */
    enum approve_answer (*ask)(
        void *context, const struct approve_question *question, struct str rule);
    void *context;
};

struct approve {
    const struct approve_options *options;
    struct arena arena;
    struct str_list remembered; /* rules of this box */
};

extern const char *const approve_mode_names[APPROVE_MODES + 1]; /* ends in NULL */

void approve_init(struct approve *a, const struct approve_options *options);
void approve_done(struct approve *a);

/* Rules of this box; false: there are too many, or there is no such one. */
bool approve_remember(struct approve *a, struct str rule);
bool approve_forget(struct approve *a, struct str rule);

MUST_USE bool approve_call(
    struct approve *a, const struct approve_question *question, struct err *err);

#endif
