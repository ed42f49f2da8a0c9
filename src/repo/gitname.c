/* File names in git's index and in its output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitname.h"

#include "base/utf8.h"

/* Quotes --------------------------------------------------------------------------------------- */

static bool gitname_needs_quotes(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            return true;
        /* In an unquoted header git would take the rest for an absolute path. */
        if (c == ' ' && i + 1 < name.n && name.p[i + 1] == '/')
            return true;
    }
    return false;
}

static void gitname_add_escaped(struct buf *text, unsigned char c)
{
    static const char plain[] = "\a\b\t\n\v\f\r\"\\", letter[] = "abtnvfr\"\\";
    const char *found = c ? strchr(plain, c) : NULL;
    if (found)
        buf_printf(text, "\\%c", letter[found - plain]);
    else if (c < 0x20 || c >= 0x7f)
        buf_printf(text, "\\%03o", c);
    else
        buf_add_byte(text, (char)c);
}

void gitname_add(struct buf *text, const char *prefix, struct str name)
{
    bool quoted = gitname_needs_quotes(name);
    if (quoted)
        buf_add_byte(text, '"');
    buf_add_z(text, prefix);
    if (!quoted)
        buf_add_str(text, name);
    for (size_t i = 0; quoted && i < name.n; i++)
        gitname_add_escaped(text, (unsigned char)name.p[i]);
    if (quoted)
        buf_add_byte(text, '"');
}

/* Plain names ---------------------------------------------------------------------------------- */

/* Characters that file systems which ignore case also ignore in names (HFS+, ext4). */
static bool is_ignored(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00ad, 0x00ad},
        {0x034f, 0x034f},
        {0x115f, 0x1160},
        {0x17b4, 0x17b5},
        {0x180b, 0x180f},
        {0x200b, 0x200f},
        {0x202a, 0x202e},
        {0x2060, 0x206f},
        {0x3164, 0x3164},
        {0xfe00, 0xfe0f},
        {0xfeff, 0xfeff},
        {0xffa0, 0xffa0},
        {0xfff0, 0xfff8},
        {0xe0000, 0xe0fff},
    };
    for (size_t i = 0; c > 0x7f && i < ARRAY_LEN(ranges); i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* Compares a component with a name in lower case. On NTFS dots and spaces at the end, and a colon
 * with anything after it, do not belong to the name. */
static bool reads_as(struct str component, const char *name)
{
    while (component.n) {
        uint32_t c = UTF8_REPLACEMENT;
        size_t n = utf8_decode(component, &c);
        component = str_skip(component, MAX(n, (size_t)1));
        if (is_ignored(c))
            continue;
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        if (!*name && c == ':')
            return true;
        if (*name ? c != (unsigned char)*name++ : c != '.' && c != ' ')
            return false;
    }
    return !*name;
}

/* A backslash separates names on other systems. */
static bool is_git(struct str component)
{
    struct str name;
    while (str_cut(component, '\\', &name, &component))
        if (reads_as(name, ".git") || reads_as(name, "git~1"))
            return true;
    return false;
}

bool gitname_is_plain(struct str name, bool directory)
{
    struct str component, rest = name;
    if (directory && str_ends_with(rest, STR("/")))
        rest = str_head(rest, rest.n - 1);
    if (rest.n == 0 || str_ends_with(rest, STR("/")))
        return false;
    while (str_cut(rest, '/', &component, &rest))
        if (component.n == 0 || str_is(component, ".") || str_is(component, "..") ||
            is_git(component))
            return false;
    return true;
}
