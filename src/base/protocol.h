/* Version of the JSON that cordon prints and serves: "protocol_version" of results, events and
 * tool calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PROTOCOL_H
#define BASE_PROTOCOL_H

enum {
    PROTOCOL_VERSION = 1,
};

#endif
