/*
 * The folder that a durable set lives in.
 *
 *     lock                      held by the one writer, as long as its process lives; its process id is inside
 *     set.<number>              a snapshot: the stream that vidi_write writes (docs/FORMAT.md)
 *     set.<number>.new          one that is being written, or that a crash has left
 *     log.<number>              what was committed after the snapshot of that number was begun
 *
 * Numbers are 16 hexadecimal digits and go up by one. A snapshot holds everything up to the beginning of the log of its
 * own number, so the set is: the snapshot with the highest number, and all logs from that number on, in order. A
 * snapshot gets its name by renaming when it is whole and on disk; that moment is when it takes over from the one
 * before. Everything older is then removed, except what a snapshot names as its previous epoch.
 */
#ifndef VIDI_STORE_FOLDER_H
#define VIDI_STORE_FOLDER_H

#include "store/file.h"

typedef struct vidi__folder {
    int handle; /* -1: closed */
    vidi__file lock;
} vidi__folder;

/* What is in a folder. */
typedef struct vidi__folder_contents {
    uint64_t snapshot; /* the highest number of a snapshot; 0: there is none */
    uint64_t last_log; /* the highest number of a log; 0: there is none */
} vidi__folder_contents;

/* Makes the folder, or takes an existing one that holds no set; its parent is synced. VIDI_EIO if there is a set. */
int vidi__folder_create(vidi__folder *folder, const char *path);

/* VIDI_EABSENT if there is no such folder. */
int vidi__folder_open(vidi__folder *folder, const char *path);
void vidi__folder_close(vidi__folder *folder);

/* Becomes the one writer: VIDI_EBUSY, with the process id of the other, if there is one. */
int vidi__folder_lock(vidi__folder *folder);

int vidi__folder_list(const vidi__folder *folder, vidi__folder_contents *contents);
int vidi__folder_sync(const vidi__folder *folder);

/*
 * Removes what is no longer needed: unfinished snapshots, and snapshots and logs below `keep` but for those from
 * `also_first` to `also_last`. What cannot be removed stays until the next time.
 */
void vidi__folder_tidy(const vidi__folder *folder, uint64_t keep, uint64_t also_first, uint64_t also_last);

/* "set.000000000000002a" */
void vidi__folder_snapshot_name(char name[40], uint64_t number);

/* A snapshot on its way to the disk. */
typedef struct vidi__folder_snapshot {
    const vidi__folder *folder;
    uint64_t number;
    vidi__file file;
    uint64_t bytes;  /* so far */
    uint64_t synced; /* handed to the disk in between, so that the end need not wait for all of it */
    bool renamed;    /* and so perhaps in force */
    int error;       /* of the sink, */
    char why[200];   /* and its sentence, which frame.c puts another in the place of */
} vidi__folder_snapshot;

/* Opens "set.<number>.new", empty. */
int vidi__folder_snapshot_begin(vidi__folder_snapshot *snapshot, const vidi__folder *folder, uint64_t number);
/* A vidi_sink; its context is the snapshot. */
int vidi__folder_snapshot_sink(void *context, const void *data, size_t bytes);
/* Syncs, renames, syncs the folder: when this returns VIDI_OK, the snapshot is in force, whatever happens. */
int vidi__folder_snapshot_finish(vidi__folder_snapshot *snapshot);
/* Gives up and removes what was written. */
void vidi__folder_snapshot_abandon(vidi__folder_snapshot *snapshot);

#endif
