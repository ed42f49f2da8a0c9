/* Images in a prompt: paths that were typed, dropped on the terminal, or follow an @. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/chat.h"
#include "io/file.h"
#include "llm/message.h"
#include "path/home.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum {
    IMAGES_MAX = 16,
    IMAGES_BYTES = 20 << 20,
    NOTE_MAX = 64 << 10,
};

static const char *const endings[] = {".png", ".jpg", ".jpeg", ".gif", ".webp"};

static bool ends_as_image(struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        size_t n = strlen(endings[i]);
        if (path.n > n && strncasecmp(path.p + path.n - n, endings[i], n) == 0)
            return true;
    }
    return false;
}

/* Words --------------------------------------------------------------------------------------- */

/* Terminals quote a dropped path, or escape its special characters with backslashes. */
static struct str chat_image_read_word(struct str text, struct buf *word)
{
    char quote = 0;
    buf_reset(word);
    while (text.n && (quote || !memchr(" \t\n", text.p[0], 3))) {
        char c = text.p[0];
        bool escaped = c == '\\' && quote != '\'' && text.n > 1;
        if (escaped)
            buf_add_byte(word, text.p[1]);
        else if (!quote && (c == '\'' || c == '"') && (word->n == 0 || str_is(buf_str(word), "@")))
            quote = c;
        else if (quote && c == quote)
            quote = 0;
        else
            buf_add_byte(word, c);
        text = str_skip(text, escaped ? 2 : 1);
    }
    return text;
}

static int chat_image_hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static void add_decoded(struct str url, struct buf *path)
{
    while (url.n) {
        int high = url.n > 2 && url.p[0] == '%' ? chat_image_hex_digit(url.p[1]) : -1;
        int low = high >= 0 ? chat_image_hex_digit(url.p[2]) : -1;
        bool coded = low >= 0 && (high || low);
        buf_add_byte(path, coded ? (char)(high << 4 | low) : url.p[0]);
        url = str_skip(url, coded ? 3 : 1);
    }
}

/* Converts a word to a path. Returns false if it cannot be the path of an image. */
static bool chat_image_parse_path(
    struct chat *chat, struct str word, bool with_at_only, struct buf *path)
{
    bool at = str_starts_with(word, STR("@"));
    const char *home = home_dir(chat->setup.arena);
    word = str_skip(word, at ? 1 : 0);
    buf_reset(path);
    if ((with_at_only && !at) || str_find(word, '\0') >= 0)
        return false;
    if (str_starts_with(word, STR("file:///"))) {
        add_decoded(str_skip(word, strlen("file://")), path);
    } else if (home && str_starts_with(word, STR("~/"))) {
        buf_add_z(path, home);
        buf_add_str(path, str_skip(word, 1));
    } else {
        buf_add_str(path, word);
    }
    if (!ends_as_image(buf_str(path))) /* punctuation at the end of a sentence */
        while (path->n && memchr(".,;:!?)", path->p[path->n - 1], 7))
            buf_truncate(path, path->n - 1);
    return ends_as_image(buf_str(path));
}

/* Files --------------------------------------------------------------------------------------- */

/* Returns false without an error if there is no such file: then it is an ordinary word. */
static bool read_image(const char *path, json_t **ret_block, size_t *ret_bytes, struct err *err)
{
    AUTO_BUF struct buf bytes = BUF_INIT(4 * IMAGE_MAX);
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
        return false;
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(err, E_IO, errno, "cannot open the file");
    if (!S_ISREG(st.st_mode))
        return err_set(err, E_IO, "not a regular file");
    if (st.st_size > IMAGE_MAX)
        return err_set(err, E_IO, "larger than %d MiB", IMAGE_MAX >> 20);
    if (!file_read(fd, IMAGE_MAX, path, &bytes, err) ||
        !block_image(buf_str(&bytes), path, ret_block, err))
        return false;
    *ret_bytes = bytes.n;
    return true;
}

static void chat_image_print_note(
    struct chat *chat, const char *path, const json_t *block, size_t bytes, const struct err *err)
{
    AUTO_BUF struct buf note = BUF_INIT(NOTE_MAX);
    if (block)
        buf_printf(&note, "attached: %s, %zu kB, %s", path, (bytes + 999) / 1000,
            json_string_value(json_object_get(block, "mime_type")));
    else
        buf_printf(&note, "not attached: %s: %s", path, err->message);
    if (buf_ok(&note))
        chat_note(chat, buf_z(&note));
}

struct attached {
    struct buf paths; /* NUL-terminated */
    size_t n, bytes;
};

static bool chat_image_is_attached(const struct attached *a, const char *path)
{
    for (size_t i = 0; i < a->paths.n; i += strlen(a->paths.p + i) + 1)
        if (strcmp(a->paths.p + i, path) == 0)
            return true;
    return false;
}

static void chat_image_attach(
    struct chat *chat, const char *path, struct attached *a, json_t *content)
{
    AUTO_ERR struct err err = {0};
    json_t *block = NULL;
    size_t bytes = 0;
    if (chat_image_is_attached(a, path))
        return;
    buf_add(&a->paths, path, strlen(path) + 1);
    if (!read_image(path, &block, &bytes, &err)) {
        if (err.code)
            chat_image_print_note(chat, path, NULL, 0, &err);
        return;
    }
    if (a->n == IMAGES_MAX || a->bytes + bytes > IMAGES_BYTES) {
        json_decref(block);
        err_set(&err, E_IO, "a message can have at most %d images of %d MiB in total", IMAGES_MAX,
            IMAGES_BYTES >> 20);
        chat_image_print_note(chat, path, NULL, 0, &err);
        return;
    }
    a->n++;
    a->bytes += bytes;
    chat_image_print_note(chat, path, block, bytes, NULL);
    json_push(content, block);
}

void chat_image_add(struct chat *chat, struct str text, json_t *message)
{
    AUTO_BUF struct buf word = BUF_INIT(2 * EDITOR_MAX), path = BUF_INIT(2 * EDITOR_MAX);
    struct attached a = {.paths = BUF_INIT(2 * EDITOR_MAX)};
    json_t *content = json_object_get(message, "content");
    while (text.n) {
        struct str rest = chat_image_read_word(text, &word);
        /* Piped input may contain untrusted text: only @ attaches a file there. */
        if (word.n && chat_image_parse_path(chat, buf_str(&word), chat->console.lines, &path) &&
            path.n < PATH_MAX)
            chat_image_attach(chat, buf_z(&path), &a, content);
        text = rest.n == text.n ? str_skip(text, 1) : rest;
    }
    buf_done(&a.paths);
}
