/*
 * The cache of addresses: see dns_cache.h. One thread uses it.
 *
 *   a question       for each call of dns_cache_ask; waits at a name, then in the list of those answered
 *   a name           for each host: being looked up (then it has questions), or answered (then it has an age)
 *
 * Names are found in a tree (tsearch), which stays balanced whatever names a page brings along. The oldest answers are
 * forgotten when there are too many.
 */
#include "crawler/fetch/dns_cache.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

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
    bool has_answer; /* and then: */
    struct name *older, *newer;
    int64_t expires;
    fetch_address address; /* the one to use, or the one that is not permitted */
    int found, chosen;     /* how many addresses there are; which of them is the one to use, negative: none */
    fetch_failure failure;
    char host[]; /* the key; must be the last */
} name;

struct dns_cache {
    const fetch_guard *guard;
    crawl_clock clock;
    resolver *resolver;
    void *tree; /* of all names, by host */
    name *oldest, *newest;
    size_t count;   /* of names with an answer */
    queue answered; /* not told yet */
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

static void push_newest(dns_cache *of, name *one)
{
    one->older = of->newest;
    one->newer = NULL;
    if (of->newest)
        of->newest->newer = one;
    else
        of->oldest = one;
    of->newest = one;
    of->count++;
}

static void unlink_name(dns_cache *of, name *one)
{
    if (one->older)
        one->older->newer = one->newer;
    else
        of->oldest = one->newer;
    if (one->newer)
        one->newer->older = one->older;
    else
        of->newest = one->older;
    of->count--;
}

static void forget_oldest(dns_cache *of)
{
    name *one = of->oldest;

    unlink_name(of, one);
    tdelete(one, &of->tree, compare);
    free(one);
}

/* ---- answers ---- */

static int64_t now(const dns_cache *of)
{
    return of->clock.now(of->clock.context);
}

static void answer(dns_cache *of, question *one, const name *with)
{
    one->address = with->address;
    one->failure = with->failure;
    one->may_pass = with->failure == FETCH_NAME && resolver_may_pass(with->lookup.count);
    if (with->failure == FETCH_NAME)
        fetch_explain(one->why, "%s", resolver_problem(of->resolver, with->lookup.count));
    else if (with->failure == FETCH_ADDRESS)
        fetch_guard_explain(&with->address, one->why);
    queue_put(&of->answered, &one->link);
}

/* The place of the first permitted address, searched from `from` on and then from the start; -1: there is none. */
static int find_permitted(const dns_cache *of, const name *one, int from)
{
    for (int i = 0; i < one->found; i++) {
        int at = (from + i) % one->found;
        if (fetch_guard_permits(of->guard, &one->lookup.found[at]))
            return at;
    }
    return -1;
}

/* Chooses the first address that is permitted; if none is, the first one tells why. */
static void choose(const dns_cache *of, name *one)
{
    int count = one->lookup.count;

    one->found = count < 0 ? 0 : count < RESOLVER_ADDRESSES ? count : RESOLVER_ADDRESSES;
    one->chosen = find_permitted(of, one, 0);
    one->failure = one->chosen >= 0 ? FETCH_FINE : one->found ? FETCH_ADDRESS : FETCH_NAME;
    one->address = one->found ? one->lookup.found[one->chosen >= 0 ? one->chosen : 0] : (fetch_address){0};
}

static void take_over(dns_cache *of, name *one)
{
    choose(of, one);
    one->is_asked = false;
    one->has_answer = true;
    one->expires = now(of) + (one->failure == FETCH_FINE ? DNS_CACHE_GOOD_MS : DNS_CACHE_BAD_MS);
    push_newest(of, one);
    while (one->questions.first)
        answer(of, take_question(&one->questions), one);
    if (of->count > DNS_CACHE_MOST)
        forget_oldest(of);
}

void dns_cache_collect(dns_cache *of)
{
    queue done = resolver_take(of->resolver);

    while (done.first)
        take_over(of, QUEUE_ITEM(queue_take(&done), name, lookup.link));
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
static name *get(dns_cache *of, vidi_str host)
{
    name *one = make_name(host);

    if (!one)
        return NULL;
    name **found = tsearch(one, &of->tree, compare);
    if (!found || *found != one)
        free(one);
    return found ? *found : NULL;
}

static void look_up(dns_cache *of, name *one)
{
    one->is_asked = true;
    one->lookup = (resolver_lookup){.host = one->host};
    resolver_begin(of->resolver, &one->lookup);
}

static int ask_resolver(dns_cache *of, vidi_str host, question *asked)
{
    name *one = get(of, host);

    if (!one)
        return VIDI_EMEMORY;
    if (one->has_answer && one->expires > now(of)) {
        answer(of, asked, one);
        return VIDI_OK;
    }
    if (one->has_answer) {
        unlink_name(of, one);
        one->has_answer = false;
    }
    queue_put(&one->questions, &asked->link);
    if (!one->is_asked)
        look_up(of, one);
    return VIDI_OK;
}

/* A host that is an address, or cannot be a name. False: it must be looked up. */
static bool answer_at_once(dns_cache *of, vidi_str host, question *asked)
{
    if (fetch_address_parse(host, &asked->address)) {
        if (!fetch_guard_permits(of->guard, &asked->address)) {
            asked->failure = FETCH_ADDRESS;
            fetch_guard_explain(&asked->address, asked->why);
        }
    } else if (host.len == 0 || host.len > RESOLVER_NAME || memchr(host.ptr, '\0', host.len)) {
        asked->failure = FETCH_NAME;
        fetch_explain(asked->why, "this cannot be the name of a host");
    } else {
        return false;
    }
    queue_put(&of->answered, &asked->link);
    return true;
}

int dns_cache_ask(dns_cache *of, vidi_str host, void *item)
{
    question *asked = calloc(1, sizeof *asked);

    if (!asked)
        return VIDI_EMEMORY;
    asked->item = item;
    if (!answer_at_once(of, host, asked) && ask_resolver(of, host, asked) != VIDI_OK) {
        free(asked);
        return VIDI_EMEMORY;
    }
    of->running++;
    return VIDI_OK;
}

/* If there is no memory to look for it, the address stays as it is. */
void dns_cache_avoid(dns_cache *of, vidi_str host, const fetch_address *address)
{
    name *key = make_name(host), **found = key ? tfind(key, &of->tree, compare) : NULL;

    free(key);
    if (!found || !(*found)->has_answer || (*found)->failure != FETCH_FINE)
        return;
    name *one = *found;
    if (address->length != one->address.length || memcmp(address->bytes, one->address.bytes, address->length) != 0)
        return;
    one->chosen = find_permitted(of, one, one->chosen + 1);
    one->address = one->lookup.found[one->chosen];
}

bool dns_cache_has_next(const dns_cache *of)
{
    return of->answered.first != NULL;
}

bool dns_cache_next(dns_cache *of, fetch_event *event)
{
    if (!of->answered.first)
        return false;
    question *one = take_question(&of->answered);
    *event =
        (fetch_event){.kind = FETCH_RESOLVED, .item = one->item, .failure = one->failure, .may_pass = one->may_pass};
    if (one->failure == FETCH_FINE)
        event->address = one->address;
    memcpy(event->why, one->why, sizeof event->why);
    free(one);
    of->running--;
    return true;
}

size_t dns_cache_running(const dns_cache *of)
{
    return of->running;
}

int dns_cache_fd(const dns_cache *of)
{
    return resolver_fd(of->resolver);
}

/* ---- opening and closing ---- */

int dns_cache_open(dns_cache **made, const fetch_options *options, const fetch_guard *guard)
{
    dns_cache *of = calloc(1, sizeof *of);

    *made = NULL;
    if (!of)
        return VIDI_EMEMORY;
    of->guard = guard;
    of->clock = options->clock ? *options->clock : crawl_clock_real;
    int error = resolver_open(&of->resolver, options->resolver, options->resolver_context);
    if (error) {
        free(of);
        return error;
    }
    *made = of;
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

void dns_cache_close(dns_cache *of)
{
    if (!of)
        return;
    resolver_close(of->resolver);
    tdestroy(of->tree, free_name);
    free_questions(&of->answered);
    free(of);
}
