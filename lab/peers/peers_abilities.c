/*
 * What each structure can do, shown by doing it with a few thousand keys: 1 if it works, 0 if it does not.
 *
 *   add      takes further keys once it is in use
 *   grow     takes four times the keys that it was made for, and keeps its rate
 *   delete   forgets some keys and still knows the others
 *   merge    two of them become one that knows the keys of both
 *   list     gives back hashes from which a structure of another size can be made
 */
#include <stdlib.h>

#include "lab/engine/run_memory.h"
#include "lab/peers/peers.h"

enum { KEYS = 4000, GROWN = 4, ABILITIES = 5 };
#define CAN_RATE 0.01 /* for which they are made */
#define KEPT_RATE 0.02

static const char *const peer_abilities[] = {"add", "grow", "delete", "merge", "list", NULL};

/* The keys of a run, and a set of vidi's kind for them. */
typedef struct trial {
    lab_peer_sort sort;
    const lab_settings *settings;
    uint64_t run;
    vidi_digest *keys; /* [(GROWN + 1) * KEYS] */
} trial;

static lab_peer_keys words_from(const trial *trial, uint64_t first, size_t count)
{
    return (lab_peer_keys){&trial->keys[first].lo, 2, count};
}

/* ---- adding and growing ---- */

/* Makes it for KEYS keys, adds them, finishes it, and adds others until there are `all`. */
static int fill(const trial *trial, uint64_t all, lab_peer_memory *memory, lab_peer **peer)
{
    unsigned char key[VIDI_KEY_BYTES];
    lab_peer_plan plan;
    lab_key(key, trial->settings->seed, trial->run);
    lab_peer_memory_init(memory);
    LAB_TRY(lab_peer_plan_rate(&plan, trial->sort, KEYS, CAN_RATE));
    LAB_TRY(lab_peer_make(peer, &plan, false, key, memory));
    LAB_TRY(lab_peer_add(*peer, trial->keys, KEYS / 2));
    LAB_TRY(lab_peer_finish(*peer));
    LAB_TRY(lab_peer_add(*peer, trial->keys + KEYS / 2, all - KEYS / 2));
    return VIDI_OK;
}

static bool is_refusal(int code)
{
    return code == VIDI_ECANNOT || code == VIDI_ELIMIT;
}

/* Whether it takes `all` keys and then knows them, and few others. */
static int takes(const trial *trial, uint64_t all, bool *can)
{
    lab_peer_memory memory;
    LAB_OWN(lab_peer_close) lab_peer *peer = NULL;
    int code = fill(trial, all, &memory, &peer);
    *can = code == VIDI_OK && lab_peer_has(peer, trial->keys, all) == (int64_t)all &&
           (double)lab_peer_has(peer, trial->keys + all, KEYS) <= KEPT_RATE * KEYS;
    return is_refusal(code) ? VIDI_OK : code;
}

/* ---- the rest with vidi's kinds: through the public interface ---- */

static int add_urls(vidi_set *set, const trial *trial, uint64_t first, uint64_t last)
{
    char url[LAB_URL_ROOM];
    for (uint64_t i = first; i < last; i++)
        LAB_TRY(vidi_add(set, lab_url_text(url, trial->settings, trial->run, i)));
    return VIDI_OK;
}

static uint64_t known_urls(const vidi_set *set, const trial *trial, uint64_t first, uint64_t last)
{
    char url[LAB_URL_ROOM];
    uint64_t known = 0;
    for (uint64_t i = first; i < last; i++)
        known += vidi_has(set, lab_url_text(url, trial->settings, trial->run, i)) == VIDI_SEEN;
    return known;
}

static int remove_urls(vidi_set *set, const trial *trial, uint64_t first, uint64_t last)
{
    char url[LAB_URL_ROOM];
    for (uint64_t i = first; i < last; i++)
        LAB_TRY(vidi_remove(set, lab_url_text(url, trial->settings, trial->run, i)));
    return VIDI_OK;
}

static int make_sets(const trial *trial, vidi_set *sets[2])
{
    lab_peer_plan plan;
    LAB_TRY(lab_peer_plan_rate(&plan, trial->sort, KEYS, CAN_RATE));
    for (unsigned i = 0; i < 2; i++) {
        LAB_TRY(lab_set(&sets[i], trial->settings, trial->run, plan.vidi.kind, KEYS, "%s", plan.vidi.params));
        LAB_TRY(add_urls(sets[i], trial, i * KEYS / 2, (i + 1) * KEYS / 2));
    }
    return VIDI_OK;
}

static int count_element(void *context, const vidi_entry *entry)
{
    (void)entry;
    ++*(uint64_t *)context;
    return 0;
}

static int vidi_abilities(const trial *trial, bool *deletes, bool *merges, bool *lists)
{
    vidi_set *sets[2];
    uint64_t listed = 0;
    LAB_BLOCK;
    int code = make_sets(trial, sets);
    if (code == VIDI_OK)
        code = vidi_iterate(sets[0], count_element, &listed);
    *lists = code == VIDI_OK && listed == KEYS / 2;
    if (code == VIDI_OK || is_refusal(code))
        code = vidi_merge(sets[0], sets[1], 0);
    *merges = code == VIDI_OK && known_urls(sets[0], trial, 0, KEYS) == KEYS;
    if (code == VIDI_OK || is_refusal(code))
        code = remove_urls(sets[1], trial, KEYS / 2, KEYS * 3 / 4);
    *deletes = code == VIDI_OK && known_urls(sets[1], trial, KEYS * 3 / 4, KEYS) == KEYS / 4 &&
               (double)known_urls(sets[1], trial, KEYS / 2, KEYS * 3 / 4) <= KEPT_RATE * KEYS / 4;
    return is_refusal(code) ? VIDI_OK : code;
}

/* ---- the rest with the others ---- */

static void free_cuckoo(void *filter)
{
    lab_cuckoo_free(filter);
}

static void free_swiss(void *table)
{
    lab_swiss_free(table);
}

static int cuckoo_abilities(const trial *trial, bool *deletes, bool *merges)
{
    lab_peer_plan plan;
    lab_cuckoo *filters[2];
    LAB_BLOCK;
    LAB_TRY(lab_peer_plan_rate(&plan, LAB_PEER_CUCKOO, KEYS, CAN_RATE));
    for (unsigned i = 0; i < 2; i++) {
        LAB_TRY(lab_cuckoo_make(&filters[i], plan.units, plan.bits, NULL));
        LAB_TRY(lab_own(filters[i], free_cuckoo));
        LAB_TRY(lab_cuckoo_add(filters[i], words_from(trial, i * KEYS / 2, KEYS / 2), NULL));
    }
    LAB_TRY(lab_cuckoo_merge(filters[0], filters[1]));
    *merges = lab_cuckoo_has(filters[0], words_from(trial, 0, KEYS), NULL) == KEYS;
    lab_cuckoo_remove(filters[1], words_from(trial, KEYS / 2, KEYS / 4));
    /* A removed key that shares its fingerprint and buckets with another takes that one along. */
    *deletes = (double)lab_cuckoo_has(filters[1], words_from(trial, KEYS * 3 / 4, KEYS / 4), NULL) >=
                   (1 - KEPT_RATE) * KEYS / 4 &&
               (double)lab_cuckoo_has(filters[1], words_from(trial, KEYS / 2, KEYS / 4), NULL) <= KEPT_RATE * KEYS / 4;
    return VIDI_OK;
}

static int rocksdb_abilities(const trial *trial, bool *merges)
{
    lab_peer_plan plan;
    lab_rocksdb filters[2];
    LAB_BLOCK;
    LAB_TRY(lab_peer_plan_rate(&plan, LAB_PEER_ROCKSDB, KEYS, CAN_RATE));
    size_t bytes = plan.units * LAB_PEER_LINE;
    for (unsigned i = 0; i < 2; i++) {
        filters[i] = (lab_rocksdb){lab_peer_allocate(NULL, bytes), (uint32_t)plan.units, plan.bits};
        if (!filters[i].words)
            return lab_fail(VIDI_EMEMORY, "no memory for two filters");
        LAB_TRY(lab_own(filters[i].words, free));
        lab_rocksdb_add(&filters[i], words_from(trial, i * KEYS / 2, KEYS / 2), NULL);
    }
    lab_rocksdb_merge(&filters[0], &filters[1]);
    *merges = lab_rocksdb_has(&filters[0], words_from(trial, 0, KEYS), NULL) == KEYS;
    return VIDI_OK;
}

/* Merging is adding what the other table lists. */
static int swiss_abilities(const trial *trial, bool *deletes, bool *merges, bool *lists)
{
    lab_swiss *tables[2];
    uint64_t listed = 0, word;
    LAB_BLOCK;
    for (unsigned i = 0; i < 2; i++) {
        LAB_TRY(lab_swiss_make(&tables[i], KEYS, NULL));
        LAB_TRY(lab_own(tables[i], free_swiss));
        LAB_TRY(lab_swiss_add(tables[i], words_from(trial, i * KEYS / 2, KEYS / 2), NULL));
    }
    for (uint64_t at = 0; lab_swiss_next(tables[1], &at, &word); listed++)
        LAB_TRY(lab_swiss_add(tables[0], (lab_peer_keys){&word, 1, 1}, NULL));
    *lists = listed == KEYS / 2;
    *merges = lab_swiss_has(tables[0], words_from(trial, 0, KEYS), NULL) == KEYS;
    *deletes = lab_swiss_remove(tables[1], words_from(trial, KEYS / 2, KEYS / 4)) == KEYS / 4 &&
               lab_swiss_has(tables[1], words_from(trial, KEYS / 2, KEYS / 2), NULL) == KEYS / 4;
    return VIDI_OK;
}

/* A binary fuse filter has no such function. */
static int other_abilities(const trial *trial, bool *deletes, bool *merges, bool *lists)
{
    switch (trial->sort) {
    case LAB_PEER_CUCKOO:
        return cuckoo_abilities(trial, deletes, merges);
    case LAB_PEER_ROCKSDB:
        return rocksdb_abilities(trial, merges);
    case LAB_PEER_HASHSET:
        return swiss_abilities(trial, deletes, merges, lists);
    case LAB_PEER_FUSE_3:
    case LAB_PEER_FUSE_4:
        return VIDI_OK;
    default:
        return vidi_abilities(trial, deletes, merges, lists);
    }
}

static int measure_abilities(const lab_settings *settings, uint64_t run, double *numbers)
{
    const uint64_t all = (GROWN + 1) * (uint64_t)KEYS;
    trial trial = {.settings = settings, .run = run};
    LAB_TRY(LAB_NEW(trial.keys, all));
    lab_peer_make_hashes(trial.keys, settings, run, 0, all);
    for (size_t i = 0; i < LAB_PEERS; i++) {
        bool can[ABILITIES] = {false};
        trial.sort = (lab_peer_sort)i;
        LAB_TRY(takes(&trial, KEYS, &can[0]));
        LAB_TRY(takes(&trial, GROWN * (uint64_t)KEYS, &can[1]));
        LAB_TRY(other_abilities(&trial, &can[2], &can[3], &can[4]));
        for (size_t ability = 0; ability < ABILITIES; ability++)
            numbers[i * ABILITIES + ability] = can[ability];
    }
    return VIDI_OK;
}

LAB_STUDY(peers_abilities, "peers-abilities", "What they can do: the filters people use now", "vidi",
          "Shown by doing it with 4,000 keys; 1: it works. Grow: four times the keys that it was made for at an "
          "unchanged rate. Merge: two with equal parameters. List: hashes from which a larger one can be made.",
          "1: it can", lab_peer_names, peer_abilities, .runs_most = 1, .work = 0.1, .measure = measure_abilities);
