/* See bloom.h. n, m and the number of draws n k are doubles: they go into formulas and need not be whole. */
#include "filters/bloom.h"

#include <math.h>

#define LN2 0.6931471805599453

/* Up to this m, inclusion and exclusion is cheap. Above, the second-order formula is accurate. */
#define EXACT_UP_TO 1024
/* The exact sum has terms up to 2^k that cancel, so results below this times 2^k would be noise. */
#define EXACT_NOISE 1e-15

/*
 * P(k random places are all among those that `draws` random draws hit), summed over the number d of different places
 * among the k.
 */
static double fp_exact(double draws, double m, unsigned k)
{
    long double different[VIDI__K_MAX + 1] = {1}; /* [d]: probability that the places so far are d different ones */
    for (unsigned i = 0; i < k; i++)
        for (unsigned d = i + 1; d-- > 0;) {
            different[d + 1] += different[d] * (long double)((m - d) / m);
            different[d] *= (long double)(d / m);
        }
    long double sum = 0;
    for (unsigned d = 1; d <= k && d <= m; d++) {
        long double all_hit = 0, choose = 1; /* sum over r of (-1)^r C(d, r) P(r given places are not hit) */
        for (unsigned r = 0; r <= d; r++) {
            long double missed = r < m ? expl((long double)draws * log1pl(-(long double)r / (long double)m)) : 0;
            all_hit += r % 2 ? -choose * missed : choose * missed;
            choose = choose * (d - r) / (r + 1);
        }
        sum += different[d] * all_hit;
    }
    return (double)sum;
}

/* Mean of fill^k to second order in the fill's variance. */
static double fp_expanded(double draws, double m, unsigned k)
{
    double empty = exp(draws * log1p(-1 / m));
    double fill = -expm1(draws * log1p(-1 / m));
    double variance = -empty * expm1(draws * log1p(-1 / (m - 1))) / m +
                      empty * empty * expm1(draws * log1p(-1 / ((m - 1) * (m - 1))));
    double p = vidi__power(fill, k);
    if (k >= 2 && variance > 0)
        p += k * (k - 1) / 2.0 * vidi__power(fill, k - 2) * variance;
    return p < 1 ? p : 1;
}

double vidi__bloom_fp(double n, double m, unsigned k)
{
    if (n <= 0)
        return 0;
    if (m < 2)
        return 1;
    double p = m > 2 ? fp_expanded(n * k, m, k) : 1;
    if (m <= EXACT_UP_TO && p > ldexp(EXACT_NOISE, (int)k))
        p = fp_exact(n * k, m, k);
    return p < 1 ? p : 1;
}

static double loss(double p, vidi__bloom_use use)
{
    p = vidi__power(p, use.members);
    return use.bound ? p / (1 - p) : p;
}

/* The same for many URLs, with the fast formula, which is accurate enough for a sum. */
static double loss_at(double n, double m, unsigned k, vidi__bloom_use use)
{
    return loss(n > 0 && m > 2 ? fp_expanded(n * k, m, k) : vidi__bloom_fp(n, m, k), use);
}

double vidi__bloom_lost(double n, double m, unsigned k, vidi__bloom_use use)
{
    enum { STEPS = 256 };
    double sum = 0;
    if (n <= STEPS) {
        for (double i = 0; i < n; i++)
            sum += loss(vidi__bloom_fp(i, m, k), use);
        return sum;
    }
    double last = loss_at(n, m, k, use);
    if (!isfinite(last))
        return INFINITY;
    /*
     * Simpson's rule for the integral from 0 to n. A sum of n terms that starts at 0 is smaller than the integral by
     * half the last term.
     */
    for (int i = 0; i <= STEPS; i++)
        sum += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * loss_at(n * i / STEPS, m, k, use);
    double lost = sum * n / STEPS / 3 - last / 2;
    return lost > 0 ? lost : 0;
}

uint64_t vidi__bloom_estimate(uint64_t ones, uint64_t m, unsigned k)
{
    if (ones >= m)
        ones = m - 1;
    return (uint64_t)llround(log1p(-(double)ones / (double)m) / log1p(-1 / (double)m) / k);
}

double vidi__bloom_fp_after(uint64_t ones, uint64_t m, unsigned k, uint64_t more)
{
    double empty = (1 - (double)ones / (double)m) * exp((double)more * k * log1p(-1 / (double)m));
    return vidi__power(more ? 1 - empty : (double)ones / (double)m, k);
}

/* The count when filters of a and b URLs have become one. */
static uint64_t merged_count(uint64_t a, uint64_t b, vidi__bloom_growth ones, uint64_t m, unsigned k)
{
    uint64_t least = a > b ? a : b;
    uint64_t count = a + vidi__bloom_estimate(ones.after, m, k) - vidi__bloom_estimate(ones.before, m, k);
    if (count > a + b)
        count = a + b;
    return count > least ? count : least;
}

void vidi__bloom_merged(vidi__filter *into, const vidi__filter *from, vidi__bloom_growth ones, uint64_t m, unsigned k)
{
    uint64_t count = merged_count(vidi__filter_count(into), vidi__filter_count(from), ones, m, k);
    atomic_store_explicit(&into->count, count, memory_order_relaxed);
}

/* Fills in the sizes of the union, as merging one filter after the other comes to them. */
static void size_union(vidi__union *all, const uint64_t *ones, uint64_t m, unsigned k)
{
    uint64_t before = 0, count = 0;
    for (size_t i = 0; i < all->count; i++) {
        vidi__union_size *size = &all->sizes[i];
        count = merged_count(count, vidi__filter_count(all->parts[i]), (vidi__bloom_growth){before, ones[i]}, m, k);
        before = ones[i];
        size->count = count;
        size->fp = vidi__bloom_fp_after(ones[i], m, k, size->more);
    }
}

int vidi__bloom_unite(vidi__union *all, vidi__joint joint, uint64_t m, unsigned k)
{
    for (size_t i = 1; i < all->count; i++)
        VIDI__TRY(vidi__filter_same_shape(all->parts[0], all->parts[i]));
    VIDI__TRY(vidi__union_keep(all, all->count * sizeof(uint64_t)));
    VIDI__TRY(vidi__joint_begin(&joint, all));
    vidi__joint_measure(&joint, 0, joint.words, all->kept);
    vidi__joint_end(&joint);
    size_union(all, all->kept, m, k);
    return VIDI_OK;
}

int vidi__bloom_save_union(const vidi__union *all, vidi__joint joint, vidi__writer *writer)
{
    const uint64_t *ones = all->kept;
    VIDI__TRY(vidi__write_u64(writer, ones[all->count - 1]));
    VIDI__TRY(vidi__joint_begin(&joint, all));
    int code = vidi__joint_write(&joint, writer);
    vidi__joint_end(&joint);
    return code;
}

/* What a shape must keep: an error rate when full, and pages lost until then. 0: not requested. */
typedef struct bloom_demand {
    double error, lost;
    double rounding; /* factor by which the error rate may be exceeded */
    vidi__bloom_use use;
} bloom_demand;

static bool keeps(const bloom_demand *demand, double n, double m, unsigned k)
{
    if (demand->error > 0 &&
        vidi__power(vidi__bloom_fp(n, m, k), demand->use.members) > demand->error * demand->rounding)
        return false;
    if (!(demand->lost > 0))
        return true;
    if (loss_at(n - 1, m, k, demand->use) >
        2 * demand->lost) /* the last URL alone loses too much: no need to compute the sum */
        return false;
    return vidi__bloom_lost(n, m, k, demand->use) <= demand->lost;
}

/*
 * The smallest m that keeps the demand for n URLs, or 0 if none up to VIDI__PLACES_MAX does. Found by bisection: a
 * larger m never loses more.
 */
static double smallest_m(const bloom_demand *demand, double n, unsigned k)
{
    /* Fewer places than URLs are rarely enough. All numbers stay below 2^53, so bisection ends. */
    double low = 1, high = fmin(fmax(2, n), (double)VIDI__PLACES_MAX);
    while (!keeps(demand, n, high, k)) {
        low = high;
        high *= 2;
        if (high > (double)VIDI__PLACES_MAX)
            return 0;
    }
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (keeps(demand, n, middle, k))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The most URLs that m places take within the demand; 0 if not even one. */
static double largest_n(const bloom_demand *demand, double m, unsigned k)
{
    double low = 0, high = 1;
    while (high < fmin(m * 64, 0x1p52) && keeps(demand, high, m, k)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (keeps(demand, middle, m, k))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The k with the fewest false positives for m places and n URLs: m/n ln 2, rounded to the better side. */
static unsigned best_k(double n, double m)
{
    double ideal = m / n * LN2;
    if (ideal >= VIDI__K_MAX)
        return VIDI__K_MAX;
    unsigned k = ideal < 1 ? 1 : (unsigned)ideal;
    if (k < VIDI__K_MAX && vidi__bloom_fp(n, m, k + 1) < vidi__bloom_fp(n, m, k))
        k++;
    return k;
}

/* The k from 1 to VIDI__K_MAX with the least cost, found by descent from a first guess. */
static unsigned downhill(unsigned from, double (*cost)(const void *context, unsigned k), const void *context)
{
    unsigned k = from < 1 ? 1 : from > VIDI__K_MAX ? VIDI__K_MAX : from;
    double here = cost(context, k);
    for (int way = -1; way <= 1; way += 2)
        while ((int)k + way >= 1 && (int)k + way <= VIDI__K_MAX) {
            double next = cost(context, k + (unsigned)way);
            if (!(next < here))
                break;
            here = next;
            k += (unsigned)way;
        }
    return k;
}

typedef struct size_for {
    const bloom_demand *demand;
    double n;
} size_for;

static double places_needed(const void *context, unsigned k)
{
    const size_for *want = context;
    double m = smallest_m(want->demand, want->n, k);
    return m > 0 ? m : INFINITY;
}

static int shape_of(vidi__bloom *shape, double n, double m, unsigned k)
{
    if (!(m >= 1) || m > (double)VIDI__PLACES_MAX)
        return vidi__fail(VIDI_EOPTION, "m would be %.3g; 1 to 2^48 is possible", m);
    if (n > (double)VIDI__CAPACITY_MAX)
        return vidi__fail(VIDI_EOPTION, "a capacity of %.3g URLs is more than any memory holds", n);
    if (!(n >= 1))
        n = 1;
    *shape = (vidi__bloom){(uint64_t)n, (uint64_t)m, k};
    return VIDI_OK;
}

static int check_error(const vidi__bloom *shape, double error)
{
    double p = vidi__bloom_fp((double)shape->n, (double)shape->m, shape->k);
    if (error > 0 && p > error * (1 + 1e-6))
        return vidi__fail(VIDI_EOPTION, "m=%llu, k=%u give an error rate of %.3g for %llu URLs, not the %g asked for",
                          (unsigned long long)shape->m, shape->k, p, (unsigned long long)shape->n, error);
    return VIDI_OK;
}

static int shape_for_error(vidi__bloom *shape, double n, double error, unsigned k, double multiplier)
{
    bloom_demand demand = {.error = error > 0 ? error : VIDI__DEFAULT_ERROR, .rounding = 1 + 1e-9, .use.members = 1};
    if (multiplier > 0) { /* p = (1 - e^(-1/M))^k */
        double needed = ceil(log(demand.error) / log(-expm1(-1 / multiplier)) - 1e-9);
        if (!(needed <= VIDI__K_MAX))
            return vidi__fail(VIDI_EOPTION, "M=%g needs more than %d positions for an error rate of %g", multiplier,
                              VIDI__K_MAX, demand.error);
        k = needed < 1 ? 1 : (unsigned)needed;
        while (k < VIDI__K_MAX && !keeps(&demand, n, ceil(n * k * multiplier), k))
            k++; /* small arrays need more than the formula says */
        VIDI__TRY(shape_of(shape, n, ceil(n * k * multiplier), k));
        return check_error(shape, demand.error);
    }
    size_for want = {&demand, n};
    if (!k)
        k = downhill((unsigned)lround(-log2(demand.error)), places_needed, &want);
    double m = smallest_m(&demand, n, k);
    if (m == 0)
        return vidi__fail(VIDI_EOPTION,
                          "no array of up to 2^48 places keeps an error rate of %g for %.0f URLs with k=%u",
                          demand.error, n, k);
    return shape_of(shape, n, m, k);
}

int vidi__bloom_given(vidi__bloom *shape, const vidi__config *config, uint64_t m, unsigned k)
{
    VIDI__TRY(shape_of(shape, config->capacity ? (double)config->capacity : (double)m * LN2 / k, (double)m, k));
    return config->reader ? VIDI_OK : check_error(shape, config->error); /* a loaded shape is not checked again */
}

int vidi__bloom_read(vidi__bloom *shape, const vidi__config *config)
{
    vidi__params *params = config->params;
    uint64_t k = 0, m = 0, capacity = config->capacity;
    double multiplier = 0, n = (double)capacity;
    VIDI__TRY(vidi__params_u64(params, "k", 1, VIDI__K_MAX, &k));
    VIDI__TRY(vidi__params_u64(params, "m", 1, VIDI__PLACES_MAX, &m));
    VIDI__TRY(vidi__params_double(params, "M", 1e-3, 1e6, &multiplier));
    if (m && multiplier > 0)
        return vidi__fail(VIDI_EOPTION, "m and M both set the size of the array: give only one of them");
    if (m && !k && !capacity)
        return vidi__fail(VIDI_EOPTION, "m alone is not enough: give k or the capacity, too");
    if (!m && !capacity)
        return vidi__fail(VIDI_EOPTION,
                          "does not grow, so it must know how many URLs to expect: give a capacity, or m and k");
    if (m) {
        if (!k)
            k = best_k(n, (double)m);
        return vidi__bloom_given(shape, config, m, (unsigned)k);
    }
    if (k && multiplier > 0) {
        VIDI__TRY(shape_of(shape, n, ceil(n * (double)k * multiplier - 1e-6), (unsigned)k));
        return check_error(shape, config->error);
    }
    return shape_for_error(shape, n, config->error, (unsigned)k, multiplier);
}

int vidi__bloom_setup(vidi__filter *base, const vidi__config *config, const vidi__bloom *shape,
                      vidi__positions *positions)
{
    VIDI__TRY(vidi__positions_init(positions, config->params, &config->seed, shape->k));
    VIDI__TRY(vidi__positions_check(positions, shape->m));
    if (positions->mode == VIDI__DERIVED && positions->functions[0] != config->item_hash)
        return vidi__fail(VIDI_EOPTION, "positions derive from %s, but the set hashes with %s",
                          positions->functions[0]->name, config->item_hash->name);
    base->capacity = shape->n;
    base->keyed = vidi__positions_keyed(positions);
    base->combination = vidi__positions_combination(positions);
    base->positions = positions;                /* the caller must keep them, or say where they are kept */
    if (positions->suffix && positions->narrow) /* URLs that collide before the salt collide for every salt */
        base->fp_meaning = VIDI_FP_ESTIMATE;
    base->needs.what = positions->mode == VIDI__DERIVED ? VIDI__NEED_HASH : VIDI__NEED_BYTES;
    return VIDI_OK;
}

/* A plan request, to be solved for one k after the other. */
typedef struct bloom_puzzle {
    const vidi__want *want;
    vidi__bloom_weight *weight;
    const void *context;
    bloom_demand demand;
} bloom_puzzle;

/* n and m for this k; n is 0 if the request cannot be met with it. */
static void solve(const bloom_puzzle *puzzle, unsigned k, double *n, double *m)
{
    const vidi__want *want = puzzle->want;
    double per_url = want->multiplier * k;
    double room = INFINITY; /* in whole cache lines, as the arrays are */
    if (want->memory) {
        room =
            floor((double)want->memory / VIDI__CACHE_LINE / puzzle->weight(puzzle->context, k)) * VIDI__CACHE_LINE * 8;
        room = fmin(room, (double)VIDI__PLACES_MAX);
    }
    bool demanding = puzzle->demand.error > 0 || puzzle->demand.lost > 0;
    *n = (double)want->urls;
    if (*n > 0)
        *m = per_url > 0 ? ceil(*n * per_url) : demanding ? smallest_m(&puzzle->demand, *n, k) : room;
    else {
        *m = room;
        *n = per_url > 0 ? floor(room / per_url) : largest_n(&puzzle->demand, room, k);
    }
    if (!(*m >= 1) || *m > room || *m > (double)VIDI__PLACES_MAX || !keeps(&puzzle->demand, *n, *m, k))
        *n = 0;
}

/*
 * The cost to minimise: memory if that is asked for, pages lost if memory is given, minus the URLs if those are asked
 * for.
 */
static double plan_cost(const void *context, unsigned k)
{
    const bloom_puzzle *puzzle = context;
    double n, m;
    solve(puzzle, k, &n, &m);
    if (n < 1)
        return INFINITY;
    if (!puzzle->want->urls)
        return -n;
    if (puzzle->demand.error > 0 || puzzle->demand.lost > 0 || !puzzle->want->memory)
        return m * puzzle->weight(puzzle->context, k);
    return vidi__bloom_lost(n, m, k, puzzle->demand.use);
}

static unsigned first_guess(const bloom_puzzle *puzzle)
{
    const vidi__want *want = puzzle->want;
    double error = pow(puzzle->demand.error, 1.0 / want->members);
    if (want->multiplier > 0 && error > 0)
        return (unsigned)fmin(VIDI__K_MAX, fmax(1, ceil(log(error) / log(-expm1(-1 / want->multiplier)))));
    if (want->urls && want->memory && !(error > 0) && !(puzzle->demand.lost > 0))
        return (unsigned)fmin(VIDI__K_MAX,
                              LN2 * (double)want->memory * 8 / puzzle->weight(puzzle->context, 8) / (double)want->urls);
    if (!(error > 0))
        error = want->urls ? puzzle->demand.lost / (double)want->urls : 1e-6;
    return (unsigned)fmin(VIDI__K_MAX, fmax(1, -log2(error)));
}

int vidi__bloom_plan(const vidi__want *want, vidi__bloom_weight *weight, const void *context, vidi__bloom *shape)
{
    bloom_demand demand = {want->error, want->lost, .rounding = 1, .use = {want->members, want->bound}};
    bloom_puzzle puzzle = {want, weight, context, demand};
    bool demanding = want->error > 0 || want->lost > 0;
    if (!demanding && !(want->multiplier > 0) && !(want->urls && want->memory))
        return vidi__fail(VIDI_EOPTION,
                          "the request says too little: give an error rate, pages lost at most, M, or both "
                          "URLs and memory");
    unsigned k = want->k;
    if (k > VIDI__K_MAX)
        return vidi__fail(VIDI_EOPTION, "k=%u is more than %d", k, VIDI__K_MAX);
    if (!k && want->multiplier > 0 && !demanding)
        return vidi__fail(VIDI_EOPTION,
                          "the request says too little: M needs k, an error rate or pages lost at most besides");
    if (!k)
        k = downhill(first_guess(&puzzle), plan_cost, &puzzle);
    double n, m;
    solve(&puzzle, k, &n, &m);
    if (n < 1)
        return vidi__fail(VIDI_EOPTION,
                          "no filter keeps the demand within the memory; allow more memory, more losses or fewer URLs");
    return shape_of(shape, n, m, k);
}

void vidi__bloom_planned(const vidi__want *want, const vidi__bloom *shape, vidi__planned *planned)
{
    double n = (double)shape->n, m = (double)shape->m;
    planned->urls = shape->n;
    planned->k = shape->k;
    planned->lines = shape->k;
    planned->error = vidi__power(vidi__bloom_fp(n, m, shape->k), want->members);
    planned->lost = vidi__bloom_lost(n, m, shape->k, (vidi__bloom_use){want->members, want->bound});
    vidi__text text = vidi__text_in(planned->params, sizeof planned->params);
    vidi__text_add(&text, "capacity=%llu,m=%llu,k=%u", (unsigned long long)shape->n, (unsigned long long)shape->m,
                   shape->k);
}
