/* Filters and rules. */
#include "replay/normalize.h"

#include "base/choice.h"

enum {
    TEXT_MAX = 1 << 30,
};

bool normalization_filter(
    struct str name, enum err_code code, unsigned *ret_filters, struct err *err)
{
    const bool all = str_is(name, "all"), none = str_is(name, "none");
    AUTO_CHOICE struct choice c = CHOICE_INIT(name);
    AUTO_BUF struct buf hint = BUF_INIT(256);
    if (all || none) {
        *ret_filters = all ? (1u << FILTERS) - 1 : 0;
        return true;
    }
    for (unsigned i = 0; policy_filters[i]; i++) {
        BUG_ON(i >= FILTERS);
        if (str_is(name, policy_filters[i])) {
            *ret_filters = 1u << i;
            return true;
        }
    }
    choice_add_all(&c, policy_filters);
    choice_hint(&c, "", &hint);
    err_set(err, code, "unknown normalization filter '" STR_FMT "': expected one of %s%s",
        STR_ARG(str_head(name, 60)), choice_list(&c), buf_z(&hint));
    return err_ctx(err, "filter", STR_FMT, STR_ARG(str_head(name, 60)));
}

static bool take_filters(const struct str_list *names, struct normalization *n, struct err *err)
{
    unsigned bit;
    n->filters = 0;
    for (size_t i = 0; i < names->n; i++) {
        if (!normalization_filter(names->p[i], E_PROTOCOL, &bit, err))
            return false;
        n->filters |= bit;
    }
    return true;
}

static bool compile(struct normalization *n, struct err *err)
{
    n->regexes = base_alloc((n->n_rules + 1) * sizeof(struct regex *));
    for (size_t i = 0; i < n->n_rules; i++) {
        if (regex_new(n->rules[i].pattern, &n->regexes[i], err))
            continue;
        err_wrap(err, "replay.normalization_rules[%zu].pattern", i);
        return err_ctx(err, "field", "replay.normalization_rules[%zu].pattern", i);
    }
    return true;
}

bool normalization_init(const struct policy_replay *policy, const struct normalization_wish *wish,
    struct normalization *ret_n, struct err *err)
{
    struct normalization n = {.filters = (1u << FILTERS) - 1, .source = "default"};
    bool from_cli = wish && (wish->strict || wish->given);
    n.rules = policy->rules;
    n.n_rules = policy->n_rules;
    /* Also where they are not used: what is wrong with a policy is said. */
    bool ok = compile(&n, err) && take_filters(&policy->normalization_filters, &n, err);
    if (!policy->has_filters)
        n.filters = (1u << FILTERS) - 1;
    if (policy->has_filters || policy->has_rules || policy->strict)
        n.source = "policy";
    n.strict = from_cli ? wish->strict : policy->strict;
    if (from_cli) {
        n.source = "cli";
        n.filters = wish->filters;
    }
    if (!ok) {
        normalization_done(&n);
        return false;
    }
    if (n.strict)
        n.filters = 0;
    *ret_n = n;
    return true;
}

void normalization_done(struct normalization *n)
{
    for (size_t i = 0; n->regexes && i < n->n_rules; i++)
        regex_free(n->regexes[i]);
    free(n->regexes);
    n->regexes = NULL;
}

bool normalization_changes(const struct normalization *n, enum policy_target target)
{
    for (size_t i = 0; !n->strict && i < n->n_rules; i++)
        if (n->rules[i].target == target)
            return true;
    return false;
}

bool normalization_text(const struct normalization *n, enum policy_target target, struct str text,
    struct buf *out, struct err *err)
{
    struct buf now = BUF_INIT(TEXT_MAX), next = BUF_INIT(TEXT_MAX);
    bool ok = true;
    buf_add_str(&now, text);
    for (size_t i = 0; ok && !n->strict && i < n->n_rules; i++) {
        if (n->rules[i].target != target)
            continue;
        buf_reset(&next);
        ok = regex_replace(n->regexes[i], buf_str(&now), n->rules[i].replace, &next, err) ||
             err_wrap(err, "replay.normalization_rules[%zu]", i);
        struct buf swap = now;
        now = next;
        next = swap;
    }
    if (ok)
        buf_add_str(out, buf_str(&now));
    buf_done(&now);
    buf_done(&next);
    return ok;
}

static json_t *rule_json(const struct policy_rule *rule)
{
    static const char *const targets[] = {"transcript", "snapshot_lines"};
    json_t *object = json_object();
    json_put(object, "target", json_string(targets[rule->target]));
    json_put(object, "pattern", json_text(rule->pattern));
    json_put(object, "replace", json_text(rule->replace));
    return object;
}

void normalization_put(const struct normalization *n, json_t *object)
{
    json_t *filters = json_array(), *rules = json_array();
    for (unsigned i = 0; i < FILTERS; i++)
        if (n->filters & 1u << i)
            json_push(filters, json_string(policy_filters[i]));
    for (size_t i = 0; !n->strict && i < n->n_rules; i++)
        json_push(rules, rule_json(&n->rules[i]));
    json_put(object, "source", json_string(n->source));
    json_put(object, "strict", json_boolean(n->strict));
    json_put(object, "filters", filters);
    json_put(object, "rules", rules);
}

json_t *normalization_json(const struct normalization *n)
{
    json_t *object = json_object();
    json_put(object, "normalization_version", json_integer(NORMALIZATION_VERSION));
    normalization_put(n, object);
    return object;
}
