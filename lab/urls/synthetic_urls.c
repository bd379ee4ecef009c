/*
 * URLs that look like those of a crawl and that anybody can reproduce: they depend on (seed, run, index) alone.
 *
 *   hosts     2^20 hosts by Zipf's law: each octave of ranks (1, 2-3, 4-7, …) gets the same number of URLs
 *   depth     0 to 4 sections before the page, each number equally likely; their words follow Zipf's law too, from a
 *             vocabulary of 64 words whose order differs from site to site
 *   page      half of them a word and a number in base 36, a third two levels of numbers, a sixth a query
 *
 * The number at the end of a URL is the index after a permutation of 40 bits, which differs from run to run. The number
 * can be read back from each of the three sorts of pages, and the sorts cannot be confused: no two URLs of a run are
 * equal.
 */
#include "lab/engine/lab.h"
#include "lab/urls/mix.h"

enum { HOST_OCTAVES = 20, WORDS = 64 };

static const char words[WORDS][10] = {
    "about",   "account", "album",   "archive", "article", "author",  "basket",  "blog",    "board",   "book",
    "cache",   "catalog", "chapter", "city",    "comment", "contact", "country", "course",  "culture", "data",
    "design",  "detail",  "event",   "family",  "feature", "film",    "forum",   "gallery", "game",    "garden",
    "guide",   "health",  "history", "image",   "index",   "journal", "library", "map",     "market",  "media",
    "member",  "museum",  "music",   "news",    "notes",   "offer",   "order",   "page",    "paper",   "photo",
    "picture", "press",   "product", "profile", "project", "recipe",  "report",  "review",  "science", "search",
    "shop",    "story",   "topic",   "travel",
};

static const char endings[8][8] = {".com", ".org", ".net", ".de", ".co.uk", ".no", ".info", ".fr"};

uint64_t lab_run_start(uint64_t seed, uint64_t run)
{
    return lab_mix(lab_mix(seed + UINT64_C(0x9e3779b97f4a7c15)) + run * UINT64_C(0xd1342543de82ef95));
}

void lab_key(unsigned char key[VIDI_KEY_BYTES], uint64_t seed, uint64_t run)
{
    uint64_t start = lab_run_start(seed, run);
    for (unsigned i = 0; i < VIDI_KEY_BYTES; i++)
        key[i] = (unsigned char)(lab_mix(start + 1 + i / 8) >> i % 8 * 8);
}

/* The Fisher-Yates shuffle. */
void lab_shuffle(uint32_t *order, uint64_t n, uint64_t seed, uint64_t run, unsigned crawl)
{
    uint64_t start = lab_mix(lab_run_start(seed, run) + 3);
    for (unsigned i = 1; i < crawl; i++)
        start = lab_mix(start);
    for (uint64_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = n; i > 1; i--) {
        uint64_t bits = lab_mix(start + i * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
        uint64_t other = bits * i >> 32; /* i has at most 32 bits */
        uint32_t swap = order[i - 1];
        order[i - 1] = order[other];
        order[other] = swap;
    }
}

static char *put_text(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

static char *put_number(char *at, uint64_t number, unsigned base)
{
    char digits[40];
    unsigned count = 0;
    do {
        digits[count++] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % base];
        number /= base;
    } while (number);
    while (count)
        *at++ = digits[--count];
    return at;
}

/* Ranks from 0 to 2^octaves - 2, each octave equally likely. 16 bits choose the octave, the others the rank. */
static uint64_t zipf(uint64_t bits, unsigned octaves)
{
    unsigned octave = (unsigned)((bits & 0xffff) * octaves >> 16);
    uint64_t first = UINT64_C(1) << octave;
    return first - 1 + ((bits >> 16) & (first - 1));
}

static char *put_host(char *at, uint64_t rank)
{
    uint64_t bits = lab_mix(rank * UINT64_C(0x9e3779b97f4a7c15) + 1);
    at = put_text(at, bits & 1 ? "https://" : "http://");
    at = put_text(at, bits & 6 ? "www." : "");
    at = put_text(at, words[bits >> 4 & 63]);
    if (rank >= WORDS)
        at = put_text(at, words[bits >> 10 & 63]);
    at = put_number(at, rank, 36);
    return put_text(at, endings[bits >> 16 & 7]);
}

static char *put_sections(char *at, uint64_t rank, uint64_t bits)
{
    unsigned sections = (unsigned)((bits & 0xff) * 5 >> 8);
    bits >>= 8;
    for (unsigned i = 0; i < sections; i++, bits >>= 12) {
        *at++ = '/';
        at = put_text(at, words[(zipf((bits & 0xfff) * 0x10011u, 6) + rank + i) & 63]);
    }
    return at;
}

static char *put_page(char *at, uint64_t number, uint64_t bits)
{
    uint64_t form = (bits & 0xff) * 6 >> 8;
    *at++ = '/';
    if (form < 3) {
        at = put_text(at, words[bits >> 8 & 63]);
        *at++ = '-';
        return put_number(at, number, 36);
    }
    if (form < 5) {
        at = put_number(at, number / 1000, 10);
        *at++ = '/';
        at = put_number(at, number % 1000, 10);
        return put_text(at, ".html");
    }
    at = put_text(at, bits >> 8 & 1 ? "view?lang=en&id=" : "view.php?id=");
    return put_number(at, number, 10);
}

size_t lab_made_url(char *buffer, uint64_t seed, uint64_t run, uint64_t index)
{
    const uint64_t forty = (UINT64_C(1) << 40) - 1;
    uint64_t start = lab_run_start(seed, run);
    uint64_t bits = lab_mix(start + index * UINT64_C(0x9e3779b97f4a7c15)), more = lab_mix(bits);
    uint64_t rank = zipf(bits, HOST_OCTAVES);
    uint64_t number = (index * UINT64_C(0x9e3779b97d) + (start >> 24)) & forty;
    char *at = put_host(buffer, rank);
    at = put_sections(at, rank, more);
    at = put_page(at, number, bits >> 40);
    return (size_t)(at - buffer);
}

size_t lab_url(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index)
{
    if (settings->corpus)
        return lab_corpus_url(buffer, settings->corpus, lab_run_start(settings->seed, run), index);
    return lab_made_url(buffer, settings->seed, run, index);
}
