/*
 * The mathematics of the kind blocked: how likely a layer says a false "seen", how many pages that costs while it
 * fills, and the shapes that keep an error rate.
 *
 * A layer has `rows` rows of `lines` cache lines each; 64 partitions share the rows as evenly as whole rows allow. A
 * URL draws a row of its partition for each of the lines and marks, in that row's line of that number, one of the 64
 * bits of each of the 8 lanes:
 *
 *                  line 0                   line 1
 *     row 0   | 8 lanes of 64 bits |   | 8 lanes of 64 bits |
 *     row 1   | x x x x x x x x    |   |                    |     first draw: row 1
 *     row 2   |                    |   | x x x x x x x x    |     second draw: row 2
 *
 * So the lines of a URL are always different ones, and what one draw finds says nothing about the next.
 *
 * One line: if N URLs have drawn among r rows, a line was drawn by X of them, binomial with N and 1/r; a bit that a
 * question asks for is then marked with 1 - (63/64)^X, in each lane on its own. So the line says "seen" with
 *     f = E[(1 - (63/64)^X)^8] = sum over j of (-1)^j C(8, j) (1 - (1 - (63/64)^j) / r)^N.
 *
 * All lines: f to the power of their number, given the N of the partition. That N is itself binomial, with n URLs and
 * 1/64, and the same for all lines of a URL: the mean over it is what counts, and at n = 10,000 and two lines it is
 * half as large again as the power of the mean.
 *
 * A URL that is falsely seen marks nothing, so all this depends on the URLs that came, not on those answered NEW.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_MATH_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_MATH_H

#include "filters/bloom.h"

#define VIDI__BLOCKED_LANES 8
#define VIDI__BLOCKED_LINES_MAX 4
#define VIDI__BLOCKED_BITS 512 /* of a line */
#define VIDI__BLOCKED_ROWS_MIN 64
#define VIDI__BLOCKED_ROWS_MAX (UINT64_C(1) << 50)
#define VIDI__BLOCKED_LESS 0.95            /* a line more must bring the memory down to this */
#define VIDI__BLOCKED_LINES "auto|1|2|3|4" /* the parameter `lines` */

/* The f of so many rows: what does not depend on N, computed once. */
typedef struct vidi__blocked_line {
    double rows;
    double rate[VIDI__BLOCKED_LANES + 1]; /* logarithm of 1 - (1 - (63/64)^j) / r */
} vidi__blocked_line;

vidi__blocked_line vidi__blocked_line_of(double rows);
double vidi__blocked_line_fp(const vidi__blocked_line *line, double urls);

/* How many URLs have drawn, if so many bits of these rows, of `lines` lines each, are marked. */
double vidi__blocked_urls(const vidi__blocked_line *line, unsigned lines, double ones);

/* A layer of n URLs: the chance of a false "seen", and the pages lost from empty on. */
double vidi__blocked_fp(double n, double rows, unsigned lines);
double vidi__blocked_lost(double n, double rows, unsigned lines, vidi__bloom_use use);

typedef struct vidi__blocked_shape {
    double rows; /* 0: there is none */
    unsigned lines;
} vidi__blocked_shape;

static inline double vidi__blocked_bytes(vidi__blocked_shape shape)
{
    return shape.rows * shape.lines * VIDI__CACHE_LINE;
}

/*
 * The smallest layer that keeps an error rate until it has answered NEW so many times. With lines = 0 it has the fewest
 * lines such that one more would not save a twentieth of the memory.
 */
vidi__blocked_shape vidi__blocked_shape_for(double urls, double error, unsigned lines);

/* The URLs that have come by then: those answered NEW, and those falsely seen between them. Never too few. */
double vidi__blocked_arrivals(double urls, double error);

/*
 * The smallest whole number from `least` to `most` whose excess is not above 0, or 0. The excess must fall steadily,
 * best about like a logarithm; a guess that is close saves most of the questions.
 */
typedef double vidi__blocked_excess(const void *context, double number);
double vidi__blocked_smallest(double least, double most, double guess, vidi__blocked_excess *excess,
                              const void *context);

/*
 * The layers of a set, each with more URLs and a smaller share of the error rate than the last. All shares together are
 * never more than the whole.
 *
 *     capacity n is given    layer 0: n and 1/800 of it at 0.992 P; then n/4, n, 4 n, … at 0.008 P (1-r) r^i, r = 0.7
 *     it is not              8192, 65536, 4 times as many, … at P (1-r) r^i, r = 0.75
 *
 * A reserved layer has its memory and no more until it is full, because that is what was asked for. The next one must
 * not be touched in disorder when its memory is new, so there has to be time to touch it in order: that is what the
 * 1/800 is for, and why the second layer is small.
 */
typedef struct vidi__blocked_plan {
    uint64_t capacity; /* 0: not given */
    double error;
    unsigned lines; /* of each layer; 0: as the layer's share asks for */
} vidi__blocked_plan;

#define VIDI__BLOCKED_LAYERS_MAX 26

typedef struct vidi__blocked_layer_plan {
    uint64_t prepare; /* with so many URLs in it, the next one is begun */
    uint64_t urls;    /* and takes over with so many */
    double share;     /* of the error rate */
} vidi__blocked_layer_plan;

vidi__blocked_layer_plan vidi__blocked_layer_at(const vidi__blocked_plan *plan, unsigned index);

/* The kind's plan. */
int vidi__blocked_plan_for(const vidi__want *want, vidi__planned *planned);

#endif
