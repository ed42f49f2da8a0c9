/* Trees of boxes from a shell, for the oracle tests:
 *
 *     box_tree list|diff|stat LOWER UPPER [opaque|made=FILE]
 *         the changes; FILE: a manifest of UPPER when it was made, as a second copy of LOWER
 *     box_tree copy PROJECT TARGET [ignored]
 *         copies; prints the files that were left out
 *     box_tree manifest TREE FILE
 *         writes a manifest to FILE
 *     box_tree drift TREE FILE
 *         compares the tree with the manifest
 *     box_tree apply PROJECT BASELINE UPPER JOURNAL [opaque] [dry] [executed] [only=PATH]
 *         prints each change and its result; BASELINE may be a manifest of PROJECT
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "change/apply.h"
#include "change/copy.h"
#include "change/gitpatch.h"
#include "change/manifest.h"
#include "change/upper.h"
#include "repo/gitname.h"

#include <fcntl.h>

static int complain(struct err *err)
{
    fprintf(stderr, "%s: %s\n", err_name(err->code), err->message);
    err_done(err);
    return 1;
}

static int open_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        perror(path);
    return fd;
}

static void print_list(const struct delta *d)
{
    for (size_t i = 0; i < d->n; i++) {
        AUTO_BUF struct buf name = BUF_INIT(1 << 20);
        gitname_add(&name, "", d->items[i].path);
        printf("%s %s\n", delta_kind_name(d->items[i].kind), buf_z(&name));
    }
    for (size_t i = 0; i < MIN(d->n_refused, (size_t)DELTA_REFUSED_MAX); i++)
        printf("refused %s %s\n", d->refused[i].path.p, d->refused[i].why);
    for (size_t i = 0; i < MIN(d->n_left_out, (size_t)DELTA_REFUSED_MAX); i++)
        printf("refused %s %s\n", d->left_out[i].path.p, d->left_out[i].why);
}

static bool print_patch(int lower, int upper, const struct delta *d, bool stat, struct err *err)
{
    struct gitpatch p = gitpatch_start(lower, upper);
    AUTO_FREE struct gitpatch_count *counts = base_alloc((d->n + 1) * sizeof(*counts));
    AUTO_BUF struct buf text = BUF_INIT((size_t)1 << 31);
    for (size_t i = 0; i < d->n; i++) {
        buf_reset(&text);
        if (!gitpatch_item(&p, &d->items[i], &text, &counts[i], err))
            return false;
        if (!stat)
            fwrite(buf_z(&text), 1, text.n, stdout);
    }
    buf_reset(&text);
    if (stat)
        gitpatch_stat(d, counts, 80, &text);
    fwrite(buf_z(&text), 1, text.n, stdout);
    return true;
}

static int changes(int argc, char **argv)
{
    AUTO_FD int lower = open_dir(argv[2]), upper = open_dir(argv[3]);
    AUTO_DELTA struct delta d = DELTA_INIT;
    AUTO_MANIFEST struct manifest made = MANIFEST_INIT;
    struct upper_options options = {.opaque_root = argc > 4};
    struct err err = {0};
    if (lower < 0 || upper < 0)
        return 2;
    if (argc > 4 && strncmp(argv[4], "made=", 5) == 0) {
        if (!manifest_read(AT_FDCWD, argv[4] + 5, &made, &err))
            return complain(&err);
        options.same = &made;
    }
    if (!upper_read(lower, upper, &options, &d, &err))
        return complain(&err);
    if (strcmp(argv[1], "list") == 0)
        print_list(&d);
    else if (!print_patch(lower, upper, &d, strcmp(argv[1], "stat") == 0, &err))
        return complain(&err);
    return 0;
}

static int copy(int argc, char **argv)
{
    AUTO_FD int from = open_dir(argv[2]), to = open_dir(argv[3]);
    AUTO_COPY struct copy_report report = COPY_REPORT_INIT;
    struct copy_options options = {.include_ignored = argc > 4};
    struct err err = {0};
    if (from < 0 || to < 0)
        return 2;
    if (!copy_project(from, to, &options, &report, &err))
        return complain(&err);
    for (size_t i = 0; i < MIN(report.n_notes, (size_t)COPY_NOTES_MAX); i++)
        printf("%s %s\n", report.notes[i].path.p, report.notes[i].why);
    return 0;
}

static int manifest(int argc, char **argv)
{
    AUTO_FD int root = open_dir(argv[2]);
    AUTO_MANIFEST struct manifest m = MANIFEST_INIT;
    AUTO_DELTA struct delta d = DELTA_INIT;
    struct err err = {0};
    bool drift = argc > 1 && strcmp(argv[1], "drift") == 0;
    bool ok = drift
                  ? manifest_read(AT_FDCWD, argv[3], &m, &err) && manifest_drift(&m, root, &d, &err)
                  : manifest_take(root, &m, &err) && manifest_write(&m, AT_FDCWD, argv[3], &err);
    if (!ok)
        return complain(&err);
    print_list(&d);
    return 0;
}

struct apply_words {
    bool opaque, dry, executed;
    struct str only;
};

static struct apply_words read_words(int argc, char **argv)
{
    struct apply_words w = {0};
    for (int i = 6; i < argc; i++) {
        w.opaque = w.opaque || strcmp(argv[i], "opaque") == 0;
        w.dry = w.dry || strcmp(argv[i], "dry") == 0;
        w.executed = w.executed || strcmp(argv[i], "executed") == 0;
        if (strncmp(argv[i], "only=", 5) == 0)
            w.only = str_z(argv[i] + 5);
    }
    return w;
}

static void print_rows(const struct apply *a)
{
    static const char *const states[] = {
        [APPLY_FITS] = "fits",
        [APPLY_DONE] = "done",
        [APPLY_CONFLICT] = "conflict",
        [APPLY_FORBIDDEN] = "forbidden",
    };
    for (size_t i = 0; i < a->n; i++)
        printf("%s %s %s%s%s%s\n", states[a->rows[i].state], delta_kind_name(a->rows[i].item->kind),
            a->rows[i].item->path.p, a->rows[i].project[0] ? ": the project " : "",
            a->rows[i].project,
            a->rows[i].acts->class == SELFRUN_RUNS ? " (executed automatically)" : "");
}

static bool move_manifest(
    const struct apply *a, const struct manifest *m, const char *name, struct err *err)
{
    AUTO_MANIFEST struct manifest moved = MANIFEST_INIT;
    return apply_move_manifest(a, m, &moved, err) && manifest_write(&moved, AT_FDCWD, name, err);
}

static int apply(int argc, char **argv)
{
    struct apply_words words = read_words(argc, argv);
    struct upper_options upper_options = {.opaque_root = words.opaque};
    struct apply_options options = {.allow_executed = words.executed};
    AUTO_FD int project = open_dir(argv[2]), upper = open_dir(argv[4]);
    AUTO_FD int baseline = open(argv[3], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_MANIFEST struct manifest m = MANIFEST_INIT;
    AUTO_DELTA struct delta d = DELTA_INIT;
    AUTO_APPLY struct apply a = APPLY_INIT;
    struct err err = {0};
    if (baseline < 0 && !manifest_load(AT_FDCWD, argv[3], project, &m, &err))
        return complain(&err);
    int lower = baseline < 0 ? project : baseline;
    if (!upper_read(lower, upper, &upper_options, &d, &err))
        return complain(&err);
    if (words.only.p)
        delta_only(&d, &words.only, 1);
    struct apply_trees trees = {project, baseline, upper, &m, AT_FDCWD, argv[3], project, {0}};
    bool ok = apply_check(&a, &trees, &d, &options, &err);
    print_rows(&a);
    if (!ok)
        return complain(&err);
    if (words.dry)
        return 0;
    if (!apply_commit(&a, argv[5], &err))
        return complain(&err);
    return baseline >= 0 || move_manifest(&a, &m, argv[3], &err) ? 0 : complain(&err);
}

static const struct {
    const char *name;
    int args;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"apply", 4, apply},
    {"copy", 2, copy},
    {"diff", 2, changes},
    {"drift", 2, manifest},
    {"list", 2, changes},
    {"manifest", 2, manifest},
    {"stat", 2, changes},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0 && argc >= 2 + commands[i].args)
            return commands[i].run(argc, argv);
    fprintf(stderr, "usage: see the head of box_tree.c\n");
    return 2;
}
