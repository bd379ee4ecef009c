/*
 * The loops over the URLs of a wave: a template that is compiled once per instruction set. The idea is explained in
 * blocked_kernel.h.
 *
 * The including file defines INLINE and TARGET (how functions are declared), KERNEL (the table's name) and
 *
 *     missing_bits(line, word)   how many of the eight bits are not set
 *     set_bits(line, word)       the same, and sets them. It reads and writes the line unconditionally, because a
 *                                branch around the write could not be predicted.
 */
TARGET static uint64_t has(const vidi__blocked_targets *targets, uint64_t which, vidi__blocked_answers to,
                           const vidi__blocked_ahead *ahead)
{
    uint64_t seen = 0;
    size_t next = 0;
    for (; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctzll(which);
        vidi__blocked_locate_ahead(ahead, next++);
        bool all = missing_bits(targets->line[i], targets->word[i]) == 0;
        seen |= (uint64_t)all << i;
        to.verdicts[to.order[i]] = all ? VIDI_SEEN : VIDI_NEW;
    }
    while (next < ahead->count)
        vidi__blocked_locate_ahead(ahead, next++);
    return seen;
}

INLINE uint64_t add_lines(const vidi__blocked_targets *targets, unsigned lines, uint64_t which, uint64_t *ones,
                          vidi__blocked_answers to, const vidi__blocked_ahead *ahead)
{
    uint64_t fresh = 0, count = 0;
    size_t next = 0;
    for (; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctzll(which), bits = 0;
        vidi__blocked_locate_ahead(ahead, next++);
        for (unsigned draw = 0; draw < lines; draw++)
            bits += set_bits(targets[draw].line[i], targets[draw].word[i]);
        fresh |= (uint64_t)(bits != 0) << i;
        count += bits;
        to.verdicts[to.order[i]] = bits ? VIDI_NEW : VIDI_SEEN;
    }
    while (next < ahead->count)
        vidi__blocked_locate_ahead(ahead, next++);
    *ones += count;
    return fresh;
}

/* Compiles separate loops for the usual numbers of lines, 1 and 2. */
TARGET static uint64_t add(const vidi__blocked_targets *targets, unsigned lines, uint64_t which, uint64_t *ones,
                           vidi__blocked_answers to, const vidi__blocked_ahead *ahead)
{
    if (lines == 1)
        return add_lines(targets, 1, which, ones, to, ahead);
    if (lines == 2)
        return add_lines(targets, 2, which, ones, to, ahead);
    return add_lines(targets, lines, which, ones, to, ahead);
}

/* ---- whole batches ---- */

/* Where the bits of a URL are in one of its lines. */
typedef struct target {
    uint64_t *line;
    uint64_t word;
} target;

INLINE size_t end_of_step(const vidi__blocked_batch *batch, size_t from)
{
    return from + VIDI__BLOCKED_STEP < batch->count ? from + VIDI__BLOCKED_STEP : batch->count;
}

INLINE target *step_in(target *ring, size_t from, unsigned lines)
{
    return &ring[from % VIDI__BLOCKED_RING * lines];
}

/* Locates and prefetches line number i of a URL. `lazy`: the layer's words are in pieces. */
INLINE target locate(const vidi__blocked_batch *batch, vidi__u128 hash, unsigned lines, bool lazy, unsigned i)
{
    uint64_t partition = vidi__partition_of(hash.hi), rest = hash.hi << VIDI__PARTITION_BITS;
    uint64_t row = vidi__scale(rest * batch->salts[i].row, batch->parts[partition].rows);
    uint64_t offset = (row * lines + i) * VIDI__LINE_WORDS;
    target at = {lazy ? vidi__blocked_in_pieces(batch->pieces, batch->parts[partition].begin + offset)
                      : batch->parts[partition].first + offset,
                 hash.lo * batch->salts[i].bits >> 16};
    __builtin_prefetch(at.line, 1);
    return at;
}

/* Locates the first `some` lines of each URL in the step that begins with `from`. Steps beyond the batch are empty. */
INLINE void locate_step(const vidi__blocked_batch *batch, target *ring, size_t from, unsigned lines, bool lazy,
                        unsigned some)
{
    const vidi__u128 *hashes = batch->hashes;
    target *at = step_in(ring, from, lines);
    for (size_t until = end_of_step(batch, from); from < until; from++, at += lines)
        for (unsigned i = 0; i < some; i++)
            at[i] = locate(batch, hashes[from], lines, lazy, i);
}

INLINE void add_step(vidi__blocked_batch *batch, target *ring, size_t from, unsigned lines)
{
    const vidi__u128 *hashes = batch->hashes;
    const target *at = step_in(ring, from, lines);
    uint8_t *verdicts = batch->verdicts;
    uint64_t fresh = 0;
    for (size_t until = end_of_step(batch, from); from < until; from++) {
        unsigned bits = 0;
        for (unsigned i = 0; i < lines; i++, at++)
            bits += set_bits(at->line, at->word);
        fresh += bits != 0;
        batch->ones[vidi__partition_of(hashes[from].hi)] += bits;
        verdicts[from] = bits ? VIDI_NEW : VIDI_SEEN;
    }
    batch->fresh += fresh;
}

INLINE void add_ring(vidi__blocked_batch *batch, unsigned lines, bool lazy)
{
    target ring[VIDI__BLOCKED_RING * VIDI__BLOCKED_LINES_MAX];
    for (size_t from = 0; from < VIDI__BLOCKED_AHEAD; from += VIDI__BLOCKED_STEP)
        locate_step(batch, ring, from, lines, lazy, lines);
    for (size_t from = 0; from < batch->count; from += VIDI__BLOCKED_STEP) {
        locate_step(batch, ring, from + VIDI__BLOCKED_AHEAD, lines, lazy, lines);
        add_step(batch, ring, from, lines);
    }
}

/* Answers by the first line, and locates the others of URLs that may have been seen. */
INLINE void has_first(const vidi__blocked_batch *batch, target *ring, size_t from, unsigned lines, bool lazy)
{
    const vidi__u128 *hashes = batch->hashes;
    target *at = step_in(ring, from, lines);
    uint8_t *verdicts = batch->verdicts;
    for (size_t until = end_of_step(batch, from); from < until; from++, at += lines) {
        bool all = missing_bits(at->line, at->word) == 0;
        verdicts[from] = all ? VIDI_SEEN : VIDI_NEW;
        for (unsigned i = 1; i < lines && all; i++)
            at[i] = locate(batch, hashes[from], lines, lazy, i);
    }
}

/* Looks into the other lines of the URLs that may have been seen. */
INLINE void has_others(const vidi__blocked_batch *batch, target *ring, size_t from, unsigned lines)
{
    const target *at = step_in(ring, from, lines);
    uint8_t *verdicts = batch->verdicts;
    for (size_t until = end_of_step(batch, from); from < until; from++, at += lines)
        for (unsigned i = 1; i < lines && verdicts[from] == VIDI_SEEN; i++)
            verdicts[from] = missing_bits(at[i].line, at[i].word) ? VIDI_NEW : VIDI_SEEN;
}

/* Most lookups of URLs that are absent end at the first line, so the others are located later. */
INLINE void has_ring(vidi__blocked_batch *batch, unsigned lines, bool lazy)
{
    target ring[VIDI__BLOCKED_RING * VIDI__BLOCKED_LINES_MAX];
    size_t located = 0, first = 0;
    for (size_t from = 0; from < batch->count; from += VIDI__BLOCKED_STEP) {
        for (; located <= from + VIDI__BLOCKED_AHEAD; located += VIDI__BLOCKED_STEP)
            locate_step(batch, ring, located, lines, lazy, 1);
        for (; first <= from + (lines > 1 ? VIDI__BLOCKED_AHEAD / 2 : 0); first += VIDI__BLOCKED_STEP)
            has_first(batch, ring, first, lines, lazy);
        if (lines > 1)
            has_others(batch, ring, from, lines);
    }
}

TARGET static void add_batch(vidi__blocked_batch *batch)
{
    if (batch->pieces && batch->lines == 1)
        add_ring(batch, 1, true);
    else if (batch->pieces)
        add_ring(batch, batch->lines, true);
    else if (batch->lines == 1)
        add_ring(batch, 1, false);
    else if (batch->lines == 2)
        add_ring(batch, 2, false);
    else
        add_ring(batch, batch->lines, false);
}

TARGET static void has_batch(vidi__blocked_batch *batch)
{
    if (batch->pieces && batch->lines == 1)
        has_ring(batch, 1, true);
    else if (batch->pieces)
        has_ring(batch, batch->lines, true);
    else if (batch->lines == 1)
        has_ring(batch, 1, false);
    else if (batch->lines == 2)
        has_ring(batch, 2, false);
    else
        has_ring(batch, batch->lines, false);
}

const vidi__blocked_kernel KERNEL = {add_batch, has_batch, has, add};
