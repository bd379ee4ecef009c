/*
 * The cache of addresses: see dns_cache.h. One thread uses it.
 *
 *   a question       for each call of dns_cache_ask; waits at a name, then in the list of answers
 *   a name           for each host: being looked up (then it has questions), or answered (then it has an age)
 *
 * Names are found in a tree (tsearch), which stays balanced whatever names a page brings along. The oldest answers are
 * forgotten when there are too many.
 */
#include "crawler/fetch/dns_cache.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "crawler/fetch/resolver.h"

typedef struct question {
    queue_link link;
    void *item;
    fetch_address address;
    fetch_failure failure;
    bool may_pass;
    char why[FETCH_WHY_ROOM];
} question;

typedef struct name {
    resolver_lookup lookup;
    bool is_asked;   /* the threads have it */
    queue questions; /* that wait for it */
    bool has_answer; /* what follows is valid */
    TAILQ_ENTRY(name) by_age;
    int64_t expires;
    fetch_address address; /* the one to use, or the one that is not permitted */
    int found, chosen;     /* how many addresses there are; which of them is the one to use, negative: none */
    fetch_failure failure;
    char host[]; /* the key; must be the last */
} name;

struct dns_cache {
    const fetch_guard *guard;
    bool by_proxy;
    crawl_clock clock;
    resolver *resolver;
    void *tree;                /* of all names, by host */
    TAILQ_HEAD(, name) by_age; /* the oldest first */
    size_t count;              /* of names with an answer */
    queue answered;            /* not returned by dns_cache_next yet */
    size_t running;
};

static question *take_question(queue *from)
{
    return QUEUE_ITEM(queue_take(from), question, link);
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const name *)a)->host, ((const name *)b)->host);
}

/* ---- names with an answer, by age ---- */

static void push_newest(dns_cache *cache, name *one)
{
    TAILQ_INSERT_TAIL(&cache->by_age, one, by_age);
    cache->count++;
}

static void unlink_name(dns_cache *cache, name *one)
{
    TAILQ_REMOVE(&cache->by_age, one, by_age);
    cache->count--;
}

static void forget_oldest(dns_cache *cache)
{
    name *one = TAILQ_FIRST(&cache->by_age);

    unlink_name(cache, one);
    tdelete(one, &cache->tree, compare);
    free(one);
}

/* ---- answers ---- */

static int64_t now(const dns_cache *cache)
{
    return cache->clock.now(cache->clock.context);
}

static void answer(dns_cache *cache, question *one, const name *with)
{
    one->address = with->address;
    one->failure = with->failure;
    one->may_pass = with->failure == FETCH_NAME && resolver_may_pass(with->lookup.count);
    if (with->failure == FETCH_NAME)
        fetch_explain(one->why, "%s", resolver_problem(cache->resolver, with->lookup.count));
    else if (with->failure == FETCH_ADDRESS)
        fetch_guard_explain(&with->address, one->why);
    queue_put(&cache->answered, &one->link);
}

/* The place of the first permitted address, searched from `from` on and then from the start; -1: there is none. */
static int find_permitted(const dns_cache *cache, const name *one, int from)
{
    for (int i = 0; i < one->found; i++) {
        int at = (from + i) % one->found;
        if (fetch_guard_permits(cache->guard, &one->lookup.found[at]))
            return at;
    }
    return -1;
}

/* Chooses the first address that is permitted; if none is, the first one tells why. */
static void choose(const dns_cache *cache, name *one)
{
    int count = one->lookup.count;

    one->found = count < 0 ? 0 : count < RESOLVER_ADDRESSES ? count : RESOLVER_ADDRESSES;
    one->chosen = find_permitted(cache, one, 0);
    one->failure = one->chosen >= 0 ? FETCH_FINE : one->found ? FETCH_ADDRESS : FETCH_NAME;
    one->address = one->found ? one->lookup.found[one->chosen >= 0 ? one->chosen : 0] : (fetch_address){0};
}

static void take_over(dns_cache *cache, name *one)
{
    choose(cache, one);
    one->is_asked = false;
    one->has_answer = true;
    one->expires = now(cache) + (one->failure == FETCH_FINE ? DNS_CACHE_GOOD_MS : DNS_CACHE_BAD_MS);
    push_newest(cache, one);
    while (one->questions.first)
        answer(cache, take_question(&one->questions), one);
    if (cache->count > DNS_CACHE_MOST)
        forget_oldest(cache);
}

void dns_cache_collect(dns_cache *cache)
{
    queue done = resolver_take(cache->resolver);

    while (done.first)
        take_over(cache, QUEUE_ITEM(queue_take(&done), name, lookup.link));
}

/* ---- questions ---- */

static name *make_name(vidi_str host)
{
    name *one = calloc(1, sizeof *one + host.len + 1);

    if (one)
        memcpy(one->host, host.ptr, host.len);
    return one;
}

/* The name of a host; made if it is not there. NULL: no memory. */
static name *get(dns_cache *cache, vidi_str host)
{
    name *one = make_name(host);

    if (!one)
        return NULL;
    name **found = tsearch(one, &cache->tree, compare);
    if (!found || *found != one)
        free(one);
    return found ? *found : NULL;
}

static void look_up(dns_cache *cache, name *one)
{
    one->is_asked = true;
    one->lookup = (resolver_lookup){.host = one->host};
    resolver_begin(cache->resolver, &one->lookup);
}

static int ask_resolver(dns_cache *cache, vidi_str host, question *asked)
{
    name *one = get(cache, host);

    if (!one)
        return VIDI_EMEMORY;
    if (one->has_answer && one->expires > now(cache)) {
        answer(cache, asked, one);
        return VIDI_OK;
    }
    if (one->has_answer) {
        unlink_name(cache, one);
        one->has_answer = false;
    }
    queue_put(&one->questions, &asked->link);
    if (!one->is_asked)
        look_up(cache, one);
    return VIDI_OK;
}

/* "localhost" and names below it are this machine (RFC 6761), also for a proxy that looks them up. */
static bool is_this_machine(vidi_str host)
{
    static const char own[] = "localhost";
    size_t n = sizeof own - 1;

    host.len -= host.len > 0 && host.ptr[host.len - 1] == '.';
    return host.len >= n && memcmp(host.ptr + host.len - n, own, n) == 0 &&
           (host.len == n || host.ptr[host.len - n - 1] == '.');
}

/* A host that is an address, or cannot be a name, or is left to a proxy. False: it must be looked up. */
static bool answer_at_once(dns_cache *cache, vidi_str host, question *asked)
{
    bool is_here = cache->by_proxy && is_this_machine(host);

    if (is_here)
        asked->address = (fetch_address){{127, 0, 0, 1}, 4};
    if (is_here || fetch_address_parse(host, &asked->address)) {
        if (!fetch_guard_permits(cache->guard, &asked->address)) {
            asked->failure = FETCH_ADDRESS;
            fetch_guard_explain(&asked->address, asked->why);
        }
    } else if (host.len == 0 || host.len > RESOLVER_NAME || memchr(host.ptr, '\0', host.len)) {
        asked->failure = FETCH_NAME;
        fetch_explain(asked->why, "this cannot be the name of a host");
    } else if (cache->by_proxy) {
        if (!cache->guard->allow_public) {
            asked->failure = FETCH_ADDRESS;
            fetch_explain(asked->why, "its address is not known, because the proxy looks names up, and only addresses "
                                      "of allowed networks may be asked");
        }
    } else {
        return false;
    }
    queue_put(&cache->answered, &asked->link);
    return true;
}

int dns_cache_ask(dns_cache *cache, vidi_str host, void *item)
{
    question *asked = calloc(1, sizeof *asked);

    if (!asked)
        return VIDI_EMEMORY;
    asked->item = item;
    if (!answer_at_once(cache, host, asked) && ask_resolver(cache, host, asked) != VIDI_OK) {
        free(asked);
        return VIDI_EMEMORY;
    }
    cache->running++;
    return VIDI_OK;
}

/* If there is no memory to look for it, the address stays as it is. */
void dns_cache_avoid(dns_cache *cache, vidi_str host, const fetch_address *address)
{
    name *key = make_name(host), **found = key ? tfind(key, &cache->tree, compare) : NULL;

    free(key);
    if (!found || !(*found)->has_answer || (*found)->failure != FETCH_FINE)
        return;
    name *one = *found;
    if (address->length != one->address.length || memcmp(address->bytes, one->address.bytes, address->length) != 0)
        return;
    one->chosen = find_permitted(cache, one, one->chosen + 1);
    one->address = one->lookup.found[one->chosen];
}

bool dns_cache_has_next(const dns_cache *cache)
{
    return cache->answered.first != NULL;
}

bool dns_cache_next(dns_cache *cache, fetch_event *event)
{
    if (!cache->answered.first)
        return false;
    question *one = take_question(&cache->answered);
    *event =
        (fetch_event){.kind = FETCH_RESOLVED, .item = one->item, .failure = one->failure, .may_pass = one->may_pass};
    if (one->failure == FETCH_FINE)
        event->address = one->address;
    memcpy(event->why, one->why, sizeof event->why);
    free(one);
    cache->running--;
    return true;
}

size_t dns_cache_running(const dns_cache *cache)
{
    return cache->running;
}

int dns_cache_fd(const dns_cache *cache)
{
    return resolver_fd(cache->resolver);
}

/* ---- opening and closing ---- */

int dns_cache_open(dns_cache **made, const fetch_options *options, const fetch_guard *guard, bool by_proxy)
{
    dns_cache *cache = calloc(1, sizeof *cache);

    *made = NULL;
    if (!cache)
        return VIDI_EMEMORY;
    TAILQ_INIT(&cache->by_age);
    cache->guard = guard;
    cache->by_proxy = by_proxy;
    cache->clock = options->clock ? *options->clock : crawl_clock_real;
    int error = resolver_open(&cache->resolver, options->resolver, options->resolver_context);
    if (error) {
        free(cache);
        return error;
    }
    *made = cache;
    return VIDI_OK;
}

static void free_questions(queue *all)
{
    while (all->first)
        free(take_question(all));
}

static void free_name(void *node)
{
    name *one = node;

    free_questions(&one->questions);
    free(one);
}

void dns_cache_close(dns_cache *cache)
{
    if (!cache)
        return;
    resolver_close(cache->resolver);
    tdestroy(cache->tree, free_name);
    free_questions(&cache->answered);
    free(cache);
}
