/* Output of the program: results on stdout, messages on stderr.
 *
 *     out_line(cli, "%s", name);                      trusted text
 *     out_name(cli, path, '\n');                      untrusted bytes
 *     return out_json(cli, JSON_OBJECT, err);         one line, with protocol_version
 *
 * Results are buffered and written at the end by out_flush(), so that a write error becomes E_IO
 * instead of being lost. Untrusted text never reaches a terminal unescaped.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/notice.h"
#include "io/timed_write.h"

struct cli {
    struct arena *arena; /* valid while the command runs */
    struct buf stdout_buf;
    bool json;
    bool color;       /* on stdout */
    bool color_err;   /* on stderr */
    bool to_terminal; /* stdout is a terminal */
    bool verbose;
    const char *color_asked;        /* value of --color; NULL: not given */
    int status;                     /* exit status of a command that succeeds; 0 by default */
    struct write_deadline deadline; /* write timeout for stderr */
};

void out_init(struct cli *cli, struct arena *a, bool json, const char *color);
void out_done(struct cli *cli);

void out_line(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
void out_text(struct cli *cli, struct str text);

/* Prints a name and its terminator: unchanged to a pipe or file, made printable on a terminal. */
void out_name(struct cli *cli, struct str name, char end);

/* Prints an object as one line, protocol_version first. Takes ownership of it. */
MUST_USE bool out_json(struct cli *cli, json_t *object, struct err *err);

/* With --json: replaces the buffered text with one object {KEY: text}. */
MUST_USE bool out_wrap(struct cli *cli, const char *key, struct err *err);

/* Writes the buffered output. */
MUST_USE bool out_flush(struct cli *cli, struct err *err);

/* Prints an error: a message on stderr and, with --json, an object on stdout. Returns the exit
 * status. */
int out_error(struct cli *cli, const struct err *err);

/* The same for a failure with more details: the members of `more` are added beside the error. Takes
 * ownership of `more`, sets the command's exit status and, unlike an error, returns true: the
 * command has reported its failure. */
MUST_USE bool out_fail(struct cli *cli, const struct err *failed, json_t *more, struct err *err);

/* Prints only the message on stderr, for a command that reports the rest in its result. */
void out_say_error(struct cli *cli, const struct err *err);

/* Shortens a long path to its start and end, for messages. */
struct str out_path(struct cli *cli, struct str path);

/* Prints a warning on stderr. */
void out_warn(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* Prints the notices of other code as warnings on stderr. */
struct notices out_notices(struct cli *cli);

/* Prints a line on stderr without a prefix, such as progress or a screen. */
void out_note(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* Prints the notices of other code like out_note(). */
struct notices out_notes(struct cli *cli);

/* The same without a line break, for a question. */
void out_ask(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* Prints text in a style, if colors are on. */
enum out_style {
    OUT_BOLD,
    OUT_DIM,
    OUT_RED,
    OUT_GREEN,
    OUT_YELLOW,
    OUT_CYAN,
};
void out_styled(struct cli *cli, enum out_style style, const char *text);

#endif
