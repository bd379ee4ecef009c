/*
 * Splits URLs into segments and features, for the kinds that work on parts of URLs.
 *
 * The parser decides where the parts of a URL are, if the text is a URL as the parser writes it. All other text (lines
 * that aren't URLs, URLs that were not canonicalised, keys) is split by its bytes as if it were a URL: after
 * "scheme://", at slashes, before the first '?' or '#'. For URLs with a host both ways give the same result. They
 * differ where the bytes do not tell enough: the path of "mailto:a/b" has no segments, and in "a:/.//b" the "/." is not
 * part of the path.
 */
#ifndef VIDI_URL_PARSE_SPLIT_H
#define VIDI_URL_PARSE_SPLIT_H

#include "base/buffer.h"

/* The offsets of the parts of a text, in increasing order. */
typedef struct vidi__url_parts {
    vidi_str url;
    size_t scheme;               /* after "http://" or any other "scheme://"; 0 if there is none */
    size_t host_begin, host_end; /* without user name and port; equal if there is no host */
    size_t path_begin;           /* at the slash before the first segment, unless the path is empty or opaque */
    size_t path_end;             /* at the '?' or '#', or the end */
    bool opaque;                 /* the path has no segments */
} vidi__url_parts;

/*
 * Finds the parts. The parser writes to room, which must be empty and is empty again afterwards. VIDI_OK, or an error
 * if there is no memory. Takes linear time.
 */
int vidi__url_split(vidi__url_parts *parts, vidi_str url, vidi__buffer *room);

/*
 * Walks over the segments. Start with {parts, …} and call vidi__url_segment until it returns false. The first segment
 * is everything before the path; slashes outside the path do not separate segments. There is always at least one
 * segment; "a/" has two, the second of which is empty. The segments with the slashes between them are the whole URL
 * (without its scheme, if that is stripped).
 */
typedef struct vidi__url_segments {
    const vidi__url_parts *parts;
    uint64_t most;     /* segments at most, the last of which takes the rest of the URL; 0: no limit */
    bool strip_scheme; /* otherwise the scheme belongs to the first segment */
    size_t at;
    uint64_t count;
    bool ended;
} vidi__url_segments;

bool vidi__url_segment(vidi__url_segments *walk, vidi_str *segment);

/* Computes a feature of the URL. It is never longer than the URL; buffer must have room for that. */
typedef vidi_str vidi__url_feature_fn(const vidi__url_parts *parts, char *buffer);

/* The feature of that name; NULL if there is none. */
vidi__url_feature_fn *vidi__url_feature(const char *name);
int vidi__url_feature_unknown(const char *name);

#endif
