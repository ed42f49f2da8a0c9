/* The embedded script, as JSON: default_script.json, put into the program when it is built. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LLM_SCRIPT_TEXT_H
#define LLM_SCRIPT_TEXT_H

extern const char script_default_text[];

#endif
