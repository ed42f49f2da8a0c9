#ifndef REPO_GITLINK_H
#define REPO_GITLINK_H
#include "base/buf.h"
#include "base/err.h"
MUST_USE bool gitlink_drop(int git_fd, struct str path, bool *ret_dropped, struct err *err);
#endif
