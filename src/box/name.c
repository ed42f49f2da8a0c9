/* Grammar of box names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/name.h"

static bool name_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_joint(char c)
{
    return c == '.' || c == '_' || c == '-';
}

/* Returns NULL if the name is valid. */
static const char *name_find_fault(struct str name)
{
    if (name.n == 0)
        return "it is empty";
    for (size_t i = 0; i < name.n; i++) {
        if (name_is_plain(name.p[i]))
            continue;
        if (!is_joint(name.p[i]))
            return "only letters, digits and '.', '_', '-' are allowed";
        if (i == 0 || i + 1 == name.n || !name_is_plain(name.p[i + 1]))
            return "'.', '_' and '-' must be single and between letters or digits";
    }
    return name.n > BOX_NAME_MAX ? "it is longer than 56 characters" : NULL;
}

bool box_name_valid(struct str name)
{
    return !name_find_fault(name);
}

bool box_name_check(struct str name, struct err *err)
{
    _Static_assert(BOX_NAME_MAX == 56, "the message contains this number");
    const char *why = name_find_fault(name);
    if (!why)
        return true;
    err_set(
        err, E_CLI_INVALID_ARG, "'" STR_FMT "' is not a valid box name: %s", STR_ARG(name), why);
    return err_ctx(err, "name", STR_FMT, STR_ARG(name));
}
