/*
 * The output for programs: an array with one object for each subject, job and rival. Subjects without a rival have one
 * object whose peer is null; subjects that were left out have none. The first eight fields are always name, subject,
 * peer, n, ns_per_op, bytes_per_op, ratio and note. ns_per_op is the time of the best round. ratio is the peer's best
 * time divided by the subject's, so above 1 the subject is faster. With peer "limit", it is the share of the memory's
 * own speed that is reached.
 */
#include "bench/subjects.h"
#include "bench/report/json_rows.h"

static double ratio_of(const bench_series *peer, const bench_series *own)
{
    return peer->rounds && own->rounds ? bench_best(peer) / bench_best(own) : -1;
}

static void details(json_writer *to, const bench_subject *subject, const bench_result *result)
{
    double fills = result->fills ? result->fills : 1;
    bench_interval interval = bench_wilson(result->false_seen, result->asks);
    bench_json_number(to, "bits_per_url", (double)result->bytes * 8 / (double)result->n);
    json_add_string(to, "group", bench_group_names[subject->group]);
    bench_json_number(to, "error", (double)result->false_seen / (double)(result->asks ? result->asks : 1));
    bench_json_number(to, "error_low", interval.low);
    bench_json_number(to, "error_high", interval.high);
    bench_json_number(to, "lost", (double)result->lost / fills);
    bench_json_number(to, "expected_lost", result->expected_lost < 0 ? -1 : result->expected_lost / fills);
    bench_json_number(to, "create_ns_per_url", bench_best(&result->create));
    json_add_bool(to, "reserved", subject->flags & BENCH_RESERVED);
}

/* Writes a job on URLs or on hashes, compared with one peer. */
static void job(json_writer *to, const bench_subject *subject, const bench_result *result, int form, int number,
                const char *peer, const bench_series *theirs)
{
    const bench_series *own = &result->series[form][number];
    bench_json_begin(to, bench_job_names[form][number], subject->name, peer, result->n, own,
                     (double)result->bytes / (double)result->n, theirs ? ratio_of(theirs, own) : -1, subject->note);
    details(to, subject, result);
    json_close(to, '}');
}

static void jobs(json_writer *to, const bench_run *run, const bench_subject *subject, size_t size, int form)
{
    const bench_result *result = &subject->results[size];
    for (int number = 0; number < BENCH_JOBS && result->series[form][number].rounds; number++) {
        const bench_subject *rival;
        size_t rivals = 0;
        for (size_t i = 0; (rival = bench_rival(run, subject, size, i)); i++)
            if (rival->results[size].series[form][number].rounds && ++rivals)
                job(to, subject, result, form, number, rival->name, &rival->results[size].series[form][number]);
        const bench_series *limit = &result->limit[number != BENCH_ADD];
        if (form == BENCH_HASHES && limit->rounds && ++rivals)
            job(to, subject, result, form, number, "limit", limit);
        if (!rivals)
            job(to, subject, result, form, number, NULL, NULL);
    }
}

static void limits(json_writer *to, const bench_subject *subject, const bench_result *result)
{
    static const char *const names[2] = {"random line read-modify-write", "random line read"};
    char note[160];
    snprintf(note, sizeof note, "working set of %.1f MiB, as for %s; 32 prefetches in flight, 2 MiB pages",
             (double)result->limit_bytes / (1 << 20), subject->name);
    for (int i = 0; i < 2 && result->limit[i].rounds; i++)
        bench_json_row(to, names[i], "limit", NULL, result->n, &result->limit[i], BENCH_LINE, -1, note);
}

static void machine(json_writer *to, const bench_machine *machine, uint64_t n)
{
    const bench_series *series[] = {&machine->stream, &machine->touch_small, &machine->touch_huge};
    static const char *const names[] = {"streaming read", "first touch, 4 KiB pages", "first touch, 2 MiB pages"};
    for (size_t i = 0; i < 3; i++)
        if (series[i]->rounds) {
            bench_json_row(to, names[i], "limit", NULL, n, series[i], BENCH_LINE, -1, "for a line of 64 bytes");
        }
}

/* Writes each method alone, and vidi's compared with each of the others. */
static void canon(json_writer *to, const bench_canon *methods, size_t count, size_t own)
{
    for (size_t i = 0; i < count; i++) {
        const bench_canon *other = &methods[i];
        if (!other->series.rounds)
            continue;
        bench_json_row(to, other->name, other->subject, NULL, other->n, &other->series, other->bytes, -1, other->note);
        for (size_t j = 0; j < own && i >= own; j++)
            if (methods[j].series.rounds) {
                bench_json_row(to, other->name, methods[j].subject, other->subject, other->n, &methods[j].series,
                               other->bytes, ratio_of(&other->series, &methods[j].series), methods[j].note);
            }
    }
}

/* Writes each row alone, or compared with its peer. */
static void store(json_writer *to, const bench_run *run)
{
    for (size_t i = 0; i < run->store_count; i++) {
        const bench_store *each = &run->store[i], *peer = bench_store_find(run, each->name, each->peer);
        if (!each->series.rounds)
            continue;
        bench_json_row(to, each->name, each->subject, peer ? each->peer : NULL, each->n, &each->series, each->bytes,
                       peer ? ratio_of(&peer->series, &each->series) : -1, each->note);
    }
}

/* ns_per_op is for the whole set, and so is bytes_per_op. */
static void small(json_writer *to, const bench_run *run)
{
    for (size_t kind = 0; kind < BENCH_SMALL_KINDS; kind++)
        for (size_t size = 0; size < BENCH_SMALL_SIZES; size++) {
            const bench_small *each = &run->small[kind][size];
            if (!each->series.rounds)
                continue;
            bench_json_begin(to, "small set", each->kind, NULL, each->n, &each->series, each->bytes, -1,
                             "create, add n URLs one at a time, close; grown from empty");
            json_close(to, '}');
        }
}

static void whole(json_writer *to, const bench_run *run)
{
    for (size_t i = 0; i < BENCH_WHOLE_ROWS; i++) {
        const bench_whole *each = &run->whole[i];
        if (!each->series.rounds)
            continue;
        bench_json_row(to, each->name, "fingerprint", NULL, each->n, &each->series, each->bytes, -1, "the whole set");
    }
}

/* bytes_per_op is memory for each further URL. */
static void frontier(json_writer *to, const bench_run *run)
{
    for (size_t i = 0; i < BENCH_FRONTIER_ROWS; i++) {
        const bench_frontier *each = &run->frontier[i];
        if (!each->name || each->why[0])
            continue;
        bench_json_begin(to, each->name, "vidi", NULL, each->n, &each->series, each->further < 0 ? 0 : each->further,
                         -1, "append, sort to hosts and take out again, on disk, synchronous=FULL");
        json_add_rounded(to, "waiting_ns", each->waiting, 6);
        json_add_rounded(to, "resident_bytes", each->resident, 15);
        json_close(to, '}');
    }
}

int bench_json(const bench_run *run, const char *path)
{
    FILE *file = fopen(path, "w");
    json_writer to = {.put = bench_json_put, .to = file};
    if (!file)
        return -1;
    json_open(&to, NULL, '[');
    for (size_t size = 0; size < run->size_count; size++) {
        for (size_t i = 0; i < run->subject_count; i++) {
            const bench_subject *subject = &run->subjects[i];
            const bench_result *result = &subject->results[size];
            for (int form = 0; form < BENCH_FORMS; form++)
                jobs(&to, run, subject, size, form);
            limits(&to, subject, result);
        }
        machine(&to, &run->machine[size], run->sizes[size]);
    }
    for (size_t sort = 0; sort < BENCH_CANON_SORTS; sort++)
        canon(&to, run->canon[sort], BENCH_CANON_METHODS, BENCH_CANON_OWN);
    canon(&to, run->html, BENCH_HTML_METHODS, 0); /* no peers: memchr and memcpy do less */
    store(&to, run);
    small(&to, run);
    whole(&to, run);
    frontier(&to, run);
    json_close(&to, ']');
    bench_json_put(file, "\n", 1);
    bool failed = ferror(file);
    return fclose(file) || failed ? -1 : 0;
}
