/*
 * A URL's segments and features, for the kinds that work on parts of URLs. Pure functions over bytes: anything goes in,
 * nothing is allocated, every result points into the URL or into the caller's buffer.
 */
#ifndef VIDI_URL_SPLIT_H
#define VIDI_URL_SPLIT_H

#include "base/base.h"

/* Behind "http://", "https://" or any other "scheme://"; 0 if the URL has none. */
size_t vidi__url_scheme_end(vidi_str url);

/*
 * Walks over the '/'-separated segments. Start with {url, …} and call vidi__url_segment until it returns false. Slashes
 * in the scheme's "://" and behind the first '?' or '#' do not separate. There is always at least one segment; "a/" has
 * two, the second of them empty. Together with the slashes between them, segments are the whole URL (without its
 * scheme, if that is stripped).
 */
typedef struct vidi__url_segments {
    vidi_str url;
    uint64_t most;     /* the last one takes all the rest; 0: no limit */
    bool strip_scheme; /* otherwise it belongs to the first segment */
    size_t at;
    uint64_t count;
    bool ended;
} vidi__url_segments;

bool vidi__url_segment(vidi__url_segments *walk, vidi_str *segment);

/* A feature of the URL, at most as long as the URL itself, which is how much room buffer must have. */
typedef vidi_str vidi__url_feature_fn(vidi_str url, char *buffer);

/* NULL if there is none of that name. */
vidi__url_feature_fn *vidi__url_feature(const char *name);
int vidi__url_feature_unknown(const char *name);

#endif
