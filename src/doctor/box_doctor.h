/* This machine's support for boxes, tried in $CORDON_HOME, and files left by crashes.
 *
 *     struct box_doctor d = {.arena = &arena, .warnings = warnings, .boxes = BOXES_NONE};
 *     if (!box_doctor_examine(&d, false, err)) return false;
 *     ... d.checks, d.unusable ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DOCTOR_BOX_DOCTOR_H
#define DOCTOR_BOX_DOCTOR_H

#include "base/json.h"
#include "base/notice.h"
#include "box/layout.h"

enum {
    BOX_DOCTOR_CHECKS_MAX = 16,
};

enum health {
    HEALTH_OK,
    HEALTH_WEAKER, /* boxes work, with restrictions */
    HEALTH_MISSING,
    HEALTH_LEFT_OVER,
};

extern const char *const box_doctor_health_names[];

struct box_doctor_check {
    const char *name;
    enum health health;
    const char *detail, *remedy;
};

struct box_doctor {
    struct arena *arena;
    struct notices warnings;
    struct boxes boxes;
    struct box_doctor_check checks[BOX_DOCTOR_CHECKS_MAX];
    size_t n;
    bool unusable;
};

/* Tries the place of boxes; leaves no directory that was not there. With `fix`, recovers
 * interrupted changes and removes leftovers first. */
MUST_USE bool box_doctor_examine(struct box_doctor *d, bool fix, struct err *err);

MUST_USE json_t *box_doctor_json(const struct box_doctor *d);

#endif
