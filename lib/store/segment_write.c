/*
 * Writing segments: from hashes in memory, or from other segments. Both pass sorted hashes block by block to a writer,
 * which keeps the list of blocks in memory and writes it after them, and the head last.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "store/segment_format.h"

/* Hashes that are written at once. */
#define PIECE (UINT64_C(64) * VIDI__SEGMENT_BLOCK)

/* ---- sorting ---- */

static bool is_below(const vidi__u128 *a, const vidi__u128 *b)
{
    return a->hi < b->hi || (a->hi == b->hi && a->lo < b->lo);
}

static int compare(const void *a, const void *b)
{
    return is_below(a, b) ? -1 : is_below(b, a);
}

/* Hashes are spread evenly, so a bucket has few; if not, it is sorted by comparisons. */
enum { BUCKET_BITS = 14, BUCKETS = 1 << BUCKET_BITS, FEW = 24 };

static void sort_bucket(vidi__u128 *hashes, uint64_t n)
{
    if (n > FEW) {
        qsort(hashes, (size_t)n, sizeof *hashes, compare);
        return;
    }
    for (uint64_t i = 1; i < n; i++) {
        vidi__u128 hash = hashes[i];
        uint64_t at = i;
        for (; at && is_below(&hash, &hashes[at - 1]); at--)
            hashes[at] = hashes[at - 1];
        hashes[at] = hash;
    }
}

void vidi__segment_sort(vidi__u128 *hashes, uint64_t n, vidi__u128 *room)
{
    uint32_t ends[BUCKETS]; /* n is below 2^32 */
    memset(ends, 0, sizeof ends);
    for (uint64_t i = 0; i < n; i++)
        ends[hashes[i].hi >> (64 - BUCKET_BITS)]++;
    uint32_t sum = 0;
    for (size_t i = 0; i < BUCKETS; i++) {
        uint32_t count = ends[i];
        ends[i] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++)
        room[ends[hashes[i].hi >> (64 - BUCKET_BITS)]++] = hashes[i];
    for (size_t i = 0; i < BUCKETS; i++) {
        uint32_t begin = i ? ends[i - 1] : 0;
        sort_bucket(room + begin, ends[i] - begin);
    }
    if (n)
        memcpy(hashes, room, (size_t)n * sizeof *hashes);
}

/* ---- the file ---- */

typedef struct writer {
    vidi__memory *memory;
    int folder;
    const vidi__stretch *stretch;
    vidi__file file;
    char name[40], new_name[40];
    unsigned char *list;
    uint64_t list_bytes, listed;
    vidi__u128 *piece; /* hashes that are not written yet */
    uint64_t n;
} writer;

static int begin(writer *self, vidi__memory *memory, int folder, uint64_t serial, const vidi__stretch *stretch)
{
    static const unsigned char nothing[VIDI__SEGMENT_HEAD];
    uint64_t blocks = (stretch->hashes + VIDI__SEGMENT_BLOCK - 1) / VIDI__SEGMENT_BLOCK;
    *self = (writer){.memory = memory, .folder = folder, .stretch = stretch, .file.handle = -1};
    vidi__segment_name(self->name, stretch->log.number, serial);
    snprintf(self->new_name, sizeof self->new_name, "%.35s" VIDI__SEGMENT_NEW, self->name);
    VIDI__TRY(vidi__alloc(memory, &self->list, blocks * VIDI__SEGMENT_ENTRY, 8));
    self->list_bytes = blocks * VIDI__SEGMENT_ENTRY;
    VIDI__TRY(vidi__alloc(memory, &self->piece, PIECE * sizeof *self->piece, _Alignof(vidi__u128)));
    VIDI__TRY(vidi__file_unlink(folder, self->new_name));
    VIDI__TRY(vidi__file_open(&self->file, folder, self->new_name, O_RDWR | O_CREAT | O_EXCL));
    return vidi__file_write(&self->file, nothing, sizeof nothing);
}

static int flush(writer *self)
{
    for (uint64_t at = 0; at < self->n; at += VIDI__SEGMENT_BLOCK) {
        uint64_t n = self->n - at < VIDI__SEGMENT_BLOCK ? self->n - at : VIDI__SEGMENT_BLOCK;
        unsigned char *entry = self->list + self->listed;
        vidi__store64(entry, self->piece[at].hi);
        vidi__store64(entry + 8, vidi__segment_checksum(self->piece + at, n * sizeof *self->piece));
        self->listed += VIDI__SEGMENT_ENTRY;
    }
    int code = self->n ? vidi__file_write(&self->file, self->piece, (size_t)(self->n * sizeof *self->piece)) : VIDI_OK;
    self->n = 0;
    return code;
}

static int add(writer *self, vidi__u128 hash)
{
    self->piece[self->n++] = hash;
    return VIDI__LIKELY(self->n < PIECE) ? VIDI_OK : flush(self);
}

/* The contents are on disk before the file has a head, and before it has its name. */
static int finish(writer *self)
{
    unsigned char head[VIDI__SEGMENT_HEAD];
    VIDI__TRY(flush(self));
    if (self->listed)
        VIDI__TRY(vidi__file_write(&self->file, self->list, (size_t)self->listed));
    VIDI__TRY(vidi__file_sync(&self->file));
    vidi__segment_encode(head, self->stretch, vidi__segment_checksum(self->list, self->listed));
    VIDI__TRY(vidi__file_overwrite(&self->file, head, sizeof head, 0));
    VIDI__TRY(vidi__file_sync(&self->file));
    return vidi__file_rename(self->folder, self->new_name, self->name);
}

static int end(writer *self, int code)
{
    if (self->file.handle >= 0)
        (void)vidi__system_now->close(self->file.handle);
    if (code < 0) /* not vidi__file_unlink, whose message would hide the cause */
        (void)vidi__system_now->unlink(self->folder, self->new_name);
    vidi__release(self->memory, self->list, self->list_bytes, 8);
    vidi__release(self->memory, self->piece, self->piece ? PIECE * sizeof *self->piece : 0, _Alignof(vidi__u128));
    return code;
}

int vidi__segment_write(vidi__memory *memory, int folder, uint64_t serial, const vidi__stretch *stretch,
                        const vidi__u128 *hashes)
{
    writer self;
    int code = begin(&self, memory, folder, serial, stretch);
    for (uint64_t i = 0; i < stretch->hashes && code == VIDI_OK; i++)
        code = add(&self, hashes[i]);
    if (code == VIDI_OK)
        code = finish(&self);
    return end(&self, code);
}

/* ---- merging ---- */

/* Where the merge is in one of the segments. */
typedef struct cursor {
    vidi__segment *segment;
    uint64_t block; /* the next one */
    const vidi__u128 *at, *end;
} cursor;

static int next_block(cursor *self)
{
    uint64_t n;
    VIDI__TRY(vidi__segment_intact(self->segment));
    if (self->block == self->segment->blocks)
        return VIDI_OK;
    VIDI__TRY(vidi__segment_block(self->segment, self->block++, &self->at, &n));
    self->end = self->at + n;
    return VIDI_OK;
}

/* The stretch of several together. */
static vidi__stretch join(vidi__segment *const *parts, size_t count)
{
    vidi__stretch all = parts[count - 1]->stretch;
    all.from = parts[0]->stretch.from;
    all.bundles_before = parts[0]->stretch.bundles_before;
    all.hashes = all.records = 0;
    for (size_t i = 0; i < count; i++) {
        const vidi__stretch *part = &parts[i]->stretch;
        all.hashes += part->hashes;
        all.records += part->records;
        if (!parts[count - 1]->stretch.has_note && part->has_note) { /* the last one counts */
            all.has_note = true;
            all.note_bytes = part->note_bytes;
            memcpy(all.note, part->note, sizeof all.note);
        }
    }
    return all;
}

static int merge(writer *self, cursor *cursors, size_t count, const _Atomic bool *stop)
{
    for (uint64_t done = 0; done < self->stretch->hashes; done++) {
        cursor *least = NULL;
        for (size_t i = 0; i < count; i++)
            if (cursors[i].at != cursors[i].end && (!least || is_below(cursors[i].at, least->at)))
                least = &cursors[i];
        if (!least)
            return vidi__fail(VIDI_EDAMAGED, "segments have fewer hashes than they say");
        VIDI__TRY(add(self, *least->at++));
        if (least->at == least->end)
            VIDI__TRY(next_block(least));
        if (done % PIECE == 0 && atomic_load_explicit(stop, memory_order_relaxed))
            return vidi__fail(VIDI_ECANNOT, "the log is being closed");
    }
    return VIDI_OK;
}

int vidi__segment_merge(vidi__memory *memory, int folder, uint64_t serial, vidi__segment *const *parts, size_t count,
                        const _Atomic bool *stop)
{
    cursor cursors[VIDI__SEGMENT_MERGE_MOST];
    vidi__stretch all = join(parts, count);
    writer self;
    int code = begin(&self, memory, folder, serial, &all);
    for (size_t i = 0; i < count && code == VIDI_OK; i++) {
        cursors[i] = (cursor){.segment = parts[i]};
        code = next_block(&cursors[i]);
    }
    if (code == VIDI_OK)
        code = merge(&self, cursors, count, stop);
    for (size_t i = 0; i < count && code == VIDI_OK; i++)
        code = vidi__segment_intact(parts[i]);
    if (code == VIDI_OK)
        code = finish(&self);
    return end(&self, code);
}
