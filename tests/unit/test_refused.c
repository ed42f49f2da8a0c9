/* The proxy's report of refused hosts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "job/refused.h"
#include "test.h"

#define LINE(host, port, why) \
    "{\"time\":\"t\",\"host\":\"" host "\",\"port\":" port ",\"why\":\"" why "\"}\n"
#define LISTED "it is not in the list of hosts"

static const struct {
    const char *name, *report, *target, *fix;
    size_t n;
    uint64_t count;
} reports[] = {
    {"nothing", "", NULL, NULL, 0, 0},
    {"https", LINE("a.example", "443", LISTED), "a.example", "--allow-host a.example", 1, 1},
    {"another port", LINE("a.example", "8443", LISTED), "a.example", "--allow-host a.example:8443",
        1, 1},
    {"the same twice", LINE("a.example", "80", LISTED) LINE("a.example", "80", LISTED), "a.example",
        "--allow-host a.example", 1, 2},
    {"another reason", LINE("a.example", "80", "it is not public"), "a.example", NULL, 1, 1},
    {"no host", LINE("", "0", LISTED), "", NULL, 1, 1},
    {"lines that are not JSON", "x\n{\n\n" LINE("a.example", "80", LISTED) "{\"host\"", "a.example",
        "--allow-host a.example", 1, 1},
    {"members of other types", "{\"host\":1,\"port\":\"x\",\"why\":[]}\n", "", NULL, 1, 1},
};

TEST(refused_reports)
{
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        AUTO_ARENA struct arena a = ARENA_INIT(1 << 20);
        struct refused_hosts list;
        test_row(i, reports[i].name);
        refused_list(str_z(reports[i].report), &a, &list);
        CHECK_INT(list.n, reports[i].n);
        if (!list.n)
            continue;
        CHECK_STR(list.p[0].host, str_z(reports[i].target));
        CHECK_INT(list.p[0].count, reports[i].count);
        CHECK((list.p[0].fix == NULL) == (reports[i].fix == NULL));
        if (reports[i].fix)
            CHECK_STR(str_z(list.p[0].fix), str_z(reports[i].fix));
    }
}

TEST(refused_is_bounded)
{
    AUTO_ARENA struct arena a = ARENA_INIT(8 << 20);
    AUTO_BUF struct buf report = BUF_INIT(8 << 20);
    struct refused_hosts list;
    for (int i = 0; i < 2 * REFUSED_HOSTS_MAX; i++)
        buf_printf(&report, LINE("h%d.example", "80", LISTED), i);
    refused_list(buf_str(&report), &a, &list);
    CHECK_INT(list.n, REFUSED_HOSTS_MAX);
    AUTO_JSON json_t *result = json_object();
    refused_add_json(&list, result);
    CHECK_INT(json_array_size(json_object_get(result, "denied")), REFUSED_HOSTS_MAX);
}
