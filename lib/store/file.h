/*
 * Files, as the store sees them. Every system call that can fail goes through a table of functions. A test may replace
 * it by one that fails at the n-th call, loses what was not synced, or tears a write in two. The store's functions are
 * on top of the table: they continue after EINTR and after short reads and writes, and turn errors into messages that
 * name the file.
 *
 * No function repeats a call after any other error. That matters most for fsync: after EIO the kernel counts the data
 * as written, so that a second call would succeed although nobody knows what is on the disk. EINTR means only that the
 * kernel has stopped waiting: it forgets neither data nor an error, and the next call waits and tells.
 */
#ifndef VIDI_STORE_FILE_H
#define VIDI_STORE_FILE_H

#include <sys/types.h>

#include "base/base.h"

/* What fstat tells about a file. */
typedef struct vidi__file_state {
    uint64_t bytes;
    uint64_t links; /* names that it has; 0 if it was removed */
    uint64_t device, inode;
    bool regular; /* neither a folder nor a pipe nor a device */
} vidi__file_state;

/* As in POSIX: -1 and errno on error. */
typedef struct vidi__system {
    int (*open)(int folder, const char *name, int flags, mode_t mode); /* openat */
    int (*close)(int file);
    ssize_t (*write)(int file, const void *data, size_t bytes);
    ssize_t (*pread)(int file, void *data, size_t bytes, off_t offset);
    ssize_t (*pwrite)(int file, const void *data, size_t bytes, off_t offset);
    int (*fsync)(int file);
    int (*rename)(int folder, const char *from, const char *to); /* renameat within one folder */
    int (*unlink)(int folder, const char *name);                 /* unlinkat */
    int (*mkdir)(const char *path, mode_t mode);
    int (*stat)(int file, vidi__file_state *state); /* fstat */
    int (*lock)(int file);                          /* flock, exclusive, without waiting */
    int (*unlock)(int file);                        /* flock */
    int (*truncate)(int file, uint64_t bytes);      /* ftruncate */
    void *(*map)(int file, size_t bytes);           /* mmap, for reading, shared; MAP_FAILED */
    int (*unmap)(void *start, size_t bytes);
    /*
     * Calls visit for each name in the folder except "." and "..". A result other than 0 ends the walk and is returned.
     */
    int (*list)(int folder, int (*visit)(void *context, const char *name), void *context);
} vidi__system;

/* The operating system's functions, and those in use, which only tests change. */
extern const vidi__system vidi__system_real;
extern const vidi__system *vidi__system_now;

/* Files of a set are only for their owner, because the key is inside. */
#define VIDI__FILE_MODE 0600
#define VIDI__FOLDER_MODE 0700

/* An open file, and its name for messages. */
typedef struct vidi__file {
    int handle; /* -1: closed */
    char name[40];
} vidi__file;

/* All functions return VIDI_OK, or VIDI_EIO with a message, unless noted otherwise. */

/*
 * flags are those of open(2); O_CLOEXEC is added. Never follows a symbolic link and never waits: VIDI_EFORMAT if the
 * name is that of a link, a pipe or anything else that is not a regular file. VIDI_EABSENT if there is no such file.
 */
int vidi__file_open(vidi__file *file, int folder, const char *name, int flags);
/* Closing a closed file is allowed. The result only matters for files that were written. */
int vidi__file_close(vidi__file *file);
int vidi__file_write(const vidi__file *file, const void *data, size_t bytes);
/* Overwrites bytes in the middle of the file. */
int vidi__file_overwrite(const vidi__file *file, const void *data, size_t bytes, uint64_t offset);
/* Reads exactly this many bytes; VIDI_EFORMAT if the file ends before. */
int vidi__file_read(const vidi__file *file, void *data, size_t bytes, uint64_t offset);
int vidi__file_sync(const vidi__file *file);
int vidi__file_size(const vidi__file *file, uint64_t *bytes);
int vidi__file_stat(const vidi__file *file, vidi__file_state *state);
int vidi__file_truncate(const vidi__file *file, uint64_t bytes);
/* VIDI_ELIMIT if the file is too large for the address space. For 0 bytes *start is NULL. */
int vidi__file_map(const vidi__file *file, uint64_t bytes, const void **start);
void vidi__file_unmap(const void *start, uint64_t bytes);
int vidi__file_rename(int folder, const char *from, const char *to);
/* Succeeds if the file does not exist. */
int vidi__file_unlink(int folder, const char *name);

#endif
