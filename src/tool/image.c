/* Applies hunks to a file's lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/grow.h"
#include "tool/image.h"

#define WORK_MAX (UINT64_C(1) << 30)

static void image_push_piece(
    struct image_piece **p, size_t *n, size_t *cap, const struct image_piece *piece)
{
    if (piece->n == 0)
        return;
    GROW(*p, *n, *cap, GROW_MAX);
    (*p)[(*n)++] = *piece;
}

static void push_left(struct image *im, const struct image_piece *piece)
{
    image_push_piece(&im->left, &im->n_left, &im->cap_left, piece);
    im->at += piece->n;
}

static void push_right(struct image *im, const struct image_piece *piece)
{
    image_push_piece(&im->right, &im->n_right, &im->cap_right, piece);
}

void image_init(struct image *im, const struct lines *lines)
{
    struct image_piece all = {.n = lines->n};
    *im = (struct image){.lines = lines, .total = lines->n};
    push_right(im, &all);
}

void image_done(struct image *im)
{
    free(im->left);
    free(im->right);
    *im = (struct image){0};
}

/* Moves the gap to a line. Returns false within new lines, where no hunk can start. */
static bool move_gap(struct image *im, size_t line)
{
    while (im->at < line) {
        struct image_piece piece = im->right[--im->n_right], rest = piece;
        size_t take = MIN(piece.n, line - im->at);
        im->work++;
        if (take < piece.n && piece.is_new) {
            im->n_right++;
            return false;
        }
        piece.n = take;
        rest.first += take;
        rest.n -= take;
        push_right(im, &rest);
        push_left(im, &piece);
    }
    while (im->at > line) {
        struct image_piece piece = im->left[--im->n_left], rest = piece;
        size_t take = MIN(piece.n, im->at - line);
        im->work++;
        if (take < piece.n && piece.is_new) {
            im->n_left++;
            return false;
        }
        rest.first += piece.n - take;
        rest.n = take;
        piece.n -= take;
        im->at -= piece.n + take;
        push_right(im, &rest);
        push_left(im, &piece);
    }
    return true;
}

/* Counts the lines of one side of a hunk. */
static size_t count_side(struct str body, char without)
{
    struct unified_line line;
    size_t n = 0;
    while (unified_next(&body, &line))
        n += line.sign != without;
    return n;
}

/* A hunk's last context line without a line break matches a line that has one: git compares only
 * the bytes of the hunk and ignores trailing blanks. */
static bool fits_openly(struct str line, struct str wanted)
{
    if (!str_starts_with(line, wanted) || str_ends_with(wanted, STR("\n")))
        return false;
    for (size_t i = wanted.n; i < line.n; i++)
        if (!strchr(" \t\r\n", line.p[i]) || !line.p[i])
            return false;
    return true;
}

/* Compares the hunk's old side with the lines after the gap. */
static enum image_verdict image_compare(
    const struct image *im, struct str body, size_t n, bool at_end)
{
    struct unified_line line;
    size_t piece = im->n_right, i = 0;
    while (unified_next(&body, &line)) {
        if (line.sign == '+')
            continue;
        while (piece > 0 && i == im->right[piece - 1].n) {
            piece--;
            i = 0;
        }
        if (piece == 0)
            return IMAGE_TOO_FAR;
        const struct image_piece *at = &im->right[piece - 1];
        if (at->is_new)
            return IMAGE_OVERLAPS;
        struct str there = lines_whole(im->lines, at->first + i);
        bool open = --n == 0 && !at_end && fits_openly(there, line.bytes);
        if (!open && !str_eq(there, line.bytes))
            return IMAGE_DIFFERS;
        i++;
    }
    return IMAGE_FITS;
}

static void take_off(struct image *im, size_t n)
{
    while (n > 0) {
        struct image_piece *piece = &im->right[im->n_right - 1];
        size_t take = MIN(n, piece->n);
        piece->first += take;
        piece->n -= take;
        n -= take;
        if (piece->n == 0)
            im->n_right--;
    }
}

enum image_verdict image_apply(struct image *im, const struct unified_hunk *h)
{
    size_t old_n = count_side(h->body, '+'), new_n = count_side(h->body, '-');
    uint64_t at = h->new_at ? h->new_at - 1 : 0;
    bool first = h->old_at <= 1, last = h->trailing == 0;
    if (first && at != 0)
        return IMAGE_NOT_FIRST;
    if (at > im->total || old_n > im->total - at)
        return IMAGE_TOO_FAR;
    if (last && at + old_n != im->total)
        return IMAGE_NOT_LAST;
    if (im->work > WORK_MAX)
        return IMAGE_TOO_MUCH;
    if (!move_gap(im, (size_t)at))
        return IMAGE_OVERLAPS;
    enum image_verdict verdict = image_compare(im, h->body, old_n, last);
    if (verdict != IMAGE_FITS)
        return verdict;
    take_off(im, old_n);
    struct image_piece piece = {.is_new = true, .n = new_n, .body = h->body};
    push_left(im, &piece);
    im->total += new_n - old_n;
    return IMAGE_FITS;
}

static void write_piece(const struct image *im, const struct image_piece *piece, struct buf *out)
{
    struct unified_line line;
    struct str body = piece->body;
    if (!piece->is_new) {
        buf_add_str(out, lines_range(im->lines, piece->first, piece->first + piece->n));
        return;
    }
    while (unified_next(&body, &line))
        if (line.sign != '-')
            buf_add_str(out, line.bytes);
}

void image_write(const struct image *im, struct buf *out)
{
    for (size_t i = 0; i < im->n_left; i++)
        write_piece(im, &im->left[i], out);
    for (size_t i = im->n_right; i-- > 0;)
        write_piece(im, &im->right[i], out);
}
