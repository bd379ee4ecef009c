/*
 * Plans for the kind blocked. A plan is a capacity and an error rate from which create derives the same first layer,
 * and the number of lines if create would choose another.
 */
#include <float.h>
#include <math.h>

#include "filters/blocked/blocked_math.h"

/* A filter that says "seen" more often is useless, and the formulas no longer determine its size. */
#define ERROR_MOST 0.9

/* A request, to be solved for one number of lines after the other. */
typedef struct puzzle {
    const vidi__want *want;
    vidi__bloom_use use;
    double error; /* upper limit for one member */
} puzzle;

/* A solution. */
typedef struct solution {
    double urls; /* 0: there is none */
    vidi__blocked_shape shape;
} solution;

/* The first layer of a set with this capacity. */
static vidi__blocked_layer_plan first_layer(double urls, double error)
{
    vidi__blocked_plan plan = {(uint64_t)urls, error, 0};
    return vidi__blocked_layer_at(&plan, 0);
}

static vidi__blocked_shape shape_of(double urls, double error, unsigned lines)
{
    vidi__blocked_layer_plan layer = first_layer(urls, error);
    return vidi__blocked_shape_for((double)layer.urls, layer.share, lines);
}

/*
 * The error rate to request in order to get this shape. It is the fixed point p at which the URLs that have arrived at
 * rate p result in p. Iteration finds it, the faster the smaller p is.
 */
static double error_of(const solution *found)
{
    double urls = (double)first_layer(found->urls, 1).urls, p = 0, next = 0.1;
    for (int i = 0; i < 300 && fabs(next - p) > 1e-13 * p; i++) {
        p = next;
        next = fmin(0.99, vidi__blocked_fp(vidi__blocked_arrivals(urls, p), found->shape.rows, found->shape.lines));
    }
    return fmax(next / first_layer(found->urls, 1).share * (1 + 1e-9), 1e-299);
}

static double lost_by(const puzzle *puzzle, const solution *found)
{
    return vidi__blocked_lost(found->urls, found->shape.rows, found->shape.lines, puzzle->use);
}

/* The logarithm of pages lost over pages allowed, as a function of the number of rows. It is nearly linear. */
typedef struct losing {
    const puzzle *puzzle;
    solution trial;
} losing;

static double excess_lost(const void *context, double rows)
{
    const losing *self = context;
    solution trial = self->trial;
    trial.shape.rows = rows;
    double lost = lost_by(self->puzzle, &trial), allowed = self->puzzle->want->lost;
    return lost > allowed ? fmax(log(lost / allowed), DBL_MIN) : log(lost / allowed);
}

/* The smallest shape for this many URLs. */
static vidi__blocked_shape smallest(const puzzle *puzzle, double urls, unsigned lines)
{
    const vidi__want *want = puzzle->want;
    vidi__blocked_shape shape = {VIDI__BLOCKED_ROWS_MIN, lines};
    if (puzzle->error > 0)
        shape = shape_of(urls, puzzle->error, lines);
    if (!(want->lost > 0) || shape.rows == 0)
        return shape;
    losing self = {puzzle, {urls, shape}};
    double rate = pow(fmin(want->lost / urls * 6 * lines, 0.5), 1.0 / puzzle->use.members);
    shape.rows = vidi__blocked_smallest(shape.rows, (double)VIDI__BLOCKED_ROWS_MAX, shape_of(urls, rate, lines).rows,
                                        excess_lost, &self);
    return shape;
}

static bool keeps(const puzzle *puzzle, const solution *trial)
{
    if (puzzle->error > 0 && error_of(trial) > puzzle->error * (1 + 1e-8))
        return false;
    return !(puzzle->want->lost > 0) || lost_by(puzzle, trial) <= puzzle->want->lost;
}

/* The most URLs that this many rows can take. */
static double most_urls(const puzzle *puzzle, vidi__blocked_shape shape)
{
    double low = 0, high = 1;
    while (high < 0x1p52 && keeps(puzzle, &(solution){high, shape})) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (keeps(puzzle, &(solution){middle, shape}))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static solution solve(const puzzle *puzzle, unsigned lines)
{
    const vidi__want *want = puzzle->want;
    bool demanding = puzzle->error > 0 || want->lost > 0;
    double room = (double)VIDI__BLOCKED_ROWS_MAX;
    if (want->memory)
        room = fmin(room, floor((double)want->memory / VIDI__CACHE_LINE / lines));
    solution found = {(double)want->urls, {room, lines}};
    if (room < VIDI__BLOCKED_ROWS_MIN)
        return (solution){0};
    if (!want->urls)
        found.urls = most_urls(puzzle, found.shape);
    else if (demanding)
        found.shape = smallest(puzzle, found.urls, lines);
    if (found.shape.rows == 0 || found.shape.rows > room || found.urls < 1 || error_of(&found) > ERROR_MOST)
        return (solution){0};
    return found;
}

/* Returns true if a solution with one more line is better by a twentieth, as in vidi__blocked_shape_for. */
static bool worth_it(const puzzle *puzzle, const solution *fewer, const solution *more)
{
    if (fewer->urls == 0 || more->urls == 0)
        return fewer->urls == 0;
    if (!puzzle->want->urls)
        return more->urls * VIDI__BLOCKED_LESS >= fewer->urls;
    if (puzzle->error > 0 || puzzle->want->lost > 0)
        return vidi__blocked_bytes(more->shape) <= VIDI__BLOCKED_LESS * vidi__blocked_bytes(fewer->shape);
    return shape_of(more->urls, error_of(fewer), 0).lines > fewer->shape.lines;
}

static solution solve_best(const puzzle *puzzle, unsigned lines)
{
    solution best = solve(puzzle, lines ? lines : 1);
    for (unsigned i = 2; !lines && i <= VIDI__BLOCKED_LINES_MAX; i++) {
        solution next = solve(puzzle, i);
        if (!worth_it(puzzle, &best, &next))
            break;
        best = next;
    }
    return best;
}

static int check_request(const vidi__want *want)
{
    if (want->k || want->multiplier > 0)
        return vidi__fail(VIDI_EOPTION, "blocked has 8 positions a line and no M; give lines=1 to 4");
    if (!(want->error > 0) && !(want->lost > 0) && !(want->urls && want->memory))
        return vidi__fail(VIDI_EOPTION, "the request says too little: give an error rate, pages lost at most, or both "
                                        "URLs and memory");
    return VIDI_OK;
}

int vidi__blocked_plan_for(const vidi__want *want, vidi__planned *planned)
{
    unsigned lines = 0;
    VIDI__TRY(vidi__params_choice(want->params, "lines", VIDI__BLOCKED_LINES, &lines));
    VIDI__TRY(check_request(want));
    puzzle puzzle = {want, {want->members, want->bound}, fmin(pow(want->error, 1.0 / want->members), ERROR_MOST)};
    solution found = solve_best(&puzzle, lines);
    if (found.urls < 1)
        return vidi__fail(VIDI_EOPTION, "no blocked filter keeps the demand within the memory; allow more memory, more "
                                        "losses or fewer URLs");
    double error = puzzle.error > 0 && !(want->lost > 0) && want->urls ? puzzle.error : error_of(&found);
    unsigned chosen = lines ? lines : shape_of(found.urls, error, 0).lines;
    planned->urls = (uint64_t)found.urls;
    planned->bytes = (uint64_t)vidi__blocked_bytes(found.shape);
    planned->error = vidi__power(vidi__blocked_fp(found.urls, found.shape.rows, found.shape.lines), want->members);
    planned->lost = lost_by(&puzzle, &found);
    planned->lines = found.shape.lines;
    vidi__text text = vidi__text_in(planned->params, sizeof planned->params);
    vidi__text_add(&text, "capacity=%llu,error=%.17g", (unsigned long long)planned->urls,
                   vidi__power(error, want->members));
    if (chosen != found.shape.lines)
        vidi__text_add(&text, ",lines=%u", found.shape.lines);
    return VIDI_OK;
}
