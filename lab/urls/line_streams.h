/*
 * Streams: files of URLs, line after line and with their repeats, as a crawler met them. A corpus (lab.h) keeps each
 * URL once and has no order; a stream keeps every line in its place.
 *
 * Whether a line is the first of its URL is decided by an exact set of the URLs' bytes. URLs are numbered from 0 in the
 * order in which the file first has them, so line i is the first of its URL if its number is larger than all before it.
 */
#ifndef VIDI_LAB_URLS_LINE_STREAMS_H
#define VIDI_LAB_URLS_LINE_STREAMS_H

#include "lab/engine/lab.h"

typedef struct lab_stream {
    const char *name;
    const char *text;     /* each URL once, one after the other */
    const size_t *starts; /* [count + 1]: where each URL begins */
    uint64_t count;       /* of different URLs */
    const uint32_t *urls; /* [lines]: the number of the URL on each line */
    uint64_t lines;
    uint64_t extremes[3]; /* URLs: the longest, the one with the most parts, the one with most after its last '/' */
    uint64_t mark;        /* a hash of the lines */
} lab_stream;

static inline vidi_str lab_stream_url(const lab_stream *stream, uint64_t number)
{
    return (vidi_str){stream->text + stream->starts[number], stream->starts[number + 1] - stream->starts[number]};
}

/*
 * Reading: lab_streams_begin for each file, then lab_streams_add with each of its lines, then lab_streams_end after the
 * last file. Empty lines do not count. Of every file, the first `most` lines are taken. Call lab_streams_free in every
 * case, also after an error; NULL is fine.
 */
enum { LAB_STREAM_FULL = 1 }; /* further lines of this file are ignored */

int lab_streams_make(lab_streams **made, uint64_t most);
int lab_streams_begin(lab_streams *streams, const char *file);
int lab_streams_add(lab_streams *streams, vidi_str line); /* VIDI_OK, LAB_STREAM_FULL or an error */
int lab_streams_end(lab_streams *streams);
void lab_streams_free(lab_streams *streams);

size_t lab_streams_count(const lab_streams *streams);
const lab_stream *lab_stream_at(const lab_streams *streams, size_t index);
uint64_t lab_streams_mark(const lab_streams *streams); /* a hash of all names and lines */

/*
 * The rows of a table of streams: the streams' names, which are those of the files without folder and ending, then
 * LAB_ALL_STREAMS, then NULL. They live as long as the streams.
 */
#define LAB_ALL_STREAMS "all streams"
const char *const *lab_streams_rows(const lab_streams *streams);

/* The same before the streams are known, for `vidi lab show`. */
extern const char *const lab_streams_any_rows[];

/* The key of a stream's sets in a run, and the order in which its lines come when they are shuffled. */
void lab_stream_key(unsigned char key[VIDI_KEY_BYTES], const lab_stream *stream, uint64_t seed, uint64_t run);
void lab_stream_shuffle(uint32_t *order, const lab_stream *stream, uint64_t seed, uint64_t run);

#endif
