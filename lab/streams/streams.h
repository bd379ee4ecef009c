/*
 * What filters lose on real URLs, in the order in which a crawler met them and with their repeats. A page is lost if
 * the first line of its URL is answered "seen", judged by an exact set (line_streams.h). All kinds get the same memory:
 * the peak of what a set allocates, measured, with its constant part. Tables have aggregates only: no URL and no host.
 *
 * This header declares what the experiments share; streams_claims.c draws conclusions.
 */
#ifndef VIDI_LAB_STREAMS_STREAMS_H
#define VIDI_LAB_STREAMS_STREAMS_H

#include "lab/urls/line_streams.h"
#include "lab/engine/study.h"

/* ---- streams_sets.c: sets in equal memory ---- */

enum { LAB_STREAM_KINDS = 8, LAB_STREAM_SIZES = 3 };

extern const char *const lab_stream_kinds[LAB_STREAM_KINDS + 1];
extern const double lab_stream_bits[LAB_STREAM_SIZES]; /* per different URL */

/* How a set of some kind is made for the URLs of a stream. */
typedef struct lab_fitted {
    vidi_plan_entry plan;
    uint64_t budget; /* bytes that it may allocate */
    bool fits;       /* false: this kind needs more memory */
} lab_fitted;

/* The set that loses least of those whose memory, with all that they allocate, is at most `bits` per different URL. */
int lab_stream_fit(lab_fitted *fitted, const lab_stream *stream, const char *kind, double bits);

/* The URLs of a stream in some order: numbers of URLs, which may repeat. */
typedef struct lab_sequence {
    const uint32_t *urls;
    uint64_t lines;
    uint32_t *own; /* what `urls` points to if it was made; otherwise NULL */
} lab_sequence;

typedef enum lab_stream_order { LAB_FILE_ORDER, LAB_EACH_ONCE, LAB_SHUFFLED_LINES } lab_stream_order;

/* Call lab_sequence_free in every case. */
int lab_sequence_make(lab_sequence *sequence, const lab_stream *stream, lab_stream_order order,
                      const lab_settings *settings, uint64_t run);
void lab_sequence_free(lab_sequence *sequence);

/* What became of a sequence that was added to a set. */
typedef struct lab_pass {
    uint64_t lost;
    uint64_t lost_in[LAB_TENTHS]; /* by the tenth of the sequence in which the URL came first */
    size_t peak;                  /* bytes that the set had allocated at most */
    bool exceeds;                 /* they were more than it may have, so it cannot be compared with others */
} lab_pass;

/* Tables that grow take a little more or less than planned, depending on the key: 0.5 % and a kilobyte are allowed. */
static inline bool lab_stream_exceeds(double peak, double budget)
{
    return peak > budget * 1.005 + 1024;
}

/* Makes the set, adds every line and counts. Fails if a URL that was there before is answered "new". */
int lab_stream_pass(lab_pass *pass, const lab_stream *stream, const lab_sequence *sequence, const lab_fitted *fitted,
                    const lab_settings *settings, uint64_t run);

/* ---- of every study of streams ---- */

#define LAB_STREAMS .source = "vidi", .rows = lab_streams_any_rows, .streams = true
#define LAB_PER_URLS "pages per million different URLs"

/* Columns of the table by tenths. */
extern const char *const lab_streams_tenths[];

#endif
