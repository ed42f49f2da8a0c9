/* HTTP and SOCKS5 error replies. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/proxy_answer.h"

static const struct {
    unsigned status;
    const char *reason;
} reasons[] = {
    {400, "Bad Request"},
    {403, "Refused by cordon"},
    {431, "Request Header Fields Too Large"},
    {502, "Bad Gateway"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

void answer_http(struct buf *out, unsigned status, struct str text)
{
    const char *reason = "Error";
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            reason = reasons[i].reason;
    buf_printf(out,
        "HTTP/1.1 %u %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n"
        "Connection: close\r\n\r\n",
        status, reason, text.n);
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        bool shows = (c >= 0x20 && c != 0x7f) || c == '\n';
        buf_add_byte(out, shows ? (char)c : '?');
    }
}

void answer_socks(struct buf *out, uint8_t code)
{
    const uint8_t answer[] = {5, code, 0, 1, 0, 0, 0, 0, 0, 0};
    buf_add(out, answer, sizeof(answer));
}

void answer_refusal(
    struct buf *text, struct str host, uint16_t port, const char *why, const char *entry)
{
    buf_add_z(text, "cordon: not allowed to reach ");
    for (size_t i = 0; i < MIN(host.n, 255); i++) {
        unsigned char c = (unsigned char)host.p[i];
        buf_add_byte(text, c > 0x20 && c < 0x7f ? (char)c : '?');
    }
    buf_printf(text, ":%u: %s\n", port, why);
    if (*entry)
        buf_printf(text, "To allow it, start the box or the command with --allow-host %s\n", entry);
}
