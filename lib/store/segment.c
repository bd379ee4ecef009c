/* Reading segments; see segment.h. */
#include "store/segment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/stream.h"
#include "store/guard.h"
#include "store/segment_format.h"

static const char magic[8] = {'v', 'i', 'd', 'i', 'i', 'd', 'x', '\n'};

enum { VERSION = 1, AT_NOTE = 168, AT_LIST_CHECK = 8176, AT_CHECK = 8184 };

/* ---- names ---- */

void vidi__segment_name(char name[40], uint64_t log, uint64_t serial)
{
    snprintf(name, 40, VIDI__SEGMENT_PREFIX "%016llx.%08llx", (unsigned long long)log, (unsigned long long)serial);
}

bool vidi__segment_parse(const char *name, uint64_t *log, uint64_t *serial)
{
    const size_t skip = sizeof VIDI__SEGMENT_PREFIX - 1;
    char again[40], *end;
    if (strncmp(name, VIDI__SEGMENT_PREFIX, skip) != 0)
        return false;
    *log = strtoull(name + skip, &end, 16);
    *serial = *end ? strtoull(end + 1, NULL, 16) : 0;
    vidi__segment_name(again, *log, *serial);
    return strcmp(again, name) == 0; /* so it was written just like that */
}

/* ---- the head ---- */

void vidi__segment_encode(unsigned char head[VIDI__SEGMENT_HEAD], const vidi__stretch *stretch, uint64_t list_check)
{
    const uint64_t numbers[] = {
        stretch->generation, stretch->log.number, stretch->log.epoch, stretch->log.identity, stretch->from,
        stretch->to,         stretch->last_check, stretch->hashes,    stretch->records,      stretch->bundles_before,
        stretch->bundles,
    };
    memset(head, 0, VIDI__SEGMENT_HEAD);
    memcpy(head, magic, sizeof magic);
    vidi__version_store(head, VERSION);
    for (size_t i = 0; i < VIDI__COUNT(numbers); i++)
        vidi__store64(head + 16 + 8 * i, numbers[i]);
    memcpy(head + 104, stretch->tally, sizeof stretch->tally);
    vidi__store64(head + 152, stretch->has_note);
    vidi__store64(head + 160, stretch->note_bytes);
    memcpy(head + AT_NOTE, stretch->note, (size_t)stretch->note_bytes);
    vidi__store64(head + AT_LIST_CHECK, list_check);
    vidi__store64(head + AT_CHECK, vidi__segment_checksum(head, AT_CHECK));
}

static int decode(vidi__stretch *stretch, const unsigned char *head)
{
    uint64_t numbers[11];
    if (memcmp(head, magic, sizeof magic) != 0 ||
        vidi__load64(head + AT_CHECK) != vidi__segment_checksum(head, AT_CHECK))
        return vidi__fail(VIDI_EDAMAGED, "the checksum of its head is wrong");
    VIDI__TRY(vidi__version_check(head, VERSION, "it"));
    for (size_t i = 0; i < VIDI__COUNT(numbers); i++)
        numbers[i] = vidi__load64(head + 16 + 8 * i);
    *stretch = (vidi__stretch){
        .generation = numbers[0],
        .log = {.number = numbers[1], .epoch = numbers[2], .identity = numbers[3]},
        .from = numbers[4],
        .to = numbers[5],
        .last_check = numbers[6],
        .hashes = numbers[7],
        .records = numbers[8],
        .bundles_before = numbers[9],
        .bundles = numbers[10],
        .has_note = vidi__load64(head + 152),
        .note_bytes = vidi__load64(head + 160),
    };
    if (stretch->note_bytes > VIDI__SEGMENT_NOTE || stretch->from >= stretch->to ||
        stretch->hashes > stretch->to / sizeof(vidi__u128))
        return vidi__fail(VIDI_EDAMAGED, "its head is impossible");
    memcpy(stretch->tally, head + 104, sizeof stretch->tally);
    memcpy(stretch->note, head + AT_NOTE, (size_t)stretch->note_bytes);
    return VIDI_OK;
}

/* ---- opening ---- */

static const vidi__u128 *hashes_of(const vidi__segment *self)
{
    return (const vidi__u128 *)(const void *)(self->start + VIDI__SEGMENT_HEAD);
}

static const unsigned char *list_of(const vidi__segment *self)
{
    return self->start + VIDI__SEGMENT_HEAD + self->stretch.hashes * sizeof(vidi__u128);
}

/* The high half of the first hash of a block, as the list tells it. */
static uint64_t first_of(const vidi__segment *self, uint64_t block)
{
    const vidi__u128 *mended = atomic_load_explicit(&self->mended, memory_order_acquire);
    return mended ? mended[block * VIDI__SEGMENT_BLOCK].hi : vidi__load64(list_of(self) + block * VIDI__SEGMENT_ENTRY);
}

static int check_list(const vidi__segment *self)
{
    uint64_t bytes = self->blocks * VIDI__SEGMENT_ENTRY;
    if (self->bytes != VIDI__SEGMENT_HEAD + self->stretch.hashes * sizeof(vidi__u128) + bytes)
        return vidi__fail(VIDI_EDAMAGED, "it has the wrong length");
    if (vidi__load64(self->start + AT_LIST_CHECK) != vidi__segment_checksum(list_of(self), bytes))
        return vidi__fail(VIDI_EDAMAGED, "the checksum of its list is wrong");
    for (uint64_t i = 1; i < self->blocks; i++)
        if (first_of(self, i) < first_of(self, i - 1))
            return vidi__fail(VIDI_EDAMAGED, "its list is not sorted");
    return VIDI_OK;
}

static int check(vidi__segment *self, vidi__memory *memory)
{
    if (self->bytes < VIDI__SEGMENT_HEAD)
        return vidi__fail(VIDI_EDAMAGED, "it is too short");
    VIDI__TRY(decode(&self->stretch, self->start));
    self->blocks = (self->stretch.hashes + VIDI__SEGMENT_BLOCK - 1) / VIDI__SEGMENT_BLOCK;
    VIDI__TRY(check_list(self));
    if (atomic_load_explicit(self->lost, memory_order_relaxed))
        return vidi__fail(VIDI_EDAMAGED, "it was truncated while it was opened");
    return vidi__alloc_zeroed(memory, &self->checked, self->blocks, 1);
}

static int map(vidi__segment *self, int folder, const char *name)
{
    vidi__file file;
    const void *start = NULL;
    VIDI__TRY(vidi__file_open(&file, folder, name, O_RDONLY));
    int code = vidi__file_size(&file, &self->bytes);
    if (code == VIDI_OK && self->bytes == 0)
        code = vidi__fail(VIDI_EDAMAGED, "it is empty");
    if (code == VIDI_OK)
        code = vidi__file_map(&file, self->bytes, &start);
    (void)vidi__system_now->close(file.handle);
    VIDI__TRY(code);
    code = vidi__guard_add(start, (size_t)self->bytes, &self->lost);
    if (code < 0)
        vidi__file_unmap(start, self->bytes);
    else
        self->start = start;
    return code;
}

int vidi__segment_open(vidi__segment **segment, vidi__memory *memory, int folder, uint64_t log, uint64_t serial)
{
    char name[40];
    vidi__segment *self;
    *segment = NULL;
    vidi__segment_name(name, log, serial);
    VIDI__TRY(vidi__alloc_zeroed(memory, &self, sizeof *self, _Alignof(vidi__segment)));
    self->serial = serial;
    int code = map(self, folder, name);
    if (code == VIDI_OK)
        code = check(self, memory);
    if (code < 0) {
        vidi__segment_close(self, memory);
        return code == VIDI_EABSENT ? code : vidi__fail_in(name, code);
    }
    *segment = self;
    return VIDI_OK;
}

void vidi__segment_close(vidi__segment *segment, vidi__memory *memory)
{
    if (!segment)
        return;
    const vidi__u128 *mended = atomic_load_explicit(&segment->mended, memory_order_relaxed);
    if (segment->start) {
        vidi__guard_remove(segment->start);
        vidi__file_unmap(segment->start, segment->bytes);
    }
    vidi__release(memory, (void *)segment->checked, segment->checked ? segment->blocks : 0, 1);
    vidi__release(memory, (void *)mended, mended ? segment->stretch.hashes * sizeof *mended : 0, _Alignof(vidi__u128));
    vidi__release(memory, segment, sizeof *segment, _Alignof(vidi__segment));
}

/* ---- blocks ---- */

static uint64_t block_size(const vidi__segment *self, uint64_t block)
{
    uint64_t left = self->stretch.hashes - block * VIDI__SEGMENT_BLOCK;
    return left < VIDI__SEGMENT_BLOCK ? left : VIDI__SEGMENT_BLOCK;
}

/* A checksum that is right says that the block is sorted, too: it was when it was written. */
static int check_block(vidi__segment *self, uint64_t block)
{
    const vidi__u128 *hashes = hashes_of(self) + block * VIDI__SEGMENT_BLOCK;
    uint64_t n = block_size(self, block);
    uint64_t expected = vidi__load64(list_of(self) + block * VIDI__SEGMENT_ENTRY + 8);
    bool right = vidi__segment_checksum(hashes, n * sizeof *hashes) == expected &&
                 hashes[0].hi == vidi__load64(list_of(self) + block * VIDI__SEGMENT_ENTRY);
    if (!right || atomic_load_explicit(self->lost, memory_order_relaxed))
        return vidi__fail(VIDI_EDAMAGED, "block %llu of a segment is damaged", (unsigned long long)block);
    atomic_store_explicit(&self->checked[block], 1, memory_order_relaxed);
    return VIDI_OK;
}

int vidi__segment_block(vidi__segment *segment, uint64_t block, const vidi__u128 **hashes, uint64_t *n)
{
    const vidi__u128 *mended = atomic_load_explicit(&segment->mended, memory_order_acquire);
    *n = block_size(segment, block);
    *hashes = (mended ? mended : hashes_of(segment)) + block * VIDI__SEGMENT_BLOCK;
    if (mended || atomic_load_explicit(&segment->checked[block], memory_order_relaxed))
        return VIDI_OK;
    return check_block(segment, block);
}

int vidi__segment_verify(vidi__segment *segment)
{
    for (uint64_t block = 0; block < segment->blocks; block++)
        VIDI__TRY(check_block(segment, block));
    return VIDI_OK;
}

void vidi__segment_mend(vidi__segment *segment, const vidi__u128 *hashes)
{
    atomic_store_explicit(&segment->mended, hashes, memory_order_release);
}

int vidi__segment_intact(const vidi__segment *segment)
{
    bool intact = !atomic_load_explicit(segment->lost, memory_order_relaxed) ||
                  atomic_load_explicit(&segment->mended, memory_order_relaxed);
    return VIDI__LIKELY(intact) ? VIDI_OK : vidi__fail(VIDI_EDAMAGED, "a segment was truncated while it was in use");
}

/* ---- lookups ---- */

/* Where in an even spread of n numbers a number would be. */
static uint64_t spread(uint64_t number, uint64_t n)
{
    return (uint64_t)((unsigned __int128)number * n >> 64);
}

/*
 * The last block whose first hash is not above; hashes are spread evenly, so it is near the place that interpolation
 * gives. The steps double, so that other hashes are found quickly, too.
 */
static uint64_t find_block(const vidi__segment *self, uint64_t high)
{
    uint64_t guess = spread(high, self->blocks), low = guess, above = guess + 1;
    for (uint64_t step = 1; low && first_of(self, low) > high; step *= 2)
        low = low > step ? low - step : 0;
    for (uint64_t step = 1; above < self->blocks && first_of(self, above) <= high; step *= 2)
        above = self->blocks - above > step ? above + step : self->blocks;
    while (above - low > 1) {
        uint64_t middle = low + (above - low) / 2;
        if (first_of(self, middle) <= high)
            low = middle;
        else
            above = middle;
    }
    return low;
}

/* Where in the block the hash should be, if hashes are spread evenly. */
static uint64_t guess_in(const vidi__segment *self, uint64_t block, uint64_t n, uint64_t high)
{
    uint64_t first = first_of(self, block);
    uint64_t last = block + 1 < self->blocks ? first_of(self, block + 1) : UINT64_MAX;
    uint64_t guess = high > first ? (uint64_t)((double)(high - first) / (double)(last - first) * (double)n) : 0;
    return guess < n ? guess : n - 1;
}

static bool is_above(const vidi__u128 *a, vidi__u128 b)
{
    return a->hi > b.hi || (a->hi == b.hi && a->lo > b.lo);
}

/* The same search as in find_block, for the last hash that is not above. */
static bool find_in(const vidi__u128 *hashes, uint64_t n, vidi__u128 hash, uint64_t guess)
{
    uint64_t low = guess, above = guess + 1;
    for (uint64_t step = 1; low && is_above(&hashes[low], hash); step *= 2)
        low = low > step ? low - step : 0;
    for (uint64_t step = 1; above < n && !is_above(&hashes[above], hash); step *= 2)
        above = n - above > step ? above + step : n;
    while (above - low > 1) {
        uint64_t middle = low + (above - low) / 2;
        if (is_above(&hashes[middle], hash))
            above = middle;
        else
            low = middle;
    }
    return hashes[low].hi == hash.hi && hashes[low].lo == hash.lo;
}

/* Hashes with the same high half may be in two blocks. */
static int look_up(vidi__segment *self, uint64_t block, vidi__u128 hash, bool *has)
{
    const vidi__u128 *hashes;
    uint64_t n;
    for (;; block--) {
        VIDI__TRY(vidi__segment_block(self, block, &hashes, &n));
        *has = find_in(hashes, n, hash, guess_in(self, block, n, hash.hi));
        if (*has || !block || hashes[0].hi != hash.hi)
            return VIDI_OK;
    }
}

/* In three rounds, so that the memory for one hash is on its way while others are looked at. */
int vidi__segment_has(vidi__segment *segment, const vidi__u128 *hashes, size_t n, bool *has)
{
    uint64_t blocks[VIDI__SEGMENT_GROUP];
    memset(has, 0, n * sizeof *has);
    if (!segment->blocks)
        return VIDI_OK;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(list_of(segment) + spread(hashes[i].hi, segment->blocks) * VIDI__SEGMENT_ENTRY);
    for (size_t i = 0; i < n; i++) {
        blocks[i] = find_block(segment, hashes[i].hi);
        uint64_t guess = guess_in(segment, blocks[i], block_size(segment, blocks[i]), hashes[i].hi);
        const vidi__u128 *near = hashes_of(segment) + blocks[i] * VIDI__SEGMENT_BLOCK + guess;
        __builtin_prefetch(near); /* and the lines before and after it */
        __builtin_prefetch(near - 4);
        __builtin_prefetch(near + 4);
    }
    for (size_t i = 0; i < n; i++)
        VIDI__TRY(look_up(segment, blocks[i], hashes[i], &has[i]));
    return vidi__segment_intact(segment);
}
