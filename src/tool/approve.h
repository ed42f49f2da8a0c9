/* Consent: whether a tool call may proceed.
 *
 *     if (!approve_call(&box->approve, &(struct approve_question){...}, err)) return false;
 *
 * `never` allows without asking; `on-request` asks for mutating calls that no rule covers, and for
 * files that deserve a second look; `always` asks for every mutating call. Without a way to ask,
 * the result is E_APPROVAL_REQUIRED, naming the flag or rule that would allow the call.
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
    APPROVE_CANCELED,   /* no answer: the call was interrupted */
    APPROVE_YES_ALWAYS, /* for this tool and pattern until the box is closed; needs a rule */
    APPROVE_EDITED,     /* yes, with a changed text; needs an edit */
};

/* An argument that the user may change before the call is executed. */
struct approve_edit {
    const char *name; /* name of the argument */
    struct str text;  /* original text */
    struct buf now;   /* text as changed by the user */
    bool done;
};

struct approve_question {
    const char *tool;
    struct str subject; /* the command line, or the paths, one per line */
    bool is_command;    /* rules are matched against its simple commands */
    bool mutating;
    bool no_rules;       /* only the user can allow it */
    const char *warning; /* why it deserves a second look, or NULL */
    const char *guarded; /* why only a rule that names each path covers it, or NULL */
    const char *why;     /* filled in: the reason for asking */
    /* Computes the change to files for `diff`; called only if the user can be asked. Returns false
     * on error, and the user is not asked. May be NULL. */
    bool (*plan)(void *context, struct str *ret_diff, struct err *err);
    void *context;
    struct str diff;           /* filled in; unset: none */
    struct approve_edit *edit; /* NULL: nothing can be edited */
    const json_t *arguments;   /* of the call; NULL: not known */
};

struct approve_options {
    enum approve_mode mode;
    bool by_settings;      /* the mode is from the user's settings */
    struct str_list allow; /* rules such as "shell:git *" */
    /* Asks the user; NULL: not possible. The rule is the one that `always` would add, or unset. */
    enum approve_answer (*ask)(
        void *context, const struct approve_question *question, struct str rule);
    void *context;
};

struct approve {
    const struct approve_options *options;
    struct arena arena;
    struct str_list remembered; /* rules of this box */
};

extern const char *const approve_mode_names[APPROVE_MODES + 1]; /* NULL-terminated */

void approve_init(struct approve *a, const struct approve_options *options);
void approve_done(struct approve *a);

/* Rules of this box. Return false if there are too many, or if the rule does not exist. */
bool approve_remember(struct approve *a, struct str rule);
bool approve_forget(struct approve *a, struct str rule);

MUST_USE bool approve_call(
    struct approve *a, const struct approve_question *question, struct err *err);

/* {"tool","kind","subject","why","warning"?,"diff"?,"rule"?,"arguments"?}, a new object; kind is
 * "run", "change" or "read", rule is the one that APPROVE_YES_ALWAYS would add. */
MUST_USE json_t *approve_question_json(const struct approve_question *q, struct str rule);

#endif
