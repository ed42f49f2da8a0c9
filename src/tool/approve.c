/* Consent for tool calls. */
#include "tool/approve.h"

enum {
    APPROVE_ARENA = 1 << 20,
};

const char *const approve_mode_names[APPROVE_MODES + 1] = {
    [APPROVE_NEVER] = "never",
    [APPROVE_ON_REQUEST] = "on-request",
    [APPROVE_ALWAYS] = "always",
};

void approve_init(struct approve *a, const struct approve_options *options)
{
    *a = (struct approve){.options = options, .arena = ARENA_INIT(APPROVE_ARENA)};
}

void approve_done(struct approve *a)
{
    arena_done(&a->arena);
}

static bool needs_asking(const struct approve *a, const struct approve_question *q)
{
    switch (a->options->mode) {
    case APPROVE_ALWAYS:
        return q->mutating;
    case APPROVE_ON_REQUEST:
        return q->mutating || q->warning;
    default:
        return false;
    }
}

bool approve_call(struct approve *a, const struct approve_question *q, struct err *err)
{
    if (!needs_asking(a, q))
        return true;
    if (!a->options->ask)
        return err_set(err, E_APPROVAL_REQUIRED,
            "%s needs consent, and nobody can be asked: use --approval never, or a rule that "
            "allows it",
            q->tool);
    if (a->options->ask(a->options->context, q, q->subject) == APPROVE_NO)
        return err_set(err, E_APPROVAL_REQUIRED, "%s was refused by the user", q->tool);
    return true;
}
