/*
 * The loops over the hashes of a batch: a template that is compiled once per instruction set. The idea is explained in
 * kernel.h.
 *
 * The including file defines INLINE and TARGET (how functions are declared), KERNEL (the table's name) and
 *
 *     line_match(line, width, value)   a bit for each slot that holds the value; slots that are not in use may get one,
 *                                      too. The width is a constant, except where speed does not matter.
 */

/* ---- one hash ---- */

/*
 * Returns true if the distance is among the line's own entries. In most calls no slot matches, whatever it is in use
 * for.
 */
INLINE bool in_own_line(const unsigned char *line, uint32_t head, uint64_t distance, unsigned width)
{
    uint32_t found = line_match(line, width, distance);
    if (!found)
        return false;
    uint32_t used = (UINT32_C(1) << vidi__line_count(head)) - 1;
    return found & used & ~vidi__line_displaced(head, vidi__line_slots(width));
}

INLINE bool has_in(const vidi__place *place, unsigned width)
{
    uint32_t head = vidi__line_head(place->spot.line);
    if (in_own_line(place->spot.line, head, place->spot.distance, width))
        return true;
    return VIDI__UNLIKELY(vidi__line_has_signature(head, vidi__line_slots(width), place->spot.distance)) &&
           vidi__subtable_has_elsewhere(place->table, place->hash, place->spot);
}

INLINE bool has_at(const vidi__place *place){
#define HAS(width) has_in(place, width)
    VIDI__FOR_WIDTH(place->table->width, HAS)
#undef HAS
}

/* The same while another thread may be adding. VIDI_UNTRIED: the hash may be elsewhere. */
INLINE int glance_in(const vidi__place *place, unsigned width)
{
    uint32_t head = vidi__line_head(place->spot.line);
    if (in_own_line(place->spot.line, head, place->spot.distance, width))
        return VIDI_SEEN;
    return vidi__line_has_signature(head, vidi__line_slots(width), place->spot.distance) ? VIDI_UNTRIED : VIDI_NEW;
}

INLINE int glance_at(const vidi__place *place){
#define GLANCE(width) glance_in(place, width)
    VIDI__FOR_WIDTH(place->table->width, GLANCE)
#undef GLANCE
}

/*
 * The line is full: the hash goes to the next line, or to the overflow table. Few adds get here, but almost four of ten
 * when a sub-table is nearly full.
 */
INLINE int add_to_full(vidi__slabs *slabs, const vidi__place *place, uint32_t head, unsigned width)
{
    const unsigned slots = vidi__line_slots(width);
    vidi__subtable *table = place->table;
    uint32_t signature = vidi__line_signature(slots, place->spot.distance);
    if (head & signature && vidi__subtable_has_elsewhere(table, place->hash, place->spot))
        return VIDI_SEEN;
    if (VIDI__UNLIKELY(table->used >= table->limit))
        return VIDI__SUBTABLE_FULL;
    unsigned char *next = vidi__subtable_next_line(table, place->hash);
    uint32_t next_head = vidi__line_head(next);
    if (vidi__line_count(next_head) == slots) { /* also if the table has one line, which is its own next */
        VIDI__TRY(vidi__subtable_overflow(table, slabs, place->hash));
    } else {
        vidi__line_append(next, width, next_head, place->spot.distance, true);
        table->used++;
    }
    vidi__line_set_head(place->spot.line, head | signature);
    return VIDI_NEW;
}

INLINE int add_in(vidi__slabs *slabs, const vidi__place *place, unsigned width)
{
    const unsigned slots = vidi__line_slots(width);
    vidi__subtable *table = place->table;
    unsigned char *line = place->spot.line;
    uint32_t head = vidi__line_head(line);
    if (in_own_line(line, head, place->spot.distance, width))
        return VIDI_SEEN;
    if (VIDI__UNLIKELY(vidi__line_count(head) == slots))
        return add_to_full(slabs, place, head, width);
    if (VIDI__UNLIKELY(head >> (5 + slots) || table->used >= table->limit)) /* after removals; or the table is full */
        return vidi__subtable_add_slowly(table, slabs, place->hash, place->spot, false);
    vidi__line_append(line, width, head, place->spot.distance, false);
    table->used++;
    return VIDI_NEW;
}

INLINE int add_at(vidi__slabs *slabs, const vidi__place *place){
#define ADD(width) add_in(slabs, place, width)
    VIDI__FOR_WIDTH(place->table->width, ADD)
#undef ADD
}

/*
 * The line has arrived: prefetches where else an add may look, which is the next line (a prefetch beside a slab is
 * useless but harmless) and the overflow table. Which lines are full cannot be predicted. So in a table that is not
 * `far`, only the line is prefetched, without a branch.
 */
INLINE void look_ahead_of_add(const vidi__place *place, bool far)
{
    unsigned count = vidi__line_count(vidi__line_head(place->spot.line));
    bool full = count == vidi__line_slots(place->table->width);
    if (!far) {
        __builtin_prefetch(place->spot.line + full * VIDI__LINE_BYTES, 1);
    } else if (full) {
        __builtin_prefetch(place->spot.line + VIDI__LINE_BYTES, 1);
        vidi__overflow_prefetch(&place->table->overflow, place->hash);
    }
}

/* Returns true if it may be worth looking ahead: before that, few lines are full. */
INLINE bool is_crowded(const vidi__subtable *table)
{
    return table->used > table->limit / 10 * 7;
}

/* The same for a lookup. */
INLINE void look_ahead_of_has(const vidi__place *place)
{
    uint32_t head = vidi__line_head(place->spot.line);
    if (vidi__line_has_signature(head, vidi__line_slots(place->table->width), place->spot.distance)) {
        __builtin_prefetch(place->spot.line + VIDI__LINE_BYTES);
        vidi__overflow_prefetch(&place->table->overflow, place->hash);
    }
}

/* ---- the ring ---- */

INLINE size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What a batch is for: a constant in each of the loops below. */
typedef enum purpose { ADD, HAS } purpose;

/* Locates the step that begins with hash `from`. Steps that begin beyond the batch are empty. */
INLINE void locate(const vidi__fingerprint_run *run, vidi__place *ring, size_t from, purpose purpose)
{
    const vidi__u128 *hashes = run->hashes;
    const vidi__table *table = run->table;
    vidi__place *place = &ring[from % VIDI__RING];
    for (size_t until = least(from + VIDI__RING_STEP, run->count); from < until; from++, place++) {
        *place = vidi__fingerprint_locate(table, hashes[from].hi);
        if (purpose == ADD)
            __builtin_prefetch(place->spot.line, 1);
        else
            __builtin_prefetch(place->spot.line);
    }
}

INLINE void locate_first(const vidi__fingerprint_run *run, vidi__place *ring, purpose purpose)
{
    for (size_t from = 0; from < VIDI__RING_AHEAD; from += VIDI__RING_STEP)
        locate(run, ring, from, purpose);
}

/* Adds hashes from i on, to the end of the step or to one whose sub-table is full or which fails: see *code. */
INLINE size_t add_step(vidi__fingerprint_run *run, const vidi__place *ring, size_t i, size_t until, int *code)
{
    vidi__slabs *slabs = &run->table->slabs;
    uint8_t *verdicts = run->verdicts;
    const vidi__place *place = &ring[i % VIDI__RING];
    uint64_t fresh = 0;
    for (; i < until; i++, place++) {
        int verdict = add_at(slabs, place);
        if (VIDI__UNLIKELY(verdict <= VIDI__SUBTABLE_FULL)) {
            *code = verdict;
            break;
        }
        verdicts[i] = (uint8_t)verdict;
        fresh += verdict == VIDI_NEW;
    }
    run->fresh += fresh;
    return i;
}

/* Adds hash i, whose sub-table is full or whose partition is not open. Lines move, so the rest is located again. */
TARGET static __attribute__((noinline)) int add_growing(vidi__fingerprint_run *run, vidi__place *ring, size_t i)
{
    int verdict = vidi__table_add(run->table, run->hashes[i].hi);
    VIDI__TRY(verdict);
    run->verdicts[i] = (uint8_t)verdict;
    run->fresh += verdict == VIDI_NEW;
    size_t until = least(i / VIDI__RING_STEP * VIDI__RING_STEP + VIDI__RING_AHEAD + VIDI__RING_STEP, run->count);
    for (i++; i < until; i++)
        ring[i % VIDI__RING] = vidi__fingerprint_locate(run->table, run->hashes[i].hi);
    return VIDI_OK;
}

/* Adds the step that begins with hash i, however often a sub-table must grow. */
INLINE int add_whole_step(vidi__fingerprint_run *run, vidi__place *ring, size_t i)
{
    size_t until = least(i + VIDI__RING_STEP, run->count);
    int code = VIDI_OK;
    while ((i = add_step(run, ring, i, until, &code)) < until) {
        if (code == VIDI__SUBTABLE_FULL)
            code = add_growing(run, ring, i);
        if (code < 0)
            break;
        i++;
    }
    run->done = i;
    return code;
}

INLINE int add_ring(vidi__fingerprint_run *run, bool far)
{
    vidi__place ring[VIDI__RING];
    locate_first(run, ring, ADD);
    bool crowded = is_crowded(ring[0].table); /* others are about as full */
    for (size_t i = 0; i < run->count; i += VIDI__RING_STEP) {
        locate(run, ring, i + VIDI__RING_AHEAD, ADD);
        size_t look = i + VIDI__RING_LOOK;
        for (size_t until = least(look + VIDI__RING_STEP, run->count); crowded && look < until; look++)
            look_ahead_of_add(&ring[look % VIDI__RING], far);
        VIDI__TRY(add_whole_step(run, ring, i));
    }
    return VIDI_OK;
}

TARGET static int add(vidi__fingerprint_run *run)
{
    if (!run->count)
        return VIDI_OK;
    return run->far ? add_ring(run, true) : add_ring(run, false);
}

TARGET static void has(vidi__fingerprint_run *run)
{
    vidi__place ring[VIDI__RING];
    uint8_t *verdicts = run->verdicts;
    locate_first(run, ring, HAS);
    for (size_t i = 0; i < run->count;) {
        locate(run, ring, i + VIDI__RING_AHEAD, HAS);
        size_t look = i + VIDI__RING_LOOK;
        for (size_t until = least(look + VIDI__RING_STEP, run->count); run->far && look < until; look++)
            look_ahead_of_has(&ring[look % VIDI__RING]);
        const vidi__place *place = &ring[i % VIDI__RING];
        for (size_t until = least(i + VIDI__RING_STEP, run->count); i < until; i++, place++)
            verdicts[i] = has_at(place) ? VIDI_SEEN : VIDI_NEW;
    }
}

/* ---- the ring, for threads that share the table ---- */

/* Locates the step of a sorted batch that begins with entry `from` of its order. */
INLINE void locate_sorted(const vidi__fingerprint_run *run, vidi__place *ring, const uint16_t *order, size_t from)
{
    vidi__place *place = &ring[from % VIDI__RING];
    for (size_t until = least(from + VIDI__RING_STEP, run->count); from < until; from++, place++) {
        *place = vidi__fingerprint_locate(run->table, run->hashes[order[from]].hi);
        __builtin_prefetch(place->spot.line); /* not to write: others may be reading it, too */
    }
}

/* The lines have arrived: prefetches the next one if a line is full, without a branch. */
INLINE void look_ahead_of_shared(const vidi__fingerprint_run *run, const vidi__place *ring, size_t from)
{
    const vidi__place *place = &ring[from % VIDI__RING];
    for (size_t until = least(from + VIDI__RING_STEP, run->count); from < until; from++, place++)
        look_ahead_of_add(place, false);
}

/* Lets go of the sub-table whose lock is held; NULL: none is. */
INLINE void let_go(vidi__subtable **held)
{
    if (*held)
        vidi__mutex_unlock(&(*held)->lock);
    *held = NULL;
}

/*
 * Adds the hash with this place: the lock of its sub-table is held, or taken if the hash is not there. *held is the
 * sub-table whose lock is held.
 */
INLINE int add_under_lock(vidi__fingerprint_run *run, const vidi__place *place, uint64_t hash, vidi__subtable **held)
{
    if (*held != place->table) {
        let_go(held);
        if (glance_at(place) == VIDI_SEEN)
            return VIDI_SEEN;
        vidi__mutex_lock(&place->table->lock);
        *held = place->table;
    }
    int verdict = VIDI__LIKELY(!(*held)->retired) ? add_at(&run->table->slabs, place) : VIDI__SUBTABLE_FULL;
    if (VIDI__LIKELY(verdict != VIDI__SUBTABLE_FULL))
        return verdict;
    let_go(held);
    return vidi__table_add_shared(run->table, hash);
}

/* Adds a batch in this order. */
INLINE int add_in_order(vidi__fingerprint_run *run, const uint16_t *order)
{
    vidi__place ring[VIDI__RING];
    vidi__subtable *held = NULL;
    int verdict = VIDI_OK;
    for (size_t from = 0; from < VIDI__RING_AHEAD; from += VIDI__RING_STEP)
        locate_sorted(run, ring, order, from);
    for (size_t i = 0; i < least(VIDI__RING_LOCK, run->count); i++)
        vidi__prefetch_to_write(&ring[i].table->lock);
    for (size_t i = 0; i < run->count && verdict >= 0;) {
        locate_sorted(run, ring, order, i + VIDI__RING_AHEAD);
        look_ahead_of_shared(run, ring, i + VIDI__RING_LOOK);
        const vidi__place *place = &ring[i % VIDI__RING];
        for (size_t until = least(i + VIDI__RING_STEP, run->count); i < until; i++, place++) {
            size_t soon = least(i + VIDI__RING_LOCK, run->count - 1);
            vidi__prefetch_to_write(&ring[soon % VIDI__RING].table->lock);
            verdict = add_under_lock(run, place, run->hashes[order[i]].hi, &held);
            if (VIDI__UNLIKELY(verdict < 0))
                break;
            run->verdicts[order[i]] = (uint8_t)verdict;
            run->fresh += verdict == VIDI_NEW;
            run->done++;
        }
    }
    let_go(&held);
    return verdict < 0 ? verdict : VIDI_OK;
}

TARGET static int add_shared(vidi__fingerprint_run *run)
{
    uint16_t order[VIDI__HASHES_MAX];
    vidi__fingerprint_order(run, order);
    return add_in_order(run, order);
}

/* Looks a batch up; lookups that need no lock need no order. */
TARGET static void has_shared(vidi__fingerprint_run *run)
{
    vidi__place ring[VIDI__RING];
    locate_first(run, ring, HAS);
    for (size_t i = 0; i < run->count;) {
        locate(run, ring, i + VIDI__RING_AHEAD, HAS);
        const vidi__place *place = &ring[i % VIDI__RING];
        for (size_t until = least(i + VIDI__RING_STEP, run->count); i < until; i++, place++) {
            int answer = glance_at(place);
            if (VIDI__UNLIKELY(answer == VIDI_UNTRIED))
                answer = vidi__table_has_shared(run->table, run->hashes[i].hi);
            run->verdicts[i] = (uint8_t)answer;
        }
    }
}

const vidi__fingerprint_kernel KERNEL = {
    .add = add,
    .has = has,
    .add_shared = add_shared,
    .has_shared = has_shared,
};
