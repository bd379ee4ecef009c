/*
 * Measures how long it takes to make a URL canonical. Half of the URLs are canonical already. The others are messy:
 * they have capital letters in scheme and host, default ports, dot segments, spaces, characters beyond ASCII in path
 * and query, and fragments. vidi is compared with copying and hashing the same bytes, with libcurl's URL parser, and
 * with Node's, which runs in its own process (url.mjs) and prints nanoseconds a URL.
 *
 * The URLs, 32,768 of each sort, are read from the L2 or L3 cache. The peers define canonical differently: libcurl
 * keeps capital letters in hosts, and default ports.
 */
#include "subjects.h"
#include "urls.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/inside/inside.h"

#ifdef BENCH_HAVE_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif
#ifdef BENCH_HAVE_CURL
#include <curl/curl.h>
#endif

#define COUNT 32768
#define ROUNDS 9
#define MESSY_ROOM (URL_ROOM + 96)

static volatile uint64_t sink; /* takes the results, so that nothing is optimised away */

/* ---- the URLs ---- */

typedef struct texts {
    char *bytes;
    vidi_str *urls; /* each followed by a NUL, which libcurl needs */
    double average;
} texts;

static bool texts_open(texts *texts)
{
    texts->bytes = malloc((size_t)COUNT * MESSY_ROOM);
    texts->urls = malloc(COUNT * sizeof *texts->urls);
    return texts->bytes && texts->urls;
}

static void texts_close(texts *texts)
{
    free(texts->bytes);
    free(texts->urls);
}

static char *put(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}

static char *put_text(char *at, const char *text)
{
    return put(at, text, strlen(text));
}

/* Makes every other letter a capital. */
static void capitals(char *begin, const char *end)
{
    for (; begin < end; begin += 2)
        if (*begin >= 'a' && *begin <= 'z')
            *begin = (char)(*begin - 'a' + 'A');
}

/* Adds two or more deviations from the canonical form, chosen by the bits. */
static char *put_messy(char *at, vidi_str url, uint64_t bits)
{
    static const char *const folders[4] = {"/a/../", "/./", "/two words/", "/M\xc3\xbcnchen/"};
    static const char *const ends[4] = {"#top", " ", "?q=caf\xc3\xa9&r='x'", ""};
    const char *host = strstr(url.ptr, "://") + 3, *path = strchr(host, '/'), *end = url.ptr + url.len;
    char *scheme = at;
    at = put(at, url.ptr, (size_t)(host - url.ptr));
    if (bits & 1)
        capitals(scheme, at);
    char *begin = at;
    at = put(at, host, (size_t)(path - host));
    if (bits & 2)
        capitals(begin, at);
    if (bits >> 2 & 1)
        at = put_text(at, host - url.ptr == 7 ? ":80" : ":443");
    at = put_text(at, folders[bits >> 3 & 3]);
    at = put(at, path + 1, (size_t)(end - path - 1));
    return put_text(at, ends[bits >> 5 & 3]);
}

static bool make_texts(texts *plain, texts *messy)
{
    url_chunk chunk;
    bool fine = url_chunk_open(&chunk, COUNT) == 0 && texts_open(plain) && texts_open(messy);
    if (fine) {
        char *to[2] = {plain->bytes, messy->bytes};
        for (size_t i = 0; i < COUNT; i++)
            chunk.numbers[i] = i;
        url_chunk_fill(&chunk, 7, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            char *end = put(to[0], chunk.urls[i].ptr, chunk.urls[i].len);
            *end = 0;
            plain->urls[i] = (vidi_str){to[0], (size_t)(end - to[0])};
            to[0] = end + 1;
            end = put_messy(to[1], plain->urls[i], url_mix(i));
            *end = 0;
            messy->urls[i] = (vidi_str){to[1], (size_t)(end - to[1])};
            to[1] = end + 1;
        }
        plain->average = (double)(to[0] - plain->bytes) / COUNT - 1;
        messy->average = (double)(to[1] - messy->bytes) / COUNT - 1;
    }
    url_chunk_close(&chunk);
    return fine;
}

/* ---- passes over the URLs ---- */

static bool pass_whatwg(const texts *texts)
{
    uint64_t bytes;
    if (vidi__inside_whatwg(texts->urls, COUNT, &bytes) != VIDI_OK) {
        bench_refuse("%s", vidi_message());
        return false;
    }
    sink += bytes;
    return true;
}

static bool pass_crawl(const texts *texts)
{
    char room[1024];
    vidi_canon *crawl;
    uint64_t sum = 0;
    bool fine = vidi_canon_create(&crawl, "crawl", NULL, NULL) == VIDI_OK;
    for (size_t i = 0; i < COUNT && fine; i++) {
        size_t len = sizeof room;
        fine = vidi_url_canon(crawl, texts->urls[i], NULL, room, &len) == VIDI_OK;
        sum += len;
    }
    if (!fine)
        bench_refuse("%s", vidi_message());
    vidi_canon_close(crawl);
    sink += sum;
    return fine;
}

static bool pass_memcpy(const texts *texts)
{
    char room[1024];
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(room, texts->urls[i].ptr, texts->urls[i].len);
        __asm__ volatile("" : : "r"(room) : "memory");
    }
    return true;
}

static bool pass_xxh3(const texts *texts)
{
#ifdef BENCH_HAVE_XXHASH
    uint64_t sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += XXH3_64bits(texts->urls[i].ptr, texts->urls[i].len);
    sink += sum;
    return true;
#else
    (void)texts;
    bench_refuse("there is no xxhash.h");
    return false;
#endif
}

static bool pass_libcurl(const texts *texts)
{
#ifdef BENCH_HAVE_CURL
    CURLU *handle = curl_url();
    uint64_t sum = 0;
    bool fine = handle;
    for (size_t i = 0; i < COUNT && fine; i++) {
        char *out;
        fine = curl_url_set(handle, CURLUPART_URL, texts->urls[i].ptr, CURLU_URLENCODE) == CURLUE_OK &&
               curl_url_set(handle, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK &&
               curl_url_get(handle, CURLUPART_URL, &out, 0) == CURLUE_OK;
        if (fine) {
            sum += (unsigned char)out[0];
            curl_free(out);
        }
    }
    curl_url_cleanup(handle);
    sink += sum;
    if (!fine)
        bench_refuse("libcurl refuses one of the URLs");
    return fine;
#else
    (void)texts;
    bench_refuse("libcurl's headers are not installed");
    return false;
#endif
}

/* ---- Node ---- */

static bool write_lines(const texts *texts, FILE *to)
{
    for (size_t i = 0; i < COUNT; i++)
        fprintf(to, "%s\n", texts->urls[i].ptr);
    return fflush(to) == 0;
}

/* url.mjs reads the URLs from its standard input and prints the best of its rounds, in ns a URL. */
static bool ask_node(const char *script, const texts *texts, double *ns)
{
    char command[1024], lines[] = "/tmp/vidi-bench-XXXXXX";
    int fd = mkstemp(lines);
    FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
    bool fine = to && write_lines(texts, to) && !strchr(script, '\'');
    snprintf(command, sizeof command, "node '%s' < %s 2>/dev/null", script, lines);
    /* NOLINTNEXTLINE(cert-env33-c): the script's path is the user's own */
    FILE *from = fine ? popen(command, "r") : NULL;
    fine = from && fscanf(from, "%lf", ns) == 1; /* NOLINT(cert-err34-c): what url.mjs has just written */
    if (from)
        fine = pclose(from) == 0 && fine;
    if (to)
        fclose(to);
    if (fd >= 0)
        unlink(lines);
    return fine;
}

/* ---- all methods ---- */

static const struct method {
    const char *name;
    bool (*pass)(const texts *texts); /* NULL: Node */
    const char *note;
} methods[] = {
    {"vidi whatwg", pass_whatwg,
     "serialised by the URL Standard, without the fragment; canonical input is returned as it is"},
    {"vidi crawl", pass_crawl, "whatwg plus seven rules; copied"},
    {"memcpy", pass_memcpy, "of the same bytes"},
    {"xxh3", pass_xxh3, "XXH3_64bits of the same bytes"},
    {"libcurl", pass_libcurl, "curl_url_set, curl_url_get; keeps capital letters in hosts and default ports"},
    {"node", NULL, "new URL(), hash removed, href; in its own process"},
};
_Static_assert(sizeof methods / sizeof methods[0] <= BENCH_CANON_METHODS, "there is room for all");

static void measure_node(const char *node, const texts *texts, bench_canon *result)
{
    double ns = 0;
    if (!node)
        snprintf(result->why, sizeof result->why, "not asked for");
    else if (!ask_node(node, texts, &ns))
        snprintf(result->why, sizeof result->why, "node is not installed, or failed");
    else
        bench_record(&result->series, ns, ns);
}

/* Runs one round of one method. */
static void measure(const struct method *method, const texts *texts, bench_canon *result)
{
    if (result->why[0])
        return;
    double cpu = bench_cpu_now(), start = bench_now();
    if (!method->pass(texts))
        snprintf(result->why, sizeof result->why, "%s", bench_reason());
    else
        bench_record(&result->series, (bench_now() - start) / COUNT, (bench_cpu_now() - cpu) / COUNT);
}

/* The methods take turns, so that disturbances affect all of them. */
static void measure_all(const texts *texts, const char *sort, const char *node, bench_canon *results)
{
    const size_t count = sizeof methods / sizeof methods[0];
    for (size_t i = 0; i < count; i++) {
        results[i] = (bench_canon){.name = sort, .subject = methods[i].name, .note = methods[i].note, .n = COUNT};
        results[i].bytes = texts->average;
        if (!methods[i].pass)
            measure_node(node, texts, &results[i]);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < count; i++)
            if (methods[i].pass)
                measure(&methods[i], texts, &results[i]);
}

void bench_canon_measure(bench_run *run)
{
    static const char *const sorts[BENCH_CANON_SORTS] = {"canon, canonical", "canon, messy"};
    texts texts[BENCH_CANON_SORTS] = {{0}};
    if (make_texts(&texts[0], &texts[1]))
        for (size_t sort = 0; sort < BENCH_CANON_SORTS; sort++)
            measure_all(&texts[sort], sorts[sort], run->node, run->canon[sort]);
    for (size_t sort = 0; sort < BENCH_CANON_SORTS; sort++)
        texts_close(&texts[sort]);
}

void bench_canon_table(const bench_run *run, FILE *out)
{
    if (!run->canon[0][0].name)
        return;
    fprintf(out, "\nCanonical form, ns a URL, best (median): %.0f bytes on average when canonical, %.0f when messy\n\n",
            run->canon[0][0].bytes, run->canon[1][0].bytes);
    fprintf(out, "| %-11s | %16s | %16s |\n|-------------|-----------------:|-----------------:|\n", "", "canonical",
            "messy");
    for (size_t i = 0; i < BENCH_CANON_METHODS && run->canon[0][i].name; i++) {
        fprintf(out, "| %-11s |", run->canon[0][i].subject);
        for (size_t sort = 0; sort < BENCH_CANON_SORTS; sort++) {
            const bench_canon *result = &run->canon[sort][i];
            char cell[48] = "-";
            if (result->series.rounds)
                snprintf(cell, sizeof cell, "%.1f (%.1f)", bench_best(&result->series), bench_median(&result->series));
            fprintf(out, " %16s |", cell);
        }
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < BENCH_CANON_METHODS; i++)
        if (run->canon[0][i].why[0])
            fprintf(out, "Left out: %s: %s\n", run->canon[0][i].subject, run->canon[0][i].why);
}
