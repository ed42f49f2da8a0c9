/* The changes a call makes to files, as a diff. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool_plan.h"

#include "base/linediff.h"
#include "base/utf8.h"

static void plan_add_name(struct buf *diff, const char *before, struct str name)
{
    buf_add_z(diff, before);
    utf8_add_printable(diff, name);
}

static void plan_add_head(struct buf *diff, const struct plan_file *f)
{
    plan_add_name(diff, "diff --git a/", f->from.p ? f->from : f->name);
    plan_add_name(diff, " b/", f->name);
    buf_add_byte(diff, '\n');
    if (f->from.p) {
        plan_add_name(diff, f->copied ? "copy from " : "rename from ", f->from);
        plan_add_name(diff, f->copied ? "\ncopy to " : "\nrename to ", f->name);
        buf_add_byte(diff, '\n');
    }
    if (!f->existed && !f->from.p)
        buf_add_z(diff, "new file\n");
    if (!f->exists)
        buf_add_z(diff, "deleted file\n");
    if (f->note)
        buf_printf(diff, "%s\n", f->note);
}

void plan_add(struct buf *diff, int64_t *budget, const struct plan_file *f)
{
    AUTO_LINEDIFF struct linediff l = {0};
    struct linediff_count count = {0};
    plan_add_head(diff, f);
    if (str_eq(f->old, f->new))
        return;
    if (f->existed || f->from.p)
        plan_add_name(diff, "--- a/", f->from.p ? f->from : f->name);
    else
        buf_add_z(diff, "--- /dev/null");
    if (f->exists)
        plan_add_name(diff, "\n+++ b/", f->name);
    else
        buf_add_z(diff, "\n+++ /dev/null");
    buf_add_byte(diff, '\n');
    linediff_make(f->old, f->new, budget, &l);
    linediff_add_hunks(&l, diff, &count);
}

bool plan_is_wanted(const struct toolbox *box)
{
    return box->planned.p || box->options->tell_diff;
}

bool plan_check(const struct toolbox *box, const struct buf *diff, struct err *err)
{
    if (!box->planned.p || (buf_ok(diff) && str_eq(buf_str(diff), box->planned)))
        return true;
    return err_set(err, E_CONFLICT,
        "nothing was changed: the files have changed since the user reviewed this edit; "
        "read them again and repeat the call");
}

void plan_tell(const struct toolbox *box, const struct buf *diff)
{
    if (box->options->tell_diff && buf_ok(diff) && diff->n)
        box->options->tell_diff(box->options->diff_context, buf_str(diff));
}
