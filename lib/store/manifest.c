/* See manifest.h. */
#include "store/manifest.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/bits.h"
#include "base/stream.h"
#include "hash/sip.h"

#define VERSION 1

enum { AT_COPY = 48, AT_LOGS = 56, LOG_BYTES = 16, AT_CHECKSUM = VIDI__MANIFEST_BYTES - 8 };
_Static_assert(AT_LOGS + LOG_BYTES * VIDI__MANIFEST_LOGS == AT_CHECKSUM, "the logs fill the sector");

/* The whole file. */
enum { FILE_BYTES = VIDI__MANIFEST_BYTES * VIDI__MANIFEST_COPIES };

/* A reader that finds a wrong checksum looks again: a writer may be in the middle of overwriting the file. */
#define TRIES 100

static const char magic[8] = {'v', 'i', 'd', 'i', 'm', 'a', 'n', '\n'};

/* ---- contents ---- */

static vidi__manifest_log *find(const vidi__manifest_contents *contents, uint64_t number)
{
    for (uint64_t i = 0; i < contents->count; i++)
        if (contents->logs[i].number == number)
            return (vidi__manifest_log *)&contents->logs[i];
    return NULL;
}

uint64_t vidi__manifest_length(const vidi__manifest_contents *contents, uint64_t number)
{
    const vidi__manifest_log *log = find(contents, number);
    return log ? log->length : 0;
}

uint64_t vidi__manifest_last(const vidi__manifest_contents *contents)
{
    return contents->count ? contents->logs[contents->count - 1].number : 0;
}

void vidi__manifest_append(vidi__manifest_contents *contents, uint64_t number, uint64_t length)
{
    if (contents->count == VIDI__MANIFEST_LOGS)
        memmove(contents->logs, contents->logs + 1, (size_t)--contents->count * sizeof *contents->logs);
    contents->logs[contents->count++] = (vidi__manifest_log){number, length};
}

/* ---- the bytes ---- */

static uint64_t checksum(const unsigned char *bytes)
{
    static const uint64_t no_key[2] = {0, 0};
    vidi_str piece = {(const char *)bytes, AT_CHECKSUM};
    return vidi__siphash(no_key, &piece, 1, 1, 3).lo;
}

static void encode(unsigned char bytes[VIDI__MANIFEST_BYTES], const vidi__manifest_contents *contents, uint64_t copy)
{
    memset(bytes, 0, VIDI__MANIFEST_BYTES);
    memcpy(bytes, magic, sizeof magic);
    vidi__version_store(bytes, VERSION);
    vidi__store64(bytes + 16, contents->identity);
    vidi__store64(bytes + 24, contents->snapshot);
    vidi__store64(bytes + 32, contents->first);
    vidi__store64(bytes + 40, contents->count);
    vidi__store64(bytes + AT_COPY, copy);
    for (uint64_t i = 0; i < contents->count; i++) {
        vidi__store64(bytes + AT_LOGS + LOG_BYTES * i, contents->logs[i].number);
        vidi__store64(bytes + AT_LOGS + LOG_BYTES * i + 8, contents->logs[i].length);
    }
    vidi__store64(bytes + AT_CHECKSUM, checksum(bytes));
}

static bool is_sound(const unsigned char *bytes)
{
    return memcmp(bytes, magic, sizeof magic) == 0 && vidi__load64(bytes + AT_CHECKSUM) == checksum(bytes);
}

/* Returns true if two copies are the same except for what is written in place. */
static bool are_of_one_file(const unsigned char *a, const unsigned char *b)
{
    uint64_t count = vidi__load64(a + 40), logs = AT_LOGS + LOG_BYTES * (count <= VIDI__MANIFEST_LOGS ? count : 0);
    for (size_t i = 0; i < AT_CHECKSUM; i++) {
        bool in_place = i >= AT_COPY && (i < AT_LOGS || (i < logs && (i - AT_LOGS) % LOG_BYTES >= 8));
        if (a[i] != b[i] && !in_place)
            return false;
    }
    return true;
}

/* The copy that counts; NULL: the file is damaged. */
static const unsigned char *find_copy(const unsigned char bytes[FILE_BYTES])
{
    const unsigned char *first = bytes, *second = bytes + VIDI__MANIFEST_BYTES;
    if (!are_of_one_file(first, second))
        return NULL;
    if (!is_sound(first) || !is_sound(second))
        return is_sound(first) ? first : is_sound(second) ? second : NULL;
    return vidi__load64(first + AT_COPY) > vidi__load64(second + AT_COPY) ? first : second;
}

static int decode(vidi__manifest_contents *contents, const unsigned char file[FILE_BYTES])
{
    const unsigned char *bytes = find_copy(file);
    if (!bytes)
        return vidi__fail(VIDI_EDAMAGED, VIDI__MANIFEST_NAME " is damaged: its checksum is wrong");
    VIDI__TRY(vidi__version_check(bytes, VERSION, VIDI__MANIFEST_NAME));
    *contents = (vidi__manifest_contents){
        .identity = vidi__load64(bytes + 16),
        .snapshot = vidi__load64(bytes + 24),
        .first = vidi__load64(bytes + 32),
        .count = vidi__load64(bytes + 40),
    };
    if (contents->count > VIDI__MANIFEST_LOGS)
        return vidi__fail(VIDI_EDAMAGED, VIDI__MANIFEST_NAME " is damaged: it lists an impossible number of logs");
    for (uint64_t i = 0, last = 0; i < contents->count; i++) {
        vidi__manifest_log *log = &contents->logs[i];
        log->number = vidi__load64(bytes + AT_LOGS + LOG_BYTES * i);
        log->length = vidi__load64(bytes + AT_LOGS + LOG_BYTES * i + 8);
        if (log->number <= last || log->length == 0)
            return vidi__fail(VIDI_EDAMAGED, VIDI__MANIFEST_NAME " is damaged: its list of logs is impossible");
        last = log->number;
    }
    return VIDI_OK;
}

static int read_once(int folder, unsigned char bytes[FILE_BYTES])
{
    vidi__file file;
    vidi__file_state state;
    VIDI__TRY(vidi__file_open(&file, folder, VIDI__MANIFEST_NAME, O_RDONLY));
    int code = vidi__file_stat(&file, &state);
    if (code == VIDI_OK && state.bytes != FILE_BYTES)
        code = vidi__fail(VIDI_EDAMAGED, VIDI__MANIFEST_NAME " is damaged: it has %llu bytes, not %d",
                          (unsigned long long)state.bytes, (int)FILE_BYTES);
    if (code == VIDI_OK)
        code = vidi__file_read(&file, bytes, FILE_BYTES, 0);
    (void)vidi__system_now->close(file.handle); /* not vidi__file_close, whose message would hide the cause */
    return code;
}

int vidi__manifest_read(int folder, vidi__manifest_contents *contents)
{
    unsigned char before[FILE_BYTES] = {0}, bytes[FILE_BYTES];
    int code = VIDI_EDAMAGED;
    *contents = (vidi__manifest_contents){0};
    for (int i = 0; i < TRIES && code == VIDI_EDAMAGED; i++) {
        VIDI__TRY(read_once(folder, bytes));
        code = decode(contents, bytes);
        if (code == VIDI_EDAMAGED && i && memcmp(before, bytes, sizeof bytes) == 0)
            break; /* nobody is writing to it */
        memcpy(before, bytes, sizeof bytes);
    }
    if (code < 0)
        *contents = (vidi__manifest_contents){0};
    return code;
}

/* ---- writing ---- */

int vidi__manifest_init(vidi__manifest *manifest)
{
    *manifest = (vidi__manifest){.folder = -1, .lock_file = -1, .file.handle = -1};
    int code = pthread_mutex_init(&manifest->lock, NULL);
    if (code == 0 && (code = pthread_cond_init(&manifest->done, NULL)) != 0)
        pthread_mutex_destroy(&manifest->lock);
    return code ? vidi__fail(VIDI_ESYSTEM, "no lock for the set: %s", strerror(code)) : VIDI_OK;
}

void vidi__manifest_close(vidi__manifest *manifest, bool sync)
{
    if (sync && manifest->dirty && manifest->file.handle >= 0)
        (void)vidi__file_sync(&manifest->file); /* if it fails, the file may be older than the logs, which is no harm */
    (void)vidi__file_close(&manifest->file);
    pthread_cond_destroy(&manifest->done);
    pthread_mutex_destroy(&manifest->lock);
}

/* Writes "manifest.new" and syncs it. */
static int write_new(int folder, const vidi__manifest_contents *contents, vidi__file *file)
{
    unsigned char bytes[FILE_BYTES];
    for (uint64_t i = 0; i < VIDI__MANIFEST_COPIES; i++)
        encode(bytes + i * VIDI__MANIFEST_BYTES, contents, i);
    VIDI__TRY(vidi__file_unlink(folder, VIDI__MANIFEST_NEW));
    VIDI__TRY(vidi__file_open(file, folder, VIDI__MANIFEST_NEW, O_RDWR | O_CREAT | O_EXCL));
    int code = vidi__file_write(file, bytes, sizeof bytes);
    if (code == VIDI_OK)
        code = vidi__file_sync(file);
    if (code == VIDI_OK)
        code = vidi__file_rename(folder, VIDI__MANIFEST_NEW, VIDI__MANIFEST_NAME);
    if (code < 0) { /* not vidi__file_…, whose messages would hide the cause */
        (void)vidi__system_now->close(file->handle);
        (void)vidi__system_now->unlink(folder, VIDI__MANIFEST_NEW);
    }
    return code;
}

static int overwrite(vidi__manifest *manifest)
{
    unsigned char bytes[VIDI__MANIFEST_BYTES];
    manifest->copy++;
    encode(bytes, &manifest->now, manifest->copy);
    manifest->dirty = true;
    return vidi__file_overwrite(&manifest->file, bytes, sizeof bytes,
                                manifest->copy % VIDI__MANIFEST_COPIES * VIDI__MANIFEST_BYTES);
}

/* Lengths that have changed while a new file was made are taken over from `now`. */
static bool take_over_lengths(vidi__manifest_contents *contents, const vidi__manifest_contents *now)
{
    bool changed = false;
    for (uint64_t i = 0; i < now->count; i++) {
        vidi__manifest_log *log = find(contents, now->logs[i].number);
        if (log && log->length != now->logs[i].length) {
            log->length = now->logs[i].length;
            changed = true;
        }
    }
    return changed;
}

/* Puts the new file in the place of the old one. The caller holds the lock. */
static int replace(vidi__manifest *manifest, const vidi__file *file, vidi__manifest_contents *contents)
{
    bool changed = take_over_lengths(contents, &manifest->now);
    (void)vidi__file_close(&manifest->file);
    manifest->file = *file;
    snprintf(manifest->file.name, sizeof manifest->file.name, VIDI__MANIFEST_NAME);
    manifest->now = *contents;
    manifest->copy = VIDI__MANIFEST_COPIES - 1;
    manifest->dirty = false;
    return changed ? overwrite(manifest) : VIDI_OK;
}

/* The caller holds the lock and has begun to make a file; see begin_making. */
static int put(vidi__manifest *manifest, vidi__manifest_contents *contents)
{
    vidi__file file;
    const vidi__file the_folder = {manifest->folder, "the folder"};
    pthread_mutex_unlock(&manifest->lock);
    int code = write_new(manifest->folder, contents, &file);
    int synced = code == VIDI_OK ? vidi__file_sync(&the_folder) : code;
    pthread_mutex_lock(&manifest->lock);
    if (code == VIDI_OK)
        code = replace(manifest, &file, contents);
    return code < 0 ? code : synced;
}

/* Takes the lock, and waits while another thread makes a new file. */
static void begin_making(vidi__manifest *manifest)
{
    pthread_mutex_lock(&manifest->lock);
    while (manifest->making)
        pthread_cond_wait(&manifest->done, &manifest->lock);
    manifest->making = true;
}

static int end_making(vidi__manifest *manifest, int code)
{
    manifest->making = false;
    pthread_cond_broadcast(&manifest->done);
    pthread_mutex_unlock(&manifest->lock);
    return code;
}

void vidi__manifest_begin(vidi__manifest *manifest, int folder, int lock, const vidi__manifest_contents *contents)
{
    manifest->folder = folder;
    manifest->lock_file = lock;
    manifest->now = *contents;
}

int vidi__manifest_put(vidi__manifest *manifest)
{
    begin_making(manifest);
    vidi__manifest_contents same = manifest->now;
    return end_making(manifest, put(manifest, &same));
}

int vidi__manifest_add_log(vidi__manifest *manifest, uint64_t number, uint64_t length)
{
    begin_making(manifest);
    vidi__manifest_contents next = manifest->now;
    vidi__manifest_append(&next, number, length);
    return end_making(manifest, put(manifest, &next));
}

int vidi__manifest_drop_log(vidi__manifest *manifest, uint64_t number)
{
    begin_making(manifest);
    if (vidi__manifest_last(&manifest->now) != number)
        return end_making(manifest, VIDI_OK);
    vidi__manifest_contents next = manifest->now;
    next.count--;
    return end_making(manifest, put(manifest, &next));
}

int vidi__manifest_take_snapshot(vidi__manifest *manifest, uint64_t snapshot, uint64_t first, uint64_t until,
                                 uint64_t log_length)
{
    begin_making(manifest);
    vidi__manifest_contents next = {.identity = manifest->now.identity, .snapshot = snapshot, .first = first};
    for (uint64_t i = 0; i < manifest->now.count; i++) {
        const vidi__manifest_log *log = &manifest->now.logs[i];
        if (log->number >= first && (log->number < until || log->number >= snapshot))
            vidi__manifest_append(&next, log->number, log->length);
    }
    if (!find(&next, snapshot))
        vidi__manifest_append(&next, snapshot, log_length);
    return end_making(manifest, put(manifest, &next));
}

/*
 * If the file has got another name, or none, a new one takes its place: a copy made of links must not change any more,
 * and a set without the file would count as damaged.
 */
static int write_length(vidi__manifest *manifest)
{
    vidi__file_state state;
    VIDI__TRY(vidi__file_stat(&manifest->file, &state));
    if (state.links == 1)
        return overwrite(manifest);
    manifest->making = true;
    vidi__manifest_contents same = manifest->now;
    int code = put(manifest, &same);
    manifest->making = false;
    pthread_cond_broadcast(&manifest->done);
    return code;
}

static int check_lock(const vidi__manifest *manifest)
{
    vidi__file_state state;
    if (manifest->lock_file < 0)
        return VIDI_OK;
    VIDI__TRY(vidi__file_stat(&(vidi__file){manifest->lock_file, "lock"}, &state));
    return state.links ? VIDI_OK
                       : vidi__fail(VIDI_EIO, "the file lock was removed while the set was in use, so another process "
                                              "may be writing to it too");
}

int vidi__manifest_synced(vidi__manifest *manifest, uint64_t number, uint64_t length)
{
    VIDI__TRY(check_lock(manifest));
    int code = VIDI_OK;
    pthread_mutex_lock(&manifest->lock);
    vidi__manifest_log *log = find(&manifest->now, number);
    if (log) {
        log->length = length;
        if (!manifest->making)
            code = write_length(manifest);
    }
    pthread_mutex_unlock(&manifest->lock);
    return code;
}

uint64_t vidi__manifest_known(vidi__manifest *manifest, uint64_t number)
{
    pthread_mutex_lock(&manifest->lock);
    uint64_t length = vidi__manifest_length(&manifest->now, number);
    pthread_mutex_unlock(&manifest->lock);
    return length;
}
