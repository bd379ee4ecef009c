/*
 * Makes other forms of what a crawl has kept: one file for players of web archives, or a folder of files for a browser.
 * The crawl may be running: all that is exported is of one moment, the last commit before the call.
 *
 * Functions return VIDI_OK, VIDI_EMEMORY, VIDI_EIO, VIDI_ELIMIT (the disk is full), VIDI_EDAMAGED or VIDI_EEXIST; `why`
 * (room EXPORT_WHY) has a sentence on error.
 */
#ifndef VIDI_CRAWLER_EXPORT_EXPORT_H
#define VIDI_CRAWLER_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/report/report.h"

enum { EXPORT_WHY = 1024 };

typedef struct export_options {
    const char *folder; /* of the crawl */
    report *report;     /* of the same; opened by the caller */
    const char *to;     /* the file or folder to make */
    bool rewrite;       /* export_mirror only: links lead to the files */
} export_options;

typedef struct export_result {
    uint64_t pages;      /* export_wacz: in the list of pages; export_mirror: files written */
    uint64_t records;    /* export_wacz: lines of the index */
    uint64_t bytes;      /* written */
    uint64_t redirects;  /* export_mirror: of the files, those that only lead to another one */
    uint64_t unreadable; /* pages whose record is damaged, or whose body cannot be unpacked */
    char example[512];   /* about the first of those: a sentence */
    char first[1024];    /* export_mirror: the file to begin with; empty: none */
} export_result;

/*
 * WACZ 1.1.1 (https://specs.webrecorder.net/wacz/1.1.1/): archive, index, list of pages and digests of them in one ZIP
 * file, of mode 0600. It is written beside its place and renamed once it is complete and synced.
 */
int export_wacz(const export_options *options, export_result *result, char *why);

/*
 * A folder with a file for each stored page: the body, unpacked, of the newest version. VIDI_EEXIST: the folder is not
 * empty, and was not made by an earlier call for the same crawl.
 */
int export_mirror(const export_options *options, export_result *result, char *why);

#endif
