/* Consent to file changes: what a user is shown, and the results of the answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "tool/tool.h"

#include <fcntl.h>
#include <signal.h>

static const char before[] = "one\ntwo\nthree\n";

/* The user who is asked: answers one after the other. */
struct person {
    const char *answers; /* y n; e: edits; m: changes the file, and says yes */
    const char *text;    /* written instead */
    struct buf shown;    /* all diffs */
    int asked;
};

static enum approve_answer answer(void *context, const struct approve_question *q, struct str rule)
{
    struct person *p = context;
    char a = p->answers[p->asked++];
    (void)rule;
    buf_add_str(&p->shown, q->diff);
    if (a == 'm')
        test_write(test_path("f"), "one\ntwo\n3\n");
    if (a == 'e') {
        buf_reset(&q->edit->now);
        buf_add_z(&q->edit->now, p->text);
        return APPROVE_EDITED;
    }
    return a == 'n' ? APPROVE_NO : APPROVE_YES;
}

static const struct {
    const char *name, *tool, *arguments, *answers, *text;
    enum err_code code;
    const char *shown;
    const char *after;   /* the file's content */
    const char *content; /* start of the content that the model gets; NULL: any */
} rows[] = {
    {"an edit", "edit_file", "{\"path\":\"f\",\"old_string\":\"two\",\"new_string\":\"2\"}", "y",
        NULL, ERR_NONE,
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        "one\n2\nthree\n", "M f (+1 -1)\n"},
    {"no", "edit_file", "{\"path\":\"f\",\"old_string\":\"two\",\"new_string\":\"2\"}", "n", NULL,
        E_APPROVAL_REQUIRED,
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", before,
        "error: the user refused this call"},
    {"changed before the answer", "edit_file",
        "{\"path\":\"f\",\"old_string\":\"two\",\"new_string\":\"2\"}", "m", NULL, E_CONFLICT,
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        "one\ntwo\n3\n", "error: nothing was changed"},
    {"nothing to ask", "edit_file", "{\"path\":\"f\",\"old_string\":\"x\",\"new_string\":\"2\"}",
        "", NULL, E_PATCH_APPLY, "", before, "error: old_string was not found in 'f'"},
    {"a whole file", "write", "{\"file_path\":\"f\",\"content\":\"one\\n\"}", "y", NULL, ERR_NONE,
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n one\n-two\n-three\n", "one\n",
        "replaced 'f'"},
    {"a whole file, changed before the answer", "write", "{\"path\":\"f\",\"content\":\"one\\n\"}",
        "m", NULL, E_CONFLICT,
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n one\n-two\n-three\n",
        "one\ntwo\n3\n", NULL},
    {"edited once", "write", "{\"path\":\"f\",\"content\":\"x\"}", "ey", "one\ntwo\n", ERR_NONE,
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n-one\n-two\n-three\n+x\n"
        "\\ No newline at end of file\n"
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n one\n two\n-three\n",
        "one\ntwo\n",
        "The user edited this call before it was run. The \"content\" used was:\none\ntwo\n"},
    {"edited, and no", "write", "{\"path\":\"f\",\"content\":\"one\\n\"}", "en", "y\n",
        E_APPROVAL_REQUIRED,
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n one\n-two\n-three\n"
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n-one\n-two\n-three\n+y\n",
        before, "The user edited"},
    {"a patch", "apply_patch_json",
        "{\"input\":\"--- a/f\\n+++ b/f\\n@@ -1,3 +1,2 @@\\n one\\n-two\\n three\\n\"}", "y", NULL,
        ERR_NONE, "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n one\n-two\n three\n",
        "one\nthree\n", NULL},
    {"a patch, edited so that it does not apply", "apply_patch_json",
        "{\"input\":\"--- a/f\\n+++ b/f\\n@@ -1,3 +1,2 @@\\n one\\n-two\\n three\\n\"}", "e",
        "no patch", E_PATCH_PARSE,
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n one\n-two\n three\n", before,
        "The user edited"},
};

static void read_file(struct buf *out)
{
    char bytes[256];
    AUTO_FD int fd = open(test_path("f"), O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, bytes, sizeof(bytes));
    buf_add_str(out, str_n(bytes, (size_t)MAX(n, (ssize_t)0)));
}

TEST(consent_to_changes)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ERR struct err err = {0};
        AUTO_BUF struct buf after = BUF_INIT(1024);
        AUTO_FD int root = open(test_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct person p = {rows[i].answers, rows[i].text, BUF_INIT(1 << 20), 0};
        const struct toolbox_options options = {.root_fd = root,
            .cwd = test_dir(),
            .journal_dir = test_path("journal"),
            .approve = {.mode = APPROVE_ON_REQUEST, .ask = answer, .context = &p},
            .signals = -1};
        struct toolbox *box = NULL;
        struct tool_result result;
        test_row(i, rows[i].name);
        test_write(test_path("f"), before);
        if (!CHECK_OK(toolbox_open(&options, &box, &err), &err))
            return;
        tool_call(box, str_z(rows[i].tool), str_z(rows[i].arguments), &result);
        CHECK_INT(result.error.code, rows[i].code);
        CHECK_INT(p.asked, strlen(rows[i].answers));
        CHECK_Z(buf_z(&p.shown), rows[i].shown);
        read_file(&after);
        CHECK_Z(buf_z(&after), rows[i].after);
        if (rows[i].content &&
            !CHECK(str_starts_with(buf_str(&result.content), str_z(rows[i].content))))
            CHECK_Z(buf_z(&result.content), rows[i].content);
        tool_result_done(&result);
        toolbox_close(box);
        buf_done(&p.shown);
    }
}
