/* Reports on scenarios for other programs: TAP and JUnit XML. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "run/suite.h"

enum {
    TEXT_MAX = 16 << 20, /* maximum length of a text */
};

static const char *report_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* TAP ----------------------------------------------------------------------------------------- */

/* Escapes '#', which starts a directive, and the escape character itself. */
static void add_description(struct buf *b, const char *text)
{
    AUTO_BUF struct buf safe = BUF_INIT(1 << 16);
    utf8_add_printable(&safe, str_z(text));
    for (size_t i = 0; i < safe.n; i++) {
        if (strchr("#\\", safe.p[i]))
            buf_add_byte(b, '\\');
        buf_add_byte(b, safe.p[i]);
    }
}

static void add_diagnosis(struct buf *b, const struct suite_entry *e)
{
    const json_t *error = json_object_get(e->result, "error");
    const json_t *context = json_object_get(error, "context");
    buf_add_z(b, "  ---\n  message: ");
    json_add_text(b, str_z(error ? report_text(error, "message") : "not run"));
    buf_printf(b, "\n  code: %s\n", error ? report_text(error, "code") : "E_CANCELED");
    if (report_text(context, "step_id")[0]) {
        buf_add_z(b, "  step: ");
        json_add_text(b, str_z(report_text(context, "step_id")));
        buf_add_byte(b, '\n');
    }
    if (report_text(context, "screen")[0]) {
        buf_add_z(b, "  screen: ");
        json_add_text(b, str_z(report_text(context, "screen")));
        buf_add_byte(b, '\n');
    }
    buf_add_z(b, "  ...\n");
}

void suite_add_tap(const struct suite *s, struct buf *out)
{
    buf_printf(out, "TAP version 14\n1..%zu\n", s->n);
    for (size_t i = 0; i < s->n; i++) {
        const struct suite_entry *e = &s->entries[i];
        bool passed = strcmp(e->status, "passed") == 0;
        buf_printf(out, "%sok %zu - ", passed ? "" : "not ", i + 1);
        add_description(out, e->name);
        buf_printf(out, " # time=%llums\n", (unsigned long long)e->ms);
        if (!passed)
            add_diagnosis(out, e);
    }
}

/* JUnit --------------------------------------------------------------------------------------- */

/* U+FFFE and U+FFFF, in UTF-8. */
static bool is_no_char(struct str text)
{
    return text.n >= 3 && memcmp(text.p, "\xef\xbf", 2) == 0 && (unsigned char)text.p[2] >= 0xBE;
}

/* XML cannot represent most control characters, U+FFFE, U+FFFF and invalid UTF-8: they become
 * U+FFFD. */
static void add_xml(struct buf *b, const char *given)
{
    AUTO_BUF struct buf text = BUF_INIT(TEXT_MAX);
    utf8_add_lossy(&text, str_head(str_z(given), TEXT_MAX / 3));
    for (struct str rest = buf_str(&text); rest.n; rest = str_skip(rest, 1)) {
        if (is_no_char(rest)) {
            buf_add_z(b, "\xef\xbf\xbd");
            rest = str_skip(rest, 2);
            continue;
        }
        switch (rest.p[0]) {
        case '&':
            buf_add_z(b, "&amp;");
            break;
        case '<':
            buf_add_z(b, "&lt;");
            break;
        case '>':
            buf_add_z(b, "&gt;");
            break;
        case '"':
            buf_add_z(b, "&quot;");
            break;
        case '\n':
            buf_add_z(b, "&#10;");
            break;
        default:
            if ((unsigned char)rest.p[0] < 0x20 || rest.p[0] == 0x7F)
                buf_add_z(b, "\xef\xbf\xbd");
            else
                buf_add_byte(b, rest.p[0]);
        }
    }
}

static void add_seconds(struct buf *b, long long ms)
{
    buf_printf(b, " time=\"%lld.%03lld\"", ms / 1000, ms % 1000);
}

static void add_failure(struct buf *b, const char *element, const json_t *error)
{
    buf_printf(b, "      <%s type=\"%s\" message=\"", element, report_text(error, "code"));
    add_xml(b, report_text(error, "message"));
    buf_add_z(b, "\">");
    add_xml(b, report_text(json_object_get(error, "context"), "screen"));
    buf_printf(b, "</%s>\n", element);
}

static void report_add_case(struct buf *b, const char *suite, const json_t *step)
{
    const char *status = report_text(step, "status");
    const json_t *error = json_object_get(step, "error");
    buf_add_z(b, "    <testcase classname=\"");
    add_xml(b, suite);
    buf_add_z(b, "\" name=\"");
    add_xml(b, report_text(step, "name"));
    buf_add_byte(b, '"');
    add_seconds(b, json_integer_value(json_object_get(step, "ended_at_ms")) -
                       json_integer_value(json_object_get(step, "started_at_ms")));
    if (strcmp(status, "passed") == 0) {
        buf_add_z(b, "/>\n");
        return;
    }
    buf_add_z(b, ">\n");
    if (strcmp(status, "skipped") == 0)
        buf_add_z(b, "      <skipped/>\n");
    else
        add_failure(b, strcmp(status, "failed") == 0 ? "failure" : "error", error);
    buf_add_z(b, "    </testcase>\n");
}

struct report_counts {
    size_t tests, failures, errors, skipped;
};

static struct report_counts count_steps(const struct suite_entry *e)
{
    const json_t *steps = json_object_get(e->result, "steps");
    struct report_counts c = {.tests = json_array_size(steps)};
    for (size_t i = 0; i < c.tests; i++) {
        const char *status = report_text(json_array_get(steps, i), "status");
        c.failures += strcmp(status, "failed") == 0;
        c.errors += strcmp(status, "errored") == 0;
        c.skipped += strcmp(status, "skipped") == 0;
    }
    return c;
}

/* An error outside all steps, such as a failure to start, becomes a separate test case. */
static bool has_own_error(const struct suite_entry *e, const struct report_counts *c)
{
    return strcmp(e->status, "passed") != 0 && c->failures + c->errors == 0;
}

static void add_suite(struct buf *b, const struct suite_entry *e)
{
    struct report_counts c = count_steps(e);
    const json_t *steps = json_object_get(e->result, "steps");
    bool own = has_own_error(e, &c);
    buf_add_z(b, "  <testsuite name=\"");
    add_xml(b, e->name);
    buf_add_z(b, "\" file=\"");
    add_xml(b, e->file);
    buf_printf(b, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", c.tests + own,
        c.failures, c.errors + own, c.skipped);
    add_seconds(b, (long long)e->ms);
    buf_add_z(b, ">\n");
    for (size_t i = 0; i < c.tests; i++)
        report_add_case(b, e->name, json_array_get(steps, i));
    if (own) {
        buf_add_z(b, "    <testcase classname=\"");
        add_xml(b, e->name);
        buf_add_z(b, "\" name=\"scenario\" time=\"0.000\">\n");
        add_failure(b, "error", json_object_get(e->result, "error"));
        buf_add_z(b, "    </testcase>\n");
    }
    buf_add_z(b, "  </testsuite>\n");
}

void suite_add_junit(const struct suite *s, struct buf *out)
{
    struct report_counts sum = {0};
    long long ms = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct report_counts c = count_steps(&s->entries[i]);
        bool own = has_own_error(&s->entries[i], &c);
        sum.tests += c.tests + own;
        sum.failures += c.failures;
        sum.errors += c.errors + own;
        sum.skipped += c.skipped;
        ms += (long long)s->entries[i].ms;
    }
    buf_add_z(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cordon\"");
    buf_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", sum.tests,
        sum.failures, sum.errors, sum.skipped);
    add_seconds(out, ms);
    buf_add_z(out, ">\n");
    for (size_t i = 0; i < s->n; i++)
        add_suite(out, &s->entries[i]);
    buf_add_z(out, "</testsuites>\n");
}
