/* What the program prints, in one place: results on stdout, words for people on stderr.
 *
 *     out_line(cli, "%s", name);                      text that we wrote
 *     out_name(cli, path, '\n');                      bytes that a stranger chose
 *     return out_json(cli, JSON_OBJECT, err);         one line, with protocol_version
 *
 * Results are collected and written at the end by out_flush(), so that a write error becomes E_IO
 * instead of being lost. Nothing that a stranger chose reaches a terminal unescaped.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "io/patience.h"

enum {
    OUT_PROTOCOL_VERSION = 1,
};

struct cli {
    struct arena *arena; /* for as long as the command runs */
    struct buf stdout_buf;
    bool json;
    bool color;              /* stdout */
    bool color_err;          /* stderr */
    bool to_terminal;        /* stdout */
    const char *color_asked; /* of --color; NULL: it was not given */
    int status;              /* exit status of a command that succeeded; 0 unless it sets another */
    struct patience patience; /* how long words on stderr may wait for a reader */
};

void out_init(struct cli *cli, struct arena *a, bool json, const char *color);
void out_done(struct cli *cli);

void out_line(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
void out_text(struct cli *cli, struct str text);

/* A name and its end: as it is into a pipe or file, made printable on a terminal. */
void out_name(struct cli *cli, struct str name, char end);

/* Prints an object as one line, protocol_version first; takes it over. */
MUST_USE bool out_json(struct cli *cli, json_t *object, struct err *err);

/* With --json: makes one object {KEY: text} of the text that was collected. */
MUST_USE bool out_wrap(struct cli *cli, const char *key, struct err *err);

/* Writes out what was collected. */
MUST_USE bool out_flush(struct cli *cli, struct err *err);

/* Prints an error: words on stderr, and the JSON object on stdout if asked for. Gives the exit
 * status. */
int out_error(struct cli *cli, const struct err *err);

/* The same for a failure of which more can be said: the object's members stand beside the error.
 * Takes it over; the command's status is the error's, and the command has succeeded in saying so.
 */
MUST_USE bool out_fail(struct cli *cli, const struct err *failed, json_t *more, struct err *err);

/* Only the words on stderr, for a command whose result says the rest. */
void out_say_error(struct cli *cli, const struct err *err);

/* A path for a line that people read: of a long one the start and the end. */
struct str out_path(struct cli *cli, struct str path);

/* A word of warning on stderr. */
void out_warn(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* A line on stderr without a name in front: progress, a screen. */
void out_note(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* The same without the line's end: a question. */
void out_ask(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* Text between the codes of a style, if colours are on. */
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
