/* Rows of build/bench.json; json.c says what their fields mean. */
#include "bench/report/json_rows.h"

#include <math.h>

void bench_json_put(void *file, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, file);
}

void bench_json_number(json_writer *to, const char *name, double value)
{
    json_add_rounded(to, name, value < 0 ? (double)NAN : value, 6);
}

void bench_json_begin(json_writer *to, const char *name, const char *subject, const char *peer, uint64_t n,
                      const bench_series *own, double bytes, double ratio, const char *note)
{
    bench_json_put(to->to, "\n", 1);
    json_open(to, NULL, '{');
    json_add_string(to, "name", name);
    json_add_string(to, "subject", subject);
    json_add_string(to, "peer", peer);
    json_add_count(to, "n", n);
    bench_json_number(to, "ns_per_op", bench_best(own));
    bench_json_number(to, "bytes_per_op", bytes);
    bench_json_number(to, "ratio", ratio);
    json_add_string(to, "note", note);
    bench_json_number(to, "ns_median", bench_median(own));
    bench_json_number(to, "cpu_ns_per_op", own->cpu_ns);
    json_add_string(to, "cpu", vidi_cpu());
    json_add_count(to, "rounds", (uint64_t)own->rounds);
}

void bench_json_row(json_writer *to, const char *name, const char *subject, const char *peer, uint64_t n,
                    const bench_series *own, double bytes, double ratio, const char *note)
{
    bench_json_begin(to, name, subject, peer, n, own, bytes, ratio, note);
    json_close(to, '}');
}
