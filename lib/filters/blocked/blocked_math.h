/*
 * The mathematics of the kind blocked: how likely a layer gives a false "seen", how many pages that loses while the
 * layer fills, and the shapes that keep an error rate.
 *
 * A layer has `rows` rows of `lines` cache lines each. 64 partitions share the rows as evenly as whole rows allow. For
 * each of its lines a URL draws a row of its partition. In that row's line of that number it sets one of the 64 bits of
 * each of the 8 lanes:
 *
 *                  line 0                   line 1
 *     row 0   | 8 lanes of 64 bits |   | 8 lanes of 64 bits |
 *     row 1   | x x x x x x x x    |   |                    |     first draw: row 1
 *     row 2   |                    |   | x x x x x x x x    |     second draw: row 2
 *
 * So the lines of a URL are always different, and the results of its draws are independent.
 *
 * One line: if N URLs have drawn among r rows, then X of them drew a given line, where X is binomial with N and 1/r. A
 * bit that a lookup tests is then set with probability 1 - (63/64)^X, independently in each lane. So the line says
 * "seen" with probability
 *
 *     f = E[(1 - (63/64)^X)^8] = sum over j of (-1)^j C(8, j) (1 - (1 - (63/64)^j) / r)^N.
 *
 * All lines: f to the power of their number, given the N of the partition. N itself is binomial, with n URLs and 1/64,
 * and it is the same for all lines of a URL. So the mean over N counts: at n = 10,000 and two lines it is half as large
 * again as the power of the mean.
 *
 * A URL that is falsely seen sets no bit, so all this depends on the URLs that arrived, not on those answered NEW.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_MATH_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_MATH_H

#include "filters/bloom.h"

#define VIDI__BLOCKED_LANES 8
#define VIDI__BLOCKED_LINES_MAX 4
#define VIDI__BLOCKED_BITS 512 /* per line */
#define VIDI__BLOCKED_ROWS_MIN 64
#define VIDI__BLOCKED_ROWS_MAX (UINT64_C(1) << 50)
#define VIDI__BLOCKED_LESS 0.95            /* an additional line must reduce the memory to this share */
#define VIDI__BLOCKED_LINES "auto|1|2|3|4" /* values of the parameter `lines` */

/* f for this number of rows: the part that does not depend on N, computed once. */
typedef struct vidi__blocked_line {
    double rows;
    double rate[VIDI__BLOCKED_LANES + 1]; /* logarithm of 1 - (1 - (63/64)^j) / r */
} vidi__blocked_line;

vidi__blocked_line vidi__blocked_line_of(double rows);
double vidi__blocked_line_fp(const vidi__blocked_line *line, double urls);

/* Estimates how many URLs have drawn, if `ones` bits of these rows, of `lines` lines each, are set. */
double vidi__blocked_urls(const vidi__blocked_line *line, unsigned lines, double ones);

/* For a layer of n URLs: the probability of a false "seen", and the pages lost since it was empty. */
double vidi__blocked_fp(double n, double rows, unsigned lines);
double vidi__blocked_lost(double n, double rows, unsigned lines, vidi__bloom_use use);

typedef struct vidi__blocked_shape {
    double rows; /* 0: no shape fits */
    unsigned lines;
} vidi__blocked_shape;

static inline double vidi__blocked_bytes(vidi__blocked_shape shape)
{
    return shape.rows * shape.lines * VIDI__CACHE_LINE;
}

/*
 * The smallest layer that keeps an error rate until it has answered NEW `urls` times. With lines = 0 it has the fewest
 * lines such that one more would not save a twentieth of the memory.
 */
vidi__blocked_shape vidi__blocked_shape_for(double urls, double error, unsigned lines);

/* The URLs that have arrived by then: those answered NEW and those falsely seen. Never too few. */
double vidi__blocked_arrivals(double urls, double error);

/*
 * The smallest whole number from `least` to `most` whose excess is not above 0, or 0 if there is none. The excess must
 * decrease, ideally like a logarithm. A close guess saves most of the evaluations.
 */
typedef double vidi__blocked_excess(const void *context, double number);
double vidi__blocked_smallest(double least, double most, double guess, vidi__blocked_excess *excess,
                              const void *context);

/*
 * The layers of a set. Each has more URLs and a smaller share of the error rate than the last; the shares never add up
 * to more than the whole.
 *
 *     with a capacity n      layer 0: n and 1/800 of it at 0.992 P; then n/4, n, 4 n, … at 0.008 P (1-r) r^i, r = 0.7
 *     without                8192, 65536, 4 times as many, … at P (1-r) r^i, r = 0.75
 *
 * A set with a capacity uses the memory of its first layer and no more until that is full, because that is what was
 * requested. The next layer's memory is new and must be touched in order before adds touch it at random, which takes
 * time. That is what the extra 1/800 is for, and why the second layer is small.
 */
typedef struct vidi__blocked_plan {
    uint64_t capacity; /* 0: not given */
    double error;
    unsigned lines; /* of each layer; 0: chosen from the layer's share */
} vidi__blocked_plan;

#define VIDI__BLOCKED_LAYERS_MAX 26

typedef struct vidi__blocked_layer_plan {
    uint64_t prepare; /* number of URLs at which the next layer is prepared */
    uint64_t urls;    /* number of URLs at which the next layer takes over */
    double share;     /* of the error rate */
} vidi__blocked_layer_plan;

vidi__blocked_layer_plan vidi__blocked_layer_at(const vidi__blocked_plan *plan, unsigned index);

/* Plans for the kind blocked. */
int vidi__blocked_plan_for(const vidi__want *want, vidi__planned *planned);

#endif
