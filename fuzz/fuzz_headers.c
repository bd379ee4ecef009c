/*
 * A response as it comes over the wire: a byte that says what the URL is to the crawl, the status in two bytes, and
 * then head and body, parted by the first empty line. The head is read in every way, and the response is harvested.
 */
#include <string.h>

#include "crawler/base/web_url.h"
#include "crawler/harvest/harvest.h"
#include "crawler/http/http.h"
#include "fuzz.h"
#include "vidi/url.h"

enum { LIMIT = 1 << 18 };

static const vidi_str page_url = FUZZ_STR("http://h.org/d/page"), agent = FUZZ_STR("vidi");

/* ---- the head alone ---- */

static bool is_inside(vidi_str part, vidi_str whole)
{
    return part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

static size_t check_fields(vidi_str head)
{
    http_field field;
    size_t n = 0, end = 0;

    for (size_t at = 0; http_next(head, &at, &field); n++) {
        FUZZ_CHECK(at > end && at <= head.len);
        FUZZ_CHECK(is_inside(field.line, head) && is_inside(field.name, field.line));
        FUZZ_CHECK(is_inside(field.value, field.line) && field.name.len > 0);
        FUZZ_CHECK(!memchr(field.name.ptr, '\n', field.name.len) && !memchr(field.name.ptr, ':', field.name.len));
        end = at;
    }
    return n;
}

static bool has_status_line(vidi_str head)
{
    size_t i = 0;

    while (i < head.len && head.ptr[i] == '\r')
        i++;
    return i < head.len && head.ptr[i] != '\n';
}

/* A head made for the archive stays as it is when it is made again, and says the same. */
static void check_archived(vidi_str head)
{
    bytes once = {0}, twice = {0};

    if (!has_status_line(head))
        return;
    FUZZ_CHECK(http_archived_head(head, 12345, &once) == VIDI_OK);
    FUZZ_CHECK(http_archived_head(bytes_str(&once), 12345, &twice) == VIDI_OK);
    FUZZ_CHECK(once.len == twice.len && memcmp(once.ptr, twice.ptr, once.len) == 0);
    FUZZ_CHECK(once.len >= 4 && memcmp(once.ptr + once.len - 4, "\r\n\r\n", 4) == 0);
    FUZZ_CHECK(memmem(once.ptr, once.len, "\r\n\r\n", 4) == once.ptr + once.len - 4);
    FUZZ_CHECK(!http_value(bytes_str(&once), "transfer-encoding").ptr);
    FUZZ_CHECK(http_robots(bytes_str(&once), agent) == http_robots(head, agent));
    bytes_free(&once);
    bytes_free(&twice);
}

static void check_head(vidi_str head)
{
    char type[64];
    vidi_str value = http_value(head, "retry-after");
    int64_t wait = http_retry_after(value, 1700000000000), date = http_date(value);

    check_fields(head);
    check_archived(head);
    FUZZ_CHECK(wait >= -1 && wait <= HTTP_RETRY_MOST && date >= -1);
    size_t n = http_type(http_value(head, "content-type"), type, sizeof type);
    FUZZ_CHECK(n < sizeof type && strlen(type) == n);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(type[i] > ' ' && type[i] < 0x7F && !(type[i] >= 'A' && type[i] <= 'Z'));
}

static void check_unpack(vidi_str head, vidi_str body)
{
    bytes to = {0};
    http_unpacked outcome = http_unpack(head, body, LIMIT, &to);

    FUZZ_CHECK(to.len <= LIMIT && outcome != HTTP_NO_MEMORY);
    FUZZ_CHECK(to.len == 0 || outcome == HTTP_UNPACKED || outcome == HTTP_DAMAGED);
    bytes_free(&to);
}

/* ---- the whole response ---- */

static void check_link(const harvest_rules *rules, const harvest_link *link)
{
    char room[8192];
    size_t len = sizeof room;
    vidi_url parts;
    scope_verdict verdict = scope_check(rules->scope, link->url);

    if (link->kind == FRONTIER_OUTSIDE) /* nofollow links in scope are among them */
        FUZZ_CHECK(verdict == SCOPE_OUT || verdict == SCOPE_IN);
    else if (link->kind == FRONTIER_RESOURCE)
        FUZZ_CHECK(scope_check_resource(rules->scope, link->url) == SCOPE_IN);
    else
        FUZZ_CHECK(verdict == SCOPE_IN);
    FUZZ_CHECK(rules->check || link->kind != FRONTIER_OUTSIDE);
    FUZZ_CHECK(web_url_view(link->url, &parts) && !scope_port_is_bad(web_url_port(&parts)));
    FUZZ_CHECK(!memchr(link->url.ptr, '#', link->url.len));
    FUZZ_CHECK(vidi_url_resolve(page_url, link->url, room, &len) == VIDI_OK);
    FUZZ_CHECK(len == link->url.len && memcmp(room, link->url.ptr, len) == 0);
    FUZZ_CHECK(rules->check || link->text.len == 0);
}

static void check_harvest(const harvest_rules *rules, archive_packer *packer, const frontier_url *url,
                          const fetch_response *response)
{
    harvest got;

    FUZZ_CHECK(harvest_read(&got, rules, packer, url, response) == VIDI_OK);
    FUZZ_CHECK(got.link_count <= got.found + 1 && strlen(got.digest) == 37);
    FUZZ_CHECK((got.records.len > 0) == (rules->store && got.may_store));
    FUZZ_CHECK(got.incomplete == (got.problem[0] != 0));
    for (size_t i = 0; i < got.link_count; i++)
        check_link(rules, &got.links[i]);
    if (url->kind == FRONTIER_OUTSIDE)
        FUZZ_CHECK(!got.may_store && got.found == 0);
    harvest_free(&got);
}

static scope *open_scope(void)
{
    static const char *const patterns[] = {"*/no/*", "/x?y*z"};
    static const vidi_str seed = FUZZ_STR("http://h.org/");
    scope_options options = {
        .seeds = &seed, .seed_count = 1, .exclude = patterns, .exclude_count = 2, .max_url = 500, .max_repeat = 2};
    scope *made;

    FUZZ_CHECK(scope_open(&made, &options) == VIDI_OK);
    return made;
}

static void check_response(uint8_t what, int status, vidi_str head, vidi_str body)
{
    scope *reach = open_scope();
    archive_packer *packer = archive_packer_open();
    harvest_rules rules = {.scope = reach,
                           .agent = agent,
                           .resources = what & 4,
                           .check = what & 8,
                           .store = what & 16,
                           .max_depth = what & 32 ? 1 : -1,
                           .max_hops = 2,
                           .max_unpacked = LIMIT};
    frontier_url url = {.url = page_url, .kind = (frontier_kind)(what & 3), .depth = what >> 6};
    fetch_response response = {.status = status};

    FUZZ_CHECK(packer && bytes_append_str(&response.head, head) == VIDI_OK);
    FUZZ_CHECK(bytes_append_str(&response.body, body) == VIDI_OK);
    check_harvest(&rules, packer, &url, &response);
    bytes_free(&response.head);
    bytes_free(&response.body);
    archive_packer_close(packer);
    scope_close(reach);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    vidi_str all = {(const char *)data + 3, size - 3};
    const char *end = memmem(all.ptr, all.len, "\r\n\r\n", 4);
    size_t n = end ? (size_t)(end - all.ptr) + 4 : all.len;
    vidi_str head = {all.ptr, n}, body = {all.ptr + n, all.len - n};

    check_head(head);
    check_unpack(head, body);
    check_response(data[0], (data[1] % 10) * 100 + data[2] % 100, head, body);
    return 0;
}
