/* Git's configuration as we read it: for each record on standard input (length, line break, bytes)
 * prints its entries as `git config --list -z` does, then the file that we would write. Each output
 * is a length, a line break and the bytes; the first length is -1 if the text is refused. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/gitconfig.h"

static void print_name(const struct gitconfig_entry *e, struct buf *out)
{
    buf_add_str(out, e->section);
    buf_add_byte(out, '.');
    if (e->subsection.p) {
        buf_add_str(out, e->subsection);
        buf_add_byte(out, '.');
    }
    buf_add_str(out, e->name);
}

static void answer(const struct buf *b)
{
    printf("%zu\n", b->n);
    fwrite(buf_z(b), 1, b->n, stdout);
}

static void list(struct str text)
{
    AUTO_ARENA struct arena a = ARENA_INIT(8 << 20);
    AUTO_BUF struct buf entries = BUF_INIT(8 << 20), written = BUF_INIT(8 << 20);
    struct gitconfig config;
    if (!gitconfig_parse(text, &a, &config)) {
        printf("-1\n");
        return;
    }
    for (size_t i = 0; i < config.n; i++) {
        print_name(&config.p[i], &entries);
        if (config.p[i].value.p) {
            buf_add_byte(&entries, '\n');
            buf_add_str(&entries, config.p[i].value);
        }
        buf_add_byte(&entries, '\0');
    }
    gitconfig_write(config.p, config.n, &written);
    BUG_ON(!buf_ok(&entries) || !buf_ok(&written));
    answer(&entries);
    answer(&written);
}

int main(void)
{
    static char text[GITCONFIG_BYTES_MAX];
    size_t n;
    while (scanf("%zu", &n) == 1 && n <= sizeof(text) && getchar() == '\n') {
        if (fread(text, 1, n, stdin) != n)
            return 1;
        list(str_n(text, n));
        fflush(stdout);
    }
    return 0;
}
