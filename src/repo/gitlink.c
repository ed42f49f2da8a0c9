#include "repo/gitlink.h"
bool gitlink_drop(int git_fd, struct str path, bool *ret_dropped, struct err *err)
{
    (void)git_fd;
    (void)path;
    (void)err;
    *ret_dropped = false;
    return true;
}
