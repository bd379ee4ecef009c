/*
 * What a response yields: see harvest.h.
 *
 *   head -> type, X-Robots-Tag, redirect; Link and Refresh -> scope -> wanted
 *   body -> digest; unpacked -> its digest, page, style sheet or sitemap -> robots meta, links -> scope -> wanted
 *   nothing forbids it -> records for the archive
 */
#include "crawler/harvest/harvest.h"

#include <stdlib.h>
#include <string.h>

#include "crawler/harvest/harvest_content.h"
#include "crawler/harvest/harvest_headers.h"
#include "crawler/http/http.h"

const char *harvest_skip_name(harvest_skip skip)
{
    static const char *const names[HARVEST_SKIPS] = {"scope", "excluded", "depth", "nofollow", "trap", "limit", "bad"};

    return names[skip];
}

/* One response while it is read. */
typedef struct reading {
    harvest_collector collector;
    const fetch_response *response;
    vidi_str head, charset; /* the charset that Content-Type names; ptr NULL: none */
    uint32_t robots;        /* html_robots */
    bool foreign;           /* a page in scope loads it, but it is out of scope: its links are not followed */
} reading;

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool is_fine(int status)
{
    return status >= 200 && status < 300;
}

/* ---- content ---- */

static int read_by_content(reading *r, harvest_content what, vidi_str content)
{
    harvest_collector *c = &r->collector;
    bool fine = is_fine(r->response->status);

    if (what == HARVEST_UNDECIDED)
        what = harvest_content_by_bytes(content, c->from->kind);
    if (what == HARVEST_HTML)
        return harvest_html(c, content, r->charset, fine && !r->foreign, &r->robots);
    if (fine && what == HARVEST_CSS)
        return harvest_css(c, content, r->charset);
    if (fine && (what == HARVEST_SITEMAP || what == HARVEST_XML))
        return harvest_sitemap(c, content, what == HARVEST_SITEMAP);
    return VIDI_OK;
}

static void tell_how_it_unpacked(harvest *into, http_unpacked outcome)
{
    if (outcome == HTTP_UNKNOWN)
        harvest_tell_problem(into, "its Content-Encoding is one that this build cannot decode");
    if (outcome == HTTP_DAMAGED)
        harvest_tell_problem(into, "its packed content is damaged or cut off");
    if (outcome == HTTP_TOO_LARGE)
        harvest_tell_problem(into, "its unpacked content is larger than --max-unpacked");
}

/* A page is the same if its content is, however it was packed. What cannot be unpacked is compared as it was sent. */
static int read_content(reading *r)
{
    harvest *into = r->collector.into;
    vidi_str content = bytes_str(&r->response->body);
    harvest_content what = harvest_content_by_type(into->type, r->collector.from->kind);
    bytes unpacked = {0};
    int error = VIDI_OK;

    if (content.len == 0)
        return VIDI_OK;
    http_unpacked outcome = http_unpack(r->head, content, r->collector.rules->max_unpacked, &unpacked);
    if (outcome == HTTP_NO_MEMORY)
        return VIDI_EMEMORY;
    if (outcome == HTTP_UNPACKED)
        error = archive_digest(bytes_str(&unpacked), into->content);
    bool has_links = what != HARVEST_NOTHING && (what != HARVEST_CSS || r->collector.rules->resources);
    if (has_links)
        tell_how_it_unpacked(into, outcome);
    if (outcome != HTTP_AS_IT_IS)
        content = bytes_str(&unpacked);
    if (!error && has_links && content.len)
        error = read_by_content(r, what, content);
    bytes_free(&unpacked);
    return error;
}

/* ---- archive ---- */

static void take_connection(harvest *into, const fetch_response *response)
{
    if (response->address.length > 0)
        fetch_address_text(&response->address, into->address);
    into->protocol = response->is_h2 ? "h2" : NULL;
}

static int pack(reading *r, archive_packer *packer)
{
    const fetch_response *response = r->response;
    harvest *into = r->collector.into;
    int error = http_archived_head(r->head, response->body.len, &into->head);

    take_connection(into, response);
    if (!error) {
        archive_exchange exchange = {.url = r->collector.from->url,
                                     .date = response->date,
                                     .address = *into->address ? into->address : NULL,
                                     .protocol = into->protocol,
                                     .request = bytes_str(&response->sent),
                                     .head = bytes_str(&into->head),
                                     .body = bytes_str(&response->body),
                                     .digest = into->digest};
        error = archive_pack(packer, &exchange, &into->records, &into->response_length, into->record);
    }
    if (response->body.len == 0) /* it has no payload that could be stored already */
        bytes_free(&into->head);
    return error;
}

/* ---- all of it ---- */

static bool was_asked_for_head(const fetch_response *response)
{
    return response->sent.len >= 5 && memcmp(response->sent.ptr, "HEAD ", 5) == 0;
}

/* Of a sitemap, only what it lists counts; of a link that is only checked, nothing. */
static bool has_page_links(const reading *r)
{
    frontier_kind kind = r->collector.from->kind;

    return kind != FRONTIER_OUTSIDE && kind != FRONTIER_SITEMAP && !r->foreign;
}

/* A value that is too long, or has characters that a header line cannot have, is of no use. */
static void take_value(vidi_str head, const char *name, char *to, size_t room)
{
    vidi_str value = http_value(head, name);

    if (!value.ptr)
        return;
    to[0] = 0;
    if (value.len >= room)
        return;
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] < 0x20 || value.ptr[i] == 0x7F)
            return;
    memcpy(to, value.ptr, value.len);
    to[value.len] = 0;
}

static void take_validators(harvest *into, vidi_str head)
{
    take_value(head, "etag", into->etag, sizeof into->etag);
    take_value(head, "last-modified", into->modified, sizeof into->modified);
}

static int read_response(reading *r)
{
    harvest *into = r->collector.into;
    int error = VIDI_OK;

    http_type(http_content_type(r->head, &r->charset), into->type, sizeof into->type);
    if (r->response->failure != FETCH_FINE) {
        harvest_tell_problem(into, r->response->why);
        return VIDI_OK;
    }
    take_validators(into, r->head);
    r->robots = http_robots(r->head, r->collector.rules->agent);
    r->collector.nofollow = r->robots & HTML_ROBOTS_NOFOLLOW;
    if (!was_asked_for_head(r->response))
        error = archive_digest(bytes_str(&r->response->body), into->digest);
    if (!error && is_redirect(r->response->status))
        error = harvest_location(&r->collector, r->head);
    if (!error)
        error = read_content(r);
    if (!error && is_fine(r->response->status) && has_page_links(r))
        error = harvest_header_links(&r->collector, r->head);
    into->has_names = into->has_names && !into->incomplete;
    into->may_store = r->collector.from->kind != FRONTIER_OUTSIDE && !(r->robots & HTML_ROBOTS_NOARCHIVE);
    return error;
}

int harvest_read(harvest *into, const harvest_rules *rules, archive_packer *packer, const frontier_url *url,
                 const fetch_response *response)
{
    reading *r = calloc(1, sizeof *r);

    *into = (harvest){0};
    if (!r)
        return VIDI_EMEMORY;
    r->collector.into = into;
    r->collector.rules = rules;
    r->collector.from = url;
    r->response = response;
    r->foreign = url->kind == FRONTIER_RESOURCE && scope_check(rules->scope, url->url) != SCOPE_IN;
    r->head = bytes_str(&response->head);
    int error = read_response(r);
    harvest_finish(&r->collector);
    if (!error && rules->store && packer && into->may_store)
        error = pack(r, packer);
    harvest_collector_free(&r->collector);
    free(r);
    return error;
}

void harvest_unchanged(harvest *into, const harvest_rules *rules, const fetch_response *response)
{
    vidi_str head = bytes_str(&response->head);

    take_validators(into, head);
    take_connection(into, response);
    into->unchanged = rules->store && into->may_store && !(http_robots(head, rules->agent) & HTML_ROBOTS_NOARCHIVE);
}

void harvest_free(harvest *found)
{
    free(found->links);
    bytes_free(&found->records);
    bytes_free(&found->head);
    bytes_free(&found->text);
    bytes_free(&found->names);
    *found = (harvest){0};
}
