/* Prompt of a user. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prompt.h"

#include "io/file.h"
#include "llm/message.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Do not wait for a terminal, or for standard input that is closed or write-only. */
static bool prompt_has_input(void)
{
    int flags = fcntl(STDIN_FILENO, F_GETFL);
    return !isatty(STDIN_FILENO) && flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

static bool prompt_read_stdin(struct buf *text, struct err *err)
{
    return !prompt_has_input() || file_read(STDIN_FILENO, PROMPT_MAX, "standard input", text, err);
}

/* With `regular`, anything else is refused: a FIFO would block until another process opens it, and
 * only the command line can be interrupted then. */
static bool prompt_read_file(
    const char *path, bool regular, size_t max, struct buf *bytes, struct err *err)
{
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular ? O_NONBLOCK : 0));
    if (fd < 0)
        return err_errno(err, E_IO, errno, "cannot open '%s'", path);
    if (regular && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, E_IO, "cannot read '%s': it is not a regular file", path);
    return file_read(fd, max, path, bytes, err);
}

static bool prompt_add_images(const struct prompt_options *o, json_t *content, struct err *err)
{
    for (size_t i = 0; i < o->n_images; i++) {
        AUTO_BUF struct buf bytes = BUF_INIT(4 * IMAGE_MAX);
        json_t *block;
        /* Read one byte more, so that block_image() can detect a file that is too large. */
        if (!prompt_read_file(o->images[i], o->regular, IMAGE_MAX + 1, &bytes, err) &&
            bytes.n <= IMAGE_MAX)
            return err_wrap(err, "--image");
        err_done(err);
        if (!block_image(buf_str(&bytes), o->images[i], &block, err))
            return false;
        json_push(content, block);
    }
    return true;
}

/* A user message without images. */
static bool prompt_start(struct str text, json_t **ret_message, struct err *err)
{
    if (str_is_blank(text))
        return err_set(err, E_CLI_INVALID_ARG, "the prompt is empty");
    if (text.n > PROMPT_MAX)
        return err_set(err, E_CLI_INVALID_ARG, "the prompt is larger than %d bytes", PROMPT_MAX);
    *ret_message = message_user(text);
    return true;
}

bool prompt_make(
    struct str text, const struct prompt_options *o, json_t **ret_message, struct err *err)
{
    AUTO_JSON json_t *message = NULL;
    if (!prompt_start(text, &message, err) ||
        !prompt_add_images(o, json_object_get(message, "content"), err))
        return false;
    *ret_message = json_take(&message);
    return true;
}

bool prompt_read(const struct prompt_options *o, json_t **ret_message, struct err *err)
{
    AUTO_BUF struct buf input = BUF_INIT(2 * PROMPT_MAX);
    bool from_input = !o->text || strcmp(o->text, "-") == 0;
    if (from_input && !prompt_has_input())
        return err_set(err, E_CLI_INVALID_ARG, "no prompt: use -p TEXT, or standard input");
    if (!prompt_read_stdin(&input, err))
        return false;
    AUTO_JSON json_t *message = NULL;
    if (!prompt_start(from_input ? buf_str(&input) : str_z(o->text), &message, err))
        return false;
    json_t *content = json_object_get(message, "content");
    if (!from_input && !str_is_blank(buf_str(&input)))
        json_push(content, block_text(buf_str(&input)));
    if (!prompt_add_images(o, content, err))
        return false;
    *ret_message = json_take(&message);
    return true;
}

bool prompt_read_system(
    const char *word, bool regular, struct buf *text, struct str *ret_text, struct err *err)
{
    if (!word) {
        *ret_text = (struct str){0};
        return true;
    }
    if (word[0] == '@' && !prompt_read_file(word + 1, regular, PROMPT_MAX, text, err))
        return err_wrap(err, "--system");
    if (word[0] != '@')
        buf_add_z(text, word);
    *ret_text = buf_str(text);
    return true;
}
