/*
 * The output for programs: an array with one object for each subject, job and rival. Subjects without a rival have one
 * object whose peer is null; subjects that were left out have none. The first eight fields are always name, subject,
 * peer, n, ns_per_op, bytes_per_op, ratio and note. ns_per_op is the time of the best round. ratio is the peer's best
 * time divided by the subject's, so above 1 the subject is faster. With peer "limit", it is the share of the memory's
 * own speed that is reached; with "one thread", it is the gain from a second thread.
 */
#include "bench/subjects.h"

typedef struct writer {
    FILE *file;
    bool begun;
} writer;

static void text(writer *to, const char *string)
{
    putc('"', to->file);
    for (; *string; string++) {
        if (*string == '"' || *string == '\\')
            putc('\\', to->file);
        if ((unsigned char)*string >= ' ')
            putc(*string, to->file);
    }
    putc('"', to->file);
}

static void text_field(writer *to, const char *name, const char *value)
{
    fprintf(to->file, "\"%s\":", name);
    if (value)
        text(to, value);
    else
        fprintf(to->file, "null");
    putc(',', to->file);
}

/* Writes a number, or null for a negative one, which means unknown. */
static void number_field(writer *to, const char *name, double value)
{
    if (value < 0)
        fprintf(to->file, "\"%s\":null,", name);
    else
        fprintf(to->file, "\"%s\":%.6g,", name, value);
}

/* Writes the eight fields, the number of rounds and their spread. The object stays open. */
static void begin(writer *to, const char *name, const char *subject, const char *peer, uint64_t n,
                  const bench_series *own, double bytes, double ratio, const char *note)
{
    fprintf(to->file, to->begun ? ",\n{" : "[\n{");
    to->begun = true;
    text_field(to, "name", name);
    text_field(to, "subject", subject);
    text_field(to, "peer", peer);
    fprintf(to->file, "\"n\":%llu,", (unsigned long long)n);
    number_field(to, "ns_per_op", bench_best(own));
    number_field(to, "bytes_per_op", bytes);
    number_field(to, "ratio", ratio);
    text_field(to, "note", note);
    number_field(to, "ns_median", bench_median(own));
    number_field(to, "cpu_ns_per_op", own->cpu_ns);
    text_field(to, "cpu", vidi_cpu());
    fprintf(to->file, "\"rounds\":%d", own->rounds);
}

static void end(writer *to)
{
    putc('}', to->file);
}

static double ratio_of(const bench_series *peer, const bench_series *own)
{
    return peer->rounds && own->rounds ? bench_best(peer) / bench_best(own) : -1;
}

static void details(writer *to, const bench_subject *subject, const bench_result *result)
{
    double fills = result->fills ? result->fills : 1;
    bench_interval interval = bench_wilson(result->false_seen, result->asks);
    fprintf(to->file, ",");
    number_field(to, "bits_per_url", (double)result->bytes * 8 / (double)result->n);
    text_field(to, "group", bench_group_names[subject->group]);
    number_field(to, "error", (double)result->false_seen / (double)(result->asks ? result->asks : 1));
    number_field(to, "error_low", interval.low);
    number_field(to, "error_high", interval.high);
    number_field(to, "lost", (double)result->lost / fills);
    number_field(to, "expected_lost", result->expected_lost < 0 ? -1 : result->expected_lost / fills);
    number_field(to, "create_ns_per_url", bench_best(&result->create));
    fprintf(to->file, "\"reserved\":%s", subject->flags & BENCH_RESERVED ? "true" : "false");
}

/* Writes a job on URLs or on hashes, compared with one peer. */
static void job(writer *to, const bench_subject *subject, const bench_result *result, int form, int number,
                const char *peer, const bench_series *theirs)
{
    const bench_series *own = &result->series[form][number];
    begin(to, bench_job_names[form][number], subject->name, peer, result->n, own,
          (double)result->bytes / (double)result->n, theirs ? ratio_of(theirs, own) : -1, subject->note);
    details(to, subject, result);
    end(to);
}

static void jobs(writer *to, const bench_run *run, const bench_subject *subject, size_t size, int form)
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

static void limits(writer *to, const bench_subject *subject, const bench_result *result)
{
    static const char *const names[2] = {"random line read-modify-write", "random line read"};
    char note[160];
    snprintf(note, sizeof note, "working set of %.1f MiB, as for %s; 32 prefetches in flight, 2 MiB pages",
             (double)result->limit_bytes / (1 << 20), subject->name);
    for (int i = 0; i < 2 && result->limit[i].rounds; i++) {
        begin(to, names[i], "limit", NULL, result->n, &result->limit[i], BENCH_LINE, -1, note);
        end(to);
    }
}

static void threads(writer *to, const bench_subject *subject, const bench_result *result)
{
    static const char *const names[2] = {"add, 1 thread", "add, 2 threads"};
    for (int i = 0; i < 2 && result->threads[i].rounds; i++) {
        begin(to, names[i], subject->name, i ? "one thread" : NULL, result->n, &result->threads[i],
              (double)result->bytes / (double)result->n, i ? ratio_of(&result->threads[0], &result->threads[i]) : -1,
              "elapsed time divided by the URLs of all threads");
        end(to);
    }
}

static void machine(writer *to, const bench_machine *machine, uint64_t n)
{
    const bench_series *series[] = {&machine->stream, &machine->touch_small, &machine->touch_huge};
    static const char *const names[] = {"streaming read", "first touch, 4 KiB pages", "first touch, 2 MiB pages"};
    for (size_t i = 0; i < 3; i++)
        if (series[i]->rounds) {
            begin(to, names[i], "limit", NULL, n, series[i], BENCH_LINE, -1, "for a line of 64 bytes");
            end(to);
        }
}

/* Writes each method alone, and vidi's compared with each of the others. */
static void canon(writer *to, const bench_canon *methods, size_t count, size_t own)
{
    for (size_t i = 0; i < count; i++) {
        const bench_canon *other = &methods[i];
        if (!other->series.rounds)
            continue;
        begin(to, other->name, other->subject, NULL, other->n, &other->series, other->bytes, -1, other->note);
        end(to);
        for (size_t j = 0; j < own && i >= own; j++)
            if (methods[j].series.rounds) {
                begin(to, other->name, methods[j].subject, other->subject, other->n, &methods[j].series, other->bytes,
                      ratio_of(&other->series, &methods[j].series), methods[j].note);
                end(to);
            }
    }
}

/* Writes each row alone, or compared with its peer. */
static void store(writer *to, const bench_run *run)
{
    for (size_t i = 0; i < run->store_count; i++) {
        const bench_store *row = &run->store[i], *peer = bench_store_find(run, row->name, row->peer);
        if (!row->series.rounds)
            continue;
        begin(to, row->name, row->subject, peer ? row->peer : NULL, row->n, &row->series, row->bytes,
              peer ? ratio_of(&peer->series, &row->series) : -1, row->note);
        end(to);
    }
}

/* ns_per_op is for the whole set, and so is bytes_per_op. */
static void small(writer *to, const bench_run *run)
{
    for (size_t kind = 0; kind < BENCH_SMALL_KINDS; kind++)
        for (size_t size = 0; size < BENCH_SMALL_SIZES; size++) {
            const bench_small *row = &run->small[kind][size];
            if (!row->series.rounds)
                continue;
            begin(to, "small set", row->kind, NULL, row->n, &row->series, row->bytes, -1,
                  "create, add n URLs one at a time, close; grown from empty");
            end(to);
        }
}

static void whole(writer *to, const bench_run *run)
{
    for (size_t i = 0; i < BENCH_WHOLE_ROWS; i++) {
        const bench_whole *row = &run->whole[i];
        if (!row->series.rounds)
            continue;
        begin(to, row->name, "fingerprint", NULL, row->n, &row->series, row->bytes, -1, "the whole set, in memory");
        end(to);
    }
}

/* bytes_per_op is memory for each further URL. */
static void frontier(writer *to, const bench_run *run)
{
    for (size_t i = 0; i < BENCH_FRONTIER_ROWS; i++) {
        const bench_frontier *row = &run->frontier[i];
        if (!row->name || row->why[0])
            continue;
        begin(to, row->name, "vidi", NULL, row->n, &row->series, row->further < 0 ? 0 : row->further, -1,
              "append, sort to hosts and take out again, on disk, synchronous=FULL");
        fprintf(to->file, ",\"waiting_ns\":%.1f,\"resident_bytes\":%.0f", row->waiting, row->resident);
        end(to);
    }
}

int bench_json(const bench_run *run, const char *path)
{
    writer to = {fopen(path, "w"), false};
    if (!to.file)
        return -1;
    for (size_t size = 0; size < run->size_count; size++) {
        for (size_t i = 0; i < run->subject_count; i++) {
            const bench_subject *subject = &run->subjects[i];
            const bench_result *result = &subject->results[size];
            for (int form = 0; form < BENCH_FORMS; form++)
                jobs(&to, run, subject, size, form);
            limits(&to, subject, result);
            threads(&to, subject, result);
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
    fprintf(to.file, to.begun ? "\n]\n" : "[]\n");
    bool failed = ferror(to.file);
    return fclose(to.file) || failed ? -1 : 0;
}
