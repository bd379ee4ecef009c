/*
 * Stands in for the library of sets on servers in a build without it: an address is recognised, and every attempt to use
 * one is an error that says so. The other functions are never called, because there is no set.
 */
#include <string.h>

#include "vidi/cluster.h"

const char *vidi_cluster_message(void)
{
    return "this vidi was built without sets on servers; the build option is VIDI_WITH_FLEET";
}

bool vidi_cluster_is_address(const char *text)
{
    static const char *const schemes[] = {"redis://", "rediss://", "redis+unix://"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(text, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

/* Nothing but the scheme, which certainly has no password. */
void vidi_cluster_show_address(const char *address, char shown[VIDI_CLUSTER_ADDRESS_ROOM])
{
    size_t length = strcspn(address, ":");

    shown[0] = 0;
    if (length < VIDI_CLUSTER_ADDRESS_ROOM - sizeof "://…")
        strcat(strncat(shown, address, length), "://…");
}

/* ---- what is an error ---- */

#pragma GCC diagnostic ignored "-Wunused-parameter"

int vidi_cluster_create(const char *address, const vidi_options *options, uint32_t shards,
                        const vidi_cluster_access *access)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_open(vidi_cluster **cluster, const char *address, const vidi_cluster_access *access)
{
    *cluster = NULL;
    return VIDI_ECANNOT;
}

int vidi_cluster_drop(const char *address, const vidi_cluster_access *access)
{
    return VIDI_ECANNOT;
}

/* ---- what is never called ---- */

void vidi_cluster_close(vidi_cluster *cluster)
{
}

void vidi_cluster_hurry(vidi_cluster *cluster, int64_t ms)
{
}

int vidi_cluster_add(vidi_cluster *cluster, vidi_str url)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_add_batch(vidi_cluster *cluster, const vidi_str *urls, size_t n, uint8_t *verdicts, uint64_t *marks)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_has(vidi_cluster *cluster, vidi_str url)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_has_batch(vidi_cluster *cluster, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_has_previous(vidi_cluster *cluster, vidi_str url)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_remove(vidi_cluster *cluster, vidi_str url)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_count(vidi_cluster *cluster, vidi_str url, uint64_t *times)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_commit(vidi_cluster *cluster)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_mark(vidi_cluster *cluster, uint64_t *mark)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_commit_to(vidi_cluster *cluster, uint64_t mark)
{
    return VIDI_ECANNOT;
}

const struct vidi_canon *vidi_cluster_canon_of(const vidi_cluster *cluster)
{
    return NULL;
}

int vidi_cluster_stat(vidi_cluster *cluster, vidi_stats *stats, vidi_cluster_stats *more)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_rotate(vidi_cluster *cluster, const vidi_options *next, bool force)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_check(vidi_cluster *cluster, vidi_cluster_fault fault, void *context, uint64_t *faults)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_read_shard(vidi_cluster *cluster, uint32_t index, vidi_set **set)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_merge(vidi_cluster *cluster, const vidi_set *from)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_claim(vidi_cluster *cluster, const char *owner, int64_t lease_ms, vidi_claim *claims, size_t n,
                       unsigned flags)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_finish(vidi_cluster *cluster, const char *owner, const vidi_str *urls, size_t n, enum vidi_finish how,
                        uint8_t *done)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_renew(vidi_cluster *cluster, const char *owner, int64_t lease_ms, uint64_t *renewed)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_abandon(vidi_cluster *cluster, const char *owner, uint64_t *given)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_reclaim(vidi_cluster *cluster, uint32_t index, const char *owner, int64_t lease_ms, uint32_t most,
                         vidi_claim_visitor visitor, void *context, uint64_t *got)
{
    return VIDI_ECANNOT;
}

int vidi_cluster_claims(vidi_cluster *cluster, const char *owner, vidi_claim_visitor visitor, void *context)
{
    return VIDI_ECANNOT;
}
