/* The user's home directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/home.h"

#include "base/names.h"

#include <pwd.h>
#include <unistd.h>

enum {
    ENTRY_MAX = 64 * 1024,
};

const char *home_of(struct arena *a, const char *user)
{
    AUTO_FREE char *text = base_alloc(ENTRY_MAX);
    struct passwd entry, *found = NULL;
    names_prepare();
    int errnum = user ? getpwnam_r(user, &entry, text, ENTRY_MAX, &found)
                      : getpwuid_r(getuid(), &entry, text, ENTRY_MAX, &found);
    if (errnum != 0 || !found || !entry.pw_dir || entry.pw_dir[0] != '/')
        return NULL;
    return arena_strdup(a, str_z(entry.pw_dir));
}

const char *home_dir(struct arena *a)
{
    const char *home = getenv("HOME");
    return home && home[0] == '/' ? arena_strdup(a, str_z(home)) : home_of(a, NULL);
}
