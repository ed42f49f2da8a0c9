/* Shell completions, generated from the command tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/cmd.h"
#include "cli/out.h"

void complete_bash(struct buf *b);
void complete_zsh(struct buf *b);
void complete_fish(struct buf *b);

#endif
