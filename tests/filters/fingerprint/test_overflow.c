/*
 * The hashes beside a sub-table: a small hash table against a model, with clusters that reach around its end, in one
 * small block and in many, for sets and multisets, under an allocator that refuses.
 */
#include "filters/fingerprint/subtable_cases.h"

/* An overflow with what it should hold, hash by hash. */
typedef struct model {
    fixture f;
    test_random random;
    vidi__overflow overflow;
    bool multiset;
    list l; /* what is in it, in no order */
} model;

static void start(model *self, bool multiset, uint64_t seed)
{
    *self = (model){.random = {seed}, .multiset = multiset};
    begin(&self->f);
}

static void finish(model *self)
{
    vidi__overflow_free(&self->overflow, &self->f.slabs);
    assert_int_equal(self->overflow.room, 0);
    list_free(&self->l);
    end(&self->f);
}

static bool is_in(const model *self, uint64_t at)
{
    return *vidi__overflow_at(self->overflow.entries, at) != VIDI__OVERFLOW_EMPTY;
}

/* Every hash with its times, from each of the two ways to ask. */
static void check_model(const model *self)
{
    list told = {0}, right = {0};
    for (uint64_t at = VIDI__OVERFLOW_EMPTY, left; vidi__overflow_each(&self->overflow, &at, &left);)
        list_push(&told, *vidi__overflow_at(self->overflow.entries, at),
                  self->multiset ? *vidi__overflow_at(self->overflow.times, at) : 1);
    assert_int_equal(told.n, self->l.n);
    assert_int_equal(self->overflow.used, self->l.n);
    for (size_t i = 0; i < self->l.n; i++) {
        assert_int_equal(vidi__overflow_times(&self->overflow, self->l.hashes[2 * i]), self->l.hashes[2 * i + 1]);
        list_push(&right, self->l.hashes[2 * i], self->l.hashes[2 * i + 1]);
    }
    list_settle(&told);
    list_settle(&right);
    assert_int_equal(told.n, self->l.n);
    if (told.n)
        assert_memory_equal(told.hashes, right.hashes, told.n * 2 * sizeof *told.hashes);
    list_free(&told);
    list_free(&right);
}

static void put_fresh(model *self, uint64_t hash, uint64_t times)
{
    bool fresh = false;
    assert_int_equal(vidi__overflow_insert(&self->overflow, &self->f.slabs, self->multiset, hash, times, &fresh),
                     VIDI_OK);
    assert_true(fresh);
    assert_true(5 * self->overflow.used <= 4 * self->overflow.room);
    list_push(&self->l, hash, times);
}

/* Takes one of the i-th away. */
static void take_from(model *self, size_t i)
{
    uint64_t hash = self->l.hashes[2 * i], *times = &self->l.hashes[2 * i + 1];
    bool last;
    assert_true(vidi__overflow_remove(&self->overflow, hash, &last));
    --*times;
    assert_int_equal(last, *times == 0);
    assert_int_equal(vidi__overflow_times(&self->overflow, hash), *times);
    if (last) {
        self->l.n--;
        memmove(&self->l.hashes[2 * i], &self->l.hashes[2 * self->l.n], 2 * sizeof *self->l.hashes);
        assert_false(vidi__overflow_remove(&self->overflow, hash, &last));
        assert_false(last);
    }
}

/* ---- contents ---- */

static void an_empty_one_holds_nothing(void **state)
{
    model self;
    bool last = true;
    uint64_t at = VIDI__OVERFLOW_EMPTY, left;
    (void)state;
    start(&self, false, 1);
    for (unsigned round = 0; round < 2; round++) { /* without memory; and with, but empty again */
        assert_int_equal(vidi__overflow_times(&self.overflow, 5), 0);
        assert_false(vidi__overflow_remove(&self.overflow, 5, &last));
        assert_false(last);
        assert_false(vidi__overflow_each(&self.overflow, &at, &left));
        put_fresh(&self, 5, 1);
        take_from(&self, 0);
        at = VIDI__OVERFLOW_EMPTY;
    }
    finish(&self);
}

static size_t find_in(const list *l, uint64_t hash)
{
    size_t i = 0;
    while (i < l->n && l->hashes[2 * i] != hash)
        i++;
    return i;
}

/* Puts and takes from few hashes, so that most are met again. */
static void change(model *self, uint64_t hashes, bool growing)
{
    uint64_t hash = test_mix(test_below(&self->random, hashes)) >> 10;
    size_t i = find_in(&self->l, hash);
    if (test_below(&self->random, 10) < (growing ? 7u : 3u)) {
        uint64_t times = self->multiset ? 1 + test_below(&self->random, 3) : 1;
        bool fresh;
        if (i == self->l.n) {
            put_fresh(self, hash, times);
        } else if (self->multiset) {
            assert_int_equal(vidi__overflow_insert(&self->overflow, &self->f.slabs, true, hash, times, &fresh),
                             VIDI_OK);
            assert_false(fresh);
            self->l.hashes[2 * i + 1] += times;
        }
    } else if (i < self->l.n) {
        take_from(self, i);
    } else {
        bool last;
        assert_int_equal(vidi__overflow_times(&self->overflow, hash), 0);
        assert_false(vidi__overflow_remove(&self->overflow, hash, &last));
    }
}

static void random_changes_leave_what_the_model_says(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        model self;
        start(&self, seed % 2, seed);
        for (unsigned n = 0; n < 3000; n++) {
            change(&self, 5 + seed * 8, n / 500 % 2 == 0);
            if (n % 50 == 0)
                check_model(&self);
        }
        finish(&self);
    }
}

/* In slabs: room for what overflowed from the largest tables. */
static void many_blocks_hold_what_the_model_says(void **state)
{
    (void)state;
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        model self;
        start(&self, multiset, 7 + multiset);
        for (uint64_t n = 0; n < 12000; n++) {
            put_fresh(&self, test_next(&self.random) >> 4, multiset ? 1 + n % 3 : 1);
            if (n % 997 == 0)
                check_model(&self);
        }
        assert_true(self.overflow.room >= 7 * VIDI__OVERFLOW_BLOCK);
        check_model(&self);
        while (self.l.n) {
            take_from(&self, (size_t)test_below(&self.random, self.l.n));
            if (self.l.n % 1499 == 0)
                check_model(&self);
        }
        assert_int_equal(self.overflow.used, 0);
        for (uint64_t at = 0; at < self.overflow.room; at++)
            assert_false(is_in(&self, at));
        finish(&self);
    }
}

static void times_go_as_far_as_64_bits(void **state)
{
    const uint64_t many = UINT64_C(1) << 62;
    model self;
    bool fresh, last;
    (void)state;
    start(&self, true, 9);
    put_fresh(&self, 77, many);
    assert_int_equal(vidi__overflow_insert(&self.overflow, &self.f.slabs, true, 77, many, &fresh), VIDI_OK);
    assert_false(fresh);
    assert_int_equal(vidi__overflow_times(&self.overflow, 77), 2 * many);
    assert_true(vidi__overflow_remove(&self.overflow, 77, &last));
    assert_false(last);
    assert_int_equal(vidi__overflow_times(&self.overflow, 77), 2 * many - 1);
    finish(&self);
}

/* ---- gaps ---- */

/* Another hash that belongs to this entry. */
static uint64_t hash_at_home(model *self, uint64_t home)
{
    for (;;) {
        uint64_t hash = test_next(&self->random) >> 4;
        if (vidi__overflow_home(&self->overflow, hash) == home && !vidi__overflow_times(&self->overflow, hash))
            return hash;
    }
}

enum { ROOM = 10, CLUSTER = 6 };

/* A cluster that begins before the end and goes on behind it, with homes as the digits of `homes` say. */
static void make_cluster(model *self, uint64_t first, unsigned homes)
{
    assert_int_equal(vidi__overflow_resize(&self->overflow, &self->f.slabs, self->multiset, ROOM), VIDI_OK);
    self->l.n = 0;
    for (unsigned i = 0; i < CLUSTER; i++, homes /= 3)
        put_fresh(self, hash_at_home(self, (first + homes % 3) % ROOM), 1 + self->multiset * i);
    assert_int_equal(self->overflow.room, ROOM);
}

/* Takes them in the order of the digits of `order`, and looks after each at those that are left. */
static void take_in_order(model *self, unsigned order)
{
    for (unsigned left = CLUSTER; left; order /= left--) {
        size_t i = order % left;
        while (vidi__overflow_times(&self->overflow, self->l.hashes[2 * i]) > 1)
            take_from(self, i);
        take_from(self, i);
        check_model(self);
    }
}

static void gaps_close_in_any_order_and_around_the_end(void **state)
{
    enum { ORDERS = 720 };
    unsigned around = 0;
    model self;
    (void)state;
    start(&self, false, 11);
    for (uint64_t first = 0; first < ROOM; first++)
        for (unsigned order = 0; order < ORDERS; order++) {
            self.multiset = order % 2;
            vidi__overflow_free(&self.overflow, &self.f.slabs);
            make_cluster(&self, first, (unsigned)test_below(&self.random, 729));
            around += is_in(&self, 0) && is_in(&self, ROOM - 1);
            take_in_order(&self, order);
        }
    assert_true(around > ORDERS);
    finish(&self);
}

/* ---- order, room and memory ---- */

/* What is listed from a free entry on, put into another of the same room in that order, stands where it stood. */
static void the_order_of_listing_brings_back_the_same_table(void **state)
{
    static const uint64_t sizes[] = {1, 5, 6, 100, 1500, 6000};
    (void)state;
    for (size_t i = 0; i < 2 * VIDI__COUNT(sizes); i++) {
        model self, other;
        bool fresh;
        start(&self, i % 2, i);
        start(&other, i % 2, i);
        while (self.l.n < sizes[i / 2])
            put_fresh(&self, test_next(&self.random) >> 4, 1);
        assert_int_equal(vidi__overflow_resize(&other.overflow, &other.f.slabs, i % 2, self.overflow.room), VIDI_OK);
        for (uint64_t at = VIDI__OVERFLOW_EMPTY, left; vidi__overflow_each(&self.overflow, &at, &left);)
            assert_int_equal(vidi__overflow_insert(&other.overflow, &other.f.slabs, i % 2,
                                                   *vidi__overflow_at(self.overflow.entries, at), 1, &fresh),
                             VIDI_OK);
        assert_int_equal(other.overflow.room, self.overflow.room);
        for (uint64_t at = 0; at < self.overflow.room; at++)
            assert_int_equal(*vidi__overflow_at(other.overflow.entries, at),
                             *vidi__overflow_at(self.overflow.entries, at));
        finish(&self);
        finish(&other);
    }
}

/* The farthest that a hash is from its home. */
static uint64_t farthest(const vidi__overflow *overflow)
{
    uint64_t most = 0;
    for (uint64_t at = VIDI__OVERFLOW_EMPTY, left; vidi__overflow_each(overflow, &at, &left);) {
        uint64_t home = vidi__overflow_home(overflow, *vidi__overflow_at(overflow->entries, at));
        uint64_t far = at >= home ? at - home : at + overflow->room - home;
        most = far > most ? far : most;
    }
    return most;
}

/* To smaller rooms and larger ones, in the order of the table: no room fills from one end. */
static void resizing_keeps_all_and_makes_no_clusters(void **state)
{
    (void)state;
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        static const uint64_t rooms[] = {9000, 2049, 2048, 4000, 30000, 1500, 1400, 1300};
        model self;
        start(&self, multiset, 13);
        while (self.l.n < 1000)
            put_fresh(&self, test_next(&self.random) >> 4, 1 + multiset * (self.l.n % 7));
        for (size_t i = 0; i < VIDI__COUNT(rooms); i++) {
            assert_int_equal(vidi__overflow_resize(&self.overflow, &self.f.slabs, multiset, rooms[i]), VIDI_OK);
            assert_true(self.overflow.room >= rooms[i] && self.overflow.room < rooms[i] + VIDI__OVERFLOW_BLOCK);
            check_model(&self);
            check(farthest(&self.overflow) < 150, "room %d: %d from home", (int)rooms[i],
                  (int)farthest(&self.overflow));
        }
        for (uint64_t n = 0; n < 400; n++) { /* from a full one into a fresh one of less room, as when a table splits */
            put_fresh(&self, test_next(&self.random) >> 4, 1);
            check(farthest(&self.overflow) < 150, "%d hashes: %d from home", (int)self.l.n,
                  (int)farthest(&self.overflow));
        }
        finish(&self);
    }
}

/* As when a table is rebuilt: some of another comes, in its order, to what is there already. */
static void take_over(uint64_t room, uint64_t room_of_other)
{
    model self, other;
    uint64_t taken = 0;
    start(&self, false, room);
    start(&other, false, room + 1);
    assert_int_equal(vidi__overflow_resize(&self.overflow, &self.f.slabs, false, room), VIDI_OK);
    assert_int_equal(vidi__overflow_resize(&other.overflow, &other.f.slabs, false, room_of_other), VIDI_OK);
    while (self.l.n < room * 4 / 10)
        put_fresh(&self, test_next(&self.random) >> 14, 1);
    while (other.l.n < room_of_other * 3 / 4)
        put_fresh(&other, test_next(&other.random) >> 14, 1);
    for (uint64_t at = VIDI__OVERFLOW_EMPTY, left; taken < room * 3 / 8; taken++) {
        assert_true(vidi__overflow_each(&other.overflow, &at, &left));
        put_fresh(&self, *vidi__overflow_at(other.overflow.entries, at), 1);
    }
    check(farthest(&self.overflow) < 400, "room %d, from one of %d: %d from home", (int)room, (int)room_of_other,
          (int)farthest(&self.overflow));
    finish(&self);
    finish(&other);
}

static void what_comes_from_one_of_another_room_makes_no_clusters(void **state)
{
    static const uint64_t rooms[] = {500, 2000, 8192, 14336, 55296, 75776};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(rooms); i++) {
        take_over(rooms[i], rooms[i] * 2);
        take_over(rooms[i], rooms[i] * 3);
        take_over(rooms[i], rooms[i] * 5 / 4);
    }
}

static void its_bytes_are_what_it_allocated(void **state)
{
    (void)state;
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        model self;
        start(&self, multiset, 15);
        assert_int_equal(vidi__overflow_bytes(&self.overflow), 0);
        for (uint64_t n = 0; n < 5000; n++) {
            put_fresh(&self, test_next(&self.random) >> 4, 1);
            uint64_t pool = self.f.slabs.block_room * sizeof *self.f.slabs.blocks;
            for (uint64_t i = 0; i < self.f.slabs.block_count; i++)
                pool += self.f.slabs.blocks[i].size;
            uint64_t in_use = (self.f.slabs.total - self.f.slabs.free_count) * VIDI__SLAB_BYTES;
            assert_int_equal(vidi__overflow_bytes(&self.overflow), vidi__memory_used(&self.f.memory) - pool + in_use);
        }
        finish(&self);
    }
}

static void refused_memory_changes_nothing(void **state)
{
    (void)state;
    for (unsigned multiset = 0; multiset < 2; multiset++) {
        uint64_t refusals = 0;
        model self;
        start(&self, multiset, 17);
        while (self.l.n < 6000) {
            uint64_t hash = test_next(&self.random) >> 4;
            bool fresh;
            for (uint64_t at = 1;; at++, refusals++) {
                test_allocator_fail(&self.f.allocator, at, at % 2);
                int code = vidi__overflow_insert(&self.overflow, &self.f.slabs, multiset, hash, 1, &fresh);
                test_allocator_fail(&self.f.allocator, 0, false);
                if (code == VIDI_OK)
                    break;
                assert_int_equal(code, VIDI_EMEMORY);
                assert_int_equal(vidi__overflow_times(&self.overflow, hash), 0);
                check_model(&self);
            }
            assert_true(fresh);
            list_push(&self.l, hash, 1);
        }
        check(refusals > 30, "%d refusals", (int)refusals);
        check_model(&self);
        finish(&self);
    }
}

/* ---- tables that nobody has looked at ---- */

/* The inverse of vidi__mix. */
static uint64_t unmix(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ x >> 27 ^ x >> 54) * UINT64_C(0x96de1b173f119089);
    return x ^ x >> 30 ^ x >> 60;
}

/* Hashes that are all looked for in the same place: a table of them takes time in the square of its size to check. */
static void who_crowds_one_place_is_refused(void **state)
{
    static const uint64_t counts[] = {2, 4000, 4097, 4098, 100000};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(counts); i++) {
        model self;
        start(&self, false, 1);
        self.overflow.used = 0;
        uint64_t room = 2 * counts[i] + 8, home = room - 3;
        assert_int_equal(vidi__overflow_resize(&self.overflow, &self.f.slabs, false, room), VIDI_OK);
        for (uint64_t n = 0; n < counts[i]; n++) {
            uint64_t from = (uint64_t)((((unsigned __int128)home << 64) + room - 1) / room);
            uint64_t hash = unmix(from + n) - room, at = (home + n) % room;
            assert_int_equal(vidi__overflow_home(&self.overflow, hash), home);
            *vidi__overflow_at(self.overflow.entries, at) = hash;
        }
        self.overflow.used = counts[i];
        assert_int_equal(vidi__overflow_verify(&self.overflow, UINT64_MAX), counts[i] <= 4097 ? VIDI_OK : VIDI_EFORMAT);
        finish(&self);
    }
}

/* Full, empty although it says it is not, or anything: questions and walks end. */
static void any_entries_can_be_asked_and_listed(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        model self;
        start(&self, false, round);
        uint64_t room = 10 + round * 50, told = 0;
        assert_int_equal(vidi__overflow_resize(&self.overflow, &self.f.slabs, false, room), VIDI_OK);
        for (uint64_t at = 0; at < room && round % 4 != 3; at++) {
            bool empty = round % 4 == 2 && test_below(&self.random, 2);
            *vidi__overflow_at(self.overflow.entries, at) = empty       ? VIDI__OVERFLOW_EMPTY
                                                            : round % 4 ? test_next(&self.random)
                                                                        : 7;
        }
        self.overflow.used = room * 4 / 5;
        for (uint64_t i = 0; i < 100; i++)
            assert_true(vidi__overflow_times(&self.overflow, test_next(&self.random)) <= 1);
        for (uint64_t at = VIDI__OVERFLOW_EMPTY, left; vidi__overflow_each(&self.overflow, &at, &left);)
            told++;
        assert_true(told <= room);
        assert_int_equal(vidi__overflow_verify(&self.overflow, UINT64_MAX), VIDI_EFORMAT);
        finish(&self);
    }
}

int main(int argc, char **argv)
{
    test_add("an empty one holds nothing", an_empty_one_holds_nothing, NULL);
    test_add("random changes leave what the model says", random_changes_leave_what_the_model_says, NULL);
    test_add("many blocks hold what the model says", many_blocks_hold_what_the_model_says, NULL);
    test_add("times go as far as 64 bits", times_go_as_far_as_64_bits, NULL);
    test_add("gaps close in any order and around the end", gaps_close_in_any_order_and_around_the_end, NULL);
    test_add("the order of listing brings back the same table", the_order_of_listing_brings_back_the_same_table, NULL);
    test_add("resizing keeps all and makes no clusters", resizing_keeps_all_and_makes_no_clusters, NULL);
    test_add("what comes from one of another room makes no clusters",
             what_comes_from_one_of_another_room_makes_no_clusters, NULL);
    test_add("its bytes are what it allocated", its_bytes_are_what_it_allocated, NULL);
    test_add("refused memory changes nothing", refused_memory_changes_nothing, NULL);
    test_add("who crowds one place is refused", who_crowds_one_place_is_refused, NULL);
    test_add("any entries can be asked and listed", any_entries_can_be_asked_and_listed, NULL);
    return test_run("overflow", argc, argv);
}
