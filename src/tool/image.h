/* A file while hunks are applied to it: a gap buffer of pieces, old lines and new ones, whose gap
 * moves to the place of the next hunk. Hunks in file order need no extra moves.
 *
 *     struct image im;
 *     image_init(&im, &lines);
 *     image_apply(&im, &hunk)           IMAGE_FITS, or the reason why not
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
    IMAGE_DIFFERS,   /* the hunk's lines are not there */
    IMAGE_OVERLAPS,  /* an earlier hunk replaced some of its lines */
    IMAGE_NOT_FIRST, /* it must be at the start */
    IMAGE_NOT_LAST,  /* it has no trailing context, and so must be at the end */
    IMAGE_TOO_FAR,   /* the file has fewer lines */
    IMAGE_TOO_MUCH,  /* hunks far out of order: too expensive */
};

struct image_piece {
    bool is_new;
    size_t first, n; /* old lines */
    struct str body; /* of the hunk whose new side this is */
};

struct image {
    const struct lines *lines;
    struct image_piece *left, *right; /* before and after the gap; right is in reverse order */
    size_t n_left, n_right, cap_left, cap_right;
    size_t at;    /* lines before the gap */
    size_t total; /* lines */
    uint64_t work;
};

void image_init(struct image *im, const struct lines *lines);
void image_done(struct image *im);

/* Applies a hunk at the line it gives; does not search elsewhere. */
enum image_verdict image_apply(struct image *im, const struct unified_hunk *h);

void image_write(const struct image *im, struct buf *out);

#endif
