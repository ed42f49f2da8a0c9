/* Reads scenarios. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "run/scenario.h"

#include "base/doc.h"
#include "io/file.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct size_part {
    uint16_t rows, cols;
};

struct run_part {
    struct str command, cwd;
    struct str_list args;
    struct size_part size;
    json_t *policy;
};

struct step_part {
    struct str id, name;
    json_t *action;
    json_t *asserts;
    uint64_t timeout_ms;
    uint32_t retries;
};

struct scenario_document {
    uint32_t version;
    json_t *metadata;
    struct run_part run;
    struct step_part *steps;
    size_t n_steps;
};

static const struct field size_fields[] = {
    FIELD_U16(
        "rows", struct size_part, rows, "lines", .def = "24", FIELD_RANGE(1, SESSION_ROWS_MAX)),
    FIELD_U16(
        "cols", struct size_part, cols, "columns", .def = "80", FIELD_RANGE(1, SESSION_COLS_MAX)),
};
static const struct shape size_shape =
    SHAPE("size", struct size_part, size_fields, "a terminal's size");

static const struct field run_fields[] = {
    FIELD_STR("command", struct run_part, command, "command to run", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, 4096)),
    FIELD_STRS("args", struct run_part, args, "its arguments"),
    FIELD_STR("cwd", struct run_part, cwd, "working directory: an absolute path"),
    FIELD_OBJECT("initial_size", struct run_part, size, &size_shape, "the terminal's size"),
    FIELD_JSON("policy", struct run_part, policy, "a policy, or {\"path\": \"/abs/policy.yaml\"}"),
};
static const struct shape run_shape = SHAPE("run", struct run_part, run_fields, "the command");

static const struct field step_fields[] = {
    FIELD_STR("id", struct step_part, id, "unique name in results", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, 256)),
    FIELD_STR("name", struct step_part, name, "name for people; default: the id"),
    FIELD_JSON(
        "action", struct step_part, action, "{\"type\", \"payload\"}", .flags = FIELD_REQUIRED),
    FIELD_JSON("assert", struct step_part, asserts,
        "conditions that must hold after the action: [{\"type\", \"payload\"}]"),
    FIELD_U64("timeout_ms", struct step_part, timeout_ms, "timeout of the step", .def = "5000",
        FIELD_RANGE(1, 24 * 3600 * 1000)),
    FIELD_U32("retries", struct step_part, retries,
        "number of additional timeouts before the step fails", .def = "0", FIELD_RANGE(0, 1000)),
};
static const struct shape step_shape = SHAPE("step", struct step_part, step_fields, "one step");

static const struct field document_fields[] = {
    FIELD_U32("scenario_version", struct scenario_document, version, "1", .flags = FIELD_REQUIRED,
        FIELD_RANGE(1, 1)),
    FIELD_JSON("metadata", struct scenario_document, metadata, "anything"),
    FIELD_OBJECT(
        "run", struct scenario_document, run, &run_shape, "the command", .flags = FIELD_REQUIRED),
    FIELD_OBJECTS("steps", struct scenario_document, steps, n_steps, &step_shape,
        "steps, in this order", .flags = FIELD_REQUIRED, FIELD_RANGE(0, SCENARIO_STEPS_MAX * 10)),
};
static const struct shape document_shape =
    SHAPE("scenario", struct scenario_document, document_fields, "a scripted session");

/* Checks -------------------------------------------------------------------------------------- */

static bool scenario_invalid(struct err *err, const char *place, const char *what)
{
    err_set(err, E_PROTOCOL, "%s: %s", place, what);
    return err_ctx(err, "field", "%s", place);
}

static bool scenario_check_version(const json_t *tree, struct err *err)
{
    const json_t *version = json_object_get(tree, "scenario_version");
    long long number = json_integer_value(version);
    if (!json_is_integer(version) || number == SCENARIO_VERSION)
        return true;
    err_set(err, E_PROTOCOL_VERSION_MISMATCH,
        "scenario_version: version %lld is not supported: expected %d", number, SCENARIO_VERSION);
    err_ctx_int(err, "provided_version", number);
    err_ctx_int(err, "supported_version", SCENARIO_VERSION);
    return err_ctx(err, "field", "scenario_version");
}

static int scenario_by_id(const void *a, const void *b)
{
    const struct step *const *x = a, *const *y = b;
    return str_cmp((*x)->id, (*y)->id);
}

static bool check_ids(const struct scenario *s, struct arena *arena, struct err *err)
{
    const struct step **sorted = ARENA_NEW(arena, const struct step *, s->n_steps);
    for (size_t i = 0; i < s->n_steps; i++)
        sorted[i] = &s->steps[i];
    qsort(sorted, s->n_steps, sizeof(*sorted), scenario_by_id);
    for (size_t i = 1; i < s->n_steps; i++) {
        if (!str_eq(sorted[i - 1]->id, sorted[i]->id))
            continue;
        const struct step *later = MAX(sorted[i - 1], sorted[i]);
        char place[64];
        snprintf(place, sizeof(place), "steps[%zu].id", (size_t)(later - s->steps));
        err_set(err, E_PROTOCOL, "%s: '" STR_FMT "' is also the id of an earlier step", place,
            STR_ARG(str_head(later->id, 64)));
        return err_ctx(err, "field", "%s", place);
    }
    return true;
}

/* Steps --------------------------------------------------------------------------------------- */

static bool read_asserts(
    const json_t *list, const char *place, struct arena *arena, struct step *step, struct err *err)
{
    if (!list)
        return true;
    if (!json_is_array(list))
        return scenario_invalid(err, arena_printf(arena, "%s.assert", place), "expected a list");
    size_t n = json_array_size(list);
    step->asserts = ARENA_NEW(arena, struct condition, n);
    for (size_t i = 0; i < n; i++) {
        const char *at = arena_printf(arena, "%s.assert[%zu]", place, i);
        if (!condition_read(json_array_get(list, i), at, arena, &step->asserts[i], err))
            return false;
        step->n_asserts++;
    }
    return true;
}

static bool read_step(const struct step_part *part, size_t index, struct arena *arena,
    struct step *step, struct err *err)
{
    const char *place = arena_printf(arena, "steps[%zu]", index);
    step->id = part->id;
    step->name = part->name.n ? part->name : part->id;
    step->timeout_ms = part->timeout_ms;
    step->retries = part->retries;
    return action_read(
               part->action, arena_printf(arena, "%s.action", place), arena, &step->action, err) &&
           read_asserts(part->asserts, place, arena, step, err);
}

/* Follows a reference to a policy file only if ret_reference is given. */
static bool scenario_read_tree(json_t *tree, struct arena *arena, struct scenario *s,
    struct policy_reference *ret_reference, struct err *err)
{
    struct scenario_document d;
    const struct field_source source = {tree, "", E_PROTOCOL};
    if (!scenario_check_version(tree, err) ||
        !field_read_part(&document_shape, &source, arena, &d, err))
        return false;
    if (d.metadata && !json_is_object(d.metadata))
        return scenario_invalid(err, "metadata", "expected an object");
    s->metadata = d.metadata;
    s->command = d.run.command;
    s->cwd = d.run.cwd;
    s->args = d.run.args;
    s->rows = d.run.size.rows;
    s->cols = d.run.size.cols;
    s->has_policy = d.run.policy != NULL;
    if (s->cwd.p && (s->cwd.n == 0 || s->cwd.p[0] != '/'))
        return scenario_invalid(err, "run.cwd", "expected an absolute path");
    if (d.run.policy &&
        !policy_from_json(d.run.policy, "run.policy", arena, &s->policy, ret_reference, err))
        return false;
    s->steps = ARENA_NEW(arena, struct step, d.n_steps);
    for (size_t i = 0; i < d.n_steps; i++) {
        s->n_steps++;
        if (!read_step(&d.steps[i], i, arena, &s->steps[i], err))
            return false;
    }
    return check_ids(s, arena, err);
}

static bool scenario_parse_text(struct str text, const char *name, struct arena *arena, bool follow,
    struct scenario *ret_scenario, struct err *err)
{
    struct scenario s = {0};
    if (!doc_parse(text, name, E_PROTOCOL, &s.tree, err))
        return false;
    if (!scenario_read_tree(s.tree, arena, &s, follow ? &s.reference : NULL, err)) {
        scenario_done(&s);
        return doc_blame(err, text, name);
    }
    sha256_text(text, s.sha256);
    *ret_scenario = s;
    return true;
}

bool scenario_parse(struct str text, const char *name, struct arena *arena,
    struct scenario *ret_scenario, struct err *err)
{
    return scenario_parse_text(text, name, arena, true, ret_scenario, err);
}

bool scenario_parse_recorded(struct str text, const char *name, struct arena *arena,
    struct scenario *ret_scenario, struct err *err)
{
    return scenario_parse_text(text, name, arena, false, ret_scenario, err);
}

struct golden *scenario_golden(const struct scenario *s, size_t index)
{
    for (size_t i = 0; i < s->n_steps; i++) {
        const struct step *step = &s->steps[i];
        if (step->action.condition.golden && index-- == 0)
            return step->action.condition.golden;
        for (size_t j = 0; j < step->n_asserts; j++)
            if (step->asserts[j].golden && index-- == 0)
                return step->asserts[j].golden;
    }
    return NULL;
}

/* Goldens are relative to the scenario's directory, not to the working directory. */
static bool find_goldens(const char *path, struct arena *arena, struct scenario *s, struct err *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? arena_strdup(arena, str_n(path, (size_t)(slash - path) + 1)) : ".";
    struct golden_home *home = ARENA_NEW(arena, struct golden_home, 1);
    *home = (struct golden_home){.dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (home->dir < 0) {
        scenario_done(s);
        return err_errno(err, E_IO, errno, "cannot open the directory '%s'", name);
    }
    AUTO_FREE char *dir = beneath_name(home->dir);
    if (dir)
        s->dir = arena_str(arena, str_z(dir));
    s->file = str_z(arena_printf(arena, "%s/%s", dir, slash ? slash + 1 : path));
    s->goldens = home;
    for (size_t i = 0; scenario_golden(s, i); i++)
        scenario_golden(s, i)->home = home;
    return true;
}

/* Refuses FIFOs, which might block forever, unless one was passed to us, as by <(...). */
static bool is_readable(int fd, const char *path)
{
    struct stat st;
    struct str p = str_z(path);
    bool given = str_is(p, "/dev/stdin") || str_starts_with(p, STR("/dev/fd/")) ||
                 str_starts_with(p, STR("/proc/self/fd/"));
    if (fstat(fd, &st) != 0 || (!given && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return false;
    fcntl(fd, F_SETFL, 0);
    return true;
}

bool scenario_load(
    const char *path, struct arena *arena, struct scenario *ret_scenario, struct err *err)
{
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    AUTO_BUF struct buf text = BUF_INIT(2 * SCENARIO_TEXT_MAX);
    if (fd < 0) {
        err_errno(err, E_IO, errno, "cannot open the scenario '%s'", path);
        return err_ctx(err, "file", "%s", path);
    }
    if (!is_readable(fd, path)) {
        err_set(err, E_IO, "the scenario '%s' is not a regular file", path);
        return err_ctx(err, "file", "%s", path);
    }
    if (!file_read(fd, SCENARIO_TEXT_MAX, path, &text, err))
        return err_ctx(err, "file", "%s", path);
    return scenario_parse(buf_str(&text), path, arena, ret_scenario, err) &&
           find_goldens(path, arena, ret_scenario, err);
}

void scenario_done(struct scenario *s)
{
    for (size_t i = 0; i < s->n_steps; i++) {
        action_done(&s->steps[i].action);
        for (size_t j = 0; j < s->steps[i].n_asserts; j++)
            condition_done(&s->steps[i].asserts[j]);
    }
    s->n_steps = 0;
    if (s->goldens && s->goldens->dir >= 0)
        close(s->goldens->dir);
    s->goldens = NULL;
    json_decref(s->tree);
    s->tree = NULL;
}

/* Writing ------------------------------------------------------------------------------------- */

static json_t *scenario_step_json(const struct step *step, json_t *asserts)
{
    json_t *object = json_object();
    json_put(object, "id", json_text(step->id));
    json_put(object, "name", json_text(step->name));
    json_put(object, "action", json_incref((json_t *)step->action.json));
    json_put(object, "assert", asserts ? json_incref(asserts) : json_array());
    json_put(object, "timeout_ms", json_integer((json_int_t)step->timeout_ms));
    json_put(object, "retries", json_integer((json_int_t)step->retries));
    return object;
}

json_t *scenario_json(const struct scenario *s)
{
    json_t *object = json_object(), *run = json_object(), *size = json_object();
    json_t *args = json_array(), *steps = json_array();
    const json_t *given = json_object_get(s->tree, "steps");
    json_put(object, "scenario_version", json_integer(SCENARIO_VERSION));
    json_put(object, "metadata", s->metadata ? json_incref(s->metadata) : json_object());
    json_put(run, "command", json_text(s->command));
    for (size_t i = 0; i < s->args.n; i++)
        json_push(args, json_text(s->args.p[i]));
    json_put(run, "args", args);
    if (s->cwd.p)
        json_put(run, "cwd", json_text(s->cwd));
    json_put(size, "rows", json_integer(s->rows));
    json_put(size, "cols", json_integer(s->cols));
    json_put(run, "initial_size", size);
    if (s->has_policy)
        json_put(run, "policy", field_write(&policy_shape, &s->policy));
    json_put(object, "run", run);
    for (size_t i = 0; i < s->n_steps; i++)
        json_push(steps,
            scenario_step_json(&s->steps[i], json_object_get(json_array_get(given, i), "assert")));
    json_put(object, "steps", steps);
    return object;
}

static json_t *scenario_schema_property(json_t *schema, const char *name)
{
    json_t *found = json_object_get(json_object_get(schema, "properties"), name);
    BUG_ON(!found);
    return found;
}

static json_t *ref_to_condition(void)
{
    json_t *ref = json_object();
    json_put(ref, "$ref", json_string("#/$defs/condition"));
    return ref;
}

/* Makes the payload of `wait`, the only action with a condition, refer to the shared definition. */
static json_t *scenario_actions_schema(void)
{
    json_t *schema = action_one_of(), *entry;
    size_t i;
    json_array_foreach(json_object_get(schema, "oneOf"), i, entry)
    {
        json_t *payload = scenario_schema_property(entry, "payload");
        if (json_object_get(json_object_get(payload, "properties"), "condition"))
            json_put(json_object_get(payload, "properties"), "condition", ref_to_condition());
    }
    return schema;
}

static json_t *scenario_policy_schema(void)
{
    static const struct field ref_fields[] = {FIELD_STR(
        "path", struct run_part, command, "absolute path of a policy", .flags = FIELD_REQUIRED)};
    static const struct shape ref_shape =
        SHAPE("policy file", struct run_part, ref_fields, "a policy in a file");
    json_t *schema = json_object(), *list = json_array();
    json_push(list, policy_schema());
    json_push(list, field_schema(&ref_shape));
    json_put(schema, "oneOf", list);
    return schema;
}

/* Fills in the parts that document_shape declares as plain JSON, because other tables read them. */
json_t *scenario_schema(void)
{
    json_t *schema = field_schema(&document_shape), *defs = json_object();
    json_t *step = json_object_get(scenario_schema_property(schema, "steps"), "items");
    json_put(json_object_get(step, "properties"), "action", scenario_actions_schema());
    json_put(scenario_schema_property(step, "assert"), "type", json_string("array"));
    json_put(scenario_schema_property(step, "assert"), "items", ref_to_condition());
    json_put(json_object_get(scenario_schema_property(schema, "run"), "properties"), "policy",
        scenario_policy_schema());
    json_put(scenario_schema_property(schema, "metadata"), "type", json_string("object"));
    json_put(defs, "condition", condition_one_of());
    json_put(schema, "$defs", defs);
    return schema;
}
