/*
 * Names of files for URLs, which every file system takes, and from which a browser knows what is in the file. Nothing
 * here looks at other names: mirror.c keeps names apart that come out the same.
 *
 *   https://example.org/               example.org/index.html
 *   https://example.org:8080/a/b?c=1   example.org+8080/a/b@c=1.html    if it is HTML
 *   https://example.org/logo           example.org/logo.png             if it is a PNG image
 *
 * Names are ASCII, so that no file system can normalise, fold or refuse other letters; what is not permitted is
 * percent-encoded. No name begins with a dot, so none is "..", and no component is longer than MIRROR_COMPONENT bytes.
 */
#ifndef VIDI_CRAWLER_EXPORT_MIRROR_NAMES_H
#define VIDI_CRAWLER_EXPORT_MIRROR_NAMES_H

#include "crawler/base/bytes.h"

enum {
    MIRROR_STEM = 96,       /* most bytes of a folder's name, or of a file's without its extension */
    MIRROR_COMPONENT = 140, /* the same with extension, and with what keeps names apart */
    MIRROR_FOLDERS = 500    /* most bytes of all folders together: URLs that are deeper get shorter paths */
};

/* Begins as {0}. */
typedef struct mirror_name {
    bytes folders;      /* each ends in '/'; the first is the host */
    bytes stem;         /* of the file */
    char extension[24]; /* with its dot; empty: none */
} mirror_name;

/* For a serialised http or https URL and its media type. VIDI_OK, VIDI_EMEMORY, or VIDI_INVALID: it is another URL. */
int mirror_name_make(vidi_str url, const char *type, mirror_name *name);
void mirror_name_free(mirror_name *name);

/* True if the file contains HTML: nothing else gets such a name. */
bool mirror_name_is_html(const char *path);

#endif
