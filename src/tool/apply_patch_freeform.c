/* apply_patch_freeform: a freeform patch over several files, all or nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/envelope_apply.h"

struct patch_freeform_args {
    struct str patch;
    bool strict;
    bool dry_run;
};

static const struct field fields[] = {
    FIELD_STR("patch", struct patch_freeform_args, patch,
        "from '*** Begin Patch' to '*** End Patch', as in the grammar", .alias = "input",
        .flags = FIELD_REQUIRED),
    FIELD_BOOL("strict", struct patch_freeform_args, strict,
        "refuse hunks whose lines do not occur exactly and only once, and refuse to replace "
        "existing files",
        .def = "false"),
    FIELD_BOOL("dry_run", struct patch_freeform_args, dry_run,
        "only check whether the patch would apply", .def = "false"),
};

static const struct shape shape = SHAPE("apply_patch_freeform", struct patch_freeform_args, fields,
    "arguments of apply_patch_freeform");

static bool patch_freeform_subject(
    struct toolbox *box, const void *arguments, struct buf *text, struct err *err)
{
    const struct patch_freeform_args *args = arguments;
    AUTO_ENVELOPE struct envelope e = {0};
    if (!envelope_parse(args->patch, &e, err))
        return false;
    for (size_t i = 0; i < e.n_files; i++) {
        struct str moved = e.files[i].move_to;
        if (!tool_subject_path(box, e.files[i].path, text, err) ||
            (moved.p && !tool_subject_path(box, moved, text, err)))
            return false;
    }
    return true;
}

static bool patch_freeform_execute(struct toolbox *box, const void *arguments, struct buf *diff,
    struct tool_result *result, struct err *err)
{
    const struct patch_freeform_args *args = arguments;
    struct patch_options options = {&tool_apply_patch_freeform, args->strict, args->dry_run, diff};
    struct patch p;
    AUTO_ENVELOPE struct envelope e = {0};
    if (!envelope_parse(args->patch, &e, err) || !patch_init(&p, box, &options, result, err))
        return false;
    bool ok = envelope_apply(&e, &p, err) && patch_commit(&p, err);
    patch_done(&p);
    return ok;
}

static bool patch_freeform_run(
    struct toolbox *box, const void *arguments, struct tool_result *result, struct err *err)
{
    return patch_freeform_execute(box, arguments, NULL, result, err);
}

const struct tool tool_apply_patch_freeform = {
    .name = "apply_patch_freeform",
    .about =
        "Applies a freeform patch to any number of files, all or nothing: '*** Begin Patch', then "
        "'*** Add File: PATH' (lines with '+'), '*** Delete File: PATH' or '*** Update File: PATH' "
        "(then '*** Move to: PATH' to move the file, and hunks: '@@' or '@@ a line above the "
        "change', then lines that start with ' ', '-' or '+'), '*** End Patch'. Hunks are found by "
        "their lines, so no line numbers are needed; give about three lines of context on each "
        "side, and '*** End of File' if a hunk must be at the end.",
    .args = &shape,
    .example =
        "{\"patch\": \"*** Begin Patch\\n*** Update File: notes.txt\\n@@\\n-old\\n+new\\n*** "
        "End Patch\\n\"}",
    .grammar = envelope_grammar,
    .mutating = true,
    .text = "patch",
    .run = patch_freeform_run,
    .subject = patch_freeform_subject,
    .plan = patch_freeform_execute,
};
