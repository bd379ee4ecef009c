/*
 * In the place of fleet/ in a build without it: nothing can be joined.
 */
#include <stdio.h>

#include "fleet/links/fleet.h"

int fleet_open(fleet **made, const fleet_options *options, char *why)
{
    (void)options;
    *made = NULL;
    snprintf(why, FLEET_WHY, "this build of vidi has no fleets: it was configured with VIDI_WITH_FLEET=OFF");
    return VIDI_ECANNOT;
}

int fleet_look(const char *address, const vidi_cluster_access *access, fleet_figures *figures, char *why)
{
    fleet *none;

    (void)address, (void)access, (void)figures;
    return fleet_open(&none, NULL, why);
}

int fleet_set_state(const char *address, const vidi_cluster_access *access, fleet_state state, char *why)
{
    fleet *none;

    (void)address, (void)access, (void)state;
    return fleet_open(&none, NULL, why);
}

void fleet_figures_free(fleet_figures *figures)
{
    (void)figures;
}

/* No fleet is ever open, so none of the others is called, apart from fleet_leave(NULL). */

void fleet_leave(fleet *fleet, bool returns)
{
    (void)fleet, (void)returns;
}

int fleet_stat(fleet *fleet, vidi_stats *set, vidi_cluster_stats *more)
{
    (void)fleet, (void)set, (void)more;
    return VIDI_ECANNOT;
}

void fleet_hurry(fleet *fleet)
{
    (void)fleet;
}

const char *fleet_why(const fleet *fleet)
{
    (void)fleet;
    return "";
}

uint64_t fleet_site(const fleet *fleet, vidi_str url)
{
    (void)fleet, (void)url;
    return 0;
}

bool fleet_may_fetch(const fleet *fleet, uint64_t site)
{
    (void)fleet, (void)site;
    return false;
}

int64_t fleet_may_fetch_until(const fleet *fleet)
{
    (void)fleet;
    return 0;
}

int64_t fleet_now(void)
{
    return 0;
}

bool fleet_is_mine(const fleet *fleet, uint64_t site)
{
    (void)fleet, (void)site;
    return false;
}

uint64_t fleet_version(const fleet *fleet)
{
    (void)fleet;
    return 0;
}

void fleet_adopt(fleet *fleet, uint64_t version)
{
    (void)fleet, (void)version;
}

bool fleet_is_out(const fleet *fleet)
{
    (void)fleet;
    return true;
}

int fleet_rejoin(fleet *fleet)
{
    (void)fleet;
    return VIDI_ECANNOT;
}

int fleet_send_links(fleet *fleet, fleet_link *links, size_t n)
{
    (void)fleet, (void)links, (void)n;
    return VIDI_ECANNOT;
}

int fleet_take_links(fleet *fleet, size_t most, fleet_visitor visitor, void *context, size_t *got)
{
    (void)fleet, (void)most, (void)visitor, (void)context, (void)got;
    return VIDI_ECANNOT;
}

int fleet_took(fleet *fleet)
{
    (void)fleet;
    return VIDI_ECANNOT;
}

bool fleet_has_links(const fleet *fleet)
{
    (void)fleet;
    return false;
}

int fleet_check_block(fleet *fleet, const fleet_link *links, size_t n, bool *mine)
{
    (void)fleet, (void)links, (void)n, (void)mine;
    return VIDI_ECANNOT;
}

int fleet_done(fleet *fleet, const vidi_str *urls, size_t n)
{
    (void)fleet, (void)urls, (void)n;
    return VIDI_ECANNOT;
}

void fleet_put_back(fleet *fleet, const vidi_str *urls, size_t n)
{
    (void)fleet, (void)urls, (void)n;
}

int fleet_hand_over(fleet *fleet, const fleet_link *links, size_t n)
{
    (void)fleet, (void)links, (void)n;
    return VIDI_ECANNOT;
}

int fleet_idle(fleet *fleet, bool idle, uint64_t kept)
{
    (void)fleet, (void)idle, (void)kept;
    return VIDI_ECANNOT;
}

fleet_state fleet_state_now(const fleet *fleet)
{
    (void)fleet;
    return FLEET_STOPPING;
}

bool fleet_is_over(const fleet *fleet)
{
    (void)fleet;
    return true;
}

uint64_t fleet_visit(const fleet *fleet)
{
    (void)fleet;
    return 0;
}

int fleet_begin_visit(fleet *fleet, uint64_t number)
{
    (void)fleet, (void)number;
    return VIDI_ECANNOT;
}
