/* Rows of build/bench.json, one a line; json.c says what their fields mean. */
#ifndef BENCH_REPORT_JSON_ROWS_H
#define BENCH_REPORT_JSON_ROWS_H

#include "bench/subjects.h"
#include "common/json.h"

/* The writer's `put`; its `to` is a FILE. */
void bench_json_put(void *file, const char *bytes, size_t n);

/* Writes a number, or null for a negative one, which means unknown. */
void bench_json_number(json_writer *to, const char *name, double value);

/* Writes the eight fields, the number of rounds and their spread, on a line of its own. The object stays open. */
void bench_json_begin(json_writer *to, const char *name, const char *subject, const char *peer, uint64_t n,
                      const bench_series *own, double bytes, double ratio, const char *note);

/* Writes an object with nothing but these. */
void bench_json_row(json_writer *to, const char *name, const char *subject, const char *peer, uint64_t n,
                    const bench_series *own, double bytes, double ratio, const char *note);

#endif
