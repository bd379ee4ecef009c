/*
 * The URLs of a run: synthetic ones, or those of a corpus. line_streams.h has files of URLs in their order,
 * link_graph.h has pages with their links, and run_urls.h makes the URLs of a run in advance.
 */
#ifndef VIDI_LAB_URLS_URL_SOURCES_H
#define VIDI_LAB_URLS_URL_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

typedef struct lab_settings lab_settings; /* lab/engine/lab.h */
typedef struct lab_corpus lab_corpus;
typedef struct lab_graph lab_graph; /* link_graph.h */

enum { LAB_URL_ROOM = 256 }; /* no URL is longer */

/*
 * Writes URL number `index` of a run, without a final zero byte, and returns its length. All URLs of a run are
 * different; after the end of a corpus its URLs are used again with a suffix.
 */
size_t lab_url(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index);

/* The synthetic URLs, whether there is a corpus or not. */
size_t lab_made_url(char *buffer, uint64_t seed, uint64_t run, uint64_t index);

/* The number that everything random in a run starts from. */
uint64_t lab_run_start(uint64_t seed, uint64_t run);

/*
 * URLs from files, one a line, each kept once. Lines that are empty, longer than LAB_CORPUS_LONGEST, or contain
 * LAB_CORPUS_AGAIN are skipped. Every run takes the URLs in a different order. The names of the files, which must
 * outlive it, are for reports. Call lab_corpus_end after the last line: it fails if there are no URLs. Call lab_corpus_free in every case,
 * also after an error; NULL is fine.
 */
#define LAB_CORPUS_AGAIN "?vidi-lab-again="
enum { LAB_CORPUS_LONGEST = LAB_URL_ROOM - 40 };

int lab_corpus_make(lab_corpus **made, const char *const *files, size_t count);
int lab_corpus_add(lab_corpus *corpus, vidi_str line);
int lab_corpus_end(lab_corpus *corpus);
void lab_corpus_free(lab_corpus *corpus);
uint64_t lab_corpus_count(const lab_corpus *corpus);
/* Fails if runs of `urls` URLs need more than the corpus has. */
int lab_corpus_suffices(const lab_corpus *corpus, uint64_t urls, uint64_t needed);
uint64_t lab_corpus_mark(const lab_corpus *corpus);                  /* a hash of the whole corpus */
const char *lab_corpus_file(const lab_corpus *corpus, size_t index); /* its name as given; NULL after the last */
size_t lab_corpus_url(char *buffer, const lab_corpus *corpus, uint64_t start, uint64_t index);

/*
 * A link graph from files: a page, a tab and one of its links on each line (link_graph.c). Call lab_graph_end after the
 * last line: it fails if there are no links. Call lab_graph_free in every case; NULL is fine.
 */
int lab_graph_make(lab_graph **made, const char *const *files, size_t count);
int lab_graph_add(lab_graph *graph, vidi_str line);
int lab_graph_end(lab_graph *graph);
void lab_graph_free(lab_graph *graph);
uint64_t lab_graph_mark(const lab_graph *graph);                  /* a hash of the whole graph */
const char *lab_graph_file(const lab_graph *graph, size_t index); /* its name as given; NULL after the last */

/* The key of the sets of a run. */
void lab_key(unsigned char key[VIDI_KEY_BYTES], uint64_t seed, uint64_t run);

/* The order in which a later crawl meets a run's first n URLs: 1 is the second crawl. Each crawl has its own. */
void lab_shuffle(uint32_t *order, uint64_t n, uint64_t seed, uint64_t run, unsigned crawl);

#endif
