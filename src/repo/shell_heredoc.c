/* Here-documents of the shell. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/shell_heredoc.h"

#include "repo/shell_quote.h"

enum {
    DELIMITER_MAX = 1024,
};

bool shell_heredoc_at(struct str text, size_t at)
{
    struct str rest = str_skip(text, at);
    return str_starts_with(rest, STR("<<")) && !str_starts_with(rest, STR("<<<"));
}

size_t shell_heredoc_open(struct shell_heredocs *docs, struct str text, size_t at)
{
    struct shell_heredoc doc = {0};
    at += 2;
    doc.tabs = at < text.n && text.p[at] == '-';
    at += doc.tabs;
    while (at < text.n && (text.p[at] == ' ' || text.p[at] == '\t'))
        at++;
    size_t end = shell_quote_word(text, at, docs->depth, docs->limits);
    doc.word = str_n(text.p + at, end - at);
    doc.quoted = str_find(doc.word, '\'') >= 0 || str_find(doc.word, '"') >= 0 ||
                 str_find(doc.word, '\\') >= 0;
    docs->limits->cut |= doc.word.n && docs->n == SHELL_HEREDOCS_MAX;
    if (doc.word.n && docs->n < SHELL_HEREDOCS_MAX)
        docs->p[docs->n++] = doc;
    return end;
}

static bool find_body(
    struct shell_heredoc *doc, struct str text, size_t *at, struct shell_limits *limits)
{
    AUTO_BUF struct buf delimiter = BUF_INIT(DELIMITER_MAX);
    shell_quote_remove(doc->word, &delimiter);
    limits->cut |= !buf_ok(&delimiter);
    for (size_t start = *at; buf_ok(&delimiter) && start < text.n;) {
        struct str rest = str_skip(text, start);
        ptrdiff_t end = str_find(rest, '\n');
        struct str line = end < 0 ? rest : str_head(rest, (size_t)end);
        size_t next = start + line.n + (end >= 0);
        if (!shell_limits_take(limits, line.n + 1))
            return false;
        while (doc->tabs && line.n && line.p[0] == '\t')
            line = str_skip(line, 1);
        if (str_eq(line, buf_str(&delimiter))) {
            doc->body = str_n(text.p + *at, start - *at);
            *at = next;
            return true;
        }
        start = next;
    }
    return false;
}

bool shell_heredoc_next(
    struct shell_heredocs *docs, struct str text, size_t *at, struct shell_heredoc *doc)
{
    while (docs->n) {
        *doc = docs->p[0];
        memmove(docs->p, docs->p + 1, --docs->n * sizeof(docs->p[0]));
        if (find_body(doc, text, at, docs->limits))
            return true;
    }
    return false;
}
