/*
 * Adding in two halves is adding: digests give the verdicts, the counts and the contents that the URLs would have
 * given, of every kind that needs nothing but hashes, in every form, in memory and in a folder, with one thread or two.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "support/access.h"
#include "support/check.h"
#include "support/runner.h"
#include "support/folder.h"
#include "support/urls.h"

enum { URLS = 6000, NO_URLS = 40 };

/* URLs, of which some come twice, some are not in their form, and some are none. */
static void mix(test_batch *batch, vidi_str *urls)
{
    static char shouted[URLS][TEST_URL_ROOM];
    test_batch_init(batch, URLS);
    test_batch_fill(batch, test_url, 3, 0, URLS);
    for (size_t i = 0; i < URLS; i++) {
        urls[i] = i % 5 == 4 ? batch->urls[i / 2] : batch->urls[i];
        if (i % 7 == 0) {
            memcpy(shouted[i], urls[i].ptr, urls[i].len);
            memcpy(shouted[i], "HTTP", 4);
            urls[i].ptr = shouted[i];
        }
        if (i % (URLS / NO_URLS) == 1)
            urls[i] = test_str("not a URL at all");
    }
}

static vidi_set *make(const char *kind, const char *canon, uint32_t invalid, const char *path)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    unsigned char key[VIDI_KEY_BYTES] = {7};
    vidi_set *set = NULL;
    options.kind = kind;
    options.key = key;
    options.capacity = 2 * URLS;
    options.canon = canon;
    options.access = &access;
    access.invalid = invalid;
    options.path = path;
    check(vidi_create(&set, &options) == VIDI_OK, "%s, %s: %s", kind, canon, vidi_message());
    return set;
}

/* vidi_digest_batch, and in *n how many entries from the first on were dealt with. */
static int digest_some(const vidi_set *set, const vidi_str *urls, size_t *n, vidi_digest *digests, uint8_t *verdicts,
                       uint64_t *epoch)
{
    size_t wanted = *n;
    int code = vidi_digest_batch(set, urls, wanted, digests, verdicts, epoch);
    *n = 0;
    while (*n < wanted && (verdicts[*n] == VIDI_DIGESTED || verdicts[*n] == VIDI_INVALID))
        ++*n;
    return code;
}

static int add_in_halves(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    vidi_digest *digests = malloc(n * sizeof *digests);
    uint64_t epoch;
    size_t done = n;
    int code = digest_some(set, urls, &done, digests, verdicts, &epoch);
    int added = code == VIDI_ECANNOT ? code : vidi_add_digests(set, epoch, digests, done, verdicts, NULL);
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] == VIDI_DIGESTED)
            verdicts[i] = VIDI_UNTRIED; /* as vidi_add_batch would leave it */
    free(digests);
    return code < 0 ? code : added;
}

static vidi_stats stats_of(const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
    return stats;
}

static void check_same(const vidi_set *a, const vidi_set *b, const char *what)
{
    vidi_stats x = stats_of(a), y = stats_of(b);
    check(x.count == y.count && x.answered_new == y.answered_new && x.answered_seen == y.answered_seen &&
              x.answered_invalid == y.answered_invalid,
          "%s: %llu URLs, %llu new, %llu seen, %llu invalid, in halves %llu, %llu, %llu, %llu", what,
          (unsigned long long)x.count, (unsigned long long)x.answered_new, (unsigned long long)x.answered_seen,
          (unsigned long long)x.answered_invalid, (unsigned long long)y.count, (unsigned long long)y.answered_new,
          (unsigned long long)y.answered_seen, (unsigned long long)y.answered_invalid);
    check(x.expected_lost <= 1.1 * y.expected_lost && y.expected_lost <= 1.1 * x.expected_lost, /* by the batch */
          "%s: %g lost, in halves %g", what, x.expected_lost, y.expected_lost);
}

/* In two calls, so that the second one meets what the first has added. */
static bool compare(const char *kind, const char *canon, uint32_t invalid)
{
    static vidi_str urls[URLS];
    static uint8_t whole[URLS], halves[URLS];
    test_batch batch;
    vidi_set *a = make(kind, canon, invalid, NULL), *b = make(kind, canon, invalid, NULL);
    bool can = true;
    mix(&batch, urls);
    for (size_t from = 0; from < URLS && can; from += URLS / 2) {
        int code = add_in_halves(b, urls + from, URLS / 2, halves + from);
        can = code != VIDI_ECANNOT;
        check(code == VIDI_OK || code == VIDI_ECANNOT, "%s: %s", kind, vidi_message());
        assert_int_equal(vidi_add_batch(a, urls + from, URLS / 2, whole + from, NULL), VIDI_OK);
    }
    for (size_t i = 0; i < URLS && can; i++)
        check(whole[i] == halves[i], "%s, %s, invalid %u: verdict %zu is %u, in halves %u", kind, canon, invalid, i,
              whole[i], halves[i]);
    if (can)
        check_same(a, b, kind);
    vidi_close(a);
    vidi_close(b);
    test_batch_free(&batch);
    return can;
}

static void halves_give_what_the_whole_gives(void **state)
{
    static const char *const forms[] = {"none", "whatwg", "crawl", "surt"};
    static const uint32_t policies[] = {VIDI_KEEP_INVALID, VIDI_DROP_INVALID};
    vidi_kind_info info = {.size = sizeof info};
    (void)state;
    for (size_t kind = 0; vidi_kind(kind, &info) == VIDI_OK; kind++)
        for (size_t form = 0; form < sizeof forms / sizeof *forms; form++)
            for (size_t policy = 0; policy < sizeof policies / sizeof *policies; policy++) {
                bool can = compare(info.name, forms[form], policies[policy]);
                bool must = strcmp(info.name, "fingerprint") == 0 || strcmp(info.name, "blocked") == 0 ||
                            strcmp(info.name, "classic") == 0;
                bool must_not = strcmp(info.name, "hashset") == 0 || strcmp(info.name, "multilayer") == 0;
                check((can || !must) && !(can && must_not), "%s %s", info.name, can ? "does" : "does not");
            }
}

static void what_fails_is_told_with_its_place(void **state)
{
    vidi_str urls[] = {test_str("http://a.example/"), test_str("http://b.example/"), test_str("none"),
                       test_str("http://c.example/")};
    vidi_set *set = make("fingerprint", "whatwg", VIDI_FAIL_INVALID, NULL);
    vidi_digest digests[4];
    uint8_t verdicts[4];
    uint64_t epoch;
    size_t n = 4;
    (void)state;
    assert_int_equal(digest_some(set, urls, &n, digests, verdicts, &epoch), VIDI_INVALID);
    assert_int_equal(n, 2);
    assert_int_equal(vidi_add_digests(set, epoch, digests, n, verdicts, NULL), VIDI_OK);
    assert_int_equal(stats_of(set).count, 2);
    assert_int_equal(vidi_digest_batch(NULL, urls, 4, digests, verdicts, &epoch), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_digests(set, epoch, NULL, 1, verdicts, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_digest_batch(set, NULL, 0, NULL, NULL, &epoch), VIDI_OK);
    assert_int_equal(vidi_add_digests(set, epoch, NULL, 0, NULL, NULL), VIDI_OK);
    vidi_close(set);
}

static void digests_end_with_their_epoch(void **state)
{
    vidi_str url = test_str("http://a.example/");
    vidi_set *set = make("fingerprint", "whatwg", VIDI_KEEP_INVALID, NULL);
    vidi_digest digest;
    uint8_t verdict;
    uint64_t epoch;
    (void)state;
    assert_int_equal(vidi_digest_batch(set, &url, 1, &digest, &verdict, &epoch), VIDI_OK);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    assert_int_equal(vidi_add_digests(set, epoch, &digest, 1, &verdict, NULL), VIDI_ECANNOT);
    assert_int_equal(verdict, VIDI_DIGESTED);
    assert_int_equal(vidi_has(set, url), VIDI_NEW);
    assert_int_equal(vidi_digest_batch(set, &url, 1, &digest, &verdict, &epoch), VIDI_OK);
    assert_int_equal(vidi_add_digests(set, epoch, &digest, 1, &verdict, NULL), VIDI_OK);
    assert_int_equal(vidi_has(set, url), VIDI_SEEN);
    vidi_close(set);
}

/* Committed by hand they wait in the stage; otherwise they go straight to the log. Both survive. */
static void in_a_folder_they_are_kept(void **state)
{
    static vidi_str urls[URLS];
    static uint8_t verdicts[URLS];
    (void)state;
    for (unsigned manual = 0; manual < 2; manual++) {
        test_batch batch;
        char folder[TEST_PATH], path[TEST_PATH];
        test_folder_new(folder, false);
        test_path(path, folder, "set");
        vidi_set *set = make("fingerprint", "whatwg", VIDI_DROP_INVALID, path);
        vidi_close(set);
        check(test_open(&set, path, manual ? VIDI_MANUAL_COMMIT : 0) == VIDI_OK, "%s", vidi_message());
        mix(&batch, urls);
        check(add_in_halves(set, urls, URLS, verdicts) == VIDI_OK, "%s", vidi_message());
        assert_int_equal(vidi_commit(set), VIDI_OK);
        uint64_t count = stats_of(set).count + stats_of(set).staged;
        vidi_close(set);
        check(vidi_open(&set, path, NULL) == VIDI_OK, "%s", vidi_message());
        check(stats_of(set).count >= URLS / 2 && stats_of(set).count <= count, "%llu URLs of %llu",
              (unsigned long long)stats_of(set).count, (unsigned long long)count);
        for (size_t i = 0; i < URLS; i++)
            if (verdicts[i] == VIDI_NEW)
                check(vidi_has(set, urls[i]) == VIDI_SEEN, "URL %zu is lost", i);
        vidi_close(set);
        test_batch_free(&batch);
        test_folder_remove(folder);
    }
}

/* One thread makes digests of block after block, the other adds them, with a single slot between them. */
typedef struct relay {
    vidi_set *set;
    const vidi_str *urls;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t made, added; /* blocks */
    vidi_digest digests[2][URLS / 10];
    uint8_t verdicts[2][URLS / 10];
    uint64_t epoch;
} relay;

static void *make_digests(void *context)
{
    relay *relay = context;
    for (size_t block = 0; block < 10; block++) {
        size_t n = URLS / 10;
        pthread_mutex_lock(&relay->lock);
        while (block - relay->added >= 2)
            pthread_cond_wait(&relay->changed, &relay->lock);
        pthread_mutex_unlock(&relay->lock);
        int code = vidi_digest_batch(relay->set, relay->urls + block * n, n, relay->digests[block % 2],
                                     relay->verdicts[block % 2], &relay->epoch);
        check(code == VIDI_OK, "%s", vidi_message());
        pthread_mutex_lock(&relay->lock);
        relay->made++;
        pthread_cond_signal(&relay->changed);
        pthread_mutex_unlock(&relay->lock);
    }
    return NULL;
}

static void two_threads_do_it_in_turn(void **state)
{
    static vidi_str urls[URLS];
    static uint8_t wanted[URLS];
    static relay relay;
    test_batch batch;
    pthread_t maker;
    (void)state;
    mix(&batch, urls);
    vidi_set *other = make("fingerprint", "whatwg", VIDI_KEEP_INVALID, NULL);
    assert_int_equal(vidi_add_batch(other, urls, URLS, wanted, NULL), VIDI_OK);
    relay.set = make("fingerprint", "whatwg", VIDI_KEEP_INVALID, NULL);
    relay.urls = urls;
    pthread_mutex_init(&relay.lock, NULL);
    pthread_cond_init(&relay.changed, NULL);
    assert_int_equal(pthread_create(&maker, NULL, make_digests, &relay), 0);
    for (size_t block = 0; block < 10; block++) {
        size_t n = URLS / 10;
        pthread_mutex_lock(&relay.lock);
        while (relay.made == block)
            pthread_cond_wait(&relay.changed, &relay.lock);
        pthread_mutex_unlock(&relay.lock);
        uint8_t *verdicts = relay.verdicts[block % 2];
        check(vidi_add_digests(relay.set, 0, relay.digests[block % 2], n, verdicts, NULL) == VIDI_OK, "%s",
              vidi_message());
        for (size_t i = 0; i < n; i++)
            check(verdicts[i] == wanted[block * n + i], "verdict %zu is %u", block * n + i, verdicts[i]);
        pthread_mutex_lock(&relay.lock);
        relay.added++;
        pthread_cond_signal(&relay.changed);
        pthread_mutex_unlock(&relay.lock);
    }
    pthread_join(maker, NULL);
    check_same(other, relay.set, "two threads");
    vidi_close(other);
    vidi_close(relay.set);
    test_batch_free(&batch);
}

/* Epochs end at any moment between the halves, and inside them. */
static void *rotate_often(void *context)
{
    relay *relay = context;
    for (unsigned turn = 0; turn < 60; turn++) {
        check(vidi_rotate(relay->set, NULL) == VIDI_OK, "%s", vidi_message());
        sched_yield();
    }
    pthread_mutex_lock(&relay->lock);
    relay->made = 1;
    pthread_mutex_unlock(&relay->lock);
    return NULL;
}

static bool has_ended(relay *relay)
{
    pthread_mutex_lock(&relay->lock);
    bool ended = relay->made;
    pthread_mutex_unlock(&relay->lock);
    return ended;
}

static void rotations_refuse_digests_or_take_them_whole(void **state)
{
    static vidi_str urls[URLS];
    static uint8_t verdicts[URLS];
    static relay relay;
    test_batch batch;
    pthread_t rotator;
    (void)state;
    mix(&batch, urls);
    relay.set = make("fingerprint", "whatwg", VIDI_DROP_INVALID, NULL);
    relay.made = 0;
    pthread_mutex_init(&relay.lock, NULL);
    assert_int_equal(pthread_create(&rotator, NULL, rotate_often, &relay), 0);
    for (bool last = false; !last;) {
        last = has_ended(&relay);
        int code = add_in_halves(relay.set, urls, URLS, verdicts);
        check(code == VIDI_OK || code == VIDI_ECANNOT, "%s", vidi_message());
        bool untried = false; /* chunks are done one after the other */
        for (size_t i = 0; i < URLS; i++) {
            untried = untried || verdicts[i] == VIDI_UNTRIED;
            check(verdicts[i] == VIDI_INVALID || (verdicts[i] == VIDI_UNTRIED) == untried, "verdict %zu: %u", i,
                  verdicts[i]);
        }
        check(untried == (code == VIDI_ECANNOT), "%s", untried ? "some are untried" : "none is untried");
    }
    pthread_join(rotator, NULL);
    for (size_t i = 0; i < URLS; i++)
        assert_int_equal(vidi_has(relay.set, urls[i]), verdicts[i] == VIDI_INVALID ? VIDI_INVALID : VIDI_SEEN);
    vidi_close(relay.set);
    test_batch_free(&batch);
}

int main(int argc, char **argv)
{
    test_add_once("halves give what the whole gives", halves_give_what_the_whole_gives, NULL);
    test_add("what fails is told with its place", what_fails_is_told_with_its_place, NULL);
    test_add("digests end with their epoch", digests_end_with_their_epoch, NULL);
    test_add("in a folder they are kept", in_a_folder_they_are_kept, NULL);
    test_add("two threads do it in turn", two_threads_do_it_in_turn, NULL);
    test_add("rotations refuse digests or take them whole", rotations_refuse_digests_or_take_them_whole, NULL);
    return test_run("digests", argc, argv);
}
