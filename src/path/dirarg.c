/* Directory arguments with suffixes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/dirarg.h"

#include "path/lexical.h"

static const char *const mode_names[] = {
    [DIRARG_DEFAULT] = "",
    [DIRARG_COPY] = "copy",
    [DIRARG_OVERLAY] = "overlay",
    [DIRARG_RW] = "rw",
};

const char *dirarg_mode_name(enum dirarg_mode mode)
{
    BUG_ON(mode >= ARRAY_LEN(mode_names));
    return mode_names[mode];
}

static enum dirarg_mode dirarg_mode_of(struct str suffix)
{
    for (size_t i = 1; i < ARRAY_LEN(mode_names); i++)
        if (str_is(suffix, mode_names[i]))
            return (enum dirarg_mode)i;
    return DIRARG_DEFAULT;
}

static bool two_modes(struct str arg, enum dirarg_mode a, enum dirarg_mode b, struct err *err)
{
    err_set(err, E_CLI_INVALID_ARG, "'" STR_FMT "' has both :%s and :%s; use only one of them",
        STR_ARG(arg), mode_names[a], mode_names[b]);
    return err_ctx(err, "argument", STR_FMT, STR_ARG(arg));
}

bool dirarg_parse(
    struct str arg, struct str cwd, struct arena *a, struct dirarg *ret_dir, struct err *err)
{
    if (str_find(arg, '\0') >= 0)
        return err_set(err, E_CLI_INVALID_ARG, "a directory argument contains a NUL byte");
    if (arg.n > LEXICAL_MAX)
        return err_set(
            err, E_CLI_INVALID_ARG, "a directory argument is longer than %d bytes", LEXICAL_MAX);
    struct dirarg dir = {0};
    struct str path = arg;
    ptrdiff_t colon;
    while ((colon = str_find_last(path, ':')) >= 0) {
        struct str suffix = str_skip(path, (size_t)colon + 1);
        enum dirarg_mode mode = dirarg_mode_of(suffix);
        if (mode == DIRARG_DEFAULT && !str_is(suffix, "force"))
            break;
        if (mode == DIRARG_DEFAULT)
            dir.force = true;
        else if (dir.mode != DIRARG_DEFAULT && dir.mode != mode)
            return two_modes(arg, mode, dir.mode, err);
        else
            dir.mode = mode;
        path = str_head(path, (size_t)colon);
    }
    dir.path = lexical_absolute(a, cwd, path);
    *ret_dir = dir;
    return true;
}
