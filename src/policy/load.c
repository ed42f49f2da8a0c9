/* Loading of policies. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/load.h"

#include "base/choice.h"
#include "base/doc.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Keys that other tools set to null when they have no value. */
static const struct {
    const char *part, *key;
} nullable[] = {
    {"fs", "working_dir"},
    {"artifacts", "dir"},
    {"replay", "normalization_filters"},
    {"replay", "normalization_rules"},
};

/* Returns a copy without such nulls (a new reference). */
static json_t *load_without_nulls(const json_t *json)
{
    json_t *whole = json_copy((json_t *)json);
    BUG_ON(!whole);
    for (size_t i = 0; i < ARRAY_LEN(nullable); i++) {
        json_t *part = json_object_get(whole, nullable[i].part);
        if (!json_is_null(json_object_get(part, nullable[i].key)))
            continue;
        json_t *copy = json_copy(part);
        BUG_ON(!copy);
        json_object_del(copy, nullable[i].key);
        json_put(whole, nullable[i].part, copy);
    }
    return whole;
}

/* Adds the field to the message and to the context for doc_blame(). */
static bool blame_field(struct err *err, const char *place, const char *field)
{
    AUTO_BUF struct buf b = BUF_INIT(16 * 1024);
    buf_printf(&b, "%s%s%s", place, place[0] ? "." : "", field);
    err_wrap(err, "%s", buf_z(&b));
    return err_ctx(err, "field", "%s", buf_z(&b));
}

/* A wrong type is left to the field table to report. */
static bool policy_check_version(const json_t *json, const char *place, struct err *err)
{
    const json_t *version = json_object_get(json, "policy_version");
    long long number = json_integer_value(version);
    if (!json_is_integer(version) || (number >= POLICY_VERSION_OLDEST && number <= POLICY_VERSION))
        return true;
    err_set(err, E_PROTOCOL_VERSION_MISMATCH,
        "version %lld is not supported: expected %d (or %d, which is read as %d)", number,
        POLICY_VERSION, POLICY_VERSION_OLDEST, POLICY_VERSION);
    err_ctx_int(err, "provided_version", number);
    err_ctx_int(err, "supported_version", POLICY_VERSION);
    return blame_field(err, place, "policy_version");
}

static bool known_filter(struct str name)
{
    for (size_t i = 0; policy_filters[i]; i++)
        if (str_is(name, policy_filters[i]))
            return true;
    return false;
}

static bool check_filters(const struct policy *policy, const char *place, struct err *err)
{
    const struct str_list *filters = &policy->replay.normalization_filters;
    for (size_t i = 0; i < filters->n; i++) {
        if (known_filter(filters->p[i]))
            continue;
        AUTO_CHOICE struct choice c = CHOICE_INIT(filters->p[i]);
        AUTO_BUF struct buf hint = BUF_INIT(256);
        choice_add_all(&c, policy_filters);
        choice_hint(&c, "", &hint);
        char field[64];
        snprintf(field, sizeof(field), "replay.normalization_filters[%zu]", i);
        err_set(err, E_PROTOCOL, "'" STR_FMT "' is not one of %s%s",
            STR_ARG(str_head(filters->p[i], 60)), choice_list(&c), buf_z(&hint));
        return blame_field(err, place, field);
    }
    return true;
}

static bool policy_read_tree(const json_t *json, const char *place, struct arena *arena,
    struct policy *ret_policy, struct err *err)
{
    if (!policy_check_version(json, place, err))
        return false;
    AUTO_JSON json_t *tree = load_without_nulls(json);
    const struct field_source source = {.json = tree, .place = place, .code = E_PROTOCOL};
    struct policy policy;
    if (!field_read_part(&policy_shape, &source, arena, &policy, err) ||
        !check_filters(&policy, place, err))
        return false;
    policy.version = POLICY_VERSION;
    const json_t *limits = json_object_get(tree, "limits");
    policy.limits.asked_processes = json_object_get(limits, "processes") != NULL;
    policy.limits.asked_memory = json_object_get(limits, "memory_bytes") != NULL;
    *ret_policy = policy;
    return true;
}

static bool too_large(const char *name, struct err *err)
{
    err_set(err, E_PROTOCOL, "%s: the policy is larger than %d bytes", name, POLICY_TEXT_MAX);
    return err_ctx(err, "file", "%s", name);
}

bool policy_parse(struct str text, const char *name, struct arena *arena, struct policy *ret_policy,
    struct err *err)
{
    AUTO_JSON json_t *tree = NULL;
    if (text.n > POLICY_TEXT_MAX)
        return too_large(name, err);
    if (!doc_parse(text, name, E_PROTOCOL, &tree, err))
        return false;
    return policy_read_tree(tree, "", arena, ret_policy, err) || doc_blame(err, text, name);
}

/* Reads the whole text. `flags` are for open(2). */
static bool policy_read_text(const char *path, int flags, struct buf *text, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
    if (fd < 0) {
        err_errno(err, E_IO, errno, "cannot open the policy '%s'", path);
        return err_ctx(err, "file", "%s", path);
    }
    if ((flags & O_NONBLOCK) &&
        (fstat(fd, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))) {
        err_set(err, E_IO, "the policy '%s' is not a regular file", path);
        return err_ctx(err, "file", "%s", path);
    }
    if (file_read(fd, POLICY_TEXT_MAX, path, text, err))
        return true;
    return text->n > POLICY_TEXT_MAX ? too_large(path, err) : err_ctx(err, "file", "%s", path);
}

bool policy_load(const char *path, struct arena *arena, struct policy *ret_policy, struct err *err)
{
    AUTO_BUF struct buf text = BUF_INIT(2 * POLICY_TEXT_MAX);
    return policy_read_text(path, 0, &text, err) &&
           policy_parse(buf_str(&text), path, arena, ret_policy, err);
}

/* Reads the file once: hashes exactly the bytes that are parsed. */
static bool load_reference(const json_t *path, const char *place, struct arena *arena,
    struct policy *ret_policy, struct policy_reference *ret_reference, struct err *err)
{
    AUTO_BUF struct buf bytes = BUF_INIT(2 * POLICY_TEXT_MAX);
    struct str text = json_str(path);
    if (!json_is_string(path)) {
        err_set(err, E_PROTOCOL, "expected a string, found %s", json_kind(path));
        return blame_field(err, place, "path");
    }
    if (text.n == 0 || text.p[0] != '/') {
        err_set(err, E_POLICY_DENIED,
            "the reference to a policy is '" STR_FMT "', expected an absolute path", STR_ARG(text));
        err_ctx(err, "value", STR_FMT, STR_ARG(text));
        return blame_field(err, place, "path");
    }
    if (!policy_read_text(text.p, O_NONBLOCK, &bytes, err) ||
        !policy_parse(buf_str(&bytes), text.p, arena, ret_policy, err))
        return false;
    ret_reference->path = arena_str(arena, text);
    sha256_text(buf_str(&bytes), ret_reference->sha256);
    return true;
}

bool policy_from_json(const json_t *json, const char *place, struct arena *arena,
    struct policy *ret_policy, struct policy_reference *ret_reference, struct err *err)
{
    const json_t *path = json_object_get(json, "path");
    if (path && json_object_size(json) == 1 && ret_reference)
        return load_reference(path, place, arena, ret_policy, ret_reference, err);
    return policy_read_tree(json, place, arena, ret_policy, err);
}
