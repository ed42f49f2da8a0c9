/* libcordon: the path boundary and the sandbox of cordon(1) as a library.
 *
 *     struct cordon_error error = {0};
 *     struct cordon_boundary *b = cordon_boundary_new();
 *     if (cordon_boundary_add(b, "/project", CORDON_READ_WRITE, &error) < 0 ||
 *         (fd = cordon_boundary_open(b, "src/main.c", O_RDONLY, &error)) < 0)
 *         fprintf(stderr, "%s (%s)\n", error.message, error.code);
 *     cordon_error_clear(&error);
 *
 * A call that can fail gives -1 (or NULL) and fills in the error; on success the error is
 * untouched, on failure the outputs are. What is handed out as char * is for free(). Messages
 * may hold bytes that a stranger chose: make them printable before a terminal sees them. The
 * library never prints, never exits and keeps no state between calls; a boundary belongs to one
 * thread at a time.
 */
#ifndef CORDON_H
#define CORDON_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CORDON_API __attribute__((visibility("default")))

struct cordon_error {
    const char *code; /* "E_FS_VIOLATION"; NULL: no error */
    int exit_status;  /* what cordon(1) exits with for it */
    char *message;
    char *json; /* {"code","message","context"} */
};

/* Frees what an error holds; it can be used again. */
CORDON_API void cordon_error_clear(struct cordon_error *error);

/* "0.1.0" */
CORDON_API const char *cordon_version(void);

/* Caret encoding, version 1: any bytes as one file name (NUL-terminated), and back. Decoding
 * refuses NUL, so the result is a string, too. */
CORDON_API char *cordon_path_encode(const void *bytes, size_t n);
CORDON_API char *cordon_path_decode(const char *encoded, struct cordon_error *error);

/* The project's root, from a directory upward. */
CORDON_API char *cordon_project_root(const char *start, struct cordon_error *error);

/* A boundary: a set of directories, and paths that must stay inside them. */
struct cordon_boundary;

enum cordon_access {
    CORDON_READ_ONLY = 1,
    CORDON_READ_WRITE = 2,
};

CORDON_API struct cordon_boundary *cordon_boundary_new(void);
CORDON_API void cordon_boundary_free(struct cordon_boundary *b);

/* Adds a directory; the longest one that holds a path decides, the first of equals. Relative paths
 * start in the first. */
CORDON_API int cordon_boundary_add(struct cordon_boundary *b, const char *dir,
    enum cordon_access access, struct cordon_error *error);

/* Where a path leads, links followed; also one that is not there yet. Leaving is E_FS_VIOLATION. */
CORDON_API char *cordon_boundary_resolve(
    struct cordon_boundary *b, const char *path, struct cordon_error *error);

/* Opens what is there (flags as for open(2), without O_CREAT and O_TMPFILE): a descriptor,
 * close-on-exec. A FIFO waits for its other end unless O_NONBLOCK is given. */
CORDON_API int cordon_boundary_open(
    struct cordon_boundary *b, const char *path, int flags, struct cordon_error *error);

/* Calls found() for each file below root that matches, sorted by bytes, without what ignore files
 * leave out; found() returns 0 to stop. */
CORDON_API int cordon_glob(const char *root, const char *pattern,
    int (*found)(void *context, const char *path, size_t n), void *context,
    struct cordon_error *error);

/* Runs a command under a policy (JSON or YAML text; cordon-policy(1)) in a sandbox of the kernel's,
 * without input, and waits for its end. Gives the RunResult as JSON: how it ended, what it printed,
 * what enforced the policy. A command that fails or exceeds a budget is a result, too; an error is
 * a policy that denies it, or a machine that can't enforce it. The sandbox ends with the thread
 * that called. */
struct cordon_command {
    const char *policy;
    const char *const *argv; /* argv[0] is an absolute path; ends in NULL */
    const char *cwd;         /* NULL: the policy's working_dir */
    int pty;                 /* on a terminal of its own; otherwise pipes */
};

CORDON_API char *cordon_exec(const struct cordon_command *command, struct cordon_error *error);

#ifdef __cplusplus
}
#endif

#endif
