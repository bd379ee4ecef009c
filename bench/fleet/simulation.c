/*
 * A fleet on paper: vidi-fleet-simulation [MEMBERS] <SITES
 *
 * SITES has a line for each site that begins with its number of pages; without lines there are a million sites by Zipf's
 * law. It prints how evenly members share sites and pages; how long after a member's death its sites are fetched again;
 * and how many links leave the process that finds them. Members are those of fleet/members, with the leases of a fleet.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/members/members.h"

enum { MOST = 1000, SITES = 1000000, LEASE = 30000, BEAT = 2000, STEP = 20, DEATHS = 200 };
enum { CACHE = 1 << 18, PAGES = 200000, LINKS = 30 };

static uint64_t random_state = 1;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static double uniform(void)
{
    return (double)(mix(random_state += UINT64_C(0x9e3779b97f4a7c15)) >> 11) / 0x1p53;
}

static member_table fill(size_t members)
{
    member_table table = {.version = 1, .rows = calloc(MOST, sizeof *table.rows), .count = members};
    for (size_t i = 0; table.rows && i < members; i++)
        snprintf(table.rows[i].name, MEMBER_NAME, "part%04zu.%016llx", i, (unsigned long long)mix(i + 1));
    return table;
}

static uint64_t site_of(uint64_t number)
{
    return members_site((vidi_str){(const char *)&number, sizeof number});
}

/* ---- balance ---- */

static double most_of(const double *shares, size_t n)
{
    double most = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, shares[i]);
        sum += shares[i];
    }
    return most / (sum / (double)n);
}

static void balance(const member_table *table, const double *pages, size_t sites)
{
    double own_sites[MOST] = {0}, own_pages[MOST] = {0}, own_rest[MOST] = {0}, all = 0, largest = 0;
    size_t large = 0;
    for (size_t i = 0; i < sites; i++) {
        all += pages[i];
        largest = fmax(largest, pages[i]);
    }
    for (size_t i = 0; i < sites; i++) {
        size_t owner = member_table_owner(table, site_of(i));
        bool is_large = pages[i] > all / (double)table->count / 10;
        own_sites[owner]++;
        own_pages[owner] += pages[i];
        own_rest[owner] += is_large ? 0 : pages[i];
        large += is_large;
    }
    printf(
        "balance of %zu members, %zu sites: max/mean %.2f of the sites, %.2f of the pages, %.2f without the %zu sites "
        "that are larger than a tenth of a member's share; the largest has %.2f %% of all pages\n",
        table->count, sites, most_of(own_sites, table->count), most_of(own_pages, table->count),
        most_of(own_rest, table->count), large, 100 * largest / all);
}

/* ---- takeover ---- */

/* From a death until all sites of the dead member may be fetched: removal, adoption by all, news of that. Milliseconds. */
static int takeover(size_t members)
{
    int next[MOST], sees[MOST] = {0}, told[MOST] = {0};
    int died = (int)(uniform() * BEAT), removed = -1; /* it died so long after its last heartbeat */
    for (size_t i = 0; i < members; i++)
        next[i] = (int)(uniform() * BEAT);
    for (int now = 0;; now += STEP) {
        bool all_adopted = removed >= 0, all_know = removed >= 0;
        for (size_t i = 0; i < members; i++)
            all_adopted = all_adopted && told[i];
        for (size_t i = 0; i < members; i++) {
            if (next[i] > now)
                continue;
            if (removed < 0 && now > LEASE + LEASE / 4 - died)
                removed = now;
            told[i] = sees[i];
            next[i] += sees[i] == 0 && removed >= 0 ? STEP : BEAT; /* adopts at once, and says so */
            sees[i] = sees[i] == 2 || (all_adopted && told[i]) ? 2 : removed >= 0;
        }
        for (size_t i = 0; i < members; i++)
            all_know = all_know && sees[i] == 2;
        if (all_know)
            return now;
    }
}

static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void takeovers(size_t members)
{
    int times[DEATHS];
    for (int i = 0; i < DEATHS; i++)
        times[i] = takeover(members - 1);
    qsort(times, DEATHS, sizeof *times, by_size);
    printf("takeover: lease %d ms, a heartbeat every %d ms: all sites of a dead member are fetched again after %.1f s "
           "(median), %.1f s (most of %d)\n",
           LEASE, BEAT, times[DEATHS / 2] / 1e3, times[DEATHS - 1] / 1e3, DEATHS);
}

/* ---- links ---- */

/* The rank of something popular: Zipf's law with exponent 1. */
static uint64_t zipf(double n)
{
    return (uint64_t)pow(n, uniform());
}

/* A member fetches pages of its sites. Of the links, `local` lead to the same site, the others to popular pages anywhere. */
static void links(const member_table *table, double local)
{
    uint64_t *sent = calloc(CACHE, sizeof *sent), away = 0, new = 0;
    for (uint64_t page = 0; sent && page < PAGES; page++) {
        for (int i = 0; i < LINKS; i++) {
            if (uniform() < local)
                continue;
            uint64_t site = zipf(SITES), target = mix(site << 32 ^ zipf(1e5));
            if (member_table_owner(table, site_of(site)) == 0)
                continue;
            away++;
            new += sent[target % CACHE] != target;
            sent[target % CACHE] = target;
        }
    }
    free(sent);
    printf("links: %d a page, %.0f %% on its own site: %.2f a page are others', %.2f a page are sent after the "
           "sender's cache: %.0f bytes "
           "a page at 120 bytes a link\n",
           LINKS, 100 * local, (double)away / PAGES, (double)new / PAGES, 120.0 * (double)new / PAGES);
}

int main(int argc, char **argv)
{
    size_t members = argc > 1 ? strtoull(argv[1], NULL, 10) : 100, sites = 0;
    double *pages = calloc(SITES, sizeof *pages);
    char line[4096];
    if (!pages || members < 2 || members > MOST)
        return 2;
    while (sites < SITES && fgets(line, sizeof line, stdin))
        pages[sites++] = strtod(line, NULL);
    if (sites == 0)
        for (; sites < SITES; sites++)
            pages[sites] = 1e9 / (double)(sites + 1);
    member_table table = fill(members);
    if (!table.rows)
        return 2;
    balance(&table, pages, sites);
    takeovers(members);
    for (double local = 0.7; local < 0.95; local += 0.1)
        links(&table, local);
    free(table.rows);
    free(pages);
    return 0;
}
