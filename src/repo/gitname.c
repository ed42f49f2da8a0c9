/* Quotes file names as git does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitname.h"

static bool needs_quotes(struct str name)
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

static void add_escaped(struct buf *text, unsigned char c)
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
    bool quoted = needs_quotes(name);
    if (quoted)
        buf_add_byte(text, '"');
    buf_add_z(text, prefix);
    if (!quoted)
        buf_add_str(text, name);
    for (size_t i = 0; quoted && i < name.n; i++)
        add_escaped(text, (unsigned char)name.p[i]);
    if (quoted)
        buf_add_byte(text, '"');
}
