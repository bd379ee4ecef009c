/*
 * The writer's side of a log's index: the thread that writes and merges segments; and how segments are found again. See
 * log_index.h.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "durable/log_index.h"
#include "store/log_format.h"

uint64_t vidi__index_chunk = UINT64_C(1) << 17;

/* Bytes of the log that hold about as many hashes as a chunk. */
#define CHUNK_BYTES (vidi__index_chunk * 18)
/* Room for hashes: a chunk, and a bundle that must not be cut. */
#define ROOM_HASHES (2 * vidi__index_chunk)
/* No index is built if that would take more than a quarter of the memory that is left below the limit. */
#define ROOM_LEFT 4
/* As soon as there are this many segments of one size, they are merged. */
#define MERGED 4
_Static_assert(MERGED <= VIDI__SEGMENT_MERGE_MOST, "they can be merged at once");

struct vidi__index_builder {
    vidi__memory *memory;
    int folder;
    vidi__log_id id;
    _Atomic bool stops;   /* the thread ends as soon as it can */
    pthread_mutex_t lock; /* protects the next five */
    pthread_cond_t work;
    uint64_t synced; /* length of the log */
    bool started, ends;
    pthread_t thread;
    /* The thread's own. */
    vidi__segment *segments[VIDI__SEGMENTS_MOST];
    size_t count;
    uint64_t serial; /* of the next segment */
};

/* ---- finding segments ---- */

typedef struct listing {
    uint64_t log;
    uint64_t serials[4 * VIDI__SEGMENTS_MOST];
    size_t count;
} listing;

static int see(void *context, const char *name)
{
    listing *self = context;
    uint64_t log, serial;
    if (vidi__segment_parse(name, &log, &serial) && log == self->log && self->count < VIDI__COUNT(self->serials))
        self->serials[self->count++] = serial;
    return 0;
}

/* What the log is now: a segment must fit it. */
typedef struct log_now {
    vidi__file file;
    uint64_t bytes;
    vidi__log_head head;
} log_now;

static int open_log(log_now *self, int folder, const vidi__log_id *id)
{
    unsigned char head[VIDI__LOG_HEAD];
    char name[40];
    vidi__log_name(name, id->number);
    VIDI__TRY(vidi__file_open(&self->file, folder, name, O_RDONLY));
    int code = vidi__file_size(&self->file, &self->bytes);
    if (code == VIDI_OK)
        code = vidi__file_read(&self->file, head, sizeof head, 0);
    if (code == VIDI_OK)
        code = vidi__log_head_read(head, id, name, &self->head);
    if (code < 0)
        (void)vidi__system_now->close(self->file.handle);
    return code;
}

/* The checksum that ends the record before this place. */
static int read_check(const log_now *self, uint64_t to, uint64_t *check)
{
    unsigned char bytes[VIDI__LOG_CHECK];
    VIDI__TRY(vidi__file_read(&self->file, bytes, sizeof bytes, to - sizeof bytes));
    *check = vidi__load64(bytes);
    return VIDI_OK;
}

/*
 * Returns true if the segment belongs to this log as it is now. After a crash the log may be shorter than it was, and
 * even longer again with other records: then the segment's last record is not there.
 */
static bool fits(const vidi__segment *segment, const log_now *log, const vidi__log_id *id)
{
    const vidi__stretch *stretch = &segment->stretch;
    uint64_t check;
    return stretch->generation == log->head.generation && stretch->log.number == id->number &&
           stretch->log.epoch == id->epoch && stretch->log.identity == id->identity &&
           stretch->from >= VIDI__LOG_HEAD && stretch->to <= log->bytes &&
           read_check(log, stretch->to, &check) == VIDI_OK && check == stretch->last_check;
}

/* All segments of a log that can be opened. */
typedef struct candidates {
    vidi__segment *list[VIDI__COUNT(((listing *)0)->serials)];
    size_t count;
} candidates;

static void open_all(candidates *self, vidi__memory *memory, int folder, const listing *names)
{
    self->count = 0;
    for (size_t i = 0; i < names->count; i++)
        if (vidi__segment_open(&self->list[self->count], memory, folder, names->log, names->serials[i]) == VIDI_OK)
            self->count++;
}

/* Takes out the longest segment that begins here and fits; NULL if there is none. */
static vidi__segment *take_next(candidates *self, const log_now *log, const vidi__log_id *id, uint64_t from)
{
    vidi__segment **best = NULL;
    for (size_t i = 0; i < self->count; i++) {
        const vidi__stretch *stretch = &self->list[i]->stretch;
        if (stretch->from == from && (!best || stretch->to > (*best)->stretch.to) && fits(self->list[i], log, id))
            best = &self->list[i];
    }
    if (!best)
        return NULL;
    vidi__segment *segment = *best;
    *best = self->list[--self->count];
    return segment;
}

static int open_chain(vidi__memory *memory, int folder, const vidi__log_id *id, vidi__segment **segments, size_t *count)
{
    listing names = {.log = id->number};
    candidates all;
    log_now log;
    if (vidi__system_now->list(folder, see, &names) != 0 || !names.count)
        return VIDI_OK;
    VIDI__TRY(open_log(&log, folder, id));
    open_all(&all, memory, folder, &names);
    for (uint64_t from = VIDI__LOG_HEAD; *count < VIDI__SEGMENTS_MOST; from = segments[*count - 1]->stretch.to) {
        vidi__segment *next = take_next(&all, &log, id, from);
        if (!next)
            break;
        segments[(*count)++] = next;
    }
    for (size_t i = 0; i < all.count; i++)
        vidi__segment_close(all.list[i], memory);
    (void)vidi__system_now->close(log.file.handle);
    return VIDI_OK;
}

int vidi__index_open(vidi__memory *memory, int folder, const vidi__log_id *id, vidi__segment **segments, size_t *count)
{
    vidi__quiet quiet;
    *count = 0;
    vidi__quiet_begin(&quiet);
    int code = open_chain(memory, folder, id, segments, count);
    vidi__quiet_end(&quiet, VIDI_OK);
    return code;
}

typedef struct tidying {
    int folder;
    uint64_t log;
    vidi__segment *const *segments;
    size_t count;
} tidying;

static int remove_other(void *context, const char *name)
{
    const tidying *self = context;
    char prefix[40], mine[40];
    snprintf(prefix, sizeof prefix, VIDI__SEGMENT_PREFIX "%016llx.", (unsigned long long)self->log);
    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return 0;
    for (size_t i = 0; i < self->count; i++) {
        vidi__segment_name(mine, self->log, self->segments[i]->serial);
        if (strcmp(mine, name) == 0)
            return 0;
    }
    (void)vidi__file_unlink(self->folder, name);
    return 0;
}

/* Removes all other files of the log's index. */
static void tidy(int folder, uint64_t log, vidi__segment *const *segments, size_t count)
{
    tidying self = {folder, log, segments, count};
    (void)vidi__system_now->list(folder, remove_other, &self);
}

/* ---- making segments ---- */

static uint64_t covered(const vidi__index_builder *self)
{
    return self->count ? self->segments[self->count - 1]->stretch.to : VIDI__LOG_HEAD;
}

/* Opens the segment that was just written, in the place of the last `replaced` ones, whose files are removed. */
static int put_segment(vidi__index_builder *self, size_t replaced)
{
    vidi__segment *segment;
    VIDI__TRY(vidi__segment_open(&segment, self->memory, self->folder, self->id.number, self->serial++));
    for (; replaced; replaced--) {
        char name[40];
        vidi__segment *old = self->segments[--self->count];
        vidi__segment_name(name, self->id.number, old->serial);
        vidi__segment_close(old, self->memory);
        (void)vidi__file_unlink(self->folder, name);
    }
    self->segments[self->count++] = segment;
    return VIDI_OK;
}

/* How many times a chunk had to be merged to become so large. */
static unsigned size_class(const vidi__segment *segment)
{
    unsigned class = 0;
    for (uint64_t n = segment->stretch.hashes; n > vidi__index_chunk * 3 / 2; n /= MERGED)
        class ++;
    return class;
}

/* Merges while the last few are of one size, or the list is full. */
static int merge(vidi__index_builder *self)
{
    while (self->count >= MERGED) {
        vidi__segment **last = self->segments + self->count - MERGED;
        if (size_class(last[0]) > size_class(last[MERGED - 1]) && self->count < VIDI__SEGMENTS_MOST)
            return VIDI_OK;
        VIDI__TRY(vidi__segment_merge(self->memory, self->folder, self->serial, last, MERGED, &self->stops));
        VIDI__TRY(put_segment(self, MERGED));
    }
    return VIDI_OK;
}

/* Fills in the checksum of the stretch's last record. */
static int end_stretch(const vidi__index_builder *self, vidi__stretch *stretch)
{
    log_now log;
    VIDI__TRY(open_log(&log, self->folder, &self->id));
    int code = read_check(&log, stretch->to, &stretch->last_check);
    (void)vidi__system_now->close(log.file.handle);
    return code;
}

static int write_chunk(vidi__index_builder *self, uint64_t synced, vidi__u128 *hashes)
{
    const vidi__stretch *previous = self->count ? &self->segments[self->count - 1]->stretch : NULL;
    vidi__stretch stretch = {
        .log = self->id, .from = covered(self), .bundles_before = previous ? previous->bundles : 0};
    vidi__gather gather = {.stretch = &stretch, .hashes = hashes, .room = ROOM_HASHES, .most = vidi__index_chunk};
    if (previous)
        memcpy(stretch.tally, previous->tally, sizeof stretch.tally);
    VIDI__TRY(vidi__gather_read(&gather, self->memory, self->folder, synced));
    if (stretch.to == stretch.from)
        return VIDI_OK;
    VIDI__TRY(end_stretch(self, &stretch));
    vidi__segment_sort(hashes, stretch.hashes, hashes + ROOM_HASHES);
    VIDI__TRY(vidi__segment_write(self->memory, self->folder, self->serial, &stretch, hashes));
    VIDI__TRY(put_segment(self, 0));
    return merge(self);
}

static int add_chunk(vidi__index_builder *self, uint64_t synced)
{
    vidi__u128 *hashes; /* and room to sort them */
    uint64_t bytes = 2 * ROOM_HASHES * sizeof *hashes;
    VIDI__TRY(vidi__memory_check(self->memory, ROOM_LEFT * bytes)); /* adds must not fail for the sake of an index */
    VIDI__TRY(vidi__alloc(self->memory, &hashes, bytes, _Alignof(vidi__u128)));
    int code = write_chunk(self, synced, hashes);
    vidi__release(self->memory, hashes, bytes, _Alignof(vidi__u128));
    return code;
}

/* ---- the thread ---- */

/* Takes up the segments that are there. Those that do not belong to them are removed. */
static void resume(vidi__index_builder *self)
{
    (void)vidi__index_open(self->memory, self->folder, &self->id, self->segments, &self->count);
    tidy(self->folder, self->id.number, self->segments, self->count);
    for (size_t i = 0; i < self->count; i++)
        if (self->segments[i]->serial >= self->serial)
            self->serial = self->segments[i]->serial + 1;
}

/* Waits until there is another chunk; false: it is time to end. */
static bool wait_for_chunk(vidi__index_builder *self, uint64_t from, uint64_t *synced)
{
    pthread_mutex_lock(&self->lock);
    while (!self->ends && self->synced < from + CHUNK_BYTES)
        pthread_cond_wait(&self->work, &self->lock);
    *synced = self->synced;
    bool go_on = *synced >= from + CHUNK_BYTES && !atomic_load_explicit(&self->stops, memory_order_relaxed);
    pthread_mutex_unlock(&self->lock);
    return go_on;
}

/* An error ends the index, not the log. */
static void *run(void *context)
{
    vidi__index_builder *self = context;
    uint64_t synced, from;
    resume(self);
    for (from = covered(self); wait_for_chunk(self, from, &synced);) {
        if (add_chunk(self, synced) < 0)
            break;
        from = covered(self) > from ? covered(self) : synced; /* a bundle is not complete: there must be more */
    }
    return NULL;
}

/* The thread leaves signals to the program's threads, but not SIGBUS, which tells that a mapped file was cut. */
static void start(vidi__index_builder *self)
{
    sigset_t most, before;
    sigfillset(&most);
    sigdelset(&most, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    self->started = pthread_create(&self->thread, NULL, run, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

vidi__index_builder *vidi__index_begin(vidi__memory *memory, int folder, const vidi__log_id *id)
{
    vidi__index_builder *self;
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    if (vidi__alloc_zeroed(memory, &self, sizeof *self, _Alignof(vidi__index_builder)) == VIDI_OK) {
        self->memory = memory;
        self->folder = folder;
        self->id = *id;
        pthread_mutex_init(&self->lock, NULL);
        pthread_cond_init(&self->work, NULL);
    }
    vidi__quiet_end(&quiet, VIDI_OK);
    return self;
}

void vidi__index_synced(void *builder, uint64_t length)
{
    vidi__index_builder *self = builder;
    pthread_mutex_lock(&self->lock);
    self->synced = length;
    if (!self->started && !self->ends && length - VIDI__LOG_HEAD >= CHUNK_BYTES)
        start(self);
    pthread_cond_signal(&self->work);
    pthread_mutex_unlock(&self->lock);
}

void vidi__index_end(vidi__index_builder *builder, bool catches_up)
{
    if (!builder)
        return;
    pthread_mutex_lock(&builder->lock);
    builder->ends = true;
    if (!catches_up)
        atomic_store_explicit(&builder->stops, true, memory_order_relaxed);
    pthread_cond_signal(&builder->work);
    pthread_mutex_unlock(&builder->lock);
    if (builder->started)
        pthread_join(builder->thread, NULL);
    for (size_t i = 0; i < builder->count; i++)
        vidi__segment_close(builder->segments[i], builder->memory);
    pthread_cond_destroy(&builder->work);
    pthread_mutex_destroy(&builder->lock);
    vidi__release(builder->memory, builder, sizeof *builder, _Alignof(vidi__index_builder));
}
