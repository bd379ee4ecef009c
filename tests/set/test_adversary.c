/*
 * Who knows every line of the code but not the key, and chooses a million URLs to be falsely seen, to crowd a
 * partition, a sub-table or a line, or to make the table work, does no better than with random ones.
 * adversary_measures.h says how that is measured. The same attacks with the right key do show in the same measures, and
 * by far. test_adversary_adaptive.c has those who learn from the answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "set/adversary_lists.h"
#include "set/adversary_measures.h"
#include "support/runner.h"

enum { WIDE_BITS = 60, PART = 1024, SECRET = 20000 };

/* ---- the sets that are attacked ---- */

/* Under one key: the default, one so narrow that its losses can be counted, and a Bloom filter if there is the kind. */
typedef struct victims {
    vidi_set *wide, *narrow, *blocked;
} victims;

static vidi_set *victim(const char *kind, const char *params, uint64_t capacity, double error, const unsigned char *key)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL;
    options.kind = kind;
    options.params = params;
    options.capacity = capacity;
    options.error = error;
    options.key = key;
    options.canon = "none"; /* attackers choose bytes */
    int result = vidi_create(&set, &options);
    check(result == VIDI_OK, "%s: %d, %s", kind, result, vidi_message());
    return set;
}

/* It grows through some layers until it has all URLs. */
static vidi_set *blocked_victim(uint64_t urls, const unsigned char *key)
{
    return test_kind_exists("blocked") ? victim("blocked", NULL, urls / 4, 0.01, key) : NULL;
}

static victims victims_under(const unsigned char key[VIDI_KEY_BYTES])
{
    return (victims){victim("fingerprint", NULL, 0, 0, key), victim("fingerprint", "bits=32", 0, 0, key),
                     blocked_victim(attack_urls(), key)};
}

static victims secret_victims(uint64_t seed)
{
    unsigned char key[VIDI_KEY_BYTES];
    test_key(key, SECRET + seed);
    return victims_under(key);
}

static void victims_rotate(victims *v)
{
    assert_int_equal(vidi_rotate(v->wide, NULL), VIDI_OK);
    assert_int_equal(vidi_rotate(v->narrow, NULL), VIDI_OK);
    assert_true(!v->blocked || vidi_rotate(v->blocked, NULL) == VIDI_OK);
}

static void victims_close(victims *v)
{
    vidi_close(v->wide);
    vidi_close(v->narrow);
    vidi_close(v->blocked);
}

static void must_add(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    int result = set ? vidi_add_batch(set, urls, n, verdicts, NULL) : VIDI_OK;
    check(result == VIDI_OK, "vidi_add_batch: %d, %s", result, vidi_message());
}

/* Lets all of them meet a list, and tells the hashes that its URLs have there. */
static vidi__u128 *attack(victims *v, const list *l, uint64_t n)
{
    vidi__u128 *hashes = malloc(n * sizeof *hashes);
    char *arena = malloc((size_t)PART * LIST_ROOM);
    vidi_str urls[PART];
    uint8_t verdicts[PART];
    assert_true(hashes && arena);
    for (uint64_t done = 0, part; done < n; done += part) {
        part = n - done < PART ? n - done : PART;
        for (uint64_t i = 0; i < part; i++) {
            char *at = arena + i * LIST_ROOM;
            urls[i] = (vidi_str){at, l->make(l, at, done + i)};
        }
        must_add(v->wide, urls, part, verdicts);
        must_add(v->narrow, urls, part, verdicts);
        must_add(v->blocked, urls, part, verdicts);
        vidi__hash_batch(v->wide->now.hash, vidi__epoch_key(&v->wide->now), urls, part, hashes + done);
    }
    free(arena);
    return hashes;
}

/* ---- findings ---- */

enum finding {
    HI_TOP, /* hashes among cells of 16 bits, from each end of the two words */
    HI_BOTTOM,
    LO_TOP,
    LO_BOTTOM,
    PAIRS,        /* the same of the difference of two neighbours */
    CROWDED_CELL, /* the fullest cell */
    LINES,        /* hashes among lines */
    CROWDED_LINE, /* the fullest line */
    LOST,         /* pages that the narrow set lost */
    FIRST_EFFORT, /* and what enum effort lists */
    FINDINGS = FIRST_EFFORT + EFFORTS
};

static const char *finding_name(unsigned which)
{
    static const char *const names[FIRST_EFFORT] = {"top of hi",    "bottom of hi", "top of lo",
                                                    "bottom of lo", "pairs",        "fullest cell",
                                                    "lines",        "fullest line", "lost"};
    return which < FIRST_EFFORT ? names[which] : effort_names[which - FIRST_EFFORT];
}

typedef struct findings {
    double sigmas[FINDINGS];
} findings;

enum { CELL_BITS = 16, CELLS = 1 << CELL_BITS };

typedef uint64_t cell_of(const vidi__u128 *hash);

static uint64_t hi_top(const vidi__u128 *hash)
{
    return hash->hi >> (64 - CELL_BITS);
}

static uint64_t hi_bottom(const vidi__u128 *hash)
{
    return hash->hi % CELLS;
}

static uint64_t lo_top(const vidi__u128 *hash)
{
    return hash->lo >> (64 - CELL_BITS);
}

static uint64_t lo_bottom(const vidi__u128 *hash)
{
    return hash->lo % CELLS;
}

/* The n-th of every `stride` hashes counts; with a stride of two, its difference from the next. */
static double look_at_cells(const vidi__u128 *hashes, uint64_t n, cell_of *cell, unsigned stride, double *crowded)
{
    uint32_t *counts = calloc(CELLS, sizeof *counts);
    pearson p = {0};
    assert_non_null(counts);
    for (uint64_t i = 0; i + stride <= n; i += stride)
        counts[cell(&hashes[i]) ^ (stride == 2 ? cell(&hashes[i + 1]) : 0)]++;
    pearson_add(&p, counts, CELLS, n / stride);
    double mean = (double)n / stride / CELLS;
    *crowded = fmax(*crowded, sigmas_of(log(5.0 * CELLS) + log_tail(mean, largest(counts, CELLS))));
    free(counts);
    return pearson_sigmas(&p);
}

static void look_at_hashes(findings *f, const vidi__u128 *hashes, uint64_t n)
{
    double *crowded = &f->sigmas[CROWDED_CELL];
    f->sigmas[HI_TOP] = look_at_cells(hashes, n, hi_top, 1, crowded);
    f->sigmas[HI_BOTTOM] = look_at_cells(hashes, n, hi_bottom, 1, crowded);
    f->sigmas[LO_TOP] = look_at_cells(hashes, n, lo_top, 1, crowded);
    f->sigmas[LO_BOTTOM] = look_at_cells(hashes, n, lo_bottom, 1, crowded);
    f->sigmas[PAIRS] = look_at_cells(hashes, n, hi_top, 2, crowded);
}

/* The random tables that all attacks are compared with, made when they are needed first. */
static const randoms *random_tables(void)
{
    static randoms all;
    for (unsigned i = 0; i < RANDOM_TABLES && all.n != attack_urls(); i++) {
        unsigned char key[VIDI_KEY_BYTES];
        test_key(key, i);
        vidi_set *blocked = blocked_victim(attack_urls(), key);
        randoms_take(&all, i, blocked, WIDE_BITS, attack_urls());
        vidi_close(blocked);
    }
    all.n = attack_urls();
    return &all;
}

/* The table of the wide set, filled in the same order, is that of the mirror. */
static void look_at_tables(findings *f, const victims *v, const vidi__u128 *hashes, uint64_t n)
{
    mirror m;
    vidi_stats stats = test_stat(v->wide);
    mirror_init(&m, WIDE_BITS);
    mirror_add(&m, hashes, n);
    tenancy t = tenancy_of(&m);
    assert_int_equal(stats.bytes, (uint64_t)t.of[BYTES]);
    f->sigmas[LINES] = pearson_sigmas(&t.lines);
    f->sigmas[CROWDED_LINE] = sigmas_of(log(t.lines_in_all) + t.log_crowded);
    if (v->blocked)
        look_at_blocked(v->blocked, t.of);
    for (unsigned e = 0; e < EFFORTS; e++)
        f->sigmas[FIRST_EFFORT + e] = sigmas_of_effort(random_tables(), e, t.of[e]);
    vidi__table_close(&m.table);
}

/* What the attack comes to with these victims, who have met nothing before. */
static findings findings_of(victims *v, const list *l)
{
    findings f = {{0}};
    uint64_t n = attack_urls();
    vidi__u128 *hashes = attack(v, l, n);
    look_at_hashes(&f, hashes, n);
    look_at_tables(&f, v, hashes, n);
    f.sigmas[LOST] = sigmas_of_events((double)n * (double)n / 2 * 0x1p-32, (double)test_stat(v->narrow).answered_seen);
    free(hashes);
    return f;
}

static void must_be_random(const findings *f, const list *l)
{
    for (unsigned i = 0; i < FINDINGS; i++) {
        check(fabs(f->sigmas[i]) <= sigmas_allowed(), "%s, %s: %g standard deviations, more than %g", l->name,
              finding_name(i), f->sigmas[i], sigmas_allowed());
        checks++;
    }
}

static void must_show(const findings *f, enum finding which)
{
    check(f->sigmas[which] > 2 * sigmas_allowed(),
          "an attack that succeeds does not show in %s: %g standard deviations", finding_name(which), f->sigmas[which]);
}

/* ---- lists ---- */

static const list structured[] = {
    {"a counter behind a long prefix", make_counter, NULL, 0}, {"a Gray code", make_gray, NULL, 0},
    {"differences of one byte", make_byte, NULL, 0},           {"differences of two bits", make_bits, NULL, 0},
    {"zero bytes of all lengths", make_lengths, NULL, 0},      {"top bits of words", make_tops, NULL, 0},
};

static const unsigned char guessed[VIDI_KEY_BYTES] = {0};

/* All URLs in one partition, or a thousandth of them in one line, if the key is the one that was guessed. */
static const list *crowding(bool line)
{
    static found in_partition, in_line;
    static list lists[2];
    if (!in_partition.n) {
        vidi_set *own = victim("fingerprint", NULL, 0, 0, guessed);
        found_init(&in_partition, attack_urls());
        found_init(&in_line, attack_urls() / 1024 * 3 / 4);
        search(vidi__epoch_key(&own->now), &in_partition, &in_line);
        vidi_close(own);
        lists[0] = (list){"crowds a partition under a guessed key", make_found, &in_partition, 0};
        lists[1] = (list){"crowds a line under a guessed key", make_filled, &in_line, attack_urls() - in_line.n};
    }
    return &lists[line];
}

static void gains_nothing(const list *l, uint64_t seed)
{
    victims v = secret_victims(seed);
    findings f = findings_of(&v, l);
    must_be_random(&f, l);
    assert_int_equal(test_stat(v.wide).answered_seen, 0);
    victims_close(&v);
}

static void structure_gains_nothing(void **state)
{
    const list *l = *state;
    gains_nothing(l, (uint64_t)(l - structured));
}

static void a_guessed_key_gains_nothing(void **state)
{
    (void)state;
    gains_nothing(crowding(false), 100);
    gains_nothing(crowding(true), 101);
}

static void the_right_key_shows(void **state)
{
    victims v = victims_under(guessed);
    findings f = findings_of(&v, crowding(false));
    bool enough = attack_urls() >= 1000000; /* of fewer, too few are lost or share a line, and no sub-table splits */
    (void)state;
    must_show(&f, HI_TOP);
    must_show(&f, CROWDED_CELL);
    if (enough) {
        must_show(&f, LOST);
        must_show(&f, FIRST_EFFORT + DEPTH);
    }
    if (v.blocked)
        must_show(&f, FIRST_EFFORT + BLOCKED_SEEN);
    victims_close(&v);
    v = victims_under(guessed);
    f = findings_of(&v, crowding(true));
    must_show(&f, CROWDED_LINE);
    if (enough)
        must_show(&f, LINES);
    victims_close(&v);
}

static void the_next_epoch_makes_it_worthless(void **state)
{
    victims v = victims_under(guessed);
    (void)state;
    victims_rotate(&v);
    findings f = findings_of(&v, crowding(false));
    must_be_random(&f, crowding(false));
    victims_close(&v);
}

static void no_more_checks_than_were_allowed_for(void **state)
{
    (void)state;
    assert_true(checks <= CHECKS_OF_LISTS);
}

int main(int argc, char **argv)
{
    char promise[100];
    for (size_t i = 0; i < sizeof structured / sizeof *structured; i++) {
        snprintf(promise, sizeof promise, "structure gains nothing: %s", structured[i].name);
        test_add(promise, structure_gains_nothing, &structured[i]);
    }
    test_add("a guessed key gains nothing", a_guessed_key_gains_nothing, NULL);
    test_add("the right key shows", the_right_key_shows, NULL);
    test_add("the next epoch makes it worthless", the_next_epoch_makes_it_worthless, NULL);
    test_add("no more checks than were allowed for", no_more_checks_than_were_allowed_for, NULL);
    return test_run("adversary", argc, argv);
}
