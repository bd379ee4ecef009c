/*
 * A client's life, and what is known about the cluster: see redis.h.
 */
#include "fleet/redis/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"

enum { CONNECT_MS = 5000, REPLY_MS = 30000, PATIENCE_MS = 60000, PAUSE_MS = 20, DOUBLINGS = 5 };

int64_t client_time(void)
{
    return (int64_t)(clock_now() / 1000000);
}

int64_t client_draw(redis_client *client, int64_t least, int64_t most)
{
    client->random ^= client->random << 13;
    client->random ^= client->random >> 7;
    client->random ^= client->random << 17;
    return least + (int64_t)(client->random % (uint64_t)(most - least + 1));
}

int64_t client_pause(redis_client *client, uint32_t failures)
{
    int64_t most = (int64_t)PAUSE_MS << (failures < DOUBLINGS ? failures : DOUBLINGS);
    return client_draw(client, most / 2, 3 * most / 2);
}

/* ---- opening ---- */

static int add_seeds(redis_client *client, char *why)
{
    for (size_t i = 0; i < client->address.count; i++) {
        const address_host *host = &client->address.hosts[i];
        node *seed = nodes_get(&client->nodes, host->name, strlen(host->name), host->port);
        if (!seed) {
            snprintf(why, REDIS_WHY, "there is no memory left for a connection");
            return VIDI_EMEMORY;
        }
        seed->is_seed = true;
    }
    return VIDI_OK;
}

static int64_t given(int64_t ms, int64_t usual)
{
    return ms > 0 ? ms : usual;
}

static int prepare(redis_client *client, const char *text, const redis_options *options, char *why)
{
    static const redis_options usual;
    const redis_options *how = options ? options : &usual;
    int error = address_read(&client->address, text, why);
    if (error)
        return error;
    client->patience_ms = given(how->patience_ms, PATIENCE_MS);
    client->wait_replicas = how->wait_replicas;
    client->how = (connection_how){.user = client->address.user,
                                   .password = client->address.password,
                                   .connect_ms = given(how->connect_ms, CONNECT_MS),
                                   .reply_ms = given(how->reply_ms, REPLY_MS),
                                   .arena = &client->arena};
    if (getrandom(&client->random, sizeof client->random, 0) != sizeof client->random)
        client->random = clock_now();
    client->random |= 1; /* never 0 */
    if (client->address.way == ADDRESS_TLS)
        error = tls_context_make(&client->how.tls, how, why);
    return error ? error : add_seeds(client, why);
}

/*
 * Finds out whether there is a cluster. Each host of the address is asked once, and if none answers, that is the end: it
 * is probably the address that is wrong. Servers that are still loading are waited for, and silent ones, at least for the
 * time that a reply may take.
 */
static int explore(redis_client *client)
{
    int64_t reply_ms = client->how.reply_ms;
    int64_t until = client_time() + (client->patience_ms > reply_ms ? client->patience_ms : reply_ms);
    client->slots_wanted = true;
    snprintf(client->why, sizeof client->why, "no host of the address has answered");
    while (client->mode == MODE_UNKNOWN) {
        if (client_turn(client, until)) {
            snprintf(client->why, sizeof client->why, "there is no memory left for a connection");
            return VIDI_EMEMORY;
        }
        if (client->mode == MODE_UNKNOWN && client->slots_failed >= client->nodes.count && !client->slots_busy)
            return VIDI_EIO;
        if (client->mode == MODE_UNKNOWN && client->now >= until)
            return client->slots_busy ? VIDI_EBUSY : VIDI_EIO;
    }
    return VIDI_OK;
}

int redis_open(redis_client **made, const char *address, const redis_options *options, char **name, char *why)
{
    redis_client *client = calloc(1, sizeof *client);
    *made = NULL;
    if (name)
        *name = NULL;
    if (!client) {
        snprintf(why, REDIS_WHY, "there is no memory left for a client");
        return VIDI_EMEMORY;
    }
    int error = prepare(client, address, options, why);
    if (!error) {
        error = explore(client);
        if (error)
            snprintf(why, REDIS_WHY, "%s", client->why);
    }
    if (!error && name) {
        *name = client->address.set_name;
        client->address.set_name = NULL;
    }
    if (error) {
        redis_close(client);
        return error;
    }
    *made = client;
    return VIDI_OK;
}

void redis_close(redis_client *client)
{
    if (!client)
        return;
    nodes_free(&client->nodes);
    tls_context_free(client->how.tls);
    reply_arena_free(&client->arena);
    address_free(&client->address);
    free(client->polls);
    free(client->polled);
    free(client);
}

void redis_hurry(redis_client *client, int64_t ms)
{
    atomic_store(&client->hurry_ms, ms > 0 ? ms : 1);
}

/* ---- questions ---- */

const char *redis_why(const redis_client *client)
{
    return client->why;
}

size_t redis_nodes(const redis_client *client)
{
    return client->mode == MODE_SINGLE ? 1 : client->nodes.primaries;
}

bool redis_is_cluster(const redis_client *client)
{
    return client->mode == MODE_CLUSTER;
}

int redis_node_of(redis_client *client, int slot)
{
    if (slot < 0 || slot >= REDIS_SLOTS)
        return VIDI_EARGUMENT;
    if (client->mode == MODE_SINGLE)
        return 0;
    int64_t until = client_time() + client->patience_ms;
    while (!client->nodes.owners[slot]) {
        client->slots_wanted = true;
        if (client_turn(client, until))
            return VIDI_EMEMORY;
        if (client->now >= until) {
            snprintf(client->why, sizeof client->why, "no server of the cluster has slot %d", slot);
            return VIDI_EIO;
        }
    }
    return client->nodes.owners[slot]->number;
}

/* CRC16 with the polynomial 0x1021, bit by bit: keys are short. */
static unsigned crc16(const char *text, size_t n)
{
    unsigned crc = 0;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned)(unsigned char)text[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1;
    }
    return crc & 0xffff;
}

int redis_slot(vidi_str key)
{
    const char *open = key.len ? memchr(key.ptr, '{', key.len) : NULL;
    const char *from = open ? open + 1 : NULL;
    const char *close = open ? memchr(from, '}', key.len - (size_t)(from - key.ptr)) : NULL;
    if (close && close > from)
        return (int)(crc16(from, (size_t)(close - from)) % REDIS_SLOTS);
    return (int)(crc16(key.ptr, key.len) % REDIS_SLOTS);
}
