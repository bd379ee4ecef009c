/*
 * Damaged folders. For each kind a small set, with a snapshot and a log that both hold URLs: every single bit of its files
 * is flipped, and each file is cut to every length. Whatever is opened then, in each of the three ways, says that it is
 * damaged, or answers as before. A reader opens what is left of damaged logs and tells what is gone; a writer refuses.
 * What is mapped is found out by vidi_verify at the latest. And logs whose checksums are right, and whose contents are
 * not.
 *
 * `make test` takes every bit of two logs (one of hashes, one of URLs: there are no others) and of the first and last
 * bytes of the snapshots, and of the rest some, a different one in each byte; the long run takes all.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hash/sip.h"
#include "durable/durable.h"
#include "store/log_format.h"
#include "support/access.h"
#include "support/alloc.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/scratch.h"

enum { IN_SNAPSHOT = 12, IN_LOG = 9, URLS = IN_SNAPSHOT + IN_LOG, ASKED = 48, REMOVED = 3, MOST_FILES = 4 };

static test_scratch folder;
static uint64_t damages, refused, reported, harmless, found_out;

static vidi_str url_at(size_t i)
{
    static char ring[32][64];
    static size_t turn;
    char *text = ring[turn++ % 32];
    int len = snprintf(text, 64, "https://h%zu.example/%zu/page", i % 5, i);
    return (vidi_str){text, (size_t)len};
}

typedef struct file {
    char name[40];
    unsigned char *bytes;
    size_t size;
} file;

/* A folder, and what its set says. */
typedef struct sample {
    const char *kind;
    file files[MOST_FILES];
    size_t count;
    uint64_t bytes;
    uint8_t answers[ASKED];
    bool removes;
} sample;

static int take_file(void *context, const char *name)
{
    sample *of = context;
    file *next = &of->files[of->count++];
    assert_true(of->count <= MOST_FILES);
    snprintf(next->name, sizeof next->name, "%s", name);
    next->bytes = test_file_load(&folder, name, &next->size);
    of->bytes += next->size;
    return 0;
}

static void ask(const vidi_set *set, uint8_t answers[ASKED])
{
    for (size_t i = 0; i < ASKED; i++) {
        int verdict = vidi_has(set, url_at(i));
        check(verdict > 0, "%s", vidi_message());
        answers[i] = (uint8_t)verdict;
    }
}

static void make_sample(sample *of, const char *kind)
{
    static const unsigned char key[VIDI_KEY_BYTES] = "damage";
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set;
    memset(of, 0, sizeof *of);
    of->kind = kind;
    options.kind = kind;
    options.capacity = 50;
    options.key = key;
    options.access = &access;
    test_use(&options, &access, 0);
    options.path = folder.path;
    test_scratch_empty(&folder);
    check(vidi_create(&set, &options) == VIDI_OK, "%s: %s", kind, vidi_message());
    for (size_t i = 0; i < URLS; i++) {
        assert_int_equal(vidi_add(set, url_at(i)), VIDI_NEW);
        if (i + 1 == IN_SNAPSHOT)
            assert_int_equal(vidi_snapshot(set), VIDI_OK);
    }
    of->removes = vidi_remove(set, url_at(REMOVED)) == VIDI_OK;
    ask(set, of->answers);
    for (size_t i = 0; i < ASKED; i++)
        assert_int_equal(of->answers[i], i < URLS && !(of->removes && i == REMOVED) ? VIDI_SEEN : VIDI_NEW);
    vidi_close(set);
    assert_int_equal(vidi__system_real.list(folder.handle, take_file, of), 0);
    assert_int_equal(of->count, 4); /* lock, manifest, log, snapshot */
}

static void free_sample(sample *of)
{
    for (size_t i = 0; i < of->count; i++)
        free(of->files[i].bytes);
}

static void restore(const sample *of)
{
    test_scratch_empty(&folder);
    for (size_t i = 0; i < of->count; i++)
        test_file_save(&folder, of->files[i].name, of->files[i].bytes, of->files[i].size);
}

/* ---- one damage, one opening ---- */

typedef struct damage {
    const sample *of;
    const file *in;
    const char *what;
    size_t place;
} damage;

/* Of a damaged log single records are missing; nothing else is different. */
static void answers_are_credible(const damage *self, const uint8_t answers[ASKED], const char *how)
{
    for (size_t i = 0; i < ASKED; i++) {
        bool logged = (i >= IN_SNAPSHOT && i < URLS) || (self->of->removes && i == REMOVED);
        check(logged || answers[i] == self->of->answers[i], "%s: %s, %s %zu, %s: URL %zu is %d", self->of->kind,
              self->in->name, self->what, self->place, how, i, answers[i]);
    }
}

static void look_at(const damage *self, vidi_set *set, unsigned flags, const char *how)
{
    uint8_t answers[ASKED];
    vidi_recovery recovery = {.size = sizeof recovery};
    bool mapped = flags == VIDI_READ_ONLY, is_snapshot = strncmp(self->in->name, "set.", 4) == 0;
    ask(set, answers);
    bool same = memcmp(answers, self->of->answers, sizeof answers) == 0;
    int verified = vidi_verify(set);
    assert_int_equal(vidi_recovered(set, &recovery), VIDI_OK);
    if (is_snapshot) {
        check(mapped && verified == VIDI_EFORMAT, "%s: %s, %s %zu, %s: nobody notices", self->of->kind, self->in->name,
              self->what, self->place, how);
        found_out++;
        return;
    }
    assert_int_equal(verified, VIDI_OK);
    bool told = recovery.damaged_bytes || recovery.missing_files;
    check(same || (told && flags), "%s: %s, %s %zu, %s: URLs are missing, and nobody says so", self->of->kind,
          self->in->name, self->what, self->place, how);
    answers_are_credible(self, answers, how);
    harmless += same && !told;
    reported += told;
}

static void try_open(const damage *self, unsigned flags, const char *how)
{
    test_allocator allocator;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set;
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    test_access(&access, flags);
    int code = vidi_open(&set, folder.path, &access);
    if (code < 0) {
        bool writer = code == VIDI_EDAMAGED && flags == 0;
        check((code == VIDI_EFORMAT || writer) && strlen(vidi_message()) > 4, "%s: %s, %s %zu, %s: %d, %s",
              self->of->kind, self->in->name, self->what, self->place, how, code, vidi_message());
        refused++;
    } else {
        look_at(self, set, flags, how);
        vidi_close(set);
    }
    check(allocator.largest <= self->of->bytes + (1 << 20), "%s: %s, %s %zu, %s: %llu bytes at once", self->of->kind,
          self->in->name, self->what, self->place, how, (unsigned long long)allocator.largest);
    test_allocator_finish(&allocator);
}

/* All three ways; for writing last, as that changes the folder, which the caller then makes anew. */
static void try_damage(const damage *self, const unsigned char *bytes, size_t size, bool writing)
{
    damages++;
    test_file_save(&folder, self->in->name, bytes, size);
    try_open(self, VIDI_READ_ONLY, "mapped");
    try_open(self, VIDI_READ_ONLY | VIDI_NO_MAP, "loaded");
    if (writing) {
        try_open(self, 0, "for writing");
        restore(self->of);
    }
}

/* ---- every bit, every length ---- */

/* Is this bit among those that `make test` takes? */
static bool is_chosen(const sample *of, const file *in, size_t bit)
{
    size_t byte = bit / 8, edge = 50, stride = 9;
    bool is_snapshot = strncmp(in->name, "set.", 4) == 0;
    if (test_long())
        return true;
    if (test_sanitized())
        return bit % 83 == 0;
    if (!is_snapshot)
        return bit % 11 == 0 || strcmp(of->kind, "fingerprint") == 0 || strcmp(of->kind, "list") == 0;
    if (byte < edge || byte + edge >= in->size)
        return true;
    return byte % stride == 0 && bit % 8 == byte / stride % 8;
}

static void flip_bits(const sample *of, const file *in)
{
    for (size_t bit = 0; bit < in->size * 8; bit++) {
        damage self = {of, in, "bit", bit};
        if (!is_chosen(of, in, bit))
            continue;
        in->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        try_damage(&self, in->bytes, in->size, test_long() || bit % 7 == 0);
        in->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    restore(of);
}

static void cut(const sample *of, const file *in)
{
    size_t stride = test_long() || strncmp(in->name, "set.", 4) != 0 ? 1 : 5;
    for (size_t size = 0; size < in->size; size += test_sanitized() ? 29 : stride) {
        damage self = {of, in, "cut to", size};
        try_damage(&self, in->bytes, size, test_long() || size % 5 == 0);
    }
    restore(of);
}

static void damage_is_found(void **state)
{
    const char *kind = *state;
    sample of;
    uint64_t before = damages;
    make_sample(&of, kind);
    for (size_t i = 0; i < of.count; i++) {
        flip_bits(&of, &of.files[i]);
        cut(&of, &of.files[i]);
    }
    print_message("# %d damages of %d bytes\n", (int)(damages - before), (int)of.bytes);
    free_sample(&of);
}

/* ---- logs that lie ---- */

/* A log with a right head and, behind it, the records that somebody has thought up. */
typedef struct forged {
    unsigned char bytes[8192];
    size_t size;
    uint64_t generation;
    vidi__log_id id;
} forged;

static void begin_log(forged *log, const sample *of, const vidi__log_id *changed)
{
    for (size_t i = 0; i < of->count; i++)
        if (strncmp(of->files[i].name, "log.", 4) == 0) {
            const unsigned char *head = of->files[i].bytes;
            log->generation = vidi__load64(head + 16);
            log->id = (vidi__log_id){vidi__load64(head + 24), vidi__load64(head + 32), vidi__load64(head + 40),
                                     vidi__load64(head + 48)};
        }
    log->id.number += changed->number;
    log->id.epoch += changed->epoch;
    log->id.identity += changed->identity;
    vidi__log_head_write(log->bytes, &log->id, log->generation);
    log->size = VIDI__LOG_HEAD;
}

/* `says` is the length in its head; the checksum is right for what is there. */
static void add_record(forged *log, uint32_t type, const void *payload, size_t size, uint64_t says)
{
    unsigned char *at = log->bytes + log->size;
    size_t body = VIDI__LOG_RECORD_HEAD + (size_t)vidi__round_up(size, 8);
    assert_true(log->size + body + VIDI__LOG_CHECK <= sizeof log->bytes);
    memset(at, 0, body);
    vidi__store32(at, vidi__log_check_value(log->generation, log->size, type, says));
    vidi__store32(at + 4, type);
    vidi__store64(at + 8, says);
    if (size)
        memcpy(at + VIDI__LOG_RECORD_HEAD, payload, size);
    vidi__store64(at + body, vidi__log_checksum(log->generation, log->size, at, body));
    log->size += body + VIDI__LOG_CHECK;
}

static const char *log_name(const sample *of)
{
    for (size_t i = 0; i < of->count; i++)
        if (strncmp(of->files[i].name, "log.", 4) == 0)
            return of->files[i].name;
    return NULL;
}

static bool tells_of_loss(const vidi_set *set)
{
    vidi_recovery recovery = {.size = sizeof recovery};
    return vidi_recovered(set, &recovery) == VIDI_OK && recovery.missing_files > 0;
}

/* Opened in all ways: refused with a sentence; or taken, if the lie is one that cannot be told from the truth. */
static void try_forged(const sample *of, const forged *log, const char *what, bool may_open)
{
    static const unsigned ways[] = {VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP, VIDI_ACCEPT_DAMAGE};
    for (size_t i = 0; i < VIDI__COUNT(ways); i++) {
        test_allocator allocator;
        vidi_access access = VIDI_ACCESS_INIT;
        vidi_set *set;
        restore(of);
        test_file_save(&folder, log_name(of), log->bytes, log->size);
        test_allocator_init(&allocator);
        access.allocator = &allocator.hook;
        test_access(&access, ways[i]);
        int code = vidi_open(&set, folder.path, &access);
        check(code < 0 || may_open || tells_of_loss(set), "%s: %s: it is believed", of->kind, what);
        if (code < 0)
            check(code == VIDI_EFORMAT && strlen(vidi_message()) > 4, "%s: %s: %d, %s", of->kind, what, code,
                  vidi_message());
        for (size_t k = 0; code == VIDI_OK && k < IN_SNAPSHOT; k++)
            check(vidi_has(set, url_at(k)) > 0, "%s: %s: %s", of->kind, what, vidi_message());
        vidi_close(set);
        check(allocator.largest <= of->bytes + sizeof log->bytes + (1 << 20), "%s: %s: %llu bytes at once", of->kind,
              what, (unsigned long long)allocator.largest);
        test_allocator_finish(&allocator);
    }
}

static void put_double(unsigned char *at, double value)
{
    memcpy(at, &value, sizeof value);
}

static void heads_that_lie(const sample *of)
{
    static const vidi__log_id lies[] = {{.number = 1}, {.epoch = 1}, {.epoch = UINT64_MAX}, {.identity = 1}};
    forged log;
    unsigned char payload[VIDI__RECORD_TALLY + 64] = {0};
    for (size_t i = 0; i < VIDI__COUNT(lies); i++) {
        begin_log(&log, of, &lies[i]);
        try_forged(of, &log, "the head of another, empty log", true); /* what a rotation may leave */
        add_record(&log, VIDI__RECORD_ADD_HASHES, payload, sizeof payload, sizeof payload);
        try_forged(of, &log, "the head of another log", false);
    }
    for (size_t at = 0; at < VIDI__LOG_HEAD - 8; at += 4) { /* every field, with the checksum that belongs to it */
        static const uint64_t no_key[2];
        begin_log(&log, of, &(vidi__log_id){0});
        add_record(&log, VIDI__RECORD_ADD_HASHES, payload, sizeof payload, sizeof payload);
        log.bytes[at] ^= 0x81;
        vidi_str piece = {(const char *)log.bytes, VIDI__LOG_HEAD - 8};
        vidi_str pieces[] = {{NULL, 0}, piece};
        vidi__store64(log.bytes + VIDI__LOG_HEAD - 8, vidi__siphash(no_key, pieces, 2, 1, 3).lo);
        try_forged(of, &log, "a field of the head is another", at == 16 || at == 20 || at >= 48);
    }
}

/* What a record of each form begins with. */
static const struct {
    vidi__record_form form;
    size_t begin;
    bool tally;
} forms[] = {{VIDI__RECORD_WITHOUT_TALLY, 0, false},
             {VIDI__RECORD_IN_BUNDLE, VIDI__RECORD_NUMBERS, false},
             {VIDI__RECORD_WITH_TALLY, VIDI__RECORD_TALLY, true}};

static void one_record(const sample *of, uint32_t type, const void *payload, size_t size, const char *what,
                       bool may_open)
{
    forged log;
    begin_log(&log, of, &(vidi__log_id){0});
    add_record(&log, type, payload, size, size);
    try_forged(of, &log, what, may_open);
}

static void types_that_lie(const sample *of, bool hashes)
{
    static const uint32_t unknown[] = {0, 14, 15, 16, 21, UINT32_MAX};
    unsigned char payload[VIDI__RECORD_TALLY + 256] = {0};
    for (size_t i = 0; i < VIDI__COUNT(unknown); i++)
        one_record(of, unknown[i], payload, sizeof payload, "a type that is none", false);
    for (size_t i = 0; i < VIDI__COUNT(forms); i++) {
        uint32_t other = forms[i].form + (hashes ? VIDI__RECORD_ADD_URLS : VIDI__RECORD_ADD_HASHES);
        one_record(of, other, payload, forms[i].begin + 64, "the other kind of record", false);
    }
}

static void lists_that_lie(const sample *of, bool hashes, uint32_t form, size_t begin)
{
    unsigned char payload[VIDI__RECORD_TALLY + 256] = {0}, *list = payload + begin;
    uint32_t add = form + (hashes ? VIDI__RECORD_ADD_HASHES : VIDI__RECORD_ADD_URLS), remove = add + 2;
    static const uint64_t lengths[] = {249, 1 << 20, UINT64_C(1) << 32, UINT64_MAX - 7, UINT64_MAX};
    if (begin) {
        one_record(of, add, payload, 0, "nothing before the list", false);
        one_record(of, add, payload, begin - 1, "less before the list", false);
    }
    one_record(of, add, payload, begin, "an empty list", true);
    one_record(of, remove, payload, begin, "a removal of nothing", true);
    memset(list, 0x7f, 64);
    for (size_t extra = 1; extra < 40; extra++) /* hashes are 16 bytes; no URL ends so */
        one_record(of, add, payload, begin + extra, "a list that does not come out even", hashes && extra % 16 == 0);
    for (size_t i = 0; !hashes && i < VIDI__COUNT(lengths); i++) {
        vidi__store64(list, lengths[i]);
        one_record(of, add, payload, begin + 256, "a URL longer than its record", false);
    }
    forged log;
    memset(list, 0, 256);
    begin_log(&log, of, &(vidi__log_id){0});
    add_record(&log, add, payload, begin + 256, begin + 256); /* 32 empty URLs, or 16 equal hashes */
    add_record(&log, remove, payload, begin + 256, begin + 256);
    try_forged(of, &log, "many of the same", true);
}

static void tallies_that_lie(const sample *of, bool hashes, uint32_t form)
{
    static const double tallies[] = {NAN, INFINITY, -INFINITY, -1, -1e-300};
    unsigned char payload[VIDI__RECORD_TALLY + 256] = {0};
    uint32_t add = form + (hashes ? VIDI__RECORD_ADD_HASHES : VIDI__RECORD_ADD_URLS);
    for (size_t i = 0; i < VIDI__COUNT(tallies); i++) {
        put_double(payload + 40, tallies[i]);
        one_record(of, add, payload, sizeof payload, "an impossible number of lost pages", false);
    }
    put_double(payload + 40, -0.0);
    one_record(of, add, payload, sizeof payload, "no lost pages, with a sign", true);
}

static void records_that_lie(const sample *of, bool hashes)
{
    types_that_lie(of, hashes);
    for (size_t i = 0; i < VIDI__COUNT(forms); i++) {
        lists_that_lie(of, hashes, forms[i].form, forms[i].begin);
        if (forms[i].tally)
            tallies_that_lie(of, hashes, forms[i].form);
    }
}

/* A bundle of 16 equal hashes, or 32 empty URLs, and a note that ends it, with these numbers and this length. */
static void try_note(const sample *of, bool hashes, uint64_t bundle, uint64_t operations, size_t size, bool may_open)
{
    unsigned char payload[VIDI__NOTE_HEAD + VIDI_NOTE_MAX + 8] = {0};
    uint32_t add = VIDI__RECORD_IN_BUNDLE + (hashes ? VIDI__RECORD_ADD_HASHES : VIDI__RECORD_ADD_URLS);
    forged log;
    vidi__store64(payload, 1);
    vidi__store64(payload + 8, 1);
    begin_log(&log, of, &(vidi__log_id){0});
    add_record(&log, add, payload, VIDI__RECORD_NUMBERS + 256, VIDI__RECORD_NUMBERS + 256);
    vidi__store64(payload, bundle);
    vidi__store64(payload + VIDI__RECORD_NUMBERS, operations);
    add_record(&log, VIDI__RECORD_NOTE, payload, size, size);
    add_record(&log, add, payload, VIDI__RECORD_NUMBERS + 256, VIDI__RECORD_NUMBERS + 256);
    try_forged(of, &log, "a note", may_open);
}

static void notes_that_lie(const sample *of, bool hashes)
{
    static const uint64_t numbers[] = {0, 1, 2, 16, 32, UINT64_MAX};
    for (size_t i = 0; i < VIDI__COUNT(numbers); i++)
        for (size_t j = 0; j < VIDI__COUNT(numbers); j++)
            try_note(of, hashes, numbers[i], numbers[j], VIDI__NOTE_HEAD + 3, true);
    try_note(of, hashes, 1, 16, 0, false);
    try_note(of, hashes, 1, 16, VIDI__NOTE_HEAD - 1, false);
    try_note(of, hashes, 1, 16, VIDI__NOTE_HEAD, true);
    try_note(of, hashes, 1, 16, VIDI__NOTE_HEAD + VIDI_NOTE_MAX, true);
    try_note(of, hashes, 1, 16, VIDI__NOTE_HEAD + VIDI_NOTE_MAX + 1, false);
}

/* Heads of records with right marks: longer than the file, or than anything. They are skipped, and reported. */
static void lengths_that_lie(const sample *of)
{
    static const uint64_t lengths[] = {257,
                                       8000,
                                       1 << 20,
                                       VIDI__LOG_RECORD_MAX,
                                       VIDI__LOG_RECORD_MAX + 1,
                                       UINT64_C(1) << 32,
                                       UINT64_MAX - 23,
                                       UINT64_MAX - 7,
                                       UINT64_MAX};
    unsigned char payload[256] = {0};
    for (size_t i = 0; i < VIDI__COUNT(lengths); i++)
        for (int both = 0; both < 2; both++) {
            forged log;
            begin_log(&log, of, &(vidi__log_id){0});
            add_record(&log, VIDI__RECORD_ADD_HASHES, payload, sizeof payload, lengths[i]);
            if (both)
                add_record(&log, VIDI__RECORD_ADD_HASHES, payload, sizeof payload, lengths[i]);
            try_forged(of, &log, "a length that is none", true);
        }
}

static void logs_that_lie_do_no_harm(void **state)
{
    const char *kind = *state;
    sample of;
    vidi_set *set;
    make_sample(&of, kind);
    restore(&of);
    assert_int_equal(test_open(&set, folder.path, VIDI_READ_ONLY), VIDI_OK);
    bool hashes = vidi__epoch_needs_hash_only(&set->now);
    vidi_close(set);
    heads_that_lie(&of);
    records_that_lie(&of, hashes);
    notes_that_lie(&of, hashes);
    lengths_that_lie(&of);
    free_sample(&of);
}

static void totals(void **state)
{
    (void)state;
    print_message("# %d damages: openings refused %d, found out later %d, reported %d, harmless %d\n", (int)damages,
                  (int)refused, (int)found_out, (int)reported, (int)harmless);
    assert_true(damages == 0 || (refused && found_out && reported && harmless));
}

int main(int argc, char **argv)
{
    vidi_kind_info info = {.size = sizeof info};
    char name[120];
    test_scratch_make(&folder);
    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        snprintf(name, sizeof name, "logs that lie do no harm: %s", info.name);
        test_add(name, logs_that_lie_do_no_harm, info.name);
        snprintf(name, sizeof name, "damage is found: %s", info.name);
        test_add(name, damage_is_found, info.name);
    }
    test_add("all sorts of damage have come up", totals, NULL);
    int result = test_run("set/damage", argc, argv);
    test_scratch_remove(&folder);
    return result;
}
