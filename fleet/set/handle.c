/*
 * Handles: connecting, turns, freeing. See handle.h.
 */
#include "handle.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- how a process uses a set ---- */

/* What the caller's struct says, which may be an older and shorter one. */
static int read_access(vidi_cluster_access *access, const vidi_cluster_access *given)
{
    *access = (vidi_cluster_access)VIDI_CLUSTER_ACCESS_INIT;
    if (!given)
        return VIDI_OK;
    if (given->size < sizeof given->size)
        return cluster_fail(VIDI_EARGUMENT, "vidi_cluster_access.size is not set: begin with VIDI_CLUSTER_ACCESS_INIT");
    memcpy(access, given, given->size < sizeof *access ? given->size : sizeof *access);
    access->size = sizeof *access;
    if (access->flags & ~(uint32_t)(VIDI_MANUAL_COMMIT | VIDI_READ_ONLY | VIDI_TELL_HELD))
        return cluster_fail(VIDI_EOPTION, "a cluster set does not know one of these flags");
    if (access->invalid > VIDI_FAIL_INVALID)
        return cluster_fail(VIDI_EOPTION, "vidi_cluster_access.invalid is not a vidi_invalid_policy");
    if (access->lease_ms < 0 || access->lease_ms > LEASE_MOST)
        return cluster_fail(VIDI_EOPTION, "a lease is 1 to 1000000000000 milliseconds");
    if (access->reply_ms < 0 || access->patience_ms < 0)
        return cluster_fail(VIDI_EOPTION, "a time to wait cannot be below 0");
    return VIDI_OK;
}

/* Copies a text; NULL stays NULL. False if there is no memory. */
static bool keep(char **copy, const char *text)
{
    *copy = text ? strdup(text) : NULL;
    return !text || *copy;
}

static int draw_owner(vidi_cluster *cluster)
{
    unsigned char bytes[8];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return cluster_fail(VIDI_ESYSTEM, "the operating system gave no random numbers");
    memcpy(cluster->owner, "client.", 7);
    set_print_hex(bytes, sizeof bytes, cluster->owner + 7);
    return VIDI_OK;
}

static int take_owner(vidi_cluster *cluster, const char *owner)
{
    if (!owner)
        return draw_owner(cluster);
    size_t len = strlen(owner);
    if (len < 1 || len > OWNER_MOST)
        return cluster_fail(VIDI_EOPTION, "the name of an owner has 1 to %d bytes", OWNER_MOST);
    memcpy(cluster->owner, owner, len + 1);
    return VIDI_OK;
}

static int take_access(vidi_cluster *cluster, const char *address, const vidi_cluster_access *given)
{
    vidi_cluster_access access;
    CLUSTER_TRY(read_access(&access, given));
    cluster->flags = access.flags;
    cluster->invalid = access.invalid;
    cluster->lease_ms = access.lease_ms ? access.lease_ms : LEASE_DEFAULT;
    snprintf(cluster->lease, sizeof cluster->lease, "%" PRId64, cluster->lease_ms);
    CLUSTER_TRY(take_owner(cluster, access.owner));
    if (!keep(&cluster->address, address) || !keep(&cluster->ca_file, access.ca_file) ||
        !keep(&cluster->cert_file, access.cert_file) || !keep(&cluster->key_file, access.key_file))
        return cluster_fail(VIDI_EMEMORY, "there is no memory for a connection");
    cluster->options = (redis_options){
        .wait_replicas = access.wait_replicas,
        .connect_ms = CONNECT_MS,
        .reply_ms = access.reply_ms ? access.reply_ms : REPLY_DEFAULT,
        .patience_ms = access.patience_ms ? access.patience_ms : PATIENCE_DEFAULT,
        .ca_file = cluster->ca_file,
        .cert_file = cluster->cert_file,
        .key_file = cluster->key_file,
    };
    return VIDI_OK;
}

/* ---- connecting ---- */

static int check_name(const vidi_cluster *cluster)
{
    const char *name = cluster->name ? cluster->name : "";
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if (!isascii((unsigned char)name[i]) || !(isalnum((unsigned char)name[i]) || strchr("._:-", name[i])))
            return cluster_fail(VIDI_EOPTION, "%s: the name of a set has letters, digits, '.', '_', ':' and '-' alone",
                                cluster->shown);
    if (len < 1 || len > SET_NAME)
        return cluster_fail(VIDI_EOPTION, "%s: the name of the set, after the last '/', must have 1 to %d characters",
                            cluster->shown, SET_NAME);
    return VIDI_OK;
}

static int connect_client(vidi_cluster *cluster)
{
    char why[REDIS_WHY] = "";
    int code = redis_open(&cluster->client, cluster->address, &cluster->options, &cluster->name, why);
    if (code != VIDI_OK)
        return cluster_fail(code, "%s: %s", cluster->shown, why);
    CLUSTER_TRY(check_name(cluster));
    snprintf(cluster->record_key, sizeof cluster->record_key, "{%s}:set", cluster->name);
    snprintf(cluster->state_key, sizeof cluster->state_key, "{%s}:state", cluster->name);
    cluster->slot = redis_slot((vidi_str){cluster->record_key, strlen(cluster->record_key)});
    return VIDI_OK;
}

int cluster_connect(vidi_cluster **made, const char *address, const vidi_cluster_access *access)
{
    *made = NULL;
    if (!address)
        return cluster_fail(VIDI_EARGUMENT, "there is no address");
    vidi_cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return cluster_fail(VIDI_EMEMORY, "there is no memory for a connection");
    if (pthread_mutex_init(&cluster->turn, NULL)) {
        free(cluster);
        return cluster_fail(VIDI_ESYSTEM, "the operating system gave no lock");
    }
    cluster->process = getpid();
    vidi_cluster_show_address(address, cluster->shown);
    int code = take_access(cluster, address, access);
    if (code == VIDI_OK)
        code = connect_client(cluster);
    if (code != VIDI_OK)
        cluster_free(cluster);
    else
        *made = cluster;
    return code;
}

int cluster_take_record(vidi_cluster *cluster, const record *record)
{
    cluster->record = *record;
    int code = vidi_canon_create(&cluster->canon, cluster->record.canon, NULL, NULL);
    if (code != VIDI_OK)
        return cluster_fail(code, "%s: %s", cluster->shown, vidi_message());
    const char *form = cluster->record.canon;
    cluster->form_is_url = strncmp(form, "surt", 4) != 0 && strncmp(form, "key=", 4) != 0;
    if (shards_make(&cluster->shards, cluster->name, &cluster->record) != VIDI_OK)
        return cluster_fail(VIDI_EMEMORY, "there is no memory for the names of %u shards", cluster->record.shards);
    return VIDI_OK;
}

void cluster_free(vidi_cluster *cluster)
{
    if (!cluster)
        return;
    leases_free(cluster->leases);
    redis_close(cluster->client);
    free(cluster->name);
    free(cluster->address);
    free(cluster->ca_file);
    free(cluster->cert_file);
    free(cluster->key_file);
    shards_free(&cluster->shards);
    vidi_canon_close(cluster->canon);
    calls_free(&cluster->calls);
    slice_free(cluster->slice);
    pending_free(&cluster->pending);
    pthread_mutex_destroy(&cluster->turn);
    free(cluster);
}

const struct vidi_canon *vidi_cluster_canon_of(const vidi_cluster *cluster)
{
    return cluster->canon;
}

void vidi_cluster_hurry(vidi_cluster *cluster, int64_t ms)
{
    if (cluster)
        redis_hurry(cluster->client, ms);
}

/* ---- turns ---- */

int cluster_enter(vidi_cluster *cluster)
{
    if (!cluster)
        return cluster_fail(VIDI_EARGUMENT, "there is no cluster set");
    if (cluster->process != getpid())
        return cluster_fail(VIDI_ECANNOT,
                            "%s: a cluster set belongs to the process that opened it; open it again after fork()",
                            cluster->shown);
    pthread_mutex_lock(&cluster->turn);
    return VIDI_OK;
}

int cluster_enter_to_write(vidi_cluster *cluster)
{
    CLUSTER_TRY(cluster_enter(cluster));
    if (!(cluster->flags & VIDI_READ_ONLY))
        return VIDI_OK;
    cluster_leave(cluster);
    return cluster_fail(VIDI_ECANNOT, "%s: the set was opened to read it", cluster->shown);
}

void cluster_leave(vidi_cluster *cluster)
{
    pthread_mutex_unlock(&cluster->turn);
}
