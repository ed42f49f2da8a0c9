/* Remedies by cause: flags or keys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/remedy.h"

#include "policy/extra.h"

#include <stdlib.h>

/* Causes of a denial, from the options. */
enum remedy_cause {
    CAUSE_SANDBOX = 1 << 0, /* --no-sandbox, --sandbox landlock or none */
    CAUSE_BARE = 1 << 1,    /* no sandbox, which also needs the network acknowledged */
    CAUSE_NETWORK = 1 << 2, /* --enable-network */
    CAUSE_RECORD = 1 << 3,  /* --artifacts */
    CAUSE_CWD = 1 << 4,     /* --cwd */
    CAUSE_PRESET = 1 << 5,  /* --preset: no file that could be edited */
    CAUSE_EDITS = 1 << 6,   /* the remedy is to edit the policy */
    CAUSE_HOSTS = 1 << 8,   /* --allow-host */
    CAUSE_DEFAULT = 1 << 7, /* no policy: its keys are not the user's */
};

struct remedy_row {
    unsigned causes;   /* all of them */
    const char *field; /* the beginning of it */
    const char *fix;
};

#define OWN_POLICY "a policy of your own ('cordon policy show --preset NAME' prints one to edit)"

/* The first row that applies counts. */
static const struct remedy_row rows[] = {
    {CAUSE_SANDBOX | CAUSE_BARE, "sandbox", "add --ack-unsafe-sandbox and --ack-unsafe-network"},
    {CAUSE_SANDBOX, "sandbox", "add --ack-unsafe-sandbox"},
    {CAUSE_NETWORK, "network", "add --ack-unsafe-network"},
    {CAUSE_SANDBOX | CAUSE_BARE, "network", "add --ack-unsafe-network"},
    {CAUSE_RECORD, "fs_strict_write", "add --ack-unsafe-write, or omit --artifacts"},
    {CAUSE_RECORD | CAUSE_PRESET | CAUSE_EDITS, "artifacts.dir",
        "use --artifacts with a directory that the preset may write, or another preset"},
    {CAUSE_RECORD | CAUSE_EDITS, "artifacts.dir",
        "use --artifacts with a directory inside fs.allowed_write, or add its directory there"},
    {CAUSE_CWD | CAUSE_PRESET | CAUSE_EDITS, "cwd",
        "use --cwd with a directory inside the preset's --root"},
    {CAUSE_CWD | CAUSE_EDITS, "cwd",
        "use --cwd with an allowed directory, or add it to fs.allowed_read"},
    {CAUSE_CWD, "cwd", "use --cwd with another directory"},
    {CAUSE_CWD | CAUSE_DEFAULT, "fs.working_dir", "use --cwd with another directory"},
    {CAUSE_HOSTS | CAUSE_SANDBOX, "allowed_hosts",
        "omit --allow-host, or the option for a weaker sandbox"},
    {CAUSE_HOSTS, "allowed_hosts",
        "omit --allow-host, or use 'network: disabled' and the native sandbox"},
    {CAUSE_PRESET, "fs.", "use --root with another directory"},
    {CAUSE_PRESET | CAUSE_EDITS, "command", "use another program or preset, or " OWN_POLICY},
};

/* Without a sandbox the policy's network setting cannot be enforced; a policy that enables the
 * network itself needs its own acknowledgement. */
static unsigned remedy_causes(const struct prepared *x)
{
    const struct prepare_options *o = x->options;
    const struct policy *p = &x->confined.policy;
    const bool weaker =
        o->no_sandbox || (o->sandbox && policy_sandbox_of(o->sandbox) != POLICY_NATIVE);
    const bool bare = p->sandbox == POLICY_NO_SANDBOX && !p->network_unsafe_ack &&
                      (o->network || p->network != POLICY_NETWORK_ENABLED);
    return (weaker ? CAUSE_SANDBOX : 0U) | (bare ? CAUSE_BARE : 0U) |
           (o->network ? CAUSE_NETWORK : 0U) | (o->artifacts ? CAUSE_RECORD : 0U) |
           (o->cwd ? CAUSE_CWD : 0U) | (o->preset ? CAUSE_PRESET : 0U) |
           (o->hosts.n ? CAUSE_HOSTS : 0U) |
           (o->policy || o->preset || x->given ? 0U : CAUSE_DEFAULT);
}

/* Whether the field is an entry that this option added: "fs.allowed_read[3]". */
static bool remedy_is_added(const char *field, const char *list, const struct prepare_added *added)
{
    char *end = NULL;
    size_t n = strlen(list);
    if (strncmp(field, list, n) != 0 || field[n] != '[')
        return false;
    size_t index = strtoul(field + n + 1, &end, 10);
    return *end == ']' && index - added->first < added->n;
}

/* A denial of an entry that an option added, or of writing that only options ask for. */
static void remedy_name_option(const struct prepared *x, struct denial *d)
{
    const struct {
        const char *list, *option;
        const struct prepare_added *added;
    } lists[] = {
        {"fs.allowed_read", "--read", &x->read},
        {"fs.allowed_write", "--write", &x->write},
        {"exec.allowed_executables", "--allow-exec", &x->exec},
    };
    const bool ask = !x->confined.policy.fs_write_unsafe_ack && x->write.n && x->write.first == 0;
    const char *option = NULL;
    for (size_t i = 0; !option && i < ARRAY_LEN(lists); i++)
        if (remedy_is_added(d->field, lists[i].list, lists[i].added))
            option = lists[i].option;
    const bool write = ask && (strcmp(d->field, "fs.allowed_write") == 0 ||
                                  str_starts_with(str_z(d->message), STR("writable executables")));
    if (!option && !write)
        return;
    d->field = option ? option : "--write";
    d->message = extra_reword(d->message);
    d->fix = write ? "add --ack-unsafe-write" : extra_reword(d->fix);
    d->by_flag = true;
}

void remedy_denials(struct prepared *x)
{
    const unsigned causes = remedy_causes(x);
    for (size_t i = 0; i < x->confined.verdict.denials.n; i++) {
        struct denial *d = &x->confined.verdict.denials.p[i];
        remedy_name_option(x, d);
        if (d->by_flag)
            continue;
        for (size_t j = 0; j < ARRAY_LEN(rows); j++) {
            if ((rows[j].causes & ~(causes | (d->edits ? CAUSE_EDITS : 0U))) ||
                !str_starts_with(str_z(d->field), str_z(rows[j].field)))
                continue;
            d->fix = rows[j].fix;
            d->by_flag = true;
            break;
        }
    }
}

/* The acknowledgement in a policy counts only if the user named the policy. */
void remedy_plan(struct prepared *x, enum consent_author author)
{
    const struct prepare_options *o = x->options;
    struct plan_remedies *remedies = &x->confined.plan.remedies;
    if (author != CONSENT_USER)
        remedies->inexact = "acknowledge inexact limits with --ack-inexact-limits";
    else
        remedies->inexact = "set limits_inexact_ack to true in the policy, or add "
                            "--ack-inexact-limits";
    if (o->preset)
        remedies->interpreter = "allowed: use " OWN_POLICY;
    else if (!o->policy && !x->given)
        remedies->interpreter = "allowed: use --preset build, or 'cordon policy new --for COMMAND'";
}
