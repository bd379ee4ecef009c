/* See end.h. */
#include "store/end.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/bits.h"
#include "hash/sip.h"

#define VERSION 1
#define BYTE_ORDER_MARK 0x01020304

enum { AT_COPY = 48, AT_LOGS = 56, LOG_BYTES = 16, AT_CHECKSUM = VIDI__END_BYTES - 8 };
_Static_assert(AT_LOGS + LOG_BYTES * VIDI__END_LOGS == AT_CHECKSUM, "the logs fill the sector");

/* The whole file. */
enum { FILE_BYTES = VIDI__END_BYTES * VIDI__END_COPIES };

/* A reader that finds a wrong checksum looks again: a writer may be in the middle of overwriting the file. */
#define TRIES 100

static const char magic[8] = {'v', 'i', 'd', 'i', 'e', 'n', 'd', '\n'};

/* ---- contents ---- */

static vidi__end_log *find(const vidi__end_contents *contents, uint64_t number)
{
    for (uint64_t i = 0; i < contents->count; i++)
        if (contents->logs[i].number == number)
            return (vidi__end_log *)&contents->logs[i];
    return NULL;
}

uint64_t vidi__end_length(const vidi__end_contents *contents, uint64_t number)
{
    const vidi__end_log *log = find(contents, number);
    return log ? log->length : 0;
}

uint64_t vidi__end_last(const vidi__end_contents *contents)
{
    return contents->count ? contents->logs[contents->count - 1].number : 0;
}

void vidi__end_append(vidi__end_contents *contents, uint64_t number, uint64_t length)
{
    if (contents->count == VIDI__END_LOGS)
        memmove(contents->logs, contents->logs + 1, (size_t)--contents->count * sizeof *contents->logs);
    contents->logs[contents->count++] = (vidi__end_log){number, length};
}

/* ---- the bytes ---- */

static uint64_t checksum(const unsigned char *bytes)
{
    static const uint64_t no_key[2] = {0, 0};
    vidi_str piece = {(const char *)bytes, AT_CHECKSUM};
    return vidi__siphash(no_key, &piece, 1, 1, 3).lo;
}

static void encode(unsigned char bytes[VIDI__END_BYTES], const vidi__end_contents *contents, uint64_t copy)
{
    memset(bytes, 0, VIDI__END_BYTES);
    memcpy(bytes, magic, sizeof magic);
    vidi__store32(bytes + 8, VERSION);
    vidi__store32(bytes + 12, BYTE_ORDER_MARK);
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

/* Are two copies the same except for what is written in place? */
static bool are_of_one_file(const unsigned char *a, const unsigned char *b)
{
    uint64_t count = vidi__load64(a + 40), logs = AT_LOGS + LOG_BYTES * (count <= VIDI__END_LOGS ? count : 0);
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
    const unsigned char *first = bytes, *second = bytes + VIDI__END_BYTES;
    if (!are_of_one_file(first, second))
        return NULL;
    if (!is_sound(first) || !is_sound(second))
        return is_sound(first) ? first : is_sound(second) ? second : NULL;
    return vidi__load64(first + AT_COPY) > vidi__load64(second + AT_COPY) ? first : second;
}

static int decode(vidi__end_contents *contents, const unsigned char file[FILE_BYTES])
{
    const unsigned char *bytes = find_copy(file);
    if (!bytes)
        return vidi__fail(VIDI_EDAMAGED, VIDI__END_NAME " is damaged: its checksum is wrong");
    if (vidi__load32(bytes + 8) != VERSION || vidi__load32(bytes + 12) != BYTE_ORDER_MARK)
        return vidi__fail(VIDI_EFORMAT, VIDI__END_NAME " has version %u, which is unknown to this version of vidi",
                          vidi__load32(bytes + 8));
    *contents = (vidi__end_contents){
        .identity = vidi__load64(bytes + 16),
        .snapshot = vidi__load64(bytes + 24),
        .first = vidi__load64(bytes + 32),
        .count = vidi__load64(bytes + 40),
    };
    if (contents->count > VIDI__END_LOGS)
        return vidi__fail(VIDI_EDAMAGED, VIDI__END_NAME " is damaged: it lists an impossible number of logs");
    for (uint64_t i = 0, last = 0; i < contents->count; i++) {
        vidi__end_log *log = &contents->logs[i];
        log->number = vidi__load64(bytes + AT_LOGS + LOG_BYTES * i);
        log->length = vidi__load64(bytes + AT_LOGS + LOG_BYTES * i + 8);
        if (log->number <= last || log->length == 0)
            return vidi__fail(VIDI_EDAMAGED, VIDI__END_NAME " is damaged: its list of logs is impossible");
        last = log->number;
    }
    return VIDI_OK;
}

static int read_once(int folder, unsigned char bytes[FILE_BYTES])
{
    vidi__file file;
    vidi__file_state state;
    VIDI__TRY(vidi__file_open(&file, folder, VIDI__END_NAME, O_RDONLY));
    int code = vidi__file_stat(&file, &state);
    if (code == VIDI_OK && state.bytes != FILE_BYTES)
        code = vidi__fail(VIDI_EDAMAGED, VIDI__END_NAME " is damaged: it has %llu bytes, not %d",
                          (unsigned long long)state.bytes, (int)FILE_BYTES);
    if (code == VIDI_OK)
        code = vidi__file_read(&file, bytes, FILE_BYTES, 0);
    (void)vidi__system_now->close(file.handle); /* not vidi__file_close, whose message would hide the cause */
    return code;
}

int vidi__end_read(int folder, vidi__end_contents *contents)
{
    unsigned char before[FILE_BYTES] = {0}, bytes[FILE_BYTES];
    int code = VIDI_EDAMAGED;
    *contents = (vidi__end_contents){0};
    for (int i = 0; i < TRIES && code == VIDI_EDAMAGED; i++) {
        VIDI__TRY(read_once(folder, bytes));
        code = decode(contents, bytes);
        if (code == VIDI_EDAMAGED && i && memcmp(before, bytes, sizeof bytes) == 0)
            break; /* nobody is writing to it */
        memcpy(before, bytes, sizeof bytes);
    }
    if (code < 0)
        *contents = (vidi__end_contents){0};
    return code;
}

/* ---- writing ---- */

int vidi__end_init(vidi__end *end)
{
    *end = (vidi__end){.folder = -1, .lock_file = -1, .file.handle = -1};
    int code = pthread_mutex_init(&end->lock, NULL);
    if (code == 0 && (code = pthread_cond_init(&end->done, NULL)) != 0)
        pthread_mutex_destroy(&end->lock);
    return code ? vidi__fail(VIDI_ESYSTEM, "no lock for the set: %s", strerror(code)) : VIDI_OK;
}

void vidi__end_close(vidi__end *end, bool sync)
{
    if (sync && end->dirty && end->file.handle >= 0)
        (void)vidi__file_sync(&end->file); /* if it fails, the file may be older than the logs, which is no harm */
    (void)vidi__file_close(&end->file);
    pthread_cond_destroy(&end->done);
    pthread_mutex_destroy(&end->lock);
}

/* Writes "end.new" and syncs it. */
static int write_new(int folder, const vidi__end_contents *contents, vidi__file *file)
{
    unsigned char bytes[FILE_BYTES];
    for (uint64_t i = 0; i < VIDI__END_COPIES; i++)
        encode(bytes + i * VIDI__END_BYTES, contents, i);
    VIDI__TRY(vidi__file_unlink(folder, VIDI__END_NEW));
    VIDI__TRY(vidi__file_open(file, folder, VIDI__END_NEW, O_RDWR | O_CREAT | O_EXCL));
    int code = vidi__file_write(file, bytes, sizeof bytes);
    if (code == VIDI_OK)
        code = vidi__file_sync(file);
    if (code == VIDI_OK)
        code = vidi__file_rename(folder, VIDI__END_NEW, VIDI__END_NAME);
    if (code < 0) { /* not vidi__file_…, whose messages would hide the cause */
        (void)vidi__system_now->close(file->handle);
        (void)vidi__system_now->unlink(folder, VIDI__END_NEW);
    }
    return code;
}

static int overwrite(vidi__end *end)
{
    unsigned char bytes[VIDI__END_BYTES];
    end->copy++;
    encode(bytes, &end->now, end->copy);
    end->dirty = true;
    return vidi__file_overwrite(&end->file, bytes, sizeof bytes, end->copy % VIDI__END_COPIES * VIDI__END_BYTES);
}

/* Lengths that have changed while a new file was made are taken over from `now`. */
static bool take_over_lengths(vidi__end_contents *contents, const vidi__end_contents *now)
{
    bool changed = false;
    for (uint64_t i = 0; i < now->count; i++) {
        vidi__end_log *log = find(contents, now->logs[i].number);
        if (log && log->length != now->logs[i].length) {
            log->length = now->logs[i].length;
            changed = true;
        }
    }
    return changed;
}

/* Puts the new file in the place of the old one. The caller holds the lock. */
static int replace(vidi__end *end, const vidi__file *file, vidi__end_contents *contents)
{
    bool changed = take_over_lengths(contents, &end->now);
    (void)vidi__file_close(&end->file);
    end->file = *file;
    snprintf(end->file.name, sizeof end->file.name, VIDI__END_NAME);
    end->now = *contents;
    end->copy = VIDI__END_COPIES - 1;
    end->dirty = false;
    return changed ? overwrite(end) : VIDI_OK;
}

/* The caller holds the lock and has begun to make a file; see begin_making. */
static int put(vidi__end *end, vidi__end_contents *contents)
{
    vidi__file file;
    const vidi__file the_folder = {end->folder, "the folder"};
    pthread_mutex_unlock(&end->lock);
    int code = write_new(end->folder, contents, &file);
    int synced = code == VIDI_OK ? vidi__file_sync(&the_folder) : code;
    pthread_mutex_lock(&end->lock);
    if (code == VIDI_OK)
        code = replace(end, &file, contents);
    return code < 0 ? code : synced;
}

/* Takes the lock, and waits while another thread makes a new file. */
static void begin_making(vidi__end *end)
{
    pthread_mutex_lock(&end->lock);
    while (end->making)
        pthread_cond_wait(&end->done, &end->lock);
    end->making = true;
}

static int end_making(vidi__end *end, int code)
{
    end->making = false;
    pthread_cond_broadcast(&end->done);
    pthread_mutex_unlock(&end->lock);
    return code;
}

void vidi__end_begin(vidi__end *end, int folder, int lock, const vidi__end_contents *contents)
{
    end->folder = folder;
    end->lock_file = lock;
    end->now = *contents;
}

int vidi__end_put(vidi__end *end)
{
    begin_making(end);
    vidi__end_contents same = end->now;
    return end_making(end, put(end, &same));
}

int vidi__end_add_log(vidi__end *end, uint64_t number, uint64_t length)
{
    begin_making(end);
    vidi__end_contents next = end->now;
    vidi__end_append(&next, number, length);
    return end_making(end, put(end, &next));
}

int vidi__end_drop_log(vidi__end *end, uint64_t number)
{
    begin_making(end);
    if (vidi__end_last(&end->now) != number)
        return end_making(end, VIDI_OK);
    vidi__end_contents next = end->now;
    next.count--;
    return end_making(end, put(end, &next));
}

int vidi__end_take_snapshot(vidi__end *end, uint64_t snapshot, uint64_t first, uint64_t until, uint64_t log_length)
{
    begin_making(end);
    vidi__end_contents next = {.identity = end->now.identity, .snapshot = snapshot, .first = first};
    for (uint64_t i = 0; i < end->now.count; i++) {
        const vidi__end_log *log = &end->now.logs[i];
        if (log->number >= first && (log->number < until || log->number >= snapshot))
            vidi__end_append(&next, log->number, log->length);
    }
    if (!find(&next, snapshot))
        vidi__end_append(&next, snapshot, log_length);
    return end_making(end, put(end, &next));
}

/*
 * If the file has got another name, or none, a new one takes its place: a copy made of links must not change any more,
 * and a set without the file would count as damaged.
 */
static int write_length(vidi__end *end)
{
    vidi__file_state state;
    VIDI__TRY(vidi__file_stat(&end->file, &state));
    if (state.links == 1)
        return overwrite(end);
    end->making = true;
    vidi__end_contents same = end->now;
    int code = put(end, &same);
    end->making = false;
    pthread_cond_broadcast(&end->done);
    return code;
}

static int check_lock(const vidi__end *end)
{
    vidi__file_state state;
    if (end->lock_file < 0)
        return VIDI_OK;
    VIDI__TRY(vidi__file_stat(&(vidi__file){end->lock_file, "lock"}, &state));
    return state.links ? VIDI_OK
                       : vidi__fail(VIDI_EIO, "the file lock was removed while the set was in use, so another process "
                                              "may be writing to it too");
}

int vidi__end_synced(vidi__end *end, uint64_t number, uint64_t length)
{
    VIDI__TRY(check_lock(end));
    int code = VIDI_OK;
    pthread_mutex_lock(&end->lock);
    vidi__end_log *log = find(&end->now, number);
    if (log) {
        log->length = length;
        if (!end->making)
            code = write_length(end);
    }
    pthread_mutex_unlock(&end->lock);
    return code;
}

uint64_t vidi__end_known(vidi__end *end, uint64_t number)
{
    pthread_mutex_lock(&end->lock);
    uint64_t length = vidi__end_length(&end->now, number);
    pthread_mutex_unlock(&end->lock);
    return length;
}
