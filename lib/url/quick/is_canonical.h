/*
 * Recognises canonical URLs without parsing them. Most URLs that a crawler meets are canonical.
 *
 * Canonical here means the URL Standard's serialisation without a fragment. The scan accepts plain http and https URLs:
 * a host of lower-case letters, digits, '-', '.' and '_' (or an IPv4 address as four numbers), maybe a port other than
 * the scheme's default, and a path and query in which the parser would change nothing. It accepts a URL only if the
 * parser would give the same bytes. It rejects some URLs that the parser would leave alone, too: other schemes, user
 * names, IPv6 addresses.
 */
#ifndef VIDI_URL_QUICK_IS_CANONICAL_H
#define VIDI_URL_QUICK_IS_CANONICAL_H

#include "base/buffer.h"

/* Returns true if the URL is canonical. The input may be any bytes; nothing outside it is read. */
bool vidi__url_is_canonical(vidi_str url);

/* How many of the URLs are canonical, from the first one on; an entry without text is not. */
size_t vidi__url_count_canonical(const vidi_str *urls, size_t n);

/* The kernels of each CPU level, for tests. Call only those that vidi__cpu_has(). */
bool vidi__url_is_canonical_portable(vidi_str url);
size_t vidi__url_count_canonical_portable(const vidi_str *urls, size_t n);
#if defined(__x86_64__)
bool vidi__url_is_canonical_sse2(vidi_str url);
size_t vidi__url_count_canonical_sse2(const vidi_str *urls, size_t n);
bool vidi__url_is_canonical_avx2(vidi_str url);
size_t vidi__url_count_canonical_avx2(const vidi_str *urls, size_t n);
bool vidi__url_is_canonical_avx512(vidi_str url);
size_t vidi__url_count_canonical_avx512(const vidi_str *urls, size_t n);
/*
 * The same, faster for plain URLs: canonical ones of 33 to 128 bytes without a query, a percent sign, or a segment that
 * begins with a dot. For URLs that come one at a time; in arrays, the others load their constants only once.
 */
bool vidi__url_is_canonical_alone_avx2(vidi_str url);
bool vidi__url_is_canonical_alone_avx512(vidi_str url);
#elif defined(__aarch64__)
bool vidi__url_is_canonical_neon(vidi_str url);
size_t vidi__url_count_canonical_neon(const vidi_str *urls, size_t n);
#endif

/*
 * The canonical form `whatwg`: the standard's serialisation without the fragment. *out is the input itself if that is
 * canonical; otherwise it is in room, which must be empty before the call and which the caller frees. Returns
 * VIDI__NOT_URL with a message if the input is not a URL; then *out is empty.
 */
int vidi__url_whatwg(vidi_str url, vidi__buffer *room, vidi_str *out);

#endif
