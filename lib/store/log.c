/*
 * Opening and closing a log for writing. Its thread is in log_thread.c, appending in log_append.c.
 */
#include <fcntl.h>
#include <signal.h>

#include "base/random.h"
#include "store/log_state.h"

/*
 * The most bytes that may be pending, and that a buffer keeps after a burst: this number, or a share of the memory
 * limit.
 */
#define PENDING_MOST (UINT64_C(64) << 20)
#define PENDING_SHARE 16
#define BUFFER_KEEP (UINT64_C(4) << 20)
#define KEEP_SHARE 64

static uint64_t at_most(uint64_t bytes, uint64_t share)
{
    bytes = bytes < share ? bytes : share;
    return bytes > VIDI__LOG_BUFFER_MIN ? bytes : VIDI__LOG_BUFFER_MIN;
}

static void release_buffer(vidi__log *log, vidi__log_buffer *buffer)
{
    vidi__release(log->memory, buffer->at, buffer->room, 8);
    *buffer = (vidi__log_buffer){0};
}

static int init_lock(vidi__log *log)
{
    if (vidi__clock_condition(&log->work) != 0)
        return -1;
    if (vidi__clock_condition(&log->done) != 0) {
        pthread_cond_destroy(&log->work);
        return -1;
    }
    if (pthread_mutex_init(&log->lock, NULL) != 0) {
        pthread_cond_destroy(&log->done);
        pthread_cond_destroy(&log->work);
        return -1;
    }
    return 0;
}

static void destroy_lock(vidi__log *log)
{
    pthread_mutex_destroy(&log->lock);
    pthread_cond_destroy(&log->done);
    pthread_cond_destroy(&log->work);
}

/* The thread blocks all signals: they are for the program's own threads. */
static int start(vidi__log *log)
{
    sigset_t all, before;
    if (init_lock(log) != 0)
        return vidi__fail(VIDI_ESYSTEM, "%s: cannot create a lock for the log", log->file.name);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&log->thread, NULL, vidi__log_run, log);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        return VIDI_OK;
    destroy_lock(log);
    return vidi__fail(VIDI_ESYSTEM, "%s: cannot start a thread for the log: %s", log->file.name, strerror(failed));
}

/* Leaves the file as it is. Closes its handle without a message, which would hide the one about the cause. */
static void release_log(vidi__log *log)
{
    if (log->file.handle >= 0)
        (void)vidi__system_now->close(log->file.handle);
    release_buffer(log, &log->filling);
    release_buffer(log, &log->writing);
    vidi__release(log->memory, log, sizeof *log, _Alignof(vidi__log));
}

static int make(vidi__log **out, vidi__memory *memory, vidi__log_policy policy)
{
    vidi__log *log;
    *out = NULL;
    VIDI__TRY(vidi__alloc_zeroed(memory, &log, sizeof *log, _Alignof(vidi__log)));
    log->memory = memory;
    log->policy = policy;
    log->pending_most = at_most(PENDING_MOST, memory->limit / PENDING_SHARE);
    log->buffer_keep = at_most(BUFFER_KEEP, memory->limit / KEEP_SHARE);
    log->open_record = UINT64_MAX;
    log->file.handle = -1;
    int code = vidi__log_grow(log, &log->filling, VIDI__LOG_BUFFER_MIN);
    if (code == VIDI_OK)
        code = vidi__log_grow(log, &log->writing, VIDI__LOG_BUFFER_MIN);
    if (code < 0)
        release_log(log);
    else
        *out = log;
    return code;
}

/* Removes the leftover of a crash, which may have a second name and so must not be written to. */
static int remove_leftover(vidi__log *log, int folder, const char *name)
{
    uint64_t bytes;
    int code = vidi__file_open(&log->file, folder, name, O_RDONLY);
    if (code == VIDI_EABSENT)
        return VIDI_OK;
    VIDI__TRY(code);
    VIDI__TRY(vidi__file_size(&log->file, &bytes));
    if (bytes > VIDI__LOG_HEAD)
        return vidi__fail(VIDI_EIO, "%s already exists and holds records", name);
    (void)vidi__file_close(&log->file);
    return vidi__file_unlink(folder, name);
}

/* Opens a new file; *ours tells whether it may be removed again. */
static int open_new(vidi__log *log, int folder, const char *name, bool *ours)
{
    VIDI__TRY(remove_leftover(log, folder, name));
    *ours = true;
    return vidi__file_open(&log->file, folder, name, O_RDWR | O_APPEND | O_CREAT | O_EXCL);
}

static int create(vidi__log *log, int folder, const char *name, const vidi__log_id *id, bool *ours)
{
    unsigned char head[VIDI__LOG_HEAD];
    const vidi__file the_folder = {folder, "the folder"};
    log->number = id->number;
    VIDI__TRY(vidi__random(&log->generation, sizeof log->generation));
    VIDI__TRY(open_new(log, folder, name, ours));
    vidi__log_head_write(head, id, log->generation);
    VIDI__TRY(vidi__file_write(&log->file, head, sizeof head));
    VIDI__TRY(vidi__file_sync(&log->file));
    VIDI__TRY(vidi__file_sync(&the_folder));
    log->end = log->written = log->synced = VIDI__LOG_HEAD;
    return start(log);
}

int vidi__log_create(vidi__log **log, vidi__memory *memory, int folder, const vidi__log_id *id, vidi__log_policy policy)
{
    char name[40];
    bool ours = false;
    VIDI__TRY(make(log, memory, policy));
    vidi__log_name(name, id->number);
    int code = create(*log, folder, name, id, &ours);
    if (code < 0) {
        if (ours) /* not vidi__file_unlink, whose message would replace the one about the cause */
            (void)vidi__system_now->unlink(folder, name);
        release_log(*log);
        *log = NULL;
    }
    return code;
}

/* The previous process may not have synced what it wrote, so it is synced before more is appended. */
static int go_on(vidi__log *log, int folder, const vidi__log_id *id, uint64_t bytes)
{
    char name[40];
    unsigned char head[VIDI__LOG_HEAD];
    vidi__log_head read;
    uint64_t size;
    log->number = id->number;
    vidi__log_name(name, id->number);
    VIDI__TRY(vidi__file_open(&log->file, folder, name, O_RDWR | O_APPEND));
    VIDI__TRY(vidi__file_size(&log->file, &size));
    if (size != bytes || bytes < VIDI__LOG_HEAD || bytes % 8 != 0)
        return vidi__fail(VIDI_EFORMAT, "cannot append to %s: it has %llu bytes, not %llu", name,
                          (unsigned long long)size, (unsigned long long)bytes);
    VIDI__TRY(vidi__file_read(&log->file, head, sizeof head, 0));
    VIDI__TRY(vidi__log_head_read(head, id, name, &read));
    log->generation = read.generation;
    VIDI__TRY(vidi__file_sync(&log->file));
    log->end = log->written = log->synced = bytes;
    return start(log);
}

int vidi__log_continue(vidi__log **log, vidi__memory *memory, int folder, const vidi__log_id *id,
                       vidi__log_policy policy, uint64_t bytes)
{
    VIDI__TRY(make(log, memory, policy));
    int code = go_on(*log, folder, id, bytes);
    if (code < 0) {
        release_log(*log);
        *log = NULL;
    }
    return code;
}

void vidi__log_report_to(vidi__log *log, struct vidi__manifest *manifest)
{
    pthread_mutex_lock(&log->lock);
    log->reports_to = manifest;
    pthread_mutex_unlock(&log->lock);
}

void vidi__log_watch(vidi__log *log, void (*synced)(void *context, uint64_t length), void *context)
{
    pthread_mutex_lock(&log->lock);
    log->watcher = synced;
    log->watching = context;
    pthread_mutex_unlock(&log->lock);
}

void vidi__log_gather_by(vidi__log *log, void (*gather)(void *context), void *context)
{
    pthread_mutex_lock(&log->lock);
    log->gather = gather;
    log->gathering = context;
    pthread_mutex_unlock(&log->lock);
}

int vidi__log_close(vidi__log *log)
{
    if (!log)
        return VIDI_OK;
    pthread_mutex_lock(&log->lock);
    log->stopping = true;
    pthread_cond_signal(&log->work);
    pthread_mutex_unlock(&log->lock);
    pthread_join(log->thread, NULL);
    destroy_lock(log);
    int closed = vidi__file_close(&log->file);
    int code = log->error ? vidi__log_error(log) : closed;
    release_log(log);
    return code;
}
