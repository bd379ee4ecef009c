/*
 * Slices of batches: canonical forms, shards, commands and replies. See slice.h.
 */
#include "slice.h"

#include <stdlib.h>
#include <string.h>

#include "handle.h"

void slice_free(slice *slice)
{
    if (slice)
        free(slice->room);
    free(slice);
}

int slice_begin(vidi_cluster *cluster)
{
    slice *slice = cluster->slice;
    if (!slice) {
        slice = calloc(1, sizeof *slice);
        if (slice && !(slice->room = malloc(SLICE_BYTES))) {
            free(slice);
            slice = NULL;
        }
        if (!slice)
            return cluster_fail(VIDI_EMEMORY, "there is no memory for a batch");
        slice->room_size = SLICE_BYTES;
        cluster->slice = slice;
    }
    slice->n = slice->room_used = slice->valid = slice->group_count = 0;
    return VIDI_OK;
}

/* ---- canonical forms ---- */

/* Codes beside those of the library. */
enum { SLICE_IS_FULL = 1000 };

/* The room for a text so long, which is the only one in the slice. */
static int enlarge(slice *slice, size_t size)
{
    char *larger = realloc(slice->room, size);
    if (!larger)
        return cluster_fail(VIDI_EMEMORY, "there is no memory for a URL of %zu bytes", size);
    slice->room = larger;
    slice->room_size = size;
    return VIDI_OK;
}

/* The canonical form, at the end of the room. */
static int make_form(const vidi_cluster *cluster, slice *slice, vidi_str url, vidi_str *form)
{
    size_t len = slice->room_size - slice->room_used;
    int code = vidi_url_canon(cluster->canon, url, NULL, slice->room + slice->room_used, &len);
    if (code == VIDI_ELIMIT && slice->n)
        return SLICE_IS_FULL;
    if (code == VIDI_ELIMIT) {
        CLUSTER_TRY(enlarge(slice, len));
        code = vidi_url_canon(cluster->canon, url, NULL, slice->room, &len);
    }
    *form = (vidi_str){slice->room + slice->room_used, len};
    return code;
}

/* Entry number `at`, whose text is a URL that is not in canonical form. */
static int take_other(vidi_cluster *cluster, slice *slice, size_t at)
{
    vidi_str url = slice->texts[at], form;
    if (!url.ptr && url.len)
        return cluster_fail(VIDI_EARGUMENT, "a URL has a length, but no address");
    int code = make_form(cluster, slice, url, &form);
    if (code == SLICE_IS_FULL)
        return code;
    if (code == VIDI_INVALID && cluster->invalid == VIDI_FAIL_INVALID)
        return cluster_fail_as_set(VIDI_INVALID);
    if (code != VIDI_OK && code != VIDI_INVALID)
        return cluster_fail_as_set(code);
    bool is_dropped = code == VIDI_INVALID && cluster->invalid == VIDI_DROP_INVALID;
    slice->verdicts[at] = is_dropped ? VIDI_INVALID : VIDI_UNTRIED;
    if (code == VIDI_OK && cluster->form_is_url) { /* a line that is not a URL and is kept stays as it is */
        slice->texts[at] = form;
        slice->room_used += form.len;
    } else if (!cluster->form_is_url) {
        (void)vidi_keyed_hash(cluster->record.route, code == VIDI_OK ? form : url, slice->hashes[at]);
    }
    slice->n++;
    return VIDI_OK;
}

/* Takes the texts up to `end`, those that are in canonical form many at a time. */
static int take_texts(vidi_cluster *cluster, slice *slice, size_t end)
{
    int code = VIDI_OK;
    while (slice->n < end && code == VIDI_OK) {
        size_t count = vidi_canon_count(cluster->canon, slice->texts + slice->n, end - slice->n);
        memset(slice->verdicts + slice->n, VIDI_UNTRIED, count);
        slice->n += count;
        if (slice->n < end)
            code = take_other(cluster, slice, slice->n);
    }
    return code;
}

/* Copies as many of the URLs as fit into a slice by their number and length, at least one; returns how many. */
static size_t copy_texts(slice *slice, const vidi_str *first, size_t stride, size_t n)
{
    size_t count = 0, bytes = 0;
    while (count < n && count < SLICE_URLS && bytes < SLICE_BYTES) {
        slice->texts[count] = *(const vidi_str *)(const void *)((const char *)first + count * stride);
        bytes += slice->texts[count++].len;
    }
    return count;
}

int slice_take(vidi_cluster *cluster, const vidi_str *first, size_t stride, size_t n)
{
    CLUSTER_TRY(slice_begin(cluster));
    slice *slice = cluster->slice;
    int code = take_texts(cluster, slice, copy_texts(slice, first, stride, n));
    if (cluster->form_is_url)
        (void)vidi_keyed_hash_batch(cluster->record.route, slice->texts, slice->n, slice->hashes);
    for (size_t at = 0; at < slice->n; at++)
        if (slice->verdicts[at] != VIDI_INVALID)
            slice->picked[slice->valid++] = (uint32_t)at;
    slice_sort(cluster);
    return code == SLICE_IS_FULL ? VIDI_OK : code;
}

/* ---- repeats ---- */

_Static_assert((SLICE_URLS & (SLICE_URLS - 1)) == 0, "a position has a fixed number of bits");
#define ROUNDS (UINT32_MAX / SLICE_URLS)

/* The position of the first entry with the hash of entry number `at`: that one, if there is none before it. */
static size_t find_first(slice *slice, size_t at)
{
    const uint64_t *hash = slice->hashes[at];
    size_t place = hash[0] % SLICE_PLACES;
    while (slice->places[place] / SLICE_URLS == slice->round) {
        size_t other = slice->places[place] % SLICE_URLS;
        if (slice->hashes[other][0] == hash[0] && slice->hashes[other][1] == hash[1])
            return other;
        place = (place + 1) % SLICE_PLACES;
    }
    slice->places[place] = slice->round * SLICE_URLS + (uint32_t)at;
    return at;
}

/* Empties the table: what it has is of another round now. */
static void begin_round(slice *slice)
{
    if (++slice->round < ROUNDS)
        return;
    memset(slice->places, 0, sizeof slice->places);
    slice->round = 1;
}

void slice_leave_out_known(vidi_cluster *cluster)
{
    slice *slice = cluster->slice;
    size_t left = 0;
    begin_round(slice);
    for (size_t i = 0; i < slice->valid; i++) {
        uint32_t at = slice->picked[i];
        size_t first = find_first(slice, at);
        if (first != at) {
            slice->verdicts[at] = SLICE_REPEAT;
            slice->numbers[at] = first;
        } else if (pending_find(&cluster->pending, slice->hashes[at])) {
            slice->verdicts[at] = VIDI_SEEN;
        } else {
            slice->picked[left++] = at;
        }
    }
    bool changed = left < slice->valid;
    slice->valid = left;
    if (changed)
        slice_sort(cluster);
}

/* ---- tokens ---- */

void slice_add_claim(slice *slice, const pending_entry *entry, uint64_t number)
{
    size_t at = slice->n++;
    slice->texts[at] = (vidi_str){entry->token.text, sizeof entry->token.text};
    slice->hashes[at][0] = entry->hash[0];
    slice->hashes[at][1] = entry->hash[1];
    slice->numbers[at] = number;
    slice->verdicts[at] = VIDI_UNTRIED;
    slice->picked[slice->valid++] = (uint32_t)at;
}

/* ---- by shard ---- */

/* Groups in the order in which their shards come first. */
static void find_groups(vidi_cluster *cluster, slice *slice)
{
    slice->group_count = 0;
    for (size_t i = 0; i < slice->valid; i++) {
        size_t at = slice->picked[i];
        uint32_t shard = slice->shards[at] = shard_of(slice->hashes[at], cluster->record.shards);
        if (slice->counts[shard] == 0)
            slice->groups[slice->group_count++].shard = shard;
        slice->counts[shard]++;
    }
    uint32_t from = 0;
    for (size_t g = 0; g < slice->group_count; g++) {
        slice_group *group = &slice->groups[g];
        group->from = from;
        group->count = slice->counts[group->shard];
        slice->counts[group->shard] = from; /* where its next entry goes */
        from += group->count;
    }
}

void slice_sort(vidi_cluster *cluster)
{
    slice *slice = cluster->slice;
    find_groups(cluster, slice);
    for (size_t i = 0; i < slice->valid; i++)
        slice->order[slice->counts[slice->shards[slice->picked[i]]]++] = slice->picked[i];
    for (size_t g = 0; g < slice->group_count; g++)
        slice->counts[slice->groups[g].shard] = 0;
}

void slice_keep(vidi_cluster *cluster, uint8_t verdict)
{
    slice *slice = cluster->slice;
    slice->valid = 0;
    for (size_t at = 0; at < slice->n; at++)
        if (slice->verdicts[at] == verdict)
            slice->picked[slice->valid++] = (uint32_t)at;
    slice_sort(cluster);
}

/* ---- commands ---- */

/* Everything before the URLs. */
static void begin_command(calls *calls, const shard *shard, const slice_command *command)
{
    calls_begin_shard(calls, shard, command->name, command->how);
    if (command->owner.ptr)
        calls_add(calls, command->owner);
    if (command->lease.ptr)
        calls_add(calls, command->lease);
    calls_guard(calls, shard);
    if (command->again)
        calls_add(calls, WORD("AGAIN"));
    if (command->drop)
        calls_add(calls, WORD("DROP"));
    if (!command->tokens)
        calls_add(calls, WORD("URLS"));
}

/* The URLs, or tokens, at these places of the order. */
static void add_urls(calls *calls, const slice *slice, const slice_command *command, size_t from, size_t count)
{
    vidi_str *words = calls_words(calls, command->pairs ? 2 * count : count);
    if (!words)
        return;
    for (size_t i = from; i < from + count; i++) {
        size_t at = slice->order[i];
        *words++ = slice->texts[at];
        if (command->pairs)
            *words++ = command->claims ? command->claims[at].payload : WORD("");
    }
    calls->used += command->pairs ? 2 * count : count;
}

void slice_ask(vidi_cluster *cluster, const slice_command *command)
{
    slice *slice = cluster->slice;
    calls *calls = &cluster->calls;
    calls_clear(calls);
    for (size_t g = 0; g < slice->group_count; g++) {
        const slice_group *group = &slice->groups[g];
        const shard *shard = shards_get(&cluster->shards, group->shard);
        for (uint32_t done = 0; done < group->count && !calls->failed; done += CALL_URLS) {
            uint32_t count = group->count - done < CALL_URLS ? group->count - done : CALL_URLS;
            slice->call_from[calls->count] = group->from + done;
            slice->call_group[calls->count] = (uint32_t)g;
            begin_command(calls, shard, command);
            add_urls(calls, slice, command, group->from + done, count);
        }
    }
    if (!calls->failed)
        slice->call_from[calls->count] = (uint32_t)slice->valid;
}

/* VIDI_OK, or the first error of a server or of `take`. */
static int read_replies(vidi_cluster *cluster, slice_taker take)
{
    slice *slice = cluster->slice;
    int first = VIDI_OK;
    for (size_t i = 0; i < cluster->calls.count; i++) {
        uint32_t from = slice->call_from[i], count = slice->call_from[i + 1] - from;
        const shard *shard = shards_get(&cluster->shards, slice->groups[slice->call_group[i]].shard);
        const redis_reply *reply = cluster_reply(cluster, i, REDIS_ARRAY, shard, &first);
        if (reply && reply->count != count && first == VIDI_OK)
            first = cluster_garbled(cluster);
        if (!reply || reply->count != count)
            continue;
        for (uint32_t k = 0; k < count; k++) {
            int code = take(cluster, slice->order[from + k], &reply->items[k], cluster->calls.list[i].repeated);
            first = first == VIDI_OK ? code : first;
        }
    }
    return first;
}

int slice_run(vidi_cluster *cluster, slice_taker take)
{
    int code = cluster_run(cluster), read = read_replies(cluster, take);
    if (code != VIDI_OK && read != VIDI_OK)
        cluster_run_failed(cluster, code);
    return code != VIDI_OK ? code : read;
}
