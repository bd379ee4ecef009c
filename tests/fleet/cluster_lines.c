/*
 * Drives include/vidi/cluster.h by lines on standard input, for tests written in Python (support/driver.py).
 *
 * A line is a command and its words, with single spaces between them. The answer is a line, too: "ok" and what the call
 * has told, or "error", the code, what it has told, ": " and the sentence. Words name=value are options, where a
 * command takes some. URLs are words; "%20" in them is not decoded, so spaces cannot occur.
 *
 * A word scarce=N before a command lets its N-th request for memory, from 0, fail; if there was such a request, what the
 * call has told begins with "!".
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vidi/cluster.h"
#include "vidi/transfer.h"

enum { WORDS = 20000 };

static vidi_cluster *cluster;
static char *words[WORDS];
static size_t count;
static uint8_t verdicts[WORDS];
static uint64_t marks[WORDS];
static vidi_str urls[WORDS];
static vidi_claim claims[WORDS];

/* ---- memory that runs out ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);

static _Atomic long allocations; /* that succeed before one fails; below 0: it has failed */
static bool is_scarce;           /* during the next command */

static bool refuses(void)
{
    return is_scarce && atomic_fetch_sub(&allocations, 1) == 0;
}

void *__wrap_malloc(size_t size)
{
    return refuses() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refuses() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return refuses() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text)
{
    return refuses() ? NULL : __real_strdup(text);
}

/* ---- words ---- */

static void split(char *line)
{
    count = 0;
    for (char *word = strtok(line, " \n"); word && count < WORDS; word = strtok(NULL, " \n"))
        words[count++] = word;
}

static const char *word(size_t i)
{
    return i < count ? words[i] : "";
}

/* The value of an option; NULL if it is not there. */
static const char *option(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 1; i < count; i++)
        if (strncmp(words[i], name, len) == 0 && words[i][len] == '=')
            return words[i] + len + 1;
    return NULL;
}

static long long number(const char *name, long long otherwise)
{
    const char *text = option(name);
    return text ? atoll(text) : otherwise;
}

static bool has_word(const char *text)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(words[i], text) == 0)
            return true;
    return false;
}

static size_t take_urls(size_t from)
{
    for (size_t i = from; i < count; i++)
        urls[i - from] = (vidi_str){words[i], strlen(words[i])};
    return count > from ? count - from : 0;
}

/* ---- answers ---- */

static void answer(int code, const char *told)
{
    const char *scarce = is_scarce && atomic_load(&allocations) < 0 ? "!" : "";
    is_scarce = false;
    if (code < 0)
        printf("error %d %s%s: %s\n", code, scarce, told, vidi_cluster_message());
    else
        printf("ok %d %s%s\n", code, scarce, told);
    fflush(stdout);
}

static char told[WORDS * 24];

static const char *tell_verdicts(size_t n)
{
    static const char letters[] = "UNSIDH";
    for (size_t i = 0; i < n; i++)
        told[i] = verdicts[i] < 6 ? letters[verdicts[i]] : '?';
    told[n] = 0;
    return told;
}

/* ---- handles ---- */

static vidi_cluster_access access_of_words(void)
{
    vidi_cluster_access access = VIDI_CLUSTER_ACCESS_INIT;
    access.flags = (has_word("manual") ? VIDI_MANUAL_COMMIT : 0) | (has_word("readonly") ? VIDI_READ_ONLY : 0) |
                   (has_word("held") ? (uint32_t)VIDI_TELL_HELD : 0);
    access.invalid = (uint32_t)number("invalid", 0);
    access.owner = option("owner");
    access.lease_ms = number("lease", 0);
    access.wait_replicas = (uint32_t)number("wait", 0);
    access.reply_ms = number("reply", 0);
    access.patience_ms = number("patience", 0);
    return access;
}

static void set_options(vidi_options *options)
{
    options->kind = option("kind");
    options->params = option("params");
    options->canon = option("canon");
    options->capacity = (uint64_t)number("capacity", 0);
    options->error = option("error") ? atof(option("error")) : 0;
    options->flags = has_word("keep") ? VIDI_KEEP_PREVIOUS : 0;
    static const unsigned char key[VIDI_KEY_BYTES] = {1, 2, 3};
    options->key = has_word("key") ? key : NULL;
}

static void create(void)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_cluster_access access = access_of_words();
    set_options(&options);
    answer(vidi_cluster_create(word(1), &options, (uint32_t)number("shards", 0), &access), "");
}

static void open_set(void)
{
    vidi_cluster_access access = access_of_words();
    vidi_cluster_close(cluster);
    answer(vidi_cluster_open(&cluster, word(1), &access), "");
}

static void close_set(void)
{
    vidi_cluster_close(cluster);
    cluster = NULL;
    answer(0, "");
}

static void drop(void)
{
    vidi_cluster_access access = access_of_words();
    answer(vidi_cluster_drop(word(1), &access), "");
}

/* ---- URLs ---- */

static void add(void)
{
    size_t n = take_urls(1);
    int code = vidi_cluster_add_batch(cluster, urls, n, verdicts, NULL);
    answer(code, tell_verdicts(n));
}

static void add_one(void)
{
    take_urls(1);
    answer(vidi_cluster_add(cluster, urls[0]), "");
}

static void add_marks(void)
{
    size_t n = take_urls(1);
    int code = vidi_cluster_add_batch(cluster, urls, n, verdicts, marks);
    size_t len = strlen(tell_verdicts(n));
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(told + len, sizeof told - len, " %" PRIu64, marks[i]);
    answer(code, told);
}

/* PREFIX<number>, by hand: this program also measures how long a client takes. */
static size_t make_url(char *text, const char *prefix, long long n)
{
    char digits[24];
    size_t len = strlen(prefix), count_digits = 0;
    memcpy(text, prefix, len);
    do
        digits[count_digits++] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    while (count_digits)
        text[len++] = digits[--count_digits];
    text[len] = 0;
    return len;
}

/* many PREFIX FROM COUNT: adds PREFIX<number>, and tells how many were new. Each new one can be noted in a file. */
static void add_many(void)
{
    long long from = atoll(word(2)), n = atoll(word(3)), news = 0;
    FILE *log = option("log") ? fopen(option("log"), "a") : NULL;
    static char text[4096][160];
    int code = 0;
    for (long long done = 0; done < n && code >= 0;) {
        size_t batch = n - done < 4096 ? (size_t)(n - done) : 4096;
        for (size_t i = 0; i < batch; i++) {
            urls[i] = (vidi_str){text[i], make_url(text[i], word(1), from + done + (long long)i)};
        }
        code = vidi_cluster_add_batch(cluster, urls, batch, verdicts, NULL);
        for (size_t i = 0; i < batch; i++) {
            news += verdicts[i] == VIDI_NEW;
            if (log && verdicts[i] == VIDI_NEW)
                fprintf(log, "%s\n", text[i]);
        }
        done += (long long)batch;
    }
    if (log)
        fclose(log);
    snprintf(told, sizeof told, "%lld", news);
    answer(code, told);
}

typedef struct adder {
    pthread_t thread;
    const char *prefix;
    int n, news, code;
} adder;

static void *add_alone(void *context)
{
    adder *adder = context;
    for (int i = 0; i < adder->n && adder->code >= 0; i++) {
        char text[160];
        int len = snprintf(text, sizeof text, "%s%d", adder->prefix, i);
        adder->code = vidi_cluster_add(cluster, (vidi_str){text, (size_t)len});
        adder->news += adder->code == VIDI_NEW;
        if (i % 16 == 0)
            (void)vidi_cluster_commit(cluster);
    }
    return NULL;
}

/* threads COUNT PREFIX N: each thread adds PREFIX0 to PREFIX<N - 1>; tells how many were new to them together. */
static void add_in_threads(void)
{
    adder adders[16];
    int n = atoi(word(1)), code = 0, news = 0;
    for (int i = 0; i < n && i < 16; i++) {
        adders[i] = (adder){.prefix = word(2), .n = atoi(word(3))};
        if (pthread_create(&adders[i].thread, NULL, add_alone, &adders[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < n && i < 16; i++) {
        pthread_join(adders[i].thread, NULL);
        news += adders[i].news;
        code = adders[i].code < 0 ? adders[i].code : code;
    }
    snprintf(told, sizeof told, "%d", news);
    answer(code, told);
}

static void has(void)
{
    size_t n = take_urls(1);
    int code = vidi_cluster_has_batch(cluster, urls, n, verdicts);
    answer(code, tell_verdicts(n));
}

static void previous(void)
{
    take_urls(1);
    answer(vidi_cluster_has_previous(cluster, urls[0]), "");
}

static void remove_url(void)
{
    take_urls(1);
    answer(vidi_cluster_remove(cluster, urls[0]), "");
}

static void count_url(void)
{
    uint64_t times = 0;
    take_urls(1);
    int code = vidi_cluster_count(cluster, urls[0], &times);
    snprintf(told, sizeof told, "%" PRIu64, times);
    answer(code, told);
}

static void commit(void)
{
    answer(count > 1 ? vidi_cluster_commit_to(cluster, strtoull(word(1), NULL, 10)) : vidi_cluster_commit(cluster), "");
}

static void mark(void)
{
    uint64_t mark = 0;
    int code = vidi_cluster_mark(cluster, &mark);
    snprintf(told, sizeof told, "%" PRIu64, mark);
    answer(code, told);
}

/* ---- the whole set ---- */

static void stat_set(void)
{
    vidi_stats stats = {.size = sizeof stats};
    vidi_cluster_stats more = {.size = sizeof more};
    int code = vidi_cluster_stat(cluster, &stats, &more);
    snprintf(told, sizeof told,
             "count=%" PRIu64 " claims=%" PRIu64 " expired=%" PRIu64 " stale=%" PRIu64 " epoch=%" PRIu64
             " shards=%u nodes=%u least=%" PRIu64 " most=%" PRIu64 " capacity=%" PRIu64
             " lost=%.17g fp=%.17g fill=%.17g kind=%s canon=%s id=%016" PRIx64 " can=%u staged=%" PRIu64,
             stats.count, more.claims, more.expired, more.stale, stats.epoch, more.shards, more.nodes, more.least,
             more.most, stats.capacity, stats.expected_lost, stats.fp_now, stats.fill, stats.kind, stats.canon,
             more.set_id, stats.can, stats.staged);
    answer(code, told);
}

static void rotate(void)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    set_options(&options);
    answer(vidi_cluster_rotate(cluster, &options, has_word("force")), "");
}

static void add_fault(void *context, const char *sentence)
{
    (void)context;
    size_t len = strlen(told);
    snprintf(told + len, sizeof told - len, "| %s ", sentence);
}

static void check(void)
{
    uint64_t faults = 0;
    told[0] = 0;
    int code = vidi_cluster_check(cluster, add_fault, NULL, &faults);
    char line[4096];
    snprintf(line, sizeof line, "%" PRIu64 " %.4000s", faults, told);
    answer(code, line);
}

/* shards: reads all shards, merges them, and asks the result for these URLs. */
static void read_shards(void)
{
    vidi_set *all = NULL, *next = NULL;
    vidi_stats stats = {.size = sizeof stats};
    vidi_cluster_stats more = {.size = sizeof more};
    int code = vidi_cluster_stat(cluster, &stats, &more);
    for (uint32_t i = 0; i < more.shards && code == 0; i++) {
        code = vidi_cluster_read_shard(cluster, i, i ? &next : &all);
        if (code == 0 && i && (code = vidi_merge(all, next, VIDI_MERGE_FORCE)) != 0) {
            answer(code, vidi_message());
            vidi_close(next);
            vidi_close(all);
            return;
        }
        vidi_close(i ? next : NULL);
    }
    size_t n = take_urls(1);
    if (code == 0)
        (void)vidi_has_batch(all, urls, n, verdicts);
    vidi_close(all);
    answer(code, tell_verdicts(n));
}

/* merge KIND URL...: makes a set of that kind of the URLs, and merges it. */
static void merge(void)
{
    vidi_set *set = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = word(1);
    options.capacity = 1000;
    size_t n = take_urls(2);
    int code = vidi_create(&set, &options);
    if (code == 0 && n)
        code = vidi_add_batch(set, urls, n, verdicts, NULL);
    answer(code != 0 ? code : vidi_cluster_merge(cluster, set), "");
    vidi_close(set);
}

/* ---- claims ---- */

/* claim OWNER LEASE [again] URL=PAYLOAD... */
static void claim(void)
{
    size_t from = has_word("again") ? 4 : 3, n = 0;
    for (size_t i = from; i < count; i++) {
        char *equals = strchr(words[i], '=');
        vidi_claim *one = &claims[n++];
        one->url = (vidi_str){words[i], equals ? (size_t)(equals - words[i]) : strlen(words[i])};
        one->payload = equals ? (vidi_str){equals + 1, strlen(equals + 1)} : (vidi_str){"", 0};
    }
    int code = vidi_cluster_claim(cluster, word(1), atoll(word(2)), claims, n, from == 4 ? VIDI_CLAIM_AGAIN : 0);
    for (size_t i = 0; i < n; i++)
        verdicts[i] = claims[i].verdict;
    answer(code, tell_verdicts(n));
}

/* finish OWNER commit|release|drop URL... */
static void finish(void)
{
    size_t n = take_urls(3);
    enum vidi_finish how = strcmp(word(2), "commit") == 0    ? VIDI_FINISH_COMMIT
                           : strcmp(word(2), "release") == 0 ? VIDI_FINISH_RELEASE
                                                             : VIDI_FINISH_DROP;
    int code = vidi_cluster_finish(cluster, word(1), urls, n, how, verdicts);
    for (size_t i = 0; i < n; i++)
        told[i] = (char)('0' + verdicts[i]);
    told[n] = 0;
    answer(code, told);
}

static void renew(void)
{
    uint64_t renewed = 0;
    int code = vidi_cluster_renew(cluster, word(1), atoll(word(2)), &renewed);
    snprintf(told, sizeof told, "%" PRIu64, renewed);
    answer(code, told);
}

static void abandon(void)
{
    uint64_t given = 0;
    int code = vidi_cluster_abandon(cluster, word(1), &given);
    snprintf(told, sizeof told, "%" PRIu64, given);
    answer(code, told);
}

static int add_claim(void *context, vidi_str url, vidi_str payload)
{
    (void)context;
    size_t len = strlen(told);
    snprintf(told + len, sizeof told - len, "%.*s=%.*s ", (int)url.len, url.ptr, (int)payload.len, payload.ptr);
    return 0;
}

/* reclaim SHARD OWNER LEASE MOST */
static void reclaim(void)
{
    uint64_t got = 0;
    told[0] = 0;
    answer(vidi_cluster_reclaim(cluster, (uint32_t)atoi(word(1)), word(2), atoll(word(3)), (uint32_t)atoi(word(4)),
                                add_claim, NULL, &got),
           told);
}

static void list_claims(void)
{
    told[0] = 0;
    answer(vidi_cluster_claims(cluster, count > 1 ? word(1) : NULL, add_claim, NULL), told);
}

/* ---- the loop ---- */

static const struct {
    const char *name;
    void (*run)(void);
} commands[] = {
    {"create", create},
    {"open", open_set},
    {"close", close_set},
    {"drop", drop},
    {"add", add},
    {"one", add_one},
    {"marks", add_marks},
    {"many", add_many},
    {"has", has},
    {"threads", add_in_threads},
    {"previous", previous},
    {"remove", remove_url},
    {"count", count_url},
    {"commit", commit},
    {"mark", mark},
    {"stat", stat_set},
    {"rotate", rotate},
    {"check", check},
    {"shards", read_shards},
    {"merge", merge},
    {"claim", claim},
    {"finish", finish},
    {"renew", renew},
    {"abandon", abandon},
    {"reclaim", reclaim},
    {"claims", list_claims},
};

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        split(line);
        bool known = false;
        is_scarce = strncmp(word(0), "scarce=", 7) == 0;
        if (is_scarce) {
            atomic_store(&allocations, atol(word(0) + 7));
            memmove(words, words + 1, --count * sizeof *words);
        }
        for (size_t i = 0; i < sizeof commands / sizeof *commands && !known; i++)
            if ((known = strcmp(word(0), commands[i].name) == 0))
                commands[i].run();
        if (!known)
            answer(0, "what?");
    }
    free(line);
    vidi_cluster_close(cluster);
    return 0;
}
