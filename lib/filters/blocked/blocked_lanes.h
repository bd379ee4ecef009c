/*
 * The loops over the URLs of a batch: a template that is compiled once per instruction set. The idea is explained in
 * blocked_kernel.h.
 *
 * The including file defines INLINE and TARGET (how functions are declared), KERNEL (the table's name) and
 *
 *     missing_bits(line, word)   how many of the eight bits are not set
 *     set_bits(line, word)       the same, and sets them. It reads and writes the line unconditionally, because a
 *                                branch around the write could not be predicted.
 */

typedef vidi__blocked_target target;

/* A batch on its way through one layer. */
typedef struct passage {
    vidi__blocked_rows in;
    vidi__blocked_batch batch;
    struct {
        uint64_t first, rows;
    } parts[VIDI__PARTITIONS]; /* of each partition: vidi__blocked_first_row, and the number of its rows */
    target ring[VIDI__BLOCKED_RING * VIDI__BLOCKED_LINES_MAX];
} passage;

/* `lines` is that of the layer, which the compiler may know. */
INLINE void begin(passage *self, const vidi__blocked_rows *in, const vidi__blocked_batch *batch, unsigned lines)
{
    self->in = *in;
    self->in.lines = lines;
    self->batch = *batch;
    uint64_t first = 0;
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++) {
        uint64_t next = vidi__blocked_first_row(in, i + 1);
        self->parts[i].first = first;
        self->parts[i].rows = next - first;
        first = next;
    }
}

INLINE size_t end_of_step(const passage *self, size_t from)
{
    size_t end = from + VIDI__BLOCKED_STEP;
    return end < self->batch.count ? end : self->batch.count;
}

INLINE target *step_in(passage *self, size_t from, unsigned lines)
{
    return &self->ring[from % VIDI__BLOCKED_RING * lines];
}

/* The same as vidi__blocked_locate; and prefetches the line. */
INLINE target locate(const passage *self, vidi__u128 hash, unsigned lines, bool lazy, unsigned i)
{
    uint64_t partition = vidi__partition_of(hash.hi), rest = hash.hi << VIDI__PARTITION_BITS;
    uint64_t row = vidi__scale(rest * self->in.salts[i].row, self->parts[partition].rows);
    uint64_t at = ((self->parts[partition].first + row) * lines + i) * VIDI__LINE_WORDS;
    target found = {lazy ? vidi__blocked_in_pieces(&self->in, at) : self->in.words + at,
                    hash.lo * self->in.salts[i].bits >> 16};
    __builtin_prefetch(found.line);
    return found;
}

/* Locates the first `some` lines of each URL in the step that begins with `from`. Steps beyond the batch are empty. */
INLINE void locate_step(passage *self, size_t from, unsigned lines, bool lazy, unsigned some)
{
    target *at = step_in(self, from, lines);
    for (size_t until = end_of_step(self, from); from < until; from++, at += lines)
        for (unsigned i = 0; i < some; i++)
            at[i] = locate(self, self->batch.hashes[from], lines, lazy, i);
}

INLINE uint64_t add_step(passage *self, size_t from, unsigned lines, uint32_t *ones)
{
    const target *at = step_in(self, from, lines);
    const vidi__u128 *hashes = self->batch.hashes;
    uint8_t *verdicts = self->batch.verdicts;
    uint64_t fresh = 0;
    for (size_t until = end_of_step(self, from); from < until; from++) {
        unsigned bits = 0;
        for (unsigned i = 0; i < lines; i++, at++)
            bits += set_bits(at->line, at->word);
        fresh += bits != 0;
        ones[vidi__partition_of(hashes[from].hi)] += bits;
        verdicts[from] = bits ? VIDI_NEW : VIDI_SEEN;
    }
    return fresh;
}

INLINE uint64_t add_ring(const vidi__blocked_rows *in, const vidi__blocked_batch *batch, unsigned lines, bool lazy,
                         uint32_t *ones)
{
    passage self;
    uint64_t fresh = 0;
    begin(&self, in, batch, lines);
    for (size_t from = 0; from < VIDI__BLOCKED_AHEAD; from += VIDI__BLOCKED_STEP)
        locate_step(&self, from, lines, lazy, lines);
    for (size_t from = 0; from < batch->count; from += VIDI__BLOCKED_STEP) {
        locate_step(&self, from + VIDI__BLOCKED_AHEAD, lines, lazy, lines);
        fresh += add_step(&self, from, lines, ones);
    }
    return fresh;
}

/* Answers by the first line, and locates the others of URLs that may have been seen. */
INLINE void has_first(passage *self, size_t from, unsigned lines, bool lazy)
{
    const vidi__u128 *hashes = self->batch.hashes;
    uint8_t *verdicts = self->batch.verdicts;
    target *at = step_in(self, from, lines);
    for (size_t until = end_of_step(self, from); from < until; from++, at += lines) {
        bool all = missing_bits(at->line, at->word) == 0;
        verdicts[from] = all ? VIDI_SEEN : VIDI_NEW;
        for (unsigned i = 1; i < lines && all; i++)
            at[i] = locate(self, hashes[from], lines, lazy, i);
    }
}

/* Looks into the other lines of the URLs that may have been seen. */
INLINE void has_others(passage *self, size_t from, unsigned lines)
{
    const target *at = step_in(self, from, lines);
    uint8_t *verdicts = self->batch.verdicts;
    for (size_t until = end_of_step(self, from); from < until; from++, at += lines)
        for (unsigned i = 1; i < lines && verdicts[from] == VIDI_SEEN; i++)
            verdicts[from] = missing_bits(at[i].line, at[i].word) ? VIDI_NEW : VIDI_SEEN;
}

/* Most lookups of URLs that are absent end at the first line, so the others are located later. */
INLINE void has_ring(const vidi__blocked_rows *in, const vidi__blocked_batch *batch, unsigned lines, bool lazy)
{
    passage self;
    size_t located = 0, first = 0;
    begin(&self, in, batch, lines);
    for (size_t from = 0; from < batch->count; from += VIDI__BLOCKED_STEP) {
        for (; located <= from + VIDI__BLOCKED_AHEAD; located += VIDI__BLOCKED_STEP)
            locate_step(&self, located, lines, lazy, 1);
        for (; first <= from + (lines > 1 ? VIDI__BLOCKED_AHEAD / 2 : 0); first += VIDI__BLOCKED_STEP)
            has_first(&self, first, lines, lazy);
        if (lines > 1)
            has_others(&self, from, lines);
    }
}

/* There are loops of their own for the usual numbers of lines. */
TARGET static uint64_t add_batch(const vidi__blocked_rows *in, const vidi__blocked_batch *batch, uint32_t *ones)
{
    if (!in->words)
        return add_ring(in, batch, in->lines, true, ones);
    if (in->lines == 1)
        return add_ring(in, batch, 1, false, ones);
    if (in->lines == 2)
        return add_ring(in, batch, 2, false, ones);
    return add_ring(in, batch, in->lines, false, ones);
}

TARGET static void has_batch(const vidi__blocked_rows *in, const vidi__blocked_batch *batch)
{
    if (!in->words)
        has_ring(in, batch, in->lines, true);
    else if (in->lines == 1)
        has_ring(in, batch, 1, false);
    else if (in->lines == 2)
        has_ring(in, batch, 2, false);
    else
        has_ring(in, batch, in->lines, false);
}

/* ---- one URL ---- */

TARGET static unsigned add(const vidi__blocked_rows *in, vidi__u128 hash)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < in->lines; i++) {
        target at = vidi__blocked_locate(in, hash, i);
        bits += set_bits(at.line, at.word);
    }
    return bits;
}

TARGET static bool has(const vidi__blocked_rows *in, vidi__u128 hash)
{
    for (unsigned i = 0; i < in->lines; i++) {
        target at = vidi__blocked_locate(in, hash, i);
        if (missing_bits(at.line, at.word))
            return false;
    }
    return true;
}

const vidi__blocked_kernel KERNEL = {add_batch, has_batch, add, has};
