/* Test mount of an overlay, and the fallback. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/layering.h"

#include "change/copy.h"
#include "policy/load.h"
#include "sandbox/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

/* Without user xattrs overlayfs still mounts, but fails later in odd ways. */
static bool takes_attributes(const char *dir)
{
    static const char name[] = "user.cordon";
    bool ok = lsetxattr(dir, name, "", 0, 0) == 0;
    if (ok)
        (void)!lremovexattr(dir, name);
    return ok;
}

/* Sets up a sandbox with only the overlays. */
static bool layering_try_overlays(const struct plan_overlay *overlays, size_t n, struct err *err)
{
    static const struct baseline nothing;
    AUTO_ARENA struct arena a = ARENA_INIT(16 << 20);
    struct policy policy;
    struct verdict v;
    struct plan plan;
    if (!policy_parse(STR("{\"policy_version\": 4}"), "layers", &a, &policy, err))
        return false;
    policy_validate(&policy, &(struct policy_host){0}, &a, &v);
    plan_make(
        &(struct plan_input){
            .verdict = &v, .baseline = &nothing, .overlays = overlays, .n_overlays = n},
        &a, &plan);
    return launch_rehearse(&plan, err);
}

static bool check_attributes(const struct plan_overlay *overlay, struct buf *why)
{
    if (takes_attributes(overlay->upper.path.p))
        return true;
    buf_printf(why,
        "the file system of '" STR_FMT "' does not support user extended attributes: %s",
        STR_ARG(overlay->upper.path), strerror(errno));
    return false;
}

bool layering_test(const struct plan_overlay *overlays, size_t n, struct buf *why, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!check_attributes(&overlays[i], why))
            return false;
    return layering_try_overlays(overlays, n, err);
}

bool layering_choose(const struct plan_overlay *overlay, enum box_layering *ret_layering,
    struct buf *why, struct err *err)
{
    AUTO_ERR struct err failed = {0};
    *ret_layering = BOX_LAYERS_SECOND_COPY;
    if (!check_attributes(overlay, why))
        return true;
    if (layering_try_overlays(overlay, 1, &failed)) {
        *ret_layering = BOX_LAYERS_OVERLAY;
        return true;
    }
    const struct err_pair *primitive = err_ctx_get(&failed, "primitive");
    if (!primitive || !primitive->text || !strstr(primitive->text, "overlay"))
        return err_move(err, &failed);
    const struct err_pair *remedy = err_ctx_get(&failed, "remedy");
    buf_printf(why, "%s", failed.message);
    if (remedy && remedy->text)
        buf_printf(why, " (%s)", remedy->text);
    return true;
}

bool layering_copy(int layers_fd, int from_fd, struct err *err)
{
    AUTO_COPY struct copy_report report = COPY_REPORT_INIT;
    struct stat st;
    AUTO_FD int tree = mkdirat(layers_fd, "tree", 0700) == 0
                           ? openat(layers_fd, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                           : -1;
    if (tree < 0 || fstat(from_fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot create the box's own copy");
    if (!copy_project(from_fd, tree, &(struct copy_options){.include_ignored = true}, &report, err))
        return err_wrap(err, "cannot create the box's own copy");
    return fchmod(tree, (st.st_mode & 02777) | 0700) == 0 ||
           err_errno(err, E_IO, errno, "cannot create the box's own copy");
}
