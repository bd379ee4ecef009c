/*
 * The folder that a mirror is written to. Nothing outside it is touched, whatever links others have put into it, and no
 * file is ever there in part.
 *
 * The file .vidi-mirror in it says which crawl it belongs to. A folder that has other files and no such file is
 * refused.
 */
#ifndef VIDI_CRAWLER_EXPORT_MIRROR_FOLDER_H
#define VIDI_CRAWLER_EXPORT_MIRROR_FOLDER_H

#include "crawler/export/source.h"

typedef struct mirror_folder {
    const export_source *source; /* for messages */
    const char *path;
    int root; /* -1: not open */
} mirror_folder;

/* Makes the folder (mode 0700) if it is missing, and locks it. Errors as in export.h. Close it in either case. */
int mirror_folder_open(mirror_folder *folder, const export_source *source, const char *path);
void mirror_folder_close(mirror_folder *folder);

/* Writes a file with its folders, or replaces it. The path is relative and made of mirror_name components. */
int mirror_folder_write(const mirror_folder *folder, const char *path, vidi_str content);

/* Brings everything to disk. */
int mirror_folder_sync(const mirror_folder *folder);

#endif
