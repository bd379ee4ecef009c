/*
 * What the memory allows. Lines of 64 bytes, chosen by ready hashes, are read, changed and written back, with the lines
 * of 32 hashes in flight, in 2 MiB pages, over a working set as large as the subject's and as many lines for each URL
 * as the subject touches. A set cannot be faster. For lookups the lines are only read. This file also measures
 * sequential reading and the first touch of memory.
 */
#include "subjects.h"

#define TOUCH_BYTES ((size_t)64 << 20)
#define STREAM_MOST ((size_t)256 << 20)

static struct {
    unsigned char *bytes;
    size_t size;
} memory; /* shared by all working sets; each uses its beginning */

typedef struct held {
    uint64_t lines; /* in the working set */
    unsigned each;  /* lines for each URL */
} held;

static held one;
static volatile uint64_t sink; /* takes what is read, so that nothing is optimised away */

int bench_limit_open(size_t bytes)
{
    memory.bytes = bench_map(bytes, true, true);
    memory.size = memory.bytes ? bytes : 0;
    return memory.bytes ? 0 : -1;
}

void bench_limit_close(void)
{
    bench_unmap(memory.bytes, memory.size);
    memory.bytes = NULL;
}

static size_t at_most(size_t wanted)
{
    return wanted < memory.size ? wanted : memory.size;
}

static void *make(const bench_recipe *recipe)
{
    one.lines = at_most(recipe->bytes) / BENCH_LINE;
    one.each = recipe->lines;
    return one.lines ? &one : bench_refuse("no memory to measure the limit in");
}

static void close_limit(void *self)
{
    (void)self;
}

/* Line number i of a URL. */
static uint64_t *line_of(const held *self, const bench_hash *hash, unsigned i)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t line = (uint64_t)((wide)(hash->hi + i * hash->lo) * self->lines >> 64);
    return (uint64_t *)(void *)(memory.bytes + line * BENCH_LINE);
}

static void prefetch(const held *self, const bench_work *work, size_t i)
{
    for (unsigned j = 0; i < work->count && j < self->each; j++)
        __builtin_prefetch(line_of(self, &work->hashes[i], j), 1);
}

static int64_t pass(const held *self, const bench_work *work, bool adds)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BENCH_AHEAD; i++)
        prefetch(self, work, i);
    for (size_t i = 0; i < work->count; i++) {
        prefetch(self, work, i + BENCH_AHEAD);
        for (unsigned j = 0; j < self->each; j++) {
            uint64_t *word = line_of(self, &work->hashes[i], j) + (work->hashes[i].lo & 7);
            sum += *word;
            if (adds)
                *word |= work->hashes[i].lo;
        }
    }
    sink = sum;
    return 0;
}

static int64_t add(void *self, const bench_work *work)
{
    return pass(self, work, true);
}

static int64_t has(void *self, const bench_work *work)
{
    return pass(self, work, false);
}

static bench_weight weigh(void *self)
{
    return (bench_weight){(size_t)((held *)self)->lines * BENCH_LINE, -1, 0};
}

const bench_class bench_limit = {make, close_limit, add, has, weigh};

static void measure_stream(bench_machine *machine)
{
    size_t bytes = at_most(STREAM_MOST);
    const uint64_t *words = (const uint64_t *)(const void *)memory.bytes;
    uint64_t sums[4] = {0};
    double cpu = bench_cpu_now(), start = bench_now();
    for (size_t i = 0; i + 4 <= bytes / sizeof *words; i += 4)
        for (size_t j = 0; j < 4; j++)
            sums[j] += words[i + j];
    double lines = (double)bytes / BENCH_LINE;
    bench_record(&machine->stream, (bench_now() - start) / lines, (bench_cpu_now() - cpu) / lines);
    sink = sums[0] + sums[1] + sums[2] + sums[3];
    machine->stream_bytes = bytes;
}

static void measure_touch(bench_series *series, bool huge)
{
    char *fresh = bench_map(TOUCH_BYTES, huge, false);
    if (!fresh)
        return;
    double cpu = bench_cpu_now(), start = bench_now(), lines = (double)TOUCH_BYTES / BENCH_LINE;
    bench_touch(fresh, TOUCH_BYTES);
    bench_record(series, (bench_now() - start) / lines, (bench_cpu_now() - cpu) / lines);
    bench_unmap(fresh, TOUCH_BYTES);
}

void bench_machine_measure(bench_machine *machine)
{
    if (memory.bytes)
        measure_stream(machine);
    measure_touch(&machine->touch_small, false);
    measure_touch(&machine->touch_huge, true);
}
