/* The filters whose times are taken: one salted hash value after the other, as the thesis has it. See costs.h. */
#include <stdlib.h>

#include "filters/bloom_bits.h"
#include "lab/thesis/costs.h"

typedef struct member {
    vidi__bitmap bits;
    vidi__scheme scheme;
    vidi__placing placing;
} member;

struct lab_timed {
    vidi__memory memory;
    unsigned members;
    member member[LAB_MEMBERS_MAX];
};

static int make_member(lab_timed *timed, unsigned index, const vidi__seed *seed, unsigned k, uint64_t m)
{
    member *made = &timed->member[index];
    vidi__params params;
    vidi__seed own = vidi__seed_child(seed, "member", index + 1, LAB_MEMBERS_MAX);
    LAB_TRY(vidi__params_parse(&params, "hash=jenkins,mode=salted"));
    LAB_TRY(vidi__scheme_init(&made->scheme, &params, &own, k));
    LAB_TRY(vidi__scheme_check(&made->scheme, m));
    made->placing = vidi__scheme_placing(&made->scheme, m);
    return vidi__bitmap_init(&made->bits, &timed->memory, m, NULL);
}

int lab_timed_make(lab_timed **made, const lab_settings *settings, uint64_t run, unsigned members, unsigned k,
                   double multiplier, uint64_t urls)
{
    vidi__seed seed = {.turn = 0};
    lab_timed *timed = *made = calloc(1, sizeof *timed);
    if (!timed)
        return lab_fail(VIDI_EMEMORY, "no memory for a filter");
    LAB_TRY(vidi__memory_init(&timed->memory, NULL, 0));
    lab_key(seed.key, settings->seed, run);
    for (; timed->members < members; timed->members++)
        LAB_TRY(make_member(timed, timed->members, &seed, k, (uint64_t)lab_bits((double)urls, k, multiplier)));
    return VIDI_OK;
}

void lab_timed_free(lab_timed *timed)
{
    if (!timed)
        return;
    for (unsigned i = 0; i < LAB_MEMBERS_MAX; i++)
        if (timed->member[i].bits.words)
            vidi__bitmap_free(&timed->member[i].bits, &timed->memory);
    free(timed);
}

/* Where function i of the member puts the URL. */
static uint64_t place(const member *of, unsigned i, vidi_str url)
{
    const vidi_str pieces[2] = {{(const char *)of->scheme.salts[i], VIDI__SALT_BYTES}, url};
    return vidi__placing_of(&of->placing, of->scheme.functions[0]->hash(&of->scheme.key, pieces, 2).lo);
}

static bool add(lab_timed *timed, vidi_str url)
{
    bool seen = true;
    for (unsigned i = 0; i < timed->members; i++)
        for (unsigned j = 0; j < timed->member[i].scheme.k; j++)
            seen &= !vidi__bitmap_mark(&timed->member[i].bits, place(&timed->member[i], j, url));
    return seen;
}

static bool ask_eagerly(const lab_timed *timed, vidi_str url)
{
    bool seen = true;
    for (unsigned i = 0; i < timed->members; i++)
        for (unsigned j = 0; j < timed->member[i].scheme.k; j++)
            seen &= vidi__bitmap_test(&timed->member[i].bits, place(&timed->member[i], j, url));
    return seen;
}

/* The thesis, algorithm 2: the first bit that is not marked settles it. */
static bool ask_until_settled(const lab_timed *timed, vidi_str url)
{
    for (unsigned i = 0; i < timed->members; i++)
        for (unsigned j = 0; j < timed->member[i].scheme.k; j++)
            if (!vidi__bitmap_test(&timed->member[i].bits, place(&timed->member[i], j, url)))
                return false;
    return true;
}

uint64_t lab_timed_do(lab_timed *timed, lab_deed deed, const vidi_str *urls, uint64_t count)
{
    uint64_t seen = 0;
    for (uint64_t i = 0; i < count; i++)
        seen += deed == LAB_ADD         ? add(timed, urls[i])
                : deed == LAB_ASK_EAGER ? ask_eagerly(timed, urls[i])
                                        : ask_until_settled(timed, urls[i]);
    return seen;
}

static void mark_values(member *in, const uint64_t *values)
{
    for (unsigned i = 0; i < in->scheme.k; i++)
        vidi__bitmap_mark(&in->bits, vidi__placing_of(&in->placing, values[i]));
}

void lab_timed_fill(lab_timed *const *filters, size_t count, const vidi_str *urls, uint64_t url_count)
{
    uint64_t values[VIDI__K_MAX];
    lab_timed *largest = filters[count - 1];
    for (uint64_t url = 0; url < url_count; url++)
        for (unsigned i = 0; i < largest->members; i++) {
            vidi__part part = {.str = urls[url]};
            vidi__scheme_values(&largest->member[i].scheme, &part, values);
            for (size_t filter = 0; filter < count; filter++)
                mark_values(&filters[filter]->member[i], values);
        }
}
