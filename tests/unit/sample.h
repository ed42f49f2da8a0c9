/* A shape with a field of every kind, for tests and fuzzing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SAMPLE_H
#define TESTS_UNIT_SAMPLE_H

#include "base/field.h"

enum mode {
    MODE_NONE,
    MODE_FAST,
    MODE_SLOW,
};

struct size {
    uint16_t rows, cols;
};

struct step {
    struct str id;
    bool optional;
    struct step *then;
    size_t n_then;
};

struct sample {
    bool verbose;
    int64_t offset;
    uint64_t bytes;
    bool has_bytes;
    uint32_t timeout_ms;
    double factor;
    struct str command;
    struct str note;
    enum mode mode;
    struct str_list args;
    struct str_map env;
    struct size size;
    struct size *limit;
    struct step *steps;
    size_t n_steps;
    json_t *extra;
};

static const struct field size_fields[] = {
    FIELD_U16("rows", struct size, rows, "lines", .def = "24", FIELD_RANGE(1, 500)),
    FIELD_U16("cols", struct size, cols, "columns", .def = "80"),
};
static const struct shape size_shape = SHAPE("size", struct size, size_fields, "a size");

static const struct shape step_shape;
static const struct field step_fields[] = {
    FIELD_STR("id", struct step, id, "its name", .flags = FIELD_REQUIRED, FIELD_RANGE(1, 20)),
    FIELD_BOOL("optional", struct step, optional, "may fail", .flags = FIELD_OMIT_EMPTY),
    FIELD_OBJECTS(
        "then", struct step, then, n_then, &step_shape, "what follows", .flags = FIELD_OMIT_EMPTY),
};
static const struct shape step_shape = SHAPE("step", struct step, step_fields, "one step");

static const char *const mode_names[] = {[MODE_FAST] = "fast", [MODE_SLOW] = "slow"};

static const struct field sample_fields[] = {
    FIELD_BOOL("verbose", struct sample, verbose, "say more", .def = "true"),
    FIELD_I64("offset", struct sample, offset, "from where"),
    FIELD_U64("bytes", struct sample, bytes, "how many", FIELD_HAS(struct sample, has_bytes)),
    FIELD_U32(
        "timeout_ms", struct sample, timeout_ms, "how long", .def = "5000", FIELD_RANGE(1, 600000)),
    FIELD_DOUBLE("factor", struct sample, factor, "how much", .def = "1.5", FIELD_RANGE(0, 10)),
    FIELD_STR(
        "command", struct sample, command, "what to run", .flags = FIELD_REQUIRED, .alias = "cmd"),
    FIELD_STR("note", struct sample, note, "for people"),
    FIELD_ENUM("mode", struct sample, mode, mode_names, "how fast"),
    FIELD_STRS("args", struct sample, args, "arguments", FIELD_RANGE(0, 5)),
    FIELD_MAP("env", struct sample, env, "environment", .flags = FIELD_OMIT_EMPTY),
    FIELD_OBJECT("size", struct sample, size, &size_shape, "of the screen"),
    FIELD_MAYBE("limit", struct sample, limit, &size_shape, "the largest size"),
    FIELD_OBJECTS("steps", struct sample, steps, n_steps, &step_shape, "what to do"),
    FIELD_JSON("extra", struct sample, extra, "anything"),
};
static const struct shape sample_shape =
    SHAPE("sample", struct sample, sample_fields, "everything");

#endif
