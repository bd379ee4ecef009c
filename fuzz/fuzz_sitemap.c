/*
 * Sitemaps of any bytes. The first byte says in what pieces the rest is fed: whatever they are, entries and report must
 * be the same as in one piece. Every URL must be absolute and fit for a line of text.
 */
#include <string.h>
#include <strings.h>

#include "common/fnv.h"
#include "crawler/sitemap/sitemap.h"
#include "fuzz.h"

/* A digest of all entries, so that two runs can be compared. */
typedef struct seen {
    uint64_t digest, count;
} seen;

static void mix(seen *all, vidi_str text)
{
    all->digest = fnv_byte(fnv_bytes(all->digest, text.ptr, text.len), '\n'); /* no text has a line end */
}

static void check_line(vidi_str text)
{
    for (size_t i = 0; i < text.len; i++)
        FUZZ_CHECK((unsigned char)text.ptr[i] >= 0x20 && text.ptr[i] != 0x7f);
}

static int take(void *context, const sitemap_entry *entry)
{
    seen *all = context;
    FUZZ_CHECK(entry->url.len > 7 && strncasecmp(entry->url.ptr, "http", 4) == 0 && entry->line > 0);
    check_line(entry->url);
    check_line(entry->lastmod);
    mix(all, entry->url);
    mix(all, entry->lastmod);
    mix(all, entry->changefreq);
    mix(all, entry->priority);
    all->count++;
    return 0;
}

/* Feeds pieces of sizes that follow from `seed`; 0: all at once. */
static seen read_pieces(const char *bytes, size_t n, unsigned seed, sitemap_report *report)
{
    seen all = {0, 0};
    sitemap *reader;
    sitemap_options options = {
        .visit = take, .context = &all, .base = {"http://base.example/a/b", 23}, .max_urls = 100, .max_bytes = 1 << 16};
    FUZZ_CHECK(sitemap_open(&reader, &options) == VIDI_OK);
    for (size_t i = 0, piece; i < n; i += piece) {
        seed = seed * 69069u + (seed != 0);
        piece = seed ? 1 + (seed >> 16) % 23 : n;
        piece = piece < n - i ? piece : n - i;
        if (sitemap_feed(reader, bytes + i, piece) != SITEMAP_GO_ON)
            break;
    }
    FUZZ_CHECK(sitemap_close(reader, report) == VIDI_OK);
    FUZZ_CHECK(all.count == report->pages + report->sitemaps && all.count <= 100 && report->bytes <= 1 << 16);
    FUZZ_CHECK(all.count == 0 || report->format != SITEMAP_UNKNOWN);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sitemap_report whole, pieces;
    if (size == 0)
        return 0;
    const char *bytes = (const char *)data + 1;
    seen one = read_pieces(bytes, size - 1, 0, &whole), two = read_pieces(bytes, size - 1, data[0] | 1u, &pieces);
    FUZZ_CHECK(one.digest == two.digest && one.count == two.count);
    FUZZ_CHECK(whole.format == pieces.format);
    if (!sitemap_is_incomplete(&whole)) /* after a limit, a problem just after it may have been met or not */
        FUZZ_CHECK(memcmp(&whole, &pieces, sizeof whole) == 0);
    return 0;
}
