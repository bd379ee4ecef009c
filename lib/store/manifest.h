/*
 * The file the manifest: which snapshot and which logs a folder must hold, and how much of each log is on disk.
 *
 *      0  "vidiman\n"                  8  u32 version (1)               12  u32 0x01020304, the byte order
 *     16  u64 identity of the set     24  u64 snapshot in force         32  u64 first: the oldest number still needed
 *     40  u64 number of logs that are listed, at most VIDI__MANIFEST_LOGS    48  u64 number of this copy
 *     56  of each log, in ascending order: u64 number, u64 synced length; then zeros
 *    504  u64 checksum of the 504 bytes before
 *
 * Without it, a log that a crash has cut off and one that has lost its last records look the same. Below the length
 * that is written here, invalid bytes are damage. Above it, they are what a crash has left of the last writes.
 *
 * The file has two copies, of a sector of 512 bytes each. After each sync of a log its new length is written over the
 * older copy, in place and without a sync of its own. So after a crash of the machine the manifest may be older than
 * the logs: it may tell too little, but nothing wrong. The copy with the higher number counts. If one of them has a
 * wrong checksum, a power failure may have torn its last write: then the other one counts, if the two differ in nothing
 * but what is written in place, which is number, lengths and checksum. Anything else is damage. A change of the
 * snapshot or of the list of logs makes a new file, synced and renamed, so that each file lists the same logs as long
 * as it lives: a hard link that somebody has made of it never learns of logs that came later.
 *
 * Order of events: a log is made and synced, then listed, then written to. A log is taken off the list before it is
 * removed. A snapshot is renamed and the folder synced before the manifest names it.
 */
#ifndef VIDI_STORE_MANIFEST_H
#define VIDI_STORE_MANIFEST_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/file.h"

#define VIDI__MANIFEST_NAME "manifest"
#define VIDI__MANIFEST_NEW "manifest.new"

enum { VIDI__MANIFEST_BYTES = 512, VIDI__MANIFEST_COPIES = 2, VIDI__MANIFEST_LOGS = 28 };

typedef struct vidi__manifest_log {
    uint64_t number;
    uint64_t length;
} vidi__manifest_log;

typedef struct vidi__manifest_contents {
    uint64_t identity; /* as in vidi__log_id */
    uint64_t snapshot;
    uint64_t first; /* files with lower numbers are left over */
    uint64_t count;
    vidi__manifest_log logs[VIDI__MANIFEST_LOGS];
} vidi__manifest_contents;

/* The synced length of a log; 0 if it is not listed. */
uint64_t vidi__manifest_length(const vidi__manifest_contents *contents, uint64_t number);
/* The number of the last log that is listed; 0 if there is none. */
uint64_t vidi__manifest_last(const vidi__manifest_contents *contents);
/* Appends a log, whose number must be higher than that of the last one. If the list is full, the oldest is dropped. */
void vidi__manifest_append(vidi__manifest_contents *contents, uint64_t number, uint64_t length);

/*
 * Reads the file. VIDI_EABSENT if there is none, VIDI_EDAMAGED if it is damaged, VIDI_EFORMAT if it has another
 * version. A writer may overwrite it meanwhile: then it is read again.
 */
int vidi__manifest_read(int folder, vidi__manifest_contents *contents);

/* The writer's the manifest. All functions but init and close may be called from any thread. */
typedef struct vidi__manifest {
    pthread_mutex_t lock; /* not held while a new file is made, so that no commit waits for that */
    pthread_cond_t done;  /* signalled when `making` has become false */
    int folder;
    int lock_file;   /* the set's lock, whose name is looked at with each sync; -1: none */
    vidi__file file; /* closed until the first vidi__manifest_put */
    vidi__manifest_contents now;
    uint64_t copy;       /* number of the copy that was written last */
    bool making;         /* a new file is being made; it takes over lengths that change meanwhile */
    bool dirty;          /* overwritten since its last sync */
    _Atomic bool linked; /* a log has got a second name: it is time for new files */
} vidi__manifest;

int vidi__manifest_init(vidi__manifest *manifest);
/* Syncs the file if `sync`, and closes it. */
void vidi__manifest_close(vidi__manifest *manifest, bool sync);

/* Says what the folder holds, without writing it down yet. `lock` is the handle of the locked file. */
void vidi__manifest_begin(vidi__manifest *manifest, int folder, int lock, const vidi__manifest_contents *contents);
/* Makes a new file with what is known, syncs it, renames it and syncs the folder. On error either file may be there. */
int vidi__manifest_put(vidi__manifest *manifest);

/* Lists another log, which ends after its head. */
int vidi__manifest_add_log(vidi__manifest *manifest, uint64_t number, uint64_t length);
/* Takes the last log off the list if it is this one, so that it can be removed. */
int vidi__manifest_drop_log(vidi__manifest *manifest, uint64_t number);
/*
 * Names another snapshot, and lists the log of its number, with this length, unless it is listed already. Logs below
 * `first` are dropped, and so are those from `until` on that are below the snapshot.
 */
int vidi__manifest_take_snapshot(vidi__manifest *manifest, uint64_t snapshot, uint64_t first, uint64_t until,
                                 uint64_t log_length);

/*
 * The log of this number has been synced up to this length. Ignored if it is not listed. VIDI_EIO if the set's lock was
 * removed: another process may be writing to the same files.
 */
int vidi__manifest_synced(vidi__manifest *manifest, uint64_t number, uint64_t length);
/* What was last written about this log; 0 if it is not listed. */
uint64_t vidi__manifest_known(vidi__manifest *manifest, uint64_t number);

#endif
