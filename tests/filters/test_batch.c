/*
 * Batches of hashes, as a kind meets them: every hash once, in order, under its lock, in waves that are looked at,
 * fetched and worked on by turns; an error ends it, and no lock stays behind.
 */
#include "filters/batch_cases.h"

/* What a kind notes of a batch. */
typedef struct notes {
    vidi__locks locks;
    vidi__u128 hashes[VIDI__HASHES_MAX];
    size_t n;
    uint8_t worked[VIDI__HASHES_MAX]; /* how often on each */
    uint16_t last[VIDI__PARTITIONS];  /* behind the one that was worked on last in each partition */
    vidi__wave fetched[2];            /* by buffer; count 0 if there is none */
    bool looked[2];
    size_t waves, most;
    size_t fail_at; /* the wave, from 1 on, whose work fails */
} notes;

/* The wave is one: not empty, not too large, of one partition, whose lock is held. */
static void check_wave(const notes *self, const vidi__wave *wave)
{
    assert_true(wave->count > 0 && wave->count <= VIDI__WAVE_MAX);
    assert_true(wave->buffer < 2 && wave->partition < VIDI__PARTITIONS);
    check(is_held(&self->locks, wave->partition), "partition %u: its lock is not held", wave->partition);
    for (size_t i = 0; i < wave->count; i++) {
        assert_true(wave->order[i] < self->n);
        assert_int_equal(vidi__partition_of(self->hashes[wave->order[i]].hi), wave->partition);
    }
}

static void check_same_wave(const vidi__wave *a, const vidi__wave *b)
{
    assert_int_equal(a->partition, b->partition);
    assert_int_equal(a->count, b->count);
    assert_ptr_equal(a->order, b->order);
}

static void note_fetch(void *context, const vidi__wave *wave)
{
    notes *self = context;
    check_wave(self, wave);
    assert_int_equal(self->fetched[wave->buffer].count, 0); /* nothing that is still to be worked on is written over */
    self->fetched[wave->buffer] = *wave;
    self->looked[wave->buffer] = false;
}

static void note_look(void *context, const vidi__wave *wave)
{
    notes *self = context;
    check_wave(self, wave);
    check_same_wave(wave, &self->fetched[wave->buffer]);
    assert_false(self->looked[wave->buffer]);
    self->looked[wave->buffer] = true;
}

/* No more locks than those of this wave and the one that was fetched. */
static void check_locks(const notes *self, const vidi__wave *wave)
{
    const vidi__wave *next = &self->fetched[!wave->buffer];
    assert_int_equal(held_locks(&self->locks), next->count && next->partition != wave->partition ? 2 : 1);
}

static int note_work(void *context, const vidi__wave *wave)
{
    notes *self = context;
    check_wave(self, wave);
    check_same_wave(wave, &self->fetched[wave->buffer]);
    assert_true(self->looked[wave->buffer]);
    check_locks(self, wave);
    self->fetched[wave->buffer].count = 0;
    self->waves++;
    self->most = wave->count > self->most ? wave->count : self->most;
    if (self->waves == self->fail_at)
        return vidi__fail(VIDI_EMEMORY, "as the test wanted");
    for (size_t i = 0; i < wave->count; i++) {
        uint16_t which = wave->order[i];
        assert_true(which >= self->last[wave->partition]); /* in the order of the batch */
        self->last[wave->partition] = (uint16_t)(which + 1);
        self->worked[which]++;
    }
    return VIDI_OK;
}

static void note_nothing(notes *self, size_t n)
{
    memset(self->worked, 0, sizeof self->worked);
    memset(self->last, 0, sizeof self->last);
    memset(self->fetched, 0, sizeof self->fetched);
    self->waves = self->most = self->fail_at = 0;
    self->n = n;
}

static int run_batch(notes *self)
{
    static const vidi__batch_ops ops = {note_fetch, note_work, note_look};
    return vidi__batch_run(&self->locks, self->hashes, self->n, &ops, self);
}

static size_t worked_on(const notes *self)
{
    size_t sum = 0;
    for (size_t i = 0; i < self->n; i++)
        sum += self->worked[i];
    return sum;
}

static const size_t sizes[] = {0,
                               1,
                               2,
                               VIDI__WAVE_MAX - 1,
                               VIDI__WAVE_MAX,
                               VIDI__WAVE_MAX + 1,
                               2 * VIDI__WAVE_MAX,
                               64,
                               65,
                               100,
                               2 * VIDI__WAVE_MAX + 1,
                               500,
                               2047,
                               VIDI__HASHES_MAX};

/* The fewest waves that a batch can be done in. */
static size_t fewest_waves(const notes *self)
{
    size_t in[VIDI__PARTITIONS] = {0}, waves = 0;
    for (size_t i = 0; i < self->n; i++)
        in[vidi__partition_of(self->hashes[i].hi)]++;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        waves += (in[i] + VIDI__WAVE_MAX - 1) / VIDI__WAVE_MAX;
    return waves;
}

static void every_hash_is_worked_on_once_in_order_and_locked(void **state)
{
    static notes self;
    (void)state;
    for (spread how = 0; how < SPREADS; how++)
        for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
            note_nothing(&self, sizes[i]);
            spread_hashes(self.hashes, self.n, how, i);
            assert_int_equal(run_batch(&self), VIDI_OK);
            for (size_t j = 0; j < self.n; j++)
                check(self.worked[j] == 1, "hash %d of %d was worked on %d times", (int)j, (int)self.n, self.worked[j]);
            assert_int_equal(self.waves, fewest_waves(&self));
            assert_int_equal(held_locks(&self.locks), 0);
        }
}

static void waves_are_never_too_large(void **state)
{
    static notes self;
    (void)state;
    note_nothing(&self, VIDI__HASHES_MAX);
    spread_hashes(self.hashes, self.n, IN_ONE, 1);
    assert_int_equal(run_batch(&self), VIDI_OK);
    assert_int_equal(self.most, VIDI__WAVE_MAX); /* and never more: note_work minds */
    assert_int_equal(self.waves, (VIDI__HASHES_MAX + VIDI__WAVE_MAX - 1) / VIDI__WAVE_MAX);
}

/* Whichever wave fails: what came before is done, the rest is not tried, and all locks are free. */
static void an_error_ends_the_batch_and_frees_the_locks(void **state)
{
    static notes self;
    (void)state;
    for (spread how = 0; how < SPREADS; how++) {
        note_nothing(&self, 300);
        spread_hashes(self.hashes, self.n, how, 2);
        size_t waves = fewest_waves(&self);
        for (size_t fail_at = 1; fail_at <= waves; fail_at++) {
            note_nothing(&self, 300);
            self.fail_at = fail_at;
            assert_int_equal(run_batch(&self), VIDI_EMEMORY);
            assert_int_equal(self.waves, fail_at);
            assert_true(worked_on(&self) < self.n);
            check(held_locks(&self.locks) == 0, "%u locks stayed behind", held_locks(&self.locks));
        }
        self.fail_at = 0;
    }
}

static int count_work(void *context, const vidi__wave *wave)
{
    *(size_t *)context += wave->count;
    return VIDI_OK;
}

static void ignore_wave(void *context, const vidi__wave *wave)
{
    (void)context;
    (void)wave;
}

static void looking_is_not_needed(void **state)
{
    static const vidi__batch_ops ops = {ignore_wave, count_work, NULL};
    static vidi__locks locks;
    vidi__u128 hashes[500];
    size_t count = 0;
    (void)state;
    spread_hashes(hashes, VIDI__COUNT(hashes), EVERYWHERE, 3);
    assert_int_equal(vidi__batch_run(&locks, hashes, VIDI__COUNT(hashes), &ops, &count), VIDI_OK);
    assert_int_equal(count, VIDI__COUNT(hashes));
}

static void the_topmost_bits_name_the_partition(void **state)
{
    (void)state;
    assert_int_equal(vidi__partition_of(0), 0);
    assert_int_equal(vidi__partition_of(UINT64_MAX), VIDI__PARTITIONS - 1);
    for (unsigned i = 1; i < VIDI__PARTITIONS; i++) {
        assert_int_equal(vidi__partition_of((uint64_t)i << 58), i);
        assert_int_equal(vidi__partition_of(((uint64_t)i << 58) - 1), i - 1);
    }
}

int main(int argc, char **argv)
{
    test_add("every hash is worked on once, in order and locked", every_hash_is_worked_on_once_in_order_and_locked,
             NULL);
    test_add("waves are never too large", waves_are_never_too_large, NULL);
    test_add("an error ends the batch and frees the locks", an_error_ends_the_batch_and_frees_the_locks, NULL);
    test_add("looking is not needed", looking_is_not_needed, NULL);
    test_add("the topmost bits name the partition", the_topmost_bits_name_the_partition, NULL);
    return test_run("batch", argc, argv);
}
