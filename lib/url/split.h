/*
 * A URL's segments and features, for the kinds that work on parts of URLs.
 *
 * There is one definition of where the parts are, the parser's: a text that is a URL as the parser writes it is cut at
 * the places that the parser tells. All other bytes (lines that are no URLs, spellings that nobody brought into a
 * canonical form, keys) are cut as if they were one: behind "scheme://", at slashes, before the first '?' or '#'. For
 * URLs with a host both give the same. They differ where bytes do not tell enough: the path of "mailto:a/b" has no
 * segments, and in "a:/.//b" the "/." is not part of the path.
 */
#ifndef VIDI_URL_SPLIT_H
#define VIDI_URL_SPLIT_H

#include "base/buffer.h"

/* Where the parts of a text are: offsets, in this order. */
typedef struct vidi__url_parts {
    vidi_str url;
    size_t scheme;               /* behind "http://" or any other "scheme://"; 0 if there is none */
    size_t host_begin, host_end; /* without user name and port; equal if there is no host */
    size_t path_begin;           /* at the slash before the first segment, unless the path is empty or opaque */
    size_t path_end;             /* at the '?' or '#', or the end */
    bool opaque;                 /* the path is one piece */
} vidi__url_parts;

/*
 * Finds the parts. room, which must be empty and is emptied again, is for the parser to write to; VIDI_OK, or an error
 * if it finds no memory. Time is linear in the text.
 */
int vidi__url_split(vidi__url_parts *parts, vidi_str url, vidi__buffer *room);

/*
 * Walks over the '/'-separated segments. Start with {parts, …} and call vidi__url_segment until it returns false. The
 * first is all that is before the path, and slashes outside of the path do not separate. There is always at least one
 * segment; "a/" has two, the second of them empty. Together with the slashes between them, segments are the whole URL
 * (without its scheme, if that is stripped).
 */
typedef struct vidi__url_segments {
    const vidi__url_parts *parts;
    uint64_t most;     /* the last one takes all the rest; 0: no limit */
    bool strip_scheme; /* otherwise it belongs to the first segment */
    size_t at;
    uint64_t count;
    bool ended;
} vidi__url_segments;

bool vidi__url_segment(vidi__url_segments *walk, vidi_str *segment);

/* A feature of the URL, at most as long as the URL itself, which is how much room buffer must have. */
typedef vidi_str vidi__url_feature_fn(const vidi__url_parts *parts, char *buffer);

/* NULL if there is none of that name. */
vidi__url_feature_fn *vidi__url_feature(const char *name);
int vidi__url_feature_unknown(const char *name);

#endif
