/*
 * The loops over the URLs of a wave: a template that is compiled once per instruction set. The idea is explained in
 * blocked_kernel.h.
 *
 * The including file defines INLINE and TARGET (how functions are declared), KERNEL (the table's name) and
 *
 *     missing_bits(line, word)   how many of the eight bits are not set
 *     set_bits(line, word)       the same, and sets them. It reads and writes the line unconditionally, because a branch
 *                                around the write could not be predicted.
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

const vidi__blocked_kernel KERNEL = {has, add};
