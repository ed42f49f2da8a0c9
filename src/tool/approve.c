/* Consent for tool calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/approve.h"

#include "tool/cmdline.h"
#include "tool/rule.h"

enum {
    APPROVE_ARENA = 8 << 20,
    APPROVE_RULES_MAX = 1000, /* rules added by `always` answers */
};

const char *const approve_mode_names[APPROVE_MODES + 1] = {
    [APPROVE_NEVER] = "never",
    [APPROVE_ON_REQUEST] = "on-request",
    [APPROVE_ALWAYS] = "always",
};

void approve_init(struct approve *a, const struct approve_options *options)
{
    *a = (struct approve){.options = options, .arena = ARENA_INIT(APPROVE_ARENA)};
    a->remembered.p = ARENA_NEW(&a->arena, struct str, APPROVE_RULES_MAX);
}

void approve_done(struct approve *a)
{
    arena_done(&a->arena);
}

/* Returns the reason to ask, or NULL if consent is not needed. */
static const char *approve_reason(
    const struct approve *a, const struct approve_question *q, struct arena *scratch)
{
    struct rule_set rules = {{&a->options->allow, &a->remembered}};
    const char *why = "no rule allows it";
    if (a->options->mode == APPROVE_NEVER || (!q->mutating && !q->warning))
        return NULL;
    if (a->options->mode == APPROVE_ALWAYS)
        return !q->mutating              ? NULL
               : a->options->by_settings ? "'approval: always' in your settings requires consent "
                                           "for every change"
                                         : "--approval always requires consent for every change";
    if (q->warning)
        return q->warning;
    if (q->guarded && !rule_names_paths(&rules, q->tool, q->subject))
        return q->guarded;
    if (q->no_rules)
        return "no rule can allow typed input";
    if (q->is_command ? rule_covers_command(&rules, q->tool, q->subject, scratch, &why)
                      : rule_covers_paths(&rules, q->tool, q->subject))
        return NULL;
    return why;
}

bool approve_remember(struct approve *a, struct str rule)
{
    if (!rule.p || a->remembered.n == APPROVE_RULES_MAX || rule.n >= arena_left(&a->arena) / 2)
        return false;
    (void)approve_forget(a, rule);
    a->remembered.p[a->remembered.n++] = arena_str(&a->arena, rule);
    return true;
}

bool approve_forget(struct approve *a, struct str rule)
{
    struct str_list *rules = &a->remembered;
    size_t at = 0;
    while (at < rules->n && !str_eq(rules->p[at], rule))
        at++;
    if (at == rules->n)
        return false;
    memmove(rules->p + at, rules->p + at + 1, (--rules->n - at) * sizeof(*rules->p));
    return true;
}

bool approve_call(struct approve *a, const struct approve_question *question, struct err *err)
{
    AUTO_ARENA struct arena scratch = ARENA_INIT(2 * CMDLINE_ARENA);
    struct approve_question q = *question;
    const char *why = approve_reason(a, &q, &scratch);
    if (!why)
        return true;
    q.why = why;
    struct str rule = {0};
    if (a->options->mode == APPROVE_ON_REQUEST && !q.warning && !q.no_rules && q.subject.p)
        rule = rule_propose(q.tool, q.is_command, q.subject, &scratch);
    if (!a->options->ask) {
        const char *flag = q.guarded ? "--write PATH" : "--approval never";
        err_set(err, E_APPROVAL_REQUIRED,
            "%s needs consent (%s), but there is no terminal to ask on: use %s%s" STR_FMT, q.tool,
            why, flag, rule.p ? ", or the rule " : " to allow it", STR_ARG(rule));
        return err_ctx(err, "why", "%s", why);
    }
    if (q.plan && !q.plan(q.context, &q.diff, err))
        return false;
    switch (a->options->ask(a->options->context, &q, rule)) {
    case APPROVE_EDITED:
        BUG_ON(!q.edit);
        q.edit->done = true;
        return true;
    case APPROVE_YES_ALWAYS:
        (void)approve_remember(a, rule);
        return true;
    case APPROVE_YES:
        return true;
    case APPROVE_CANCELED:
        return err_set(err, E_CANCELED, "interrupted while waiting for consent");
    default:
        return err_set(err, E_APPROVAL_REQUIRED, "the user refused this call of %s", q.tool);
    }
}

static void approve_put_text(json_t *object, const char *key, struct str text)
{
    if (text.p)
        json_put(object, key, json_text(text));
}

json_t *approve_question_json(const struct approve_question *q, struct str rule)
{
    json_t *object = json_object();
    json_put(object, "tool", json_string(q->tool));
    json_put(object, "kind", json_string(q->is_command ? "run" : q->mutating ? "change" : "read"));
    approve_put_text(object, "subject", q->subject);
    approve_put_text(object, "why", str_z(q->why));
    approve_put_text(object, "warning", str_z(q->warning));
    approve_put_text(object, "diff", q->diff);
    approve_put_text(object, "rule", rule);
    if (q->arguments)
        json_put(object, "arguments", json_incref((json_t *)q->arguments));
    return object;
}
