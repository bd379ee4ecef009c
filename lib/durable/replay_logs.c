/*
 * The logs of a folder when a set is opened: which of them must be there, how much of each was on disk, and what is
 * missing. Their records are replayed in order (replay.c), and a log that cannot be read does not keep the others from
 * being replayed. Whether a set that has lost something may be opened is decided in recovery.c.
 *
 * The length that was on disk is written in the manifest. If a log is not listed there, because the list was full, the
 * head of the log after it tells. If neither can be read, bytes that are not valid count as damage if valid records
 * follow.
 */
#include <fcntl.h>
#include <stdio.h>

#include "durable/durable.h"
#include "durable/log_index.h"

/* With more missing logs than this the folder is not what is left of a set. */
#define MISSING_MOST 64

void vidi__logs_lost(vidi_recovery *recovery, const char *name)
{
    if (!recovery->missing_files++)
        snprintf(recovery->missing_file, sizeof recovery->missing_file, "%.39s", name);
}

static void lost_log(vidi_set *set, uint64_t number)
{
    char name[40];
    vidi__log_name(name, number);
    vidi__logs_lost(&set->durable->recovery, name);
}

int vidi__logs_begin(vidi__logs *logs, const vidi__folder *folder)
{
    *logs = (vidi__logs){.folder = folder};
    int code = vidi__manifest_read(folder->handle, &logs->known);
    logs->has_manifest = code == VIDI_OK;
    return code == VIDI_EABSENT || code == VIDI_EDAMAGED ? VIDI_OK : code;
}

static void add_up(vidi_recovery *recovery, uint64_t number, const vidi__log_found *found)
{
    if (found->damaged && !recovery->damaged_bytes) {
        vidi__log_name(recovery->damaged_log, number);
        recovery->damaged_at = found->damaged_at;
    }
    recovery->logs += !found->headless;
    recovery->records += found->records;
    recovery->damaged_bytes += found->damaged;
    recovery->damaged_places += found->stretches;
    recovery->unfinished_bytes += found->unfinished;
}

/* How much of a log was on disk. */
static uint64_t length_of(const vidi_set *set, const vidi__logs *logs, uint64_t number)
{
    vidi__log_id next = vidi__durable_log_id(set, number + 1, set->now.number);
    uint64_t length = vidi__manifest_length(&logs->known, number);
    if (!length)
        length = vidi__log_length_before(logs->folder->handle, &next);
    return length ? length : VIDI__LOG_UNKNOWN;
}

/* A rotation makes the new epoch's log first. If it was interrupted then, a log without records is left over. */
static bool is_leftover(const vidi__folder *folder, uint64_t number)
{
    char name[40];
    vidi__file file;
    uint64_t bytes = UINT64_MAX;
    vidi__log_name(name, number);
    if (vidi__file_open(&file, folder->handle, name, O_RDONLY) < 0)
        return false;
    int code = vidi__file_size(&file, &bytes);
    (void)vidi__file_close(&file);
    return code == VIDI_OK && bytes <= VIDI__LOG_HEAD;
}

static int read_log(vidi_set *set, const vidi__logs *logs, uint64_t number, vidi__log_found *found)
{
    vidi__log_id id = vidi__durable_log_id(set, number, set->now.number);
    vidi__log_part part = {.from = VIDI__LOG_HEAD, .to = UINT64_MAX, .known = length_of(set, logs, number)};
    uint64_t records = 0;
    vidi__replay replay;
    vidi__replay_begin(&replay, set);
    if (!logs->no_index)
        VIDI__TRY(vidi__index_use(set, logs->folder->handle, &id, &replay, &part.from, &records));
    int code = vidi__log_read_part(&set->memory, logs->folder->handle, &id, &part, vidi__replay_record, &replay, found);
    found->records += records;
    return vidi__replay_end(&replay, code, found->damaged);
}

/* Everything of the log has been replayed. */
static void take_found(vidi_set *set, vidi__logs *logs, uint64_t number, const vidi__log_found *found)
{
    bool listed = vidi__manifest_length(&logs->known, number) > 0;
    logs->unlisted |= found->records && number > vidi__manifest_last(&logs->known) && !listed;
    logs->ragged |= found->intact != found->bytes || found->links > 1;
    add_up(&set->durable->recovery, number, found);
    atomic_fetch_add_explicit(&set->durable->log_bytes, found->bytes, memory_order_relaxed);
    vidi__manifest_append(&logs->found, number, found->intact);
}

/*
 * Returns true if this log may be what a crash has left of one that was being made, or of a rotation that failed. Then
 * nothing was ever committed to it: the manifest does not list it, or with its head alone.
 */
static bool may_be_empty(const vidi__logs *logs, uint64_t number, bool last)
{
    uint64_t length = vidi__manifest_length(&logs->known, number);
    bool in_list = logs->known.count && number > logs->known.logs[0].number; /* the list may be full */
    return length ? length <= VIDI__LOG_HEAD : last || in_list;
}

/* `first`: the log of the snapshot, which was on disk before the snapshot got its name. `last`: of all logs. */
static int replay_log(vidi_set *set, vidi__logs *logs, uint64_t number, bool first, bool last)
{
    vidi__log_found found = {0};
    bool empty = !first && may_be_empty(logs, number, last);
    int code = read_log(set, logs, number, &found);
    if (code == VIDI_EDIFFERS && empty && is_leftover(logs->folder, number)) {
        found = (vidi__log_found){.headless = true};
        code = VIDI_OK;
    }
    bool lost = code == VIDI_EABSENT || code == VIDI_EDAMAGED || (code == VIDI_OK && found.headless && !empty);
    if (lost) {
        lost_log(set, number);
        return VIDI_OK;
    }
    VIDI__TRY(code);
    logs->last = number;
    logs->tail = found;
    if (!found.headless)
        take_found(set, logs, number, &found);
    return VIDI_OK;
}

int vidi__logs_replay(vidi_set *set, vidi__logs *logs, uint64_t first, uint64_t last)
{
    uint64_t before = set->durable->recovery.missing_files;
    if (last < first) /* every snapshot has a log, which is made before it: it will be found missing */
        last = first;
    for (uint64_t number = first;; number++) {
        VIDI__TRY(replay_log(set, logs, number, number == first, number == last));
        if (number == last)
            return VIDI_OK;
        if (set->durable->recovery.missing_files - before > MISSING_MOST) /* a name with some number, and no log */
            return vidi__damaged("too many logs are missing");
    }
}

void vidi__logs_check_manifest(vidi_set *set, const vidi__logs *logs)
{
    bool foreign = logs->has_manifest && logs->known.identity != vidi__durable_log_id(set, 0, 0).identity;
    if (foreign || !logs->has_manifest || logs->unlisted)
        vidi__logs_lost(&set->durable->recovery, VIDI__MANIFEST_NAME);
}

int vidi__logs_sync(const vidi__logs *logs, uint64_t first)
{
    for (uint64_t i = 0; i < logs->found.count; i++) {
        char name[40];
        vidi__file file;
        if (logs->found.logs[i].number < first)
            continue;
        vidi__log_name(name, logs->found.logs[i].number);
        VIDI__TRY(vidi__file_open(&file, logs->folder->handle, name, O_RDONLY));
        int code = vidi__file_sync(&file);
        (void)vidi__system_now->close(file.handle);
        VIDI__TRY(code);
    }
    return VIDI_OK;
}
