/* apply_patch_json: a unified diff over several files, all or nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/unified_apply.h"

struct patch_json_args {
    struct str patch;
    bool strict;
    bool dry_run;
};

static const struct field fields[] = {
    FIELD_STR("patch", struct patch_json_args, patch,
        "a unified diff as printed by 'git diff' or 'diff -u'", .alias = "input",
        .flags = FIELD_REQUIRED),
    FIELD_BOOL("strict", struct patch_json_args, strict,
        "has no effect: unified diffs are always applied exactly", .def = "false"),
    FIELD_BOOL("dry_run", struct patch_json_args, dry_run,
        "only check whether the patch would apply", .def = "false"),
};

static const struct shape shape =
    SHAPE("apply_patch_json", struct patch_json_args, fields, "arguments of apply_patch_json");

static bool patch_json_subject(
    struct toolbox *box, const void *arguments, struct buf *text, struct err *err)
{
    const struct patch_json_args *args = arguments;
    AUTO_UNIFIED struct unified u = {0};
    if (!unified_parse(args->patch, &u, err))
        return false;
    for (size_t i = 0; i < u.n_patches; i++) {
        const struct unified_patch *p = &u.patches[i];
        if (p->old_name.p && !tool_subject_path(box, p->old_name, text, err))
            return false;
        bool other = p->new_name.p && !(p->old_name.p && str_eq(p->old_name, p->new_name));
        if (other && !tool_subject_path(box, p->new_name, text, err))
            return false;
    }
    return true;
}

static bool patch_json_execute(struct toolbox *box, const void *arguments, struct buf *diff,
    struct tool_result *result, struct err *err)
{
    const struct patch_json_args *args = arguments;
    struct patch_options options = {&tool_apply_patch_json, args->strict, args->dry_run, diff};
    struct patch p;
    AUTO_UNIFIED struct unified u = {0};
    if (!unified_parse(args->patch, &u, err) || !patch_init(&p, box, &options, result, err))
        return false;
    bool ok = unified_apply(&u, &p, err) && patch_commit(&p, err);
    patch_done(&p);
    return ok;
}

static bool patch_json_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    return patch_json_execute(box, arguments, NULL, result, err);
}

const struct tool tool_apply_patch_json = {
    .name = "apply_patch_json",
    .about = "Applies a unified diff (from git or plain) to any number of files, all or nothing, "
             "by the rules of git apply, except that line numbers must be correct. Creates, "
             "deletes, renames and copies files and changes modes as git headers specify.",
    .args = &shape,
    .example = "{\"patch\": \"--- a/notes.txt\\n+++ b/notes.txt\\n@@ -1 +1 @@\\n-old\\n+new\\n\"}",
    .mutating = true,
    .text = "patch",
    .run = patch_json_run,
    .subject = patch_json_subject,
    .plan = patch_json_execute,
};
