/*
 * The genetic search for programs that lose few pages: random programs, children, fitness, generations. See genetic.h.
 */
#include "lab/thesis/genetic.h"

#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/urls/mix.h"

enum { CONTEST = 3, KEPT = 2, STEPS_LEAST = 2, STEPS_FIRST = 4, STEPS_SPREAD = 4 };

/* ---- random programs ---- */

static uint64_t draw(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return lab_mix(*state);
}

static unsigned draw_below(uint64_t *state, unsigned limit)
{
    return (unsigned)lab_scale(draw(state), limit);
}

static lab_step draw_step(uint64_t *state)
{
    lab_step step = {.operation = (enum lab_operation)draw_below(state, LAB_OPERATIONS)};
    step.shift = 1 + draw_below(state, 63);
    step.constant = draw(state);
    return step;
}

static lab_program draw_program(uint64_t *state)
{
    lab_program program = {.count = STEPS_FIRST + draw_below(state, STEPS_SPREAD)};
    for (unsigned i = 0; i < program.count; i++)
        program.steps[i] = draw_step(state);
    return program;
}

/* ---- children ---- */

static void insert_step(lab_program *program, unsigned at, lab_step step)
{
    if (program->count == LAB_STEPS_MAX)
        return;
    memmove(program->steps + at + 1, program->steps + at, (program->count - at) * sizeof step);
    program->steps[at] = step;
    program->count++;
}

static void remove_step(lab_program *program, unsigned at)
{
    if (program->count <= STEPS_LEAST)
        return;
    program->count--;
    memmove(program->steps + at, program->steps + at + 1, (program->count - at) * sizeof *program->steps);
}

static void mutate(lab_program *program, uint64_t *state)
{
    unsigned at = draw_below(state, program->count);
    lab_step step = draw_step(state);
    switch (draw_below(state, 5)) {
    case 0:
        insert_step(program, at, step);
        break;
    case 1:
        remove_step(program, at);
        break;
    case 2:
        program->steps[at] = step;
        break;
    case 3:
        program->steps[at].constant ^= UINT64_C(1) << draw_below(state, 64);
        break;
    default:
        program->steps[at].shift = step.shift;
    }
}

/* A child has the first steps of one parent and the last steps of the other. */
static lab_program cross(const lab_program *one, const lab_program *other, uint64_t *state)
{
    lab_program child = {.count = 1 + draw_below(state, one->count)};
    unsigned from = draw_below(state, other->count);
    memcpy(child.steps, one->steps, child.count * sizeof *child.steps);
    while (from < other->count && child.count < LAB_STEPS_MAX)
        child.steps[child.count++] = other->steps[from++];
    return child;
}

/* ---- fitness ---- */

int64_t lab_lost(const uint64_t *values, size_t count, unsigned k, uint64_t m)
{
    uint64_t *bits = calloc((size_t)(m / 64) + 1, sizeof *bits);
    int64_t lost = 0;
    if (!bits)
        return lab_fail(VIDI_EMEMORY, "no memory for %llu bits", (unsigned long long)m);
    for (size_t i = 0; i < count; i++) {
        bool seen = true;
        for (unsigned j = 0; j < k; j++) {
            uint64_t place = lab_scale(values[j * count + i], m), bit = UINT64_C(1) << place % 64;
            seen &= (bits[place / 64] & bit) != 0;
            bits[place / 64] |= bit;
        }
        lost += seen;
    }
    free(bits);
    return lost;
}

typedef struct bred_one {
    lab_program program;
    uint64_t lost, number; /* number: position in the order of judging */
} bred_one;

typedef struct farm {
    const lab_breeding *breeding;
    lab_words *words;
    uint64_t m, *values, state, judged;
    bred_one *now, *next;
} farm;

static int judge(farm *farm, bred_one *one)
{
    const lab_breeding *breeding = farm->breeding;
    for (unsigned i = 0; i < breeding->k; i++)
        lab_program_values(&one->program, breeding->salts[i], farm->words, farm->values + i * farm->words->count);
    int64_t lost = lab_lost(farm->values, farm->words->count, breeding->k, farm->m);
    one->number = farm->judged++;
    one->lost = lost < 0 ? UINT64_MAX : (uint64_t)lost;
    return lost < 0 ? (int)lost : VIDI_OK;
}

/* Fewer pages lost is better; among equals, fewer steps, because they take less time. */
static bool better(const bred_one *a, const bred_one *b)
{
    return a->lost != b->lost ? a->lost < b->lost : a->program.count < b->program.count;
}

/* Of two equally good programs, the older comes first, so that the order does not depend on qsort. */
static int by_fitness(const void *a, const void *b)
{
    const bred_one *one = a, *other = b;
    int order = (int)better(other, one) - (int)better(one, other);
    return order ? order : (one->number > other->number) - (one->number < other->number);
}

static const bred_one *choose(farm *farm)
{
    const bred_one *best = &farm->now[draw_below(&farm->state, farm->breeding->population)];
    for (int i = 1; i < CONTEST; i++) {
        const bred_one *other = &farm->now[draw_below(&farm->state, farm->breeding->population)];
        best = better(other, best) ? other : best;
    }
    return best;
}

static int next_generation(farm *farm)
{
    unsigned population = farm->breeding->population;
    memcpy(farm->next, farm->now, KEPT * sizeof *farm->next);
    for (unsigned i = KEPT; i < population; i++) {
        const bred_one *one = choose(farm), *other = choose(farm);
        farm->next[i].program = cross(&one->program, &other->program, &farm->state);
        for (unsigned j = draw_below(&farm->state, 3); j > 0; j--)
            mutate(&farm->next[i].program, &farm->state);
        LAB_TRY(judge(farm, &farm->next[i]));
    }
    bred_one *swap = farm->now;
    farm->now = farm->next;
    farm->next = swap;
    qsort(farm->now, population, sizeof *farm->now, by_fitness);
    return VIDI_OK;
}

static int breed(farm *farm, lab_bred *bred)
{
    unsigned population = farm->breeding->population;
    for (unsigned i = 0; i < population; i++) {
        farm->now[i].program = draw_program(&farm->state);
        LAB_TRY(judge(farm, &farm->now[i]));
    }
    qsort(farm->now, population, sizeof *farm->now, by_fitness);
    bred->first = farm->now[0].program;
    bred->first_lost = farm->now[0].lost;
    for (unsigned i = 1; i < farm->breeding->generations; i++)
        LAB_TRY(next_generation(farm));
    bred->last = farm->now[0].program;
    bred->last_lost = farm->now[0].lost;
    return VIDI_OK;
}

int lab_breed(lab_bred *bred, const lab_breeding *breeding, lab_words *words, uint64_t m)
{
    farm farm = {.breeding = breeding, .words = words, .m = m, .state = breeding->start};
    size_t population = breeding->population < KEPT ? KEPT : breeding->population;
    LAB_BLOCK;
    memset(bred, 0, sizeof *bred);
    LAB_TRY(LAB_NEW(farm.values, breeding->k * words->count));
    LAB_TRY(LAB_NEW(farm.now, population));
    LAB_TRY(LAB_NEW(farm.next, population));
    return breed(&farm, bred);
}
