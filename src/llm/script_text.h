/* The embedded script, as JSON: default_script.json, included at build time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_SCRIPT_TEXT_H
#define LLM_SCRIPT_TEXT_H

extern const char script_default_text[];

#endif
