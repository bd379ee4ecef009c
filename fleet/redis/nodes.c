/*
 * Servers and slots: see nodes.h.
 */
#include "fleet/redis/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"

/* ---- the table ---- */

static void free_node(node *node)
{
    connection_close(&node->link);
    free(node->host);
    free(node->flights);
    free(node);
}

void nodes_free(nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        free_node(nodes->all[i]);
    free(nodes->all);
    *nodes = (struct nodes){0};
}

static node *add(nodes *nodes, const char *host, size_t length, uint16_t port)
{
    node **grown = realloc(nodes->all, (nodes->count + 1) * sizeof(node *));
    node *made = calloc(1, sizeof *made);
    if (grown)
        nodes->all = grown;
    if (grown && made)
        made->host = strndup(host, length);
    if (!made || !made->host) {
        free(made);
        return NULL;
    }
    made->port = port;
    nodes->all[nodes->count++] = made;
    return made;
}

node *nodes_get(nodes *nodes, const char *host, size_t length, uint16_t port)
{
    for (size_t i = 0; i < nodes->count; i++) {
        node *known = nodes->all[i];
        if (known->port == port && strlen(known->host) == length && memcmp(known->host, host, length) == 0)
            return known;
    }
    return nodes->count < NODES_MOST ? add(nodes, host, length, port) : NULL;
}

void nodes_prune(nodes *nodes)
{
    size_t kept = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        node *each = nodes->all[i];
        if (each->is_seed || each->is_listed)
            nodes->all[kept++] = each;
        else
            free_node(each);
    }
    nodes->count = kept;
}

/* ---- slots ---- */

/* A host as a server names it: no spaces or control characters, and short. */
static bool is_host(vidi_str host)
{
    for (size_t i = 0; i < host.len; i++)
        if (host.ptr[i] <= ' ' || host.ptr[i] == 127)
            return false;
    return host.len > 0 && host.len <= ADDRESS_HOST && !(host.len == 1 && host.ptr[0] == '?');
}

/* The node that a server names; without a host it is on the host of the server itself. */
static node *find_named(nodes *nodes, vidi_str host, int64_t port, const node *from)
{
    if (port < 1 || port > UINT16_MAX)
        return NULL;
    if (host.len == 0 && from->port == 0)
        return nodes_get(nodes, from->host, strlen(from->host), 0);
    if (host.len == 0)
        return nodes_get(nodes, from->host, strlen(from->host), (uint16_t)port);
    return is_host(host) ? nodes_get(nodes, host.ptr, host.len, (uint16_t)port) : NULL;
}

/* The IP address among the names and values that follow host, port and id. */
static vidi_str other_address(const redis_reply *about)
{
    const redis_reply *more = about->count > 3 && about->items[3].type == REDIS_ARRAY ? &about->items[3] : NULL;
    for (size_t i = 0; more && i + 1 < more->count; i += 2) {
        const redis_reply *name = &more->items[i], *value = name + 1;
        if (name->type == REDIS_TEXT && value->type == REDIS_TEXT && ASCII_IS(name->text, "ip"))
            return value->text;
    }
    return (vidi_str){"?", 1};
}

/* The node that [host, port, id, ...] describes; NULL: it cannot be read. */
static node *find_described(nodes *nodes, const redis_reply *about, const node *asked)
{
    if (about->type != REDIS_ARRAY || about->count < 2 || about->items[1].type != REDIS_INTEGER)
        return NULL;
    vidi_str host = about->items[0].type == REDIS_TEXT ? about->items[0].text : (vidi_str){"", 0};
    if (host.len == 1 && host.ptr[0] == '?')
        host = other_address(about);
    return find_named(nodes, host, about->items[1].integer, asked);
}

void nodes_set_owner(nodes *nodes, int slot, node *owner)
{
    nodes->owners[slot] = owner;
    owner->is_listed = true;
    if (!owner->has_slots)
        owner->number = (int)nodes->primaries++;
    owner->has_slots = true;
}

/* One range: [first, last, primary, replica ...] */
static bool take_range(nodes *nodes, const redis_reply *range, const node *asked)
{
    if (range->type != REDIS_ARRAY || range->count < 3 || range->items[0].type != REDIS_INTEGER ||
        range->items[1].type != REDIS_INTEGER)
        return false;
    int64_t first = range->items[0].integer, last = range->items[1].integer;
    if (first < 0 || first > last || last >= REDIS_SLOTS)
        return false;
    for (size_t i = 2; i < range->count; i++) {
        node *named = find_described(nodes, &range->items[i], asked);
        if (named)
            named->is_listed = true;
        if (named && i == 2)
            for (int64_t slot = first; slot <= last; slot++)
                nodes_set_owner(nodes, (int)slot, named);
    }
    return true;
}

int nodes_take_slots(nodes *nodes, const redis_reply *reply, const node *asked)
{
    bool good = reply->type == REDIS_ARRAY;
    if (!good)
        return VIDI_EFORMAT;
    memset(nodes->owners, 0, sizeof nodes->owners);
    nodes->primaries = 0;
    for (size_t i = 0; i < nodes->count; i++)
        nodes->all[i]->is_listed = nodes->all[i]->has_slots = false;
    for (size_t i = 0; i < reply->count; i++)
        good = take_range(nodes, &reply->items[i], asked) && good;
    return good ? VIDI_OK : VIDI_EFORMAT;
}

/* "MOVED 3999 127.0.0.1:6381", and ASK likewise */
node *nodes_redirected(nodes *nodes, vidi_str error, const node *from, int *slot)
{
    char *end;
    const char *text = memchr(error.ptr, ' ', error.len); /* a zero byte follows the text */
    if (!text)
        return NULL;
    long number = strtol(text + 1, &end, 10);
    const char *colon = strrchr(end, ':');
    if (number < 0 || number >= REDIS_SLOTS || *end != ' ' || !colon)
        return NULL;
    *slot = (int)number;
    return find_named(nodes, (vidi_str){end + 1, (size_t)(colon - end - 1)}, strtol(colon + 1, NULL, 10), from);
}

/* ---- flights ---- */

static int reserve_flight(node *node)
{
    if (node->flights_count < node->flights_room)
        return VIDI_OK;
    size_t room = node->flights_room ? 2 * node->flights_room : 64;
    flight *grown = malloc(room * sizeof *grown);
    if (!grown)
        return VIDI_EMEMORY;
    for (size_t i = 0; i < node->flights_count; i++)
        grown[i] = node->flights[(node->flights_first + i) % node->flights_room];
    free(node->flights);
    node->flights = grown;
    node->flights_first = 0;
    node->flights_room = room;
    return VIDI_OK;
}

int node_put(node *node, flight_kind kind, job *job, const vidi_str *words, size_t count, int64_t now)
{
    if (reserve_flight(node) || connection_put(&node->link, words, count, now))
        return VIDI_EMEMORY;
    size_t at = (node->flights_first + node->flights_count++) % node->flights_room;
    node->flights[at] = (flight){kind, job, node->link.put};
    return VIDI_OK;
}

void node_has_written(node *node, bool again)
{
    writing *writing = &node->writing;
    writing->is_new = true;
    if (again) {
        writing->has_again = true;
        writing->offset = -1;
    }
}

flight node_take_flight(node *node)
{
    flight first = node->flights[node->flights_first];
    node->flights_first = (node->flights_first + 1) % node->flights_room;
    node->flights_count--;
    return first;
}
