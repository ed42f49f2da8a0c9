/* The user's home directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/home.h"

#include "base/names.h"

#include <pwd.h>
#include <unistd.h>

enum {
    ENTRY_MAX = 64 * 1024,
};

const char *home_dir(struct arena *a)
{
    const char *home = getenv("HOME");
    if (home && home[0] == '/')
        return arena_strdup(a, str_z(home));
    AUTO_FREE char *text = base_alloc(ENTRY_MAX);
    struct passwd entry, *found = NULL;
    names_prepare();
    if (getpwuid_r(getuid(), &entry, text, ENTRY_MAX, &found) != 0 || !found || !entry.pw_dir ||
        entry.pw_dir[0] != '/')
        return NULL;
    return arena_strdup(a, str_z(entry.pw_dir));
}
