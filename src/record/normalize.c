/* Filters and rules. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/normalize.h"

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

static bool normalization_compile(struct normalization *n, struct err *err)
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

bool normalization_init(const struct policy_replay *policy,
    const struct normalization_options *options, struct normalization *ret_n, struct err *err)
{
    struct normalization n = {.filters = (1u << FILTERS) - 1, .source = "default"};
    bool from_cli = options && (options->strict || options->given);
    n.rules = policy->rules;
    n.n_rules = policy->n_rules;
    /* Checked even if unused, so that errors in a policy are reported. */
    bool ok =
        normalization_compile(&n, err) && take_filters(&policy->normalization_filters, &n, err);
    if (!policy->has_filters)
        n.filters = (1u << FILTERS) - 1;
    if (policy->has_filters || policy->has_rules || policy->strict)
        n.source = "policy";
    n.strict = from_cli ? options->strict : policy->strict;
    if (from_cli) {
        n.source = "cli";
        n.filters = options->filters;
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
    bool whole = buf_ok(&now);
    if (ok)
        buf_add_str(out, buf_str(&now));
    if (ok && (!whole || !buf_ok(out)))
        ok = err_set(err, E_PROTOCOL, "a text of %zu bytes is too long to be compared", text.n);
    buf_done(&now);
    buf_done(&next);
    return ok;
}

/* Writing ------------------------------------------------------------------------------------- */

struct normalization_record {
    uint32_t version;
    int source;
    bool strict;
    struct str_list filters;
    struct policy_rule *rules;
    size_t n_rules;
};

static const char *const sources[] = {"default", "policy", "cli", "none"};

#define R struct normalization_record
static const struct field record_fields[] = {
    FIELD_U32("normalization_version", R, version, "1", .flags = FIELD_REQUIRED,
        FIELD_RANGE(NORMALIZATION_VERSION, NORMALIZATION_VERSION)),
    FIELD_ENUM("source", R, source, sources, "origin of these settings", .flags = FIELD_REQUIRED),
    FIELD_BOOL("strict", R, strict, "everything is compared exactly", .flags = FIELD_REQUIRED),
    FIELD_STRS("filters", R, filters, "fields that are not compared", .flags = FIELD_REQUIRED,
        FIELD_RANGE(0, FILTERS)),
    FIELD_OBJECTS("rules", R, rules, n_rules, &policy_rule_shape,
        "replacements made before texts are compared", .flags = FIELD_REQUIRED,
        FIELD_RANGE(0, POLICY_LIST_MAX)),
};
#undef R
static const struct shape record_shape = SHAPE("normalization", struct normalization_record,
    record_fields, "values that a replay of the recording does not compare");

static int normalization_source(const struct normalization *n)
{
    int i = 0;
    while (strcmp(sources[i], n->source) != 0)
        BUG_ON(++i == ARRAY_LEN(sources));
    return i;
}

json_t *normalization_json(const struct normalization *n)
{
    struct str names[FILTERS];
    struct normalization_record r = {.version = NORMALIZATION_VERSION,
        .source = normalization_source(n),
        .strict = n->strict,
        .filters.p = names,
        .rules = (struct policy_rule *)n->rules,
        .n_rules = n->strict ? 0 : n->n_rules};
    for (unsigned i = 0; i < FILTERS; i++)
        if (n->filters & 1u << i)
            names[r.filters.n++] = str_z(policy_filters[i]);
    return field_write(&record_shape, &r);
}

json_t *normalization_schema(void)
{
    json_t *schema = field_schema(&record_shape);
    policy_name_filters(json_object_get(json_object_get(schema, "properties"), "filters"));
    return schema;
}
