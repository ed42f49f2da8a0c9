/* The project that a command works in. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "config/project.h"

#include "config/config.h"
#include "path/home.h"
#include "path/journal.h"
#include "path/lexical.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

void project_done(struct project *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

static bool project_detect(const char *start, const struct config *config, struct arena *a,
    struct project *ret_project, struct err *err)
{
    struct root_options options = {
        .home = home_dir(a),
        .extra_markers = config->project_markers.p,
        .n_extra = config->project_markers.n,
    };
    AUTO_PROJECT struct project p = PROJECT_INIT;
    if (!root_detect(start, &options, a, &p.root, err))
        return false;
    p.fd = open(p.root.dir.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (p.fd < 0)
        return err_errno(err, E_IO, errno, "cannot open the project root '%s'", p.root.dir.p);
    project_done(ret_project);
    *ret_project = p;
    p.fd = -1;
    return true;
}

/* Project settings can only narrow the project, so ignoring invalid ones would widen it: fail, and
 * name the file to correct. */
static bool explain_settings(const struct project *p, struct err *err)
{
    struct stat st;
    bool link = fstatat(p->fd, ".cordon", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
    AUTO_FREE char *old = err->message;
    AUTO_BUF struct buf b = BUF_INIT(128 << 10);
    buf_printf(&b, "%s (project settings cannot be skipped: correct or remove '%s/%s')", old,
        p->root.dir.p, link ? ".cordon" : ".cordon/config.yaml");
    err->message = buf_take(&b);
    return false;
}

bool project_find(struct arena *a, const char *start, struct project *ret_project, struct err *err)
{
    struct config config;
    AUTO_PROJECT struct project p = PROJECT_INIT;
    if (!config_load_user(a, &config, err) || !project_detect(start, &config, a, &p, err))
        return false;
    size_t own = config.project_markers.n;
    if (!config_add_project(p.fd, a, &config, err))
        return explain_settings(&p, err);
    /* The project's own markers may select a root further down, never further up: that would let it
     * widen its own boundary. */
    AUTO_PROJECT struct project inner = PROJECT_INIT;
    if (config.project_markers.n > own && !project_detect(start, &config, a, &inner, err))
        return false;
    bool use_inner = inner.fd >= 0 && lexical_is_below(p.root.dir, inner.root.dir);
    struct project *found = use_inner ? &inner : &p;
    *ret_project = *found;
    found->fd = -1;
    return true;
}

bool project_recover(
    struct arena *a, const struct project *p, struct notices warnings, struct err *err)
{
    const char *journal;
    struct journal_report report;
    if (!config_has_state(a))
        return true; /* no home directory, so no journal */
    if (!config_state_path(a, "journal", &journal, err) ||
        !journal_recover(journal, p->fd, &report, err))
        return false;
    if (report.finished)
        notice_send(warnings, "completed %zu interrupted change%s to files", report.finished,
            report.finished == 1 ? "" : "s");
    if (report.undone)
        notice_send(warnings, "undid %zu interrupted change%s to files", report.undone,
            report.undone == 1 ? "" : "s");
    if (report.kept)
        notice_send(warnings,
            "%zu old version%s could not be restored and remain beside the original files: "
            "'%s'",
            report.kept, report.kept == 1 ? "" : "s", report.first_kept);
    if (report.lost)
        notice_send(warnings,
            "%zu file%s of an interrupted change could be neither completed nor undone, "
            "because the directory or the old version is missing: '%s' (see '%s/%s' for "
            "details)",
            report.lost, report.lost == 1 ? "" : "s", report.first_lost, journal,
            report.lost_journal);
    if (report.damaged)
        notice_send(warnings,
            "%zu journal%s cannot be used, and nothing was changed: '%s/%s' (%s); inspect it, "
            "then remove it",
            report.damaged, report.damaged == 1 ? "" : "s", journal, report.first_damaged,
            report.why_damaged);
    return true;
}
