/*
 * URLs that are canonical already, recognised without parsing them: the great majority of what a crawler meets.
 *
 * The form in question is the URL Standard's serialisation without the fragment. The scan looks for http and https URLs
 * of the plain kind: a host of lower-case letters, digits, '-', '.' and '_' (or an IPv4 address as four numbers), maybe
 * a port that is not the scheme's own, a path and a query in which the parser would change nothing. It says yes only if
 * the parser would give the same bytes, and no to some that it would leave alone (other schemes, user names, IPv6).
 */
#ifndef VIDI_URL_IS_CANONICAL_H
#define VIDI_URL_IS_CANONICAL_H

#include "base/buffer.h"

/* Is it what the parser would make of it, without a fragment? Reads nothing outside of the URL; any bytes will do. */
bool vidi__url_is_canonical(vidi_str url);

/* The same by the kernel of one level; for tests. Only what vidi__cpu_has() may be asked. */
bool vidi__url_is_canonical_portable(vidi_str url);
#if defined(__x86_64__)
bool vidi__url_is_canonical_sse2(vidi_str url);
bool vidi__url_is_canonical_avx2(vidi_str url);
bool vidi__url_is_canonical_avx512(vidi_str url);
#endif

/*
 * The canonical form of a URL after the standard: its serialisation without the fragment. *out is the input itself if
 * that is canonical, else it lies in room, which must be empty before, is grown if need be, and stays the caller's to
 * free. VIDI__NOT_URL with a sentence if it is not a URL; then *out is empty.
 */
int vidi__url_whatwg(vidi_str url, vidi__buffer *room, vidi_str *out);

#endif
