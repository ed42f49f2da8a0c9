/* A file while hunks are applied to it: a row of pieces, old lines and new ones, with a gap that
 * moves to where the next hunk is. Hunks in the file's order cost nothing but themselves.
 *
 *     struct image im;
 *     image_init(&im, &lines);
 *     image_apply(&im, &hunk, &why)       IMAGE_FITS, or why not
 *     image_write(&im, &out);
 *     image_done(&im);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOL_IMAGE_H
#define TOOL_IMAGE_H

#include "tool/lines.h"
#include "tool/unified.h"

enum image_verdict {
    IMAGE_FITS,
    IMAGE_DIFFERS,   /* its lines are not there */
    IMAGE_OVERLAPS,  /* a hunk before it took some of its lines */
    IMAGE_NOT_FIRST, /* it must stand at the beginning */
    IMAGE_NOT_LAST,  /* it has no context behind it, and so must stand at the end */
    IMAGE_TOO_FAR,   /* the file has fewer lines */
    IMAGE_TOO_MUCH,  /* hunks in wild order: not worth the time */
};

struct image_piece {
    bool is_new;
    size_t first, n; /* old lines */
    struct str body; /* of the hunk whose new side this is */
};

struct image {
    const struct lines *lines;
    struct image_piece *left, *right; /* before and behind the gap; right is in reverse */
    size_t n_left, n_right, cap_left, cap_right;
    size_t at;    /* lines before the gap */
    size_t total; /* lines */
    uint64_t work;
};

void image_init(struct image *im, const struct lines *lines);
void image_done(struct image *im);

/* Where it says it goes, or not at all. */
enum image_verdict image_apply(struct image *im, const struct unified_hunk *h);

/* The old line, from 0, that now stands at a line; SIZE_MAX: it is a new one or there is none. */
size_t image_old_line(struct image *im, size_t line);

void image_write(const struct image *im, struct buf *out);

#endif
