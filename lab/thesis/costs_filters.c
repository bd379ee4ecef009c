/*
 * What the tables of costs share: rows and columns, a comparison with published ratios, and the filters that are timed,
 * which compute one salted hash value after the other, as in the thesis. See costs.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/engine/run_memory.h"
#include "lab/thesis/costs.h"
#include "lib/inside/inside.h"

const char *const lab_cost_rows[LAB_COST_ROWS + 1] = {"3 HF", "4 HF", "5 HF",  "6 HF", "7 HF",
                                                      "8 HF", "9 HF", "10 HF", NULL};
const char *const lab_cost_columns[LAB_COST_COLUMNS + 1] = {"1.7 M", "2.0 M", "2.5 M", "3.0 M", "4.0 M", "5.0 M", NULL};
const double lab_cost_multipliers[LAB_COST_COLUMNS] = {1.7, 2.0, 2.5, 3.0, 4.0, 5.0};
const char *const lab_collections[] = {"ArrayList", "HashSet", NULL};

void lab_cost_compare(lab_entry *entry, const char *printed, const char *base, double tolerance)
{
    lab_figure figure = lab_figure_read(printed), divisor = lab_figure_read(base);
    entry->printed = printed;
    if (!figure.given || !divisor.given)
        return;
    entry->published = figure.percent / divisor.percent;
    if (printed == base)
        return;
    entry->basis = LAB_BY_TOLERANCE;
    entry->verdict = fabs(entry->published - entry->measured) <= tolerance * entry->measured ? LAB_AGREES : LAB_DIFFERS;
}

struct lab_timed {
    unsigned members, k;
    vidi__inside_bloom *member[LAB_MEMBERS_MAX];
};

static void free_member(void *member)
{
    vidi__inside_bloom_free(member);
}

static int make_member(lab_timed *timed, unsigned index, const vidi__inside_seed *seed, uint64_t m)
{
    char params[80];
    vidi__inside_seed own = vidi__inside_member_seed(seed, index + 1, LAB_MEMBERS_MAX);
    snprintf(params, sizeof params, "hash=jenkins,mode=salted,m=%llu,k=%u", (unsigned long long)m, timed->k);
    LAB_TRY(vidi__inside_bloom_make(&timed->member[index], params, 0, &own));
    return lab_own(timed->member[index], free_member);
}

int lab_timed_make(lab_timed **made, const lab_settings *settings, uint64_t run, unsigned members, unsigned k,
                   double multiplier, uint64_t urls)
{
    vidi__inside_seed seed = {.turn = 0};
    LAB_TRY(LAB_NEW(*made, 1));
    lab_timed *timed = *made;
    timed->k = k;
    lab_key(seed.key, settings->seed, run);
    for (; timed->members < members; timed->members++)
        LAB_TRY(make_member(timed, timed->members, &seed, (uint64_t)lab_bits((double)urls, k, multiplier)));
    return VIDI_OK;
}

static bool add(lab_timed *timed, vidi_str url)
{
    bool seen = true;
    for (unsigned i = 0; i < timed->members; i++)
        for (unsigned j = 0; j < timed->k; j++)
            seen &= vidi__inside_bloom_insert_one(timed->member[i], j, url);
    return seen;
}

static bool ask_eagerly(const lab_timed *timed, vidi_str url)
{
    bool seen = true;
    for (unsigned i = 0; i < timed->members; i++)
        for (unsigned j = 0; j < timed->k; j++)
            seen &= vidi__inside_bloom_lookup_one(timed->member[i], j, url);
    return seen;
}

/*
 * The thesis, algorithm 4 as printed: its `break` leaves the inner loop, and the next filter is queried all the same.
 */
static bool ask_each_filter(const lab_timed *timed, vidi_str url)
{
    bool seen = true;
    for (unsigned i = 0; i < timed->members; i++)
        for (unsigned j = 0; j < timed->k; j++)
            if (!vidi__inside_bloom_lookup_one(timed->member[i], j, url)) {
                seen = false;
                break;
            }
    return seen;
}

/* The thesis, algorithm 2: stops at the first zero bit. */
static bool ask_until_settled(const lab_timed *timed, vidi_str url)
{
    for (unsigned i = 0; i < timed->members; i++)
        for (unsigned j = 0; j < timed->k; j++)
            if (!vidi__inside_bloom_lookup_one(timed->member[i], j, url))
                return false;
    return true;
}

uint64_t lab_timed_do(lab_timed *timed, lab_deed deed, const vidi_str *urls, uint64_t count)
{
    uint64_t seen = 0;
    for (uint64_t i = 0; i < count; i++)
        seen += deed == LAB_ADD         ? add(timed, urls[i])
                : deed == LAB_ASK_EAGER ? ask_eagerly(timed, urls[i])
                : deed == LAB_ASK_INNER ? ask_each_filter(timed, urls[i])
                                        : ask_until_settled(timed, urls[i]);
    return seen;
}

void lab_timed_fill(lab_timed *const *filters, size_t count, const vidi_str *urls, uint64_t url_count)
{
    uint64_t values[VIDI__INSIDE_K_MAX];
    bool seen;
    const lab_timed *largest = filters[count - 1];
    for (uint64_t url = 0; url < url_count; url++)
        for (unsigned i = 0; i < largest->members; i++) {
            vidi__inside_bloom_hash(largest->member[i], &urls[url], 1, values);
            for (size_t filter = 0; filter < count; filter++)
                vidi__inside_bloom_insert(filters[filter]->member[i], values, 1, &seen);
        }
}
