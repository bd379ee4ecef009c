/* One interface to all structures, with memory that is counted. See peers.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lab/engine/run_memory.h"
#include "lab/urls/mix.h"
#include "lab/peers/peers.h"
#include "lib/inside/inside.h"

enum { BATCH = 1024 };
#define HUGE_PAGE (UINT64_C(1) << 21)

/* ---- memory: the same for all, in large pages where the kernel has them ---- */

static void *allocate(void *context, size_t bytes, size_t alignment)
{
    lab_peer_memory *memory = context;
    void *ptr = NULL;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    if (posix_memalign(&ptr, bytes >= HUGE_PAGE ? HUGE_PAGE : alignment, bytes) != 0)
        return NULL;
    if (bytes >= HUGE_PAGE)
        madvise(ptr, bytes, MADV_HUGEPAGE);
    memory->now += bytes;
    if (memory->now > memory->peak)
        memory->peak = memory->now;
    return ptr;
}

static void *allocate_zeroed(void *context, size_t bytes, size_t alignment)
{
    void *ptr = allocate(context, bytes, alignment);
    if (ptr)
        memset(ptr, 0, bytes);
    return ptr;
}

static void release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    lab_peer_memory *memory = context;
    (void)alignment;
    if (ptr)
        memory->now -= bytes;
    free(ptr);
}

void lab_peer_memory_init(lab_peer_memory *memory)
{
    *memory = (lab_peer_memory){0};
    memory->allocator = (vidi_allocator){sizeof memory->allocator, allocate, allocate_zeroed, release, memory};
}

/* ---- making ---- */

struct lab_peer {
    lab_peer_sort sort;
    const vidi_allocator *memory;
    vidi__inside_filter *vidi;
    lab_cuckoo *cuckoo;
    lab_fuse *fuse;
    lab_rocksdb rocksdb;
    lab_swiss *swiss;
};

/* A plan begins with "capacity=N,", which a set takes, not a filter; the same is true of "error=E". */
static void read_params(vidi__inside_recipe *recipe, const char *params)
{
    const char *comma = strchr(params, ',');
    recipe->params = comma ? comma + 1 : "";
    if (strncmp(recipe->params, "error=", strlen("error=")) == 0) {
        char *end;
        recipe->error = strtod(recipe->params + strlen("error="), &end);
        recipe->params = *end == ',' ? end + 1 : "";
    }
}

/* Without a capacity, a fingerprint keeps as many bits of a hash, and blocked the same rate. */
static int make_vidi(lab_peer *peer, const lab_peer_plan *plan, bool grows, const unsigned char key[VIDI_KEY_BYTES])
{
    vidi__inside_recipe recipe = {
        .kind = plan->vidi.kind, .capacity = grows ? 0 : plan->keys, .allocator = peer->memory};
    memcpy(recipe.key, key, sizeof recipe.key);
    if (grows && plan->sort == LAB_PEER_CLASSIC)
        return lab_fail(VIDI_ECANNOT, "classic cannot grow");
    read_params(&recipe, plan->vidi.params);
    return vidi__inside_filter_make(&peer->vidi, &recipe);
}

static int make_rocksdb(lab_peer *peer, const lab_peer_plan *plan)
{
    peer->rocksdb = (lab_rocksdb){.lines = (uint32_t)plan->units, .probes = plan->bits};
    peer->rocksdb.words = lab_peer_allocate(peer->memory, (size_t)peer->rocksdb.lines * LAB_PEER_LINE);
    return peer->rocksdb.words ? VIDI_OK : lab_fail(VIDI_EMEMORY, "no memory for %u lines", peer->rocksdb.lines);
}

static int make(lab_peer *peer, const lab_peer_plan *plan, bool grows, const unsigned char key[VIDI_KEY_BYTES])
{
    uint64_t keys = grows ? 0 : plan->keys;
    switch (plan->sort) {
    case LAB_PEER_CUCKOO:
        return grows ? lab_fail(VIDI_ECANNOT, "a cuckoo filter cannot grow")
                     : lab_cuckoo_make(&peer->cuckoo, plan->units, plan->bits, peer->memory);
    case LAB_PEER_FUSE_3:
        return lab_fuse_make(&peer->fuse, keys, 3, plan->bits, peer->memory);
    case LAB_PEER_FUSE_4:
        return lab_fuse_make(&peer->fuse, keys, 4, plan->bits, peer->memory);
    case LAB_PEER_ROCKSDB:
        return grows ? lab_fail(VIDI_ECANNOT, "RocksDB's filter cannot grow") : make_rocksdb(peer, plan);
    case LAB_PEER_HASHSET:
        return lab_swiss_make(&peer->swiss, keys, peer->memory);
    default:
        return make_vidi(peer, plan, grows, key);
    }
}

int lab_peer_make(lab_peer **made, const lab_peer_plan *plan, bool grows, const unsigned char key[VIDI_KEY_BYTES],
                  lab_peer_memory *memory)
{
    lab_peer *peer = *made = calloc(1, sizeof *peer);
    if (!peer)
        return lab_fail(VIDI_EMEMORY, "no memory for a filter");
    peer->sort = plan->sort;
    peer->memory = &memory->allocator;
    int code = make(peer, plan, grows, key);
    if (code < 0) {
        lab_peer_free(peer);
        *made = NULL;
    }
    return code;
}

void lab_peer_free(lab_peer *peer)
{
    if (!peer)
        return;
    vidi__inside_filter_free(peer->vidi);
    lab_cuckoo_free(peer->cuckoo);
    lab_fuse_free(peer->fuse);
    lab_swiss_free(peer->swiss);
    lab_peer_release(peer->memory, peer->rocksdb.words, (size_t)peer->rocksdb.lines * LAB_PEER_LINE);
    free(peer);
}

/* ---- filling and asking ---- */

static int64_t take_vidi(vidi__inside_filter *filter, const vidi_digest *keys, size_t count, bool adds)
{
    uint8_t verdicts[BATCH];
    int64_t seen = 0;
    for (size_t done = 0, now; done < count; done += now) {
        now = count - done < BATCH ? count - done : BATCH;
        LAB_TRY(adds ? vidi__inside_filter_add(filter, keys + done, now, verdicts)
                     : vidi__inside_filter_has(filter, keys + done, now, verdicts));
        for (size_t i = 0; i < now; i++)
            seen += verdicts[i] == VIDI_SEEN;
    }
    return seen;
}

/* The others take the lower half of each hash. */
static lab_peer_keys words_of(const vidi_digest *keys, size_t count)
{
    return (lab_peer_keys){&keys->lo, sizeof *keys / sizeof keys->lo, count};
}

int64_t lab_peer_add(lab_peer *peer, const vidi_digest *keys, size_t count)
{
    lab_peer_keys words = words_of(keys, count);
    switch (peer->sort) {
    case LAB_PEER_CUCKOO:
        return lab_cuckoo_add(peer->cuckoo, words, NULL);
    case LAB_PEER_FUSE_3:
    case LAB_PEER_FUSE_4:
        return lab_fuse_collect(peer->fuse, words);
    case LAB_PEER_ROCKSDB:
        return lab_rocksdb_add(&peer->rocksdb, words, NULL);
    case LAB_PEER_HASHSET:
        return lab_swiss_add(peer->swiss, words, NULL);
    default:
        return take_vidi(peer->vidi, keys, count, true);
    }
}

int lab_peer_finish(lab_peer *peer)
{
    return peer->fuse ? lab_fuse_freeze(peer->fuse) : VIDI_OK;
}

int64_t lab_peer_has(lab_peer *peer, const vidi_digest *keys, size_t count)
{
    lab_peer_keys words = words_of(keys, count);
    switch (peer->sort) {
    case LAB_PEER_CUCKOO:
        return lab_cuckoo_has(peer->cuckoo, words, NULL);
    case LAB_PEER_FUSE_3:
    case LAB_PEER_FUSE_4:
        return lab_fuse_has(peer->fuse, words, NULL);
    case LAB_PEER_ROCKSDB:
        return lab_rocksdb_has(&peer->rocksdb, words, NULL);
    case LAB_PEER_HASHSET:
        return lab_swiss_has(peer->swiss, words, NULL);
    default:
        return take_vidi(peer->vidi, keys, count, false);
    }
}

/* ---- keys ---- */

int lab_peer_hash_urls(vidi_digest *hashes, const lab_settings *settings, uint64_t run, uint64_t first, uint64_t count)
{
    unsigned char key[VIDI_KEY_BYTES];
    lab_texts texts;
    LAB_BLOCK;
    lab_key(key, settings->seed, run);
    LAB_TRY(lab_texts_make(&texts, settings, run, first, count));
    return vidi__inside_hash("sip13", key, (vidi_str){"", 0}, texts.urls, count, hashes);
}

void lab_peer_make_hashes(vidi_digest *hashes, const lab_settings *settings, uint64_t run, uint64_t first,
                          uint64_t count)
{
    uint64_t start = lab_run_start(settings->seed, run);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = start + (first + i) * UINT64_C(0x9e3779b97f4a7c15);
        hashes[i] = (vidi_digest){lab_mix(number), lab_mix(number ^ UINT64_C(0xd1b54a32d192ed03))};
    }
}
