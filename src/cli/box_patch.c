/* Patches and warnings on the terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box_patch.h"

#include "base/utf8.h"
#include "io/tty.h"

enum {
    WARNED = 10,
    PLAIN_COLUMNS = 80,
};

size_t box_patch_columns(const struct cli *cli)
{
    return cli->to_terminal ? tty_size(STDOUT_FILENO).cols : PLAIN_COLUMNS;
}

static void box_patch_warn_notes(
    struct cli *cli, const struct delta_refused *notes, size_t n, const char *effect)
{
    for (size_t i = 0; notes && i < MIN(n, (size_t)WARNED); i++)
        out_warn(cli, "'" STR_FMT "' %s: omitted from the changes%s",
            STR_ARG(out_path(cli, notes[i].path)), notes[i].why, effect);
    if (n > WARNED)
        out_warn(cli, "%zu more are omitted", n - WARNED);
}

void box_patch_warn_refused(struct cli *cli, const struct delta *d)
{
    box_patch_warn_notes(cli, d->refused, d->n_refused, ", and prevents apply");
    box_patch_warn_left_out(cli, d);
}

void box_patch_warn_left_out(struct cli *cli, const struct delta *d)
{
    box_patch_warn_notes(cli, d->left_out, d->n_left_out, "");
}

/* Terminal output ----------------------------------------------------------------------------- */

static void add_visible(struct buf *out, struct str line)
{
    struct str part;
    bool first = true;
    while (str_cut(line, '\t', &part, &line)) {
        buf_add_z(out, first ? "" : "\t");
        utf8_add_printable(out, part);
        first = false;
    }
}

enum patch_part {
    PATCH_HEADER,
    PATCH_HUNK,
    PATCH_BINARY,
};

/* Style of a patch line by its prefix and the part of the patch that it is in. */
static const struct {
    enum patch_part part;
    const char *start;
    enum out_style style;
} line_styles[] = {
    {PATCH_HUNK, "@@", OUT_CYAN},
    {PATCH_HUNK, "+", OUT_GREEN},
    {PATCH_HUNK, "-", OUT_RED},
    {PATCH_HEADER, "", OUT_BOLD},
};

/* Prefixes of lines that start a part. */
static const struct {
    const char *start;
    enum patch_part part;
} part_starts[] = {
    {"diff --git ", PATCH_HEADER},
    {"@@ ", PATCH_HUNK},
    {"GIT binary patch", PATCH_BINARY},
};

static void show_line(struct cli *cli, struct str line, enum patch_part part)
{
    AUTO_BUF struct buf visible = BUF_INIT(12 * line.n + 16);
    add_visible(&visible, line);
    for (size_t i = 0; i < ARRAY_LEN(line_styles); i++) {
        if (line_styles[i].part != part || !str_starts_with(line, str_z(line_styles[i].start)))
            continue;
        out_styled(cli, line_styles[i].style, buf_z(&visible));
        out_text(cli, STR("\n"));
        return;
    }
    out_line(cli, "%s", buf_z(&visible));
}

void box_patch_show(struct cli *cli, struct str patch)
{
    struct str line;
    enum patch_part part = PATCH_HEADER;
    while (patch.n && str_cut(patch, '\n', &line, &patch)) {
        for (size_t i = 0; i < ARRAY_LEN(part_starts); i++)
            if (str_starts_with(line, str_z(part_starts[i].start)))
                part = part_starts[i].part;
        show_line(cli, line, part);
    }
}

/* Shows the + and - marks at the end of the line in color. */
static void show_stat_line(struct cli *cli, struct str line)
{
    size_t minus = line.n, plus;
    while (minus && line.p[minus - 1] == '-')
        minus--;
    for (plus = minus; plus && line.p[plus - 1] == '+';)
        plus--;
    out_text(cli, str_head(line, plus));
    if (plus < minus)
        out_styled(cli, OUT_GREEN, arena_strdup(cli->arena, str_n(line.p + plus, minus - plus)));
    if (minus < line.n)
        out_styled(cli, OUT_RED, arena_strdup(cli->arena, str_skip(line, minus)));
    out_text(cli, STR("\n"));
}

void box_patch_show_stat(struct cli *cli, struct str stat)
{
    struct str line;
    while (stat.n && str_cut(stat, '\n', &line, &stat))
        show_stat_line(cli, line);
}
