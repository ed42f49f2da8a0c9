/* meta.json: the parameters a box was created with. Written once, by the host, where the box can't
 * reach it.
 *
 *     if (!meta_save(box_fd, &meta, err)) return false;
 *     if (!meta_load(box_fd, STR("fix-login"), &arena, &meta, err)) return false;
 *
 * The file is replaced atomically and readable only by its owner. A key that is not in the table is
 * an error: the file was written by a newer version or modified by something else.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOX_META_H
#define BOX_META_H

#include "base/field.h"

enum box_mode {
    BOX_COPY,
    BOX_OVERLAY,
    BOX_RW,
};

enum box_network {
    BOX_NETWORK_DEFAULT, /* as in the agent's row */
    BOX_NETWORK_NONE,
    BOX_NETWORK_ON,
    BOX_NETWORK_ALLOW, /* an allowlist of hosts */
};

struct box_workdir {
    struct str host_path;  /* absolute, resolved */
    struct str mount_path; /* path inside the box: the same */
    enum box_mode mode;
    struct str baseline_sha; /* HEAD at creation time; no value without git */
    struct str_map inexact;  /* paths that are not UTF-8, see path/exact.h; set by meta_save() */
};

struct box_meta {
    struct str cordon_version;
    struct str name;
    struct str created_at; /* RFC 3339 */
    struct str agent;
    struct str model; /* as requested, aliases resolved; no value: the agent's default */
    struct box_workdir workdir;
    bool has_prompt;
    enum box_network network_mode;
    bool has_network_mode;
    struct str_list ports; /* "3000:3000" */
};

extern const struct shape box_meta_shape;

MUST_USE bool meta_save(int box_fd, const struct box_meta *meta, struct err *err);

/* E_CONFIG if the file is invalid or has another box's name. All pointers refer to the arena. */
MUST_USE bool meta_load(
    int box_fd, struct str name, struct arena *arena, struct box_meta *ret_meta, struct err *err);

/* "80:8080": two numbers from 1 to 65535. */
bool meta_port_valid(struct str port);

const char *box_mode_name(enum box_mode mode); /* "copy" */

#endif
