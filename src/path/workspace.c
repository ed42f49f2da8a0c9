/* Agent workspaces. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/workspace.h"

#include "io/file.h"
#include "path/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool workspace_agent_valid(struct str agent)
{
    if (agent.n == 0 || agent.n > WORKSPACE_AGENT_MAX)
        return false;
    bool after_alnum = false;
    for (size_t i = 0; i < agent.n; i++) {
        char c = agent.p[i];
        bool joint = c == '.' || c == '_' || c == '-';
        if (!is_alnum(c) && !(joint && after_alnum))
            return false;
        after_alnum = !joint;
    }
    return after_alnum;
}

/* Opens a directory below another one, creating it if missing. */
static int workspace_open_dir(int parent, const char *name, struct err *err)
{
    if (mkdirat(parent, name, 0755) != 0 && errno != EEXIST) {
        err_errno(err, E_IO, errno, "cannot create the directory '%s'", name);
        return -1;
    }
    int fd = beneath_open(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH_NO_SYMLINKS);
    if (fd >= 0)
        return fd;
    if (errno == ELOOP || errno == ENOTDIR)
        err_set(err, E_FS_VIOLATION, "'%s' in the path of the workspace is not a directory", name);
    else
        err_errno(err, E_IO, errno, "cannot open the directory '%s'", name);
    return -1;
}

static bool keep_out_of_git(int dot_cordon, struct err *err)
{
    int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    AUTO_FD int fd = beneath_open(dot_cordon, ".gitignore", flags, 0644, 0);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot write '.cordon/.gitignore'");
    if (st.st_size > 0 || !S_ISREG(st.st_mode))
        return true;
    /* Empty: new, or interrupted before it was written. */
    return file_write(fd, STR("*\n"), ".cordon/.gitignore", err);
}

int workspace_open(int project_fd, const char *agent, struct err *err)
{
    if (!workspace_agent_valid(str_z(agent))) {
        err_set(err, E_CLI_INVALID_ARG,
            "'%s' is not a valid workspace name: expected letters and digits in groups joined by "
            "one of . _ -, at most %d characters",
            agent, WORKSPACE_AGENT_MAX);
        return -1;
    }
    AUTO_FD int dot_cordon = workspace_open_dir(project_fd, ".cordon", err);
    if (dot_cordon < 0 || !keep_out_of_git(dot_cordon, err))
        return -1;
    AUTO_FD int workspaces = workspace_open_dir(dot_cordon, "workspaces", err);
    return workspaces < 0 ? -1 : workspace_open_dir(workspaces, agent, err);
}
