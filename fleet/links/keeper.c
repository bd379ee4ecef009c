/*
 * The keeper: a thread that renews the claims of this process, buries dead members, sweeps expired claims, and finds out
 * that the crawl is over. Each of these may take long, so it has connections of its own, and the heart (heart.c) does not
 * wait for it.
 */
#include <string.h>

#include "fleet/links/fleet_inside.h"

/* Tells the user about trouble that begins, and not again as long as it lasts. */
static void tell(fleet *fleet, int error, bool *troubled)
{
    if (error && error != VIDI_EMEMORY && !*troubled)
        fleet_warn(fleet, "%s; trying again", fleet->keeper.why);
    *troubled = error != VIDI_OK;
}

static int renew(fleet *fleet, int64_t *renewed)
{
    int64_t lease = fleet->options.access.lease_ms, now = fleet_now();

    if (now < *renewed + lease / 3)
        return VIDI_OK;
    int error = vidi_cluster_renew(fleet->keeper.cluster, fleet->hand, lease, NULL);
    if (error)
        return wire_set_failed(&fleet->keeper, error);
    *renewed = now;
    return VIDI_OK;
}

static int tidy(fleet *fleet, int64_t *tidied)
{
    if (fleet_now() < *tidied + fleet->options.sweep_ms)
        return VIDI_OK;
    *tidied = fleet_now();
    int error = burial_look(fleet, &fleet->keeper);
    return error ? error : sweep_shards(fleet, &fleet->keeper);
}

/* While the fleet is being stopped, claims stay with those who return. */
static bool should_tidy(fleet *fleet)
{
    pthread_mutex_lock(&fleet->lock);
    bool does = fleet->state != FLEET_STOPPING && !fleet->leaving;
    pthread_mutex_unlock(&fleet->lock);
    return does;
}

void *keeper_run(void *context)
{
    fleet *f = context;
    int64_t renewed = fleet_now(), tidied = 0;
    bool troubled = false;

    while (fleet_pause(f, f->options.beat_ms)) {
        if (fleet_is_out(f))
            continue;
        int error = renew(f, &renewed);
        if (error == VIDI_OK && should_tidy(f))
            error = tidy(f, &tidied);
        if (error == VIDI_OK && should_tidy(f))
            error = ending_look(f, &f->keeper);
        tell(f, error, &troubled);
    }
    return NULL;
}
