/* vidi as threads share it: through its public header, one URL at a time or in batches. */
#include "bench/threads/threads.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct shared {
    vidi_set *set;
    char folder[512]; /* empty: in memory */
} shared;

static bool refuse(void)
{
    fprintf(stderr, "vidi: %s\n", vidi_message());
    return false;
}

static int remove_entry(const char *path, const struct stat *is, int type, struct FTW *where)
{
    (void)is;
    (void)type;
    (void)where;
    return remove(path);
}

static void close_set(void *context)
{
    shared *self = context;
    vidi_close(self->set);
    if (self->folder[0])
        nftw(self->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(self);
}

static bool name_folder(shared *self, const char *parent)
{
    snprintf(self->folder, sizeof self->folder, "%s/vidi-bench-threads-XXXXXX", parent);
    if (mkdtemp(self->folder))
        return true;
    fprintf(stderr, "vidi-bench-threads: no folder can be made in %s; name another with --folder\n", parent);
    self->folder[0] = 0;
    return false;
}

static void *make(const thread_recipe *recipe)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    unsigned char key[VIDI_KEY_BYTES] = {0};
    shared *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    memcpy(key, &recipe->seed, sizeof recipe->seed);
    options.kind = recipe->kind;
    options.error = recipe->error;
    options.key = key;
    options.canon = "none"; /* the peer compares bytes too */
    options.access = &access;
    if (!(recipe->flags & THREADS_GROWN)) {
        options.capacity = recipe->n;
        access.allocator = &bench_allocator;
    }
    bool fine = !(recipe->flags & THREADS_FOLDER) || name_folder(self, recipe->folder);
    options.path = self->folder[0] ? self->folder : NULL;
    if (fine && (vidi_create(&self->set, &options) == VIDI_OK || refuse()))
        return self;
    close_set(self);
    return NULL;
}

static bool add(void *context, const vidi_str *urls, size_t n, size_t batch, uint8_t *verdicts)
{
    vidi_set *set = ((shared *)context)->set;
    if (batch == 1) {
        for (size_t i = 0; i < n; i++) {
            int code = vidi_add(set, urls[i]);
            if (code < 0)
                return refuse();
            verdicts[i] = (uint8_t)code;
        }
        return true;
    }
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < batch ? n - done : batch;
        if (vidi_add_batch(set, urls + done, count, verdicts + done, NULL) < 0)
            return refuse();
    }
    return true;
}

static bool has(void *context, const vidi_str *urls, size_t n, size_t batch, uint8_t *verdicts)
{
    const vidi_set *set = ((shared *)context)->set;
    if (batch == 1) {
        for (size_t i = 0; i < n; i++) {
            int code = vidi_has(set, urls[i]);
            if (code < 0)
                return refuse();
            verdicts[i] = (uint8_t)code;
        }
        return true;
    }
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < batch ? n - done : batch;
        if (vidi_has_batch(set, urls + done, count, verdicts + done) < 0)
            return refuse();
    }
    return true;
}

static bool weigh(void *context, thread_weight *weight)
{
    vidi_stats stats = {.size = sizeof stats};
    if (vidi_stat(((shared *)context)->set, &stats) < 0)
        return refuse();
    *weight = (thread_weight){.bytes = stats.memory_bytes,
                              .told_new = stats.answered_new,
                              .expected_lost = stats.expected_lost,
                              .fp = stats.fp_now};
    return true;
}

const thread_class thread_sets = {make, close_set, add, has, weigh};
