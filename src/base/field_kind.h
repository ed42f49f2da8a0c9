/* Traits of each field kind, shared by reading, writing and schema generation. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FIELD_KIND_H
#define BASE_FIELD_KIND_H

#include "base/field.h"

struct field_trait {
    const char *type;     /* in JSON Schema; NULL: any */
    const char *expected; /* in messages */
    size_t size;          /* of the member */
    int64_t min, max;     /* of numbers without a range */
    bool can_default;
};

const struct field_trait *field_trait(const struct field *field);

static inline bool field_is_integer(const struct field *field)
{
    return field->kind >= FIELD_KIND_I64 && field->kind <= FIELD_KIND_U16;
}

static inline int64_t field_min(const struct field *field)
{
    return field->ranged ? field->min : field_trait(field)->min;
}

static inline int64_t field_max(const struct field *field)
{
    return field->ranged ? field->max : field_trait(field)->max;
}

#endif
