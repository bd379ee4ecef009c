#include "support/urls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

/* The length is stored because most tests spend a good part of their time on making URLs. */
typedef struct word {
    char text[11];
    unsigned char length;
} word;

#define WORD(text)                                                                                                     \
    {                                                                                                                  \
        text, sizeof(text) - 1                                                                                         \
    }

static const word words[64] = {
    WORD("about"),    WORD("access"),   WORD("account"), WORD("active"),   WORD("agency"),  WORD("album"),
    WORD("analysis"), WORD("archive"),  WORD("article"), WORD("artist"),   WORD("audio"),   WORD("author"),
    WORD("auto"),     WORD("basic"),    WORD("blog"),    WORD("board"),    WORD("book"),    WORD("budget"),
    WORD("business"), WORD("camera"),   WORD("career"),  WORD("category"), WORD("center"),  WORD("channel"),
    WORD("city"),     WORD("class"),    WORD("club"),    WORD("code"),     WORD("comment"), WORD("company"),
    WORD("contact"),  WORD("country"),  WORD("course"),  WORD("culture"),  WORD("data"),    WORD("design"),
    WORD("detail"),   WORD("download"), WORD("event"),   WORD("family"),   WORD("feature"), WORD("film"),
    WORD("forum"),    WORD("gallery"),  WORD("game"),    WORD("garden"),   WORD("guide"),   WORD("health"),
    WORD("history"),  WORD("image"),    WORD("index"),   WORD("journal"),  WORD("library"), WORD("market"),
    WORD("media"),    WORD("museum"),   WORD("music"),   WORD("news"),     WORD("page"),    WORD("photo"),
    WORD("product"),  WORD("report"),   WORD("search"),  WORD("topic"),
};

static const word endings[8] = {
    WORD(".com"), WORD(".org"), WORD(".net"), WORD(".de"), WORD(".co.uk"), WORD(".gov"), WORD(".info"), WORD(".fr"),
};

/* Copies a fixed number of bytes, which takes no loop. What comes next overwrites those beyond the word's length. */
static char *put_word(char *at, const word *which)
{
    memcpy(at, which->text, sizeof which->text);
    return at + which->length;
}

static char *put_text(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

/* Writes a number in base 32, lowest digit first, without leading zeros, so that each number has one text. */
static char *put_number(char *at, uint64_t number)
{
    static const char digits[33] = "abcdefghijklmnopqrstuvwxyz234567";
    do {
        *at++ = digits[number & 31];
        number >>= 5;
    } while (number);
    return at;
}

static char *put_decimal(char *at, uint64_t number)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (n) {
        *at++ = digits[--n];
    }
    return at;
}

/* A rank in 0 .. 2^octaves - 2 with probability about 1/rank: each octave of ranks is equally likely. */
static uint64_t zipf(uint64_t bits, unsigned octaves)
{
    unsigned octave = (unsigned)((bits & 0xffff) * octaves >> 16);
    uint64_t first = (uint64_t)1 << octave;
    return first - 1 + ((bits >> 16) & (first - 1));
}

static char *put_host(char *at, uint64_t seed, uint64_t rank)
{
    uint64_t bits = test_mix(rank * 0x9e3779b97f4a7c15u + 1);
    at = put_text(at, bits & 1 ? "https://" : "http://");
    at = put_text(at, bits & 6 ? "www." : bits & 8 ? "" : "blog.");
    at = put_word(at, &words[bits >> 4 & 63]);
    at = put_number(at, rank);
    *at++ = '-';
    at = put_number(at, seed);
    return put_word(at, &endings[bits >> 12 & 7]);
}

/* Writes a path of up to four segments from the site's own vocabulary, in which the first words are the commonest. */
static char *put_sections(char *at, uint64_t rank, uint64_t bits)
{
    unsigned sections = (unsigned)((bits & 0xff) * 5 >> 8);
    bits >>= 8;
    for (unsigned i = 0; i < sections; i++, bits >>= 12) {
        *at++ = '/';
        at = put_word(at, &words[(zipf((bits & 0xfff) * 0x10011u, 6) + rank + i) & 63]);
    }
    return at;
}

/*
 * Writes the part that makes the URL unique: a slug, two segments (each of which other URLs share) or a query. The
 * three cannot be confused, and the index can be recovered from each.
 */
static char *put_leaf(char *at, uint64_t index, uint64_t bits)
{
    uint64_t form = (bits & 0xff) * 6 >> 8;
    *at++ = '/';
    if (form < 3) {
        at = put_word(at, &words[bits >> 8 & 63]);
        *at++ = '-';
        return put_number(at, index * 0x9e3779b97f4a7c15u >> 1 | index << 63);
    }
    if (form < 5) {
        at = put_decimal(at, index / 1000);
        *at++ = '/';
        at = put_decimal(at, index % 1000);
        return put_text(at, ".html");
    }
    at = put_text(at, bits >> 8 & 1 ? "view?lang=en&id=" : "view.php?id=");
    return put_decimal(at, index);
}

size_t test_url(char *buffer, size_t room, uint64_t seed, uint64_t index)
{
    if (room < TEST_URL_ROOM) {
        return 0;
    }
    uint64_t bits = test_mix(index + test_mix(seed));
    uint64_t more = test_mix(bits);
    uint64_t rank = zipf(bits, 16);
    char *at = put_host(buffer, seed, rank);
    at = put_sections(at, rank, more);
    at = put_leaf(at, index, bits >> 40);
    return (size_t)(at - buffer);
}

size_t test_deep_url(char *buffer, size_t room, uint64_t seed, uint64_t index)
{
    if (room < TEST_URL_ROOM) {
        return 0;
    }
    char *at = put_text(buffer, "https://www.archive-");
    at = put_number(at, seed);
    at = put_text(at, ".example.org/library/catalogue/collections/maps/europe/sheets/page?item=");
    at = put_decimal(at, index);
    return (size_t)(at - buffer);
}

void test_batch_init(test_batch *batch, size_t room)
{
    batch->urls = malloc((room ? room : 1) * sizeof *batch->urls);
    batch->arena = malloc((room ? room : 1) * TEST_URL_ROOM);
    batch->n = 0;
    batch->room = room;
    if (!batch->urls || !batch->arena) {
        fprintf(stderr, "tests: no memory for %zu URLs\n", room);
        exit(2);
    }
}

void test_batch_free(test_batch *batch)
{
    free(batch->urls);
    free(batch->arena);
    memset(batch, 0, sizeof *batch);
}

void test_batch_push(test_batch *batch, test_url_maker *make, uint64_t seed, uint64_t index)
{
    char *at = batch->arena + batch->n * TEST_URL_ROOM;
    if (batch->n >= batch->room) {
        fprintf(stderr, "tests: a batch of %zu URLs is full\n", batch->room);
        exit(2);
    }
    batch->urls[batch->n].ptr = at;
    batch->urls[batch->n].len = make(at, TEST_URL_ROOM, seed, index);
    batch->n++;
}

void test_batch_fill(test_batch *batch, test_url_maker *make, uint64_t seed, uint64_t first, size_t n)
{
    batch->n = 0;
    for (size_t i = 0; i < n; i++) {
        test_batch_push(batch, make, seed, first + i);
    }
}

vidi_str test_str(const char *text)
{
    return (vidi_str){text, strlen(text)};
}
