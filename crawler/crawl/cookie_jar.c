/*
 * The cookies of a crawl: see cookie_jar.h. They are few, so they are in a list that is searched from end to end: a few
 * microseconds.
 */
#include "crawler/crawl/cookie_jar.h"

#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "crawler/base/web_url.h"
#include "crawler/http/http.h"

enum { DOMAIN_MOST = 253, SENT_MOST = 180 /* cookies in one request */ };

struct cookie_jar {
    cookie_change *all[COOKIES_MOST]; /* `next` is not used */
    uint64_t used[COOKIES_MOST];      /* when each was set or sent last */
    size_t count;
    uint64_t now;        /* counts what happens */
    vidi_canon *site_of; /* NULL: there is no Public Suffix List */
};

int cookie_jar_open(cookie_jar **made)
{
    cookie_jar *jar = calloc(1, sizeof *jar);

    *made = jar;
    if (!jar)
        return VIDI_EMEMORY;
    int error = vidi_canon_create(&jar->site_of, "key=site", NULL, NULL);
    if (error)
        jar->site_of = NULL;
    return error == VIDI_EMEMORY ? error : VIDI_OK;
}

void cookie_jar_close(cookie_jar *jar)
{
    if (!jar)
        return;
    for (size_t i = 0; i < jar->count; i++)
        free(jar->all[i]);
    vidi_canon_close(jar->site_of);
    free(jar);
}

void cookie_changes_free(cookie_change *changes)
{
    for (cookie_change *next; changes; changes = next) {
        next = changes->next;
        free(changes);
    }
}

static bool same(vidi_str a, vidi_str b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

/* ---- domains ---- */

/* True for "a.example.org" and "example.org" itself, below "example.org". */
static bool is_below(vidi_str host, vidi_str domain)
{
    size_t n = domain.len;

    return host.len >= n && memcmp(host.ptr + host.len - n, domain.ptr, n) == 0 &&
           (host.len == n || host.ptr[host.len - n - 1] == '.');
}

/* Nothing is below an address. In a URL, only an IPv4 address ends with a number. */
static bool is_address(vidi_str host)
{
    size_t n = host.len;

    while (n > 0 && ascii_is_digit(host.ptr[n - 1]))
        n--;
    return host.ptr[0] == '[' || (n < host.len && n > 0 && host.ptr[n - 1] == '.');
}

/* A name below a public suffix is the site of whatever is below that. */
static bool is_public_suffix(const cookie_jar *jar, vidi_str domain)
{
    char url[DOMAIN_MOST + 16] = "http://x.", site[2 * sizeof url];
    size_t length = sizeof site, prefix = strlen(url);

    memcpy(url + prefix, domain.ptr, domain.len);
    url[prefix + domain.len] = '/';
    int error = vidi_url_canon(jar->site_of, (vidi_str){url, prefix + domain.len + 1}, NULL, site, &length);
    return error != VIDI_OK || length > domain.len;
}

/* Where a cookie of this host goes, in `to` (room DOMAIN_MOST). False: it may not go there. */
static bool find_domain(const cookie_jar *jar, vidi_str host, vidi_str asked, char *to, db_cookie *row)
{
    row->domain = host;
    row->host_only = true;
    if (asked.len == 0)
        return true;
    if (asked.len > DOMAIN_MOST)
        return false;
    for (size_t i = 0; i < asked.len; i++)
        to[i] = ascii_lower(asked.ptr[i]);
    vidi_str domain = {to, asked.len};
    if (!is_below(host, domain) || (is_address(host) && domain.len < host.len))
        return false;
    if (!jar->site_of || is_address(host) || is_public_suffix(jar, domain))
        return !jar->site_of || domain.len == host.len;
    row->domain = domain;
    row->host_only = false;
    return true;
}

/* ---- changes ---- */

static vidi_str keep(char **at, vidi_str text)
{
    vidi_str copy = {*at, text.len};

    if (text.len)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

static cookie_change *copy_of(const db_cookie *row)
{
    cookie_change *made = malloc(sizeof *made + row->domain.len + row->path.len + row->name.len + row->value.len + 1);

    if (!made)
        return NULL;
    char *at = made->text;
    made->next = NULL;
    made->row = *row;
    made->row.domain = keep(&at, row->domain);
    made->row.path = keep(&at, row->path);
    made->row.name = keep(&at, row->name);
    made->row.value = keep(&at, row->value);
    return made;
}

static int note(cookie_jar *jar, db_cookie row, cookie_change **changes)
{
    row.changed = ++jar->now;
    cookie_change *made = copy_of(&row);
    if (!made)
        return VIDI_EMEMORY;
    made->next = *changes;
    *changes = made;
    return VIDI_OK;
}

static bool is_over(const db_cookie *row, int64_t date)
{
    return row->expires >= 0 && row->expires <= date;
}

static void drop(cookie_jar *jar, size_t at)
{
    free(jar->all[at]);
    jar->all[at] = jar->all[--jar->count];
    jar->used[at] = jar->used[jar->count];
}

/* The row stays until the crawl is opened next, so that an older change that is committed later does not bring it back. */
static int forget(cookie_jar *jar, size_t at, cookie_change **changes)
{
    db_cookie row = jar->all[at]->row;

    row.expires = 0;
    row.value.len = 0;
    int error = note(jar, row, changes);
    drop(jar, at);
    return error;
}

/* Forgets cookies of a domain, or of all, until there is room for one more. */
static int make_room(cookie_jar *jar, const vidi_str *domain, size_t most, int64_t date, cookie_change **changes)
{
    int error = VIDI_OK;

    for (;;) {
        size_t n = 0, oldest = 0;
        uint64_t first = UINT64_MAX;
        for (size_t i = 0; i < jar->count; i++) {
            const db_cookie *row = &jar->all[i]->row;
            uint64_t used = is_over(row, date) ? 0 : jar->used[i];
            if (domain && !same(row->domain, *domain))
                continue;
            n++;
            if (used < first) {
                first = used;
                oldest = i;
            }
        }
        if (n < most || error)
            return error;
        error = forget(jar, oldest, changes);
    }
}

static int add(cookie_jar *jar, const db_cookie *row)
{
    cookie_change *made = copy_of(row);

    if (!made)
        return VIDI_EMEMORY;
    jar->used[jar->count] = jar->now;
    jar->all[jar->count++] = made;
    return VIDI_OK;
}

int cookie_jar_load(void *context, const db_cookie *row)
{
    cookie_jar *jar = context;

    jar->now = row->changed > jar->now ? row->changed : jar->now;
    return jar->count < COOKIES_MOST ? add(jar, row) : VIDI_OK;
}

/* ---- setting ---- */

/* A place that is no cookie's: there is none. */
static size_t find(const cookie_jar *jar, const db_cookie *like)
{
    size_t i = 0;

    for (; i < jar->count; i++) {
        const db_cookie *row = &jar->all[i]->row;
        if (row->host_only == like->host_only && same(row->name, like->name) && same(row->path, like->path) &&
            same(row->domain, like->domain))
            break;
    }
    return i;
}

/* Whoever can change what http answers must not replace what https has set. */
static bool would_hide_a_secure_one(const cookie_jar *jar, const db_cookie *row)
{
    for (size_t i = 0; i < jar->count; i++) {
        const db_cookie *other = &jar->all[i]->row;
        if (other->secure && same(other->name, row->name) && http_cookie_path_has(other->path, row->path) &&
            (is_below(other->domain, row->domain) || is_below(row->domain, other->domain)))
            return true;
    }
    return false;
}

static int set(cookie_jar *jar, db_cookie *row, int64_t date, cookie_change **changes)
{
    size_t at = find(jar, row);
    int error = VIDI_OK;

    row->created = jar->now + 1;
    if (at < jar->count) {
        const db_cookie *old = &jar->all[at]->row;
        row->created = old->created;
        if (is_over(row, date))
            return forget(jar, at, changes);
        if (old->expires == row->expires && old->secure == row->secure && same(old->value, row->value)) {
            jar->used[at] = ++jar->now;
            return VIDI_OK;
        }
        drop(jar, at);
    }
    if (is_over(row, date))
        return VIDI_OK;
    error = make_room(jar, &row->domain, COOKIES_PER_DOMAIN, date, changes);
    if (!error)
        error = make_room(jar, NULL, COOKIES_MOST, date, changes);
    if (!error)
        error = note(jar, *row, changes);
    return error ? error : add(jar, row);
}

static int take_field(cookie_jar *jar, const vidi_url *url, vidi_str value, int64_t date, cookie_change **changes)
{
    char domain[DOMAIN_MOST];
    bool is_https = url->scheme.len == 5;
    http_cookie read;

    if (!http_read_cookie(value, date, &read) || (read.secure && !is_https))
        return VIDI_OK;
    db_cookie row = {.name = read.name,
                     .value = read.value,
                     .path = read.path.len ? read.path : http_cookie_path(url->path),
                     .expires = read.expires,
                     .secure = read.secure};
    if (!find_domain(jar, url->host, read.domain, domain, &row) || (!is_https && would_hide_a_secure_one(jar, &row)))
        return VIDI_OK;
    return set(jar, &row, date, changes);
}

/* Attributes stay as they are. */
static void mask(vidi_str field, bytes *head)
{
    char *at = head->ptr + (field.ptr - head->ptr), *end = at + field.len;
    char *semicolon = memchr(at, ';', field.len);

    end = semicolon ? semicolon : end;
    char *equals = memchr(at, '=', (size_t)(end - at));
    at = equals ? equals + 1 : at;
    memset(at, '*', (size_t)(end - at));
}

int cookie_jar_take(cookie_jar *jar, vidi_str url, int64_t date, bytes *head, cookie_change **changes)
{
    http_field field;
    vidi_url parts;
    int error = VIDI_OK;

    if (!web_url_view(url, &parts))
        return VIDI_EARGUMENT;
    for (size_t at = 0; !error && head->len && http_next(bytes_str(head), &at, &field);) {
        if (!ASCII_IS(field.name, "set-cookie") || field.value.len == 0)
            continue;
        error = take_field(jar, &parts, field.value, date, changes);
        mask(field.value, head);
    }
    return error;
}

/* ---- sending ---- */

static bool is_sent_to(const db_cookie *row, const vidi_url *url, int64_t date)
{
    return (row->host_only ? same(url->host, row->domain) : is_below(url->host, row->domain)) && !is_over(row, date) &&
           (!row->secure || url->scheme.len == 5) && http_cookie_path_has(row->path, url->path);
}

/* Longer paths first, then older cookies. */
static int compare(const void *a, const void *b)
{
    const db_cookie *first = *(const db_cookie *const *)a, *second = *(const db_cookie *const *)b;

    if (first->path.len != second->path.len)
        return first->path.len < second->path.len ? 1 : -1;
    return first->created < second->created ? -1 : first->created > second->created;
}

int cookie_jar_line(cookie_jar *jar, vidi_str url, int64_t date, bytes *to)
{
    const db_cookie *sent[SENT_MOST];
    size_t n = 0, before = to->len;
    vidi_url parts;
    int error = VIDI_OK;

    if (!web_url_view(url, &parts))
        return VIDI_EARGUMENT;
    for (size_t i = 0; i < jar->count && n < SENT_MOST; i++)
        if (is_sent_to(&jar->all[i]->row, &parts, date)) {
            jar->used[i] = ++jar->now;
            sent[n++] = &jar->all[i]->row;
        }
    qsort(sent, n, sizeof sent[0], compare);
    for (size_t i = 0; i < n && !error; i++) {
        const db_cookie *row = sent[i];
        if (to->len - before + row->name.len + row->value.len > COOKIE_LINE)
            continue;
        error = bytes_append_format(to, "%s%.*s=%.*s", to->len == before ? "Cookie: " : "; ", (int)row->name.len,
                                    row->name.ptr, (int)row->value.len, row->value.ptr);
    }
    return error || to->len == before ? error : bytes_append(to, "", 1);
}
