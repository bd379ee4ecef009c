/*
 * Collecting links: see harvest_links.h.
 *
 * The texts lie in harvest.text one after another: the redirect, then the URL and the text of each link. That memory
 * moves while they are collected, so the strings get their pointers at the end (harvest_finish).
 */
#include "crawler/harvest/harvest_links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "crawler/base/fragments.h"
#include "crawler/base/list.h"
#include "crawler/base/web_url.h"
#include "vidi/url.h"

enum { WANTED = -1 };

/* ---- the URL as it is asked for ---- */

static vidi_str without_fragment(vidi_str url)
{
    const char *hash = memchr(url.ptr, '#', url.len);

    return (vidi_str){url.ptr, hash ? (size_t)(hash - url.ptr) : url.len};
}

/* The length of "http://" or "https://"; 0: another scheme. */
static size_t scheme_length(vidi_str url)
{
    if (url.len > 7 && memcmp(url.ptr, "http://", 7) == 0)
        return 7;
    return url.len > 8 && memcmp(url.ptr, "https://", 8) == 0 ? 8 : 0;
}

/* Drops fragment, user name and password; in place if there is nothing in the middle to drop. */
static int clean(harvest_collector *c, vidi_str *url)
{
    size_t scheme = scheme_length(*url);

    *url = without_fragment(*url);
    if (scheme == 0)
        return VIDI_OK;
    const char *host = url->ptr + scheme, *end = url->ptr + url->len;
    const char *slash = memchr(host, '/', (size_t)(end - host));
    const char *at = memrchr(host, '@', (size_t)((slash ? slash : end) - host));
    if (!at)
        return VIDI_OK;
    c->scratch.len = 0;
    int error = bytes_append(&c->scratch, url->ptr, scheme);
    if (!error)
        error = bytes_append(&c->scratch, at + 1, (size_t)(end - at - 1));
    *url = bytes_str(&c->scratch);
    return error;
}

int harvest_resolve(harvest_collector *c, vidi_str reference, vidi_str *url)
{
    bytes *to = &c->resolved;
    size_t len = to->room;
    int result = vidi_url_resolve(c->from->url, reference, to->ptr, &len);

    to->len = 0;
    while (result == VIDI_ELIMIT && len > to->room) {
        if (bytes_reserve(to, len) != VIDI_OK)
            return VIDI_EMEMORY;
        len = to->room;
        result = vidi_url_resolve(c->from->url, reference, to->ptr, &len);
    }
    *url = result == VIDI_OK ? (vidi_str){to->ptr, len} : (vidi_str){NULL, 0};
    return result == VIDI_OK || result == VIDI_EMEMORY ? result : VIDI_INVALID;
}

/* ---- deciding ---- */

static harvest_skip skip_of(scope_verdict verdict)
{
    switch (verdict) {
    case SCOPE_LONG:
        return HARVEST_LIMIT;
    case SCOPE_EXCLUDED:
        return HARVEST_EXCLUDED;
    case SCOPE_REPEATS:
        return HARVEST_TRAP;
    default:
        return HARVEST_SCOPE;
    }
}

static bool has_bad_port(vidi_str url)
{
    vidi_url parts;

    return !web_url_view(url, &parts) || scope_port_is_bad(web_url_port(&parts));
}

uint32_t harvest_hops(const frontier_url *from, frontier_kind kind)
{
    return kind == FRONTIER_RESOURCE && from->kind == FRONTIER_RESOURCE ? from->hops + 1 : 0;
}

/* WANTED or a harvest_skip. *kind becomes FRONTIER_OUTSIDE for a link that is only checked. */
static int judge_scope(const harvest_collector *c, vidi_str url, frontier_kind *kind)
{
    bool anywhere = *kind == FRONTIER_RESOURCE && c->rules->requisites;
    scope_verdict verdict = anywhere ? scope_check_resource(c->rules->scope, url) : scope_check(c->rules->scope, url);

    if (verdict == SCOPE_IN)
        return WANTED;
    if (verdict != SCOPE_OUT || !c->rules->check || c->rules->internal || has_bad_port(url))
        return (int)skip_of(verdict);
    if (scope_excludes(c->rules->scope, url))
        return HARVEST_EXCLUDED;
    *kind = FRONTIER_OUTSIDE;
    return WANTED;
}

/* The same. With `check`, a link that must not be followed is checked as one that leaves the scope. */
static int judge_link(const harvest_collector *c, bool nofollow, vidi_str url, frontier_kind *kind)
{
    if (nofollow && !c->rules->check)
        return HARVEST_NOFOLLOW;
    int verdict = judge_scope(c, url, kind);
    if (verdict == WANTED && *kind == FRONTIER_RESOURCE)
        return harvest_hops(c->from, *kind) > c->rules->max_hops ? HARVEST_LIMIT : WANTED;
    if (verdict == WANTED && c->rules->max_depth >= 0 && (int64_t)c->from->depth + 1 > c->rules->max_depth)
        return HARVEST_DEPTH;
    return verdict;
}

/* ---- links that were kept lately ---- */

/* Any hash will do: an attacker can only make links come twice, which does no harm. */
static size_t slot_of(vidi_str url)
{
    uint64_t hash = url.len, word;
    size_t i = 0;

    for (; i + sizeof word <= url.len; i += sizeof word) {
        memcpy(&word, url.ptr + i, sizeof word);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (; i < url.len; i++)
        hash = (hash ^ (unsigned char)url.ptr[i]) * 0x9E3779B97F4A7C15u;
    return (hash >> 32) % HARVEST_RECENT;
}

static bool is_recent(const harvest_collector *c, size_t slot, vidi_str url)
{
    const harvest_place *place = &c->recent[slot];

    return place->len == url.len && memcmp(c->into->text.ptr + place->at, url.ptr, url.len) == 0;
}

/* ---- keeping ---- */

static harvest_link *new_link(harvest *into)
{
    int error = list_reserve(&into->links, &into->link_room, into->link_count + 1);

    return error ? NULL : &into->links[into->link_count];
}

/* Appends the text of a link. Returns its length. */
static int append_text(harvest_collector *c, const harvest_found *found, size_t *len)
{
    char text[HARVEST_TEXT_BYTES];

    *len = 0;
    if (!c->rules->check || !found->page || c->texts == HARVEST_TEXTS)
        return VIDI_OK;
    c->texts++;
    *len = html_link_text(found->page, found->link, text, sizeof text);
    return bytes_append(&c->into->text, text, *len);
}

/* The fragment of a link, if there is anything to check: "#" and "#top" are fine on every page. */
static vidi_str take_fragment(const harvest_collector *c, vidi_str url, frontier_kind kind)
{
    vidi_str fragment, none = {NULL, 0};

    if (!c->rules->fragments || kind == FRONTIER_OUTSIDE || !fragment_of(url, &fragment) || fragment.len == 0 ||
        ASCII_IS(fragment, "top"))
        return none;
    url.len = (size_t)(fragment.ptr + fragment.len - url.ptr);
    return scope_excludes(c->rules->scope, url) ? none : fragment;
}

static int keep(harvest_collector *c, const harvest_found *found, vidi_str url, frontier_kind kind, size_t slot)
{
    harvest *into = c->into;
    harvest_link *link = new_link(into);
    size_t at = into->text.len, text = 0;

    if (!link)
        return VIDI_EMEMORY;
    int error = bytes_append_str(&into->text, url);
    if (!error)
        error = append_text(c, found, &text);
    vidi_str fragment = take_fragment(c, found->url, kind);
    if (!error)
        error = bytes_append_str(&into->text, fragment);
    if (error)
        return error;
    *link = (harvest_link){.url = {NULL, url.len},
                           .text = {NULL, text},
                           .fragment = {NULL, fragment.len},
                           .kind = kind,
                           .has_fragment = fragment.len > 0};
    into->link_count++;
    c->recent[slot] = (harvest_place){at, url.len};
    return VIDI_OK;
}

/* What is out of scope is not followed anyway, so it need not wait. */
static void only_ask(harvest_link *link)
{
    link->nofollow = link->kind != FRONTIER_OUTSIDE;
    link->kind = FRONTIER_OUTSIDE;
}

int harvest_collect(harvest_collector *c, const harvest_found *found)
{
    harvest *into = c->into;
    vidi_str url = found->url;
    frontier_kind kind = found->kind;

    into->found++;
    if (!url.ptr) {
        into->skipped[HARVEST_BAD]++;
        return VIDI_OK;
    }
    c->taken += url.len + sizeof(harvest_link);
    if (c->taken > HARVEST_BYTES) {
        harvest_tell_problem(into, "it has more than 16 MiB of links, and the rest was not looked at");
        return HARVEST_ENOUGH;
    }
    int error = clean(c, &url);
    if (error)
        return error;
    size_t slot = slot_of(url);
    if (!c->rules->check && is_recent(c, slot, url))
        return VIDI_OK;
    bool nofollow = found->nofollow || c->nofollow;
    int verdict = judge_link(c, nofollow, url, &kind);
    if (verdict != WANTED) {
        into->skipped[verdict]++;
        return VIDI_OK;
    }
    error = keep(c, found, url, kind, slot);
    if (!error && nofollow)
        only_ask(&into->links[into->link_count - 1]);
    return error;
}

/*
 * A redirect out of scope into the scope leads to a page, also from a link that is only checked. One from a link in scope
 * that must not be followed does not.
 */
static frontier_kind kind_of_redirect(const harvest_collector *c)
{
    if (c->from->kind == FRONTIER_OUTSIDE && scope_check(c->rules->scope, c->from->url) == SCOPE_IN)
        return FRONTIER_OUTSIDE;
    bool stays = c->from->kind == FRONTIER_SITEMAP || c->from->kind == FRONTIER_RESOURCE;

    return stays ? c->from->kind : FRONTIER_PAGE;
}

int harvest_collect_redirect(harvest_collector *c, vidi_str url)
{
    harvest *into = c->into;
    frontier_kind kind = kind_of_redirect(c);
    vidi_str fragment = {NULL, 0};
    bool has_fragment = c->rules->fragments && fragment_of(url, &fragment); /* takes the place of the link's */
    int error = clean(c, &url);

    if (!error)
        error = bytes_append_str(&into->text, url);
    if (error)
        return error;
    into->redirect = (vidi_str){NULL, url.len};
    int verdict = judge_scope(c, url, &kind);
    if (verdict == WANTED && c->from->hops >= c->rules->max_hops)
        verdict = HARVEST_LIMIT;
    if (verdict != WANTED) {
        into->skipped[verdict]++;
        return VIDI_OK;
    }
    harvest_link *link = new_link(into);
    if (!link)
        return VIDI_EMEMORY;
    *link = (harvest_link){
        .kind = kind, .is_redirect = true, .has_fragment = has_fragment, .fragment = {NULL, fragment.len}};
    error = bytes_append_str(&into->text, fragment);
    if (error)
        return error;
    into->link_count++;
    return VIDI_OK;
}

void harvest_tell_problem(harvest *into, const char *sentence)
{
    into->incomplete = true;
    snprintf(into->problem, sizeof into->problem, "%s", sentence);
}

void harvest_forget_links(harvest_collector *c)
{
    c->into->link_count = 0;
    c->into->text.len = 0;
    c->into->found = 0;
    memset(c->into->skipped, 0, sizeof c->into->skipped);
    memset(c->recent, 0, sizeof c->recent);
}

void harvest_finish(harvest_collector *c)
{
    harvest *into = c->into;
    const char *at = into->text.ptr;

    if (into->redirect.len) {
        into->redirect.ptr = at;
        at += into->redirect.len;
    }
    for (size_t i = 0; i < into->link_count; i++) {
        harvest_link *link = &into->links[i];
        if (link->is_redirect) {
            link->url = into->redirect;
        } else {
            link->url.ptr = at;
            link->text.ptr = at + link->url.len;
            at = link->text.ptr + link->text.len;
        }
        link->fragment.ptr = at;
        at += link->fragment.len;
    }
}

void harvest_collector_free(harvest_collector *c)
{
    bytes_free(&c->scratch);
    bytes_free(&c->resolved);
}
