/*
 * The program that the authors of the multi-layer paper ran, as far as their text and their published source tell.
 *
 *   classic    one array of m bits for whole URLs
 *   layered    an array of m bits for each segment of the longest URL so far, and one for the XOR of the addresses
 *
 * m = n ln(1/p) / (ln 2)^2 with p = 0.05, and k = 4: (m/n) ln 2, rounded down. Address j is MurmurHash3 with seed j, as
 * a signed number, modulo m. Addresses are XORed after they were reduced, and the XOR is reduced again, so that it lies
 * in the array whatever m is; but it is not spread evenly:
 *
 *   0          2^(b+1)-m        2^b         m             2^b is the largest power of two up to m
 *   |  region 0  |   region 1   |  region 2  |            XORs of m and more come to region 0
 */
#ifndef VIDI_LAB_MULTILAYER_MULTILAYER_PROGRAM_H
#define VIDI_LAB_MULTILAYER_MULTILAYER_PROGRAM_H

#include "lab/multilayer/multilayer.h"

enum { LAB_LAYERS_PROGRAM_K = 4, LAB_LAYERS_PROGRAM_SEGMENTS = LAB_URL_ROOM, LAB_LAYERS_PROGRAM_SIZES = 3 };

/* The numbers of rows in the paper's three files, and as many in proportion to --urls, divided by `part`. */
double lab_multilayer_program_published_rows(size_t size);
uint64_t lab_multilayer_program_size(const lab_settings *settings, size_t size, uint64_t part);

/* ---- URLs ---- */

/* A URL as the program sees it: its segments, and the addresses of all of them and of the whole. */
typedef struct lab_multilayer_program_url {
    vidi_str whole;
    size_t count;
    char bytes[LAB_URL_ROOM];
    vidi_str segments[LAB_LAYERS_PROGRAM_SEGMENTS];
    uint64_t addresses[LAB_LAYERS_PROGRAM_SEGMENTS][LAB_LAYERS_PROGRAM_K], classic[LAB_LAYERS_PROGRAM_K];
} lab_multilayer_program_url;

/* Removes every "https://" and "http://" and splits the rest at all slashes; segments may be empty. */
void lab_multilayer_program_split(lab_multilayer_program_url *cut, vidi_str url);

uint64_t lab_multilayer_program_address(vidi_str text, uint32_t function, uint64_t m);

/* Splits a URL and finds the addresses of its segments in arrays of m bits; then those of the whole URL. */
void lab_multilayer_program_read(lab_multilayer_program_url *read, vidi_str url, uint64_t m);
void lab_multilayer_program_read_whole(lab_multilayer_program_url *read, uint64_t m);

/* ---- filters ---- */

typedef struct lab_multilayer_program {
    uint64_t m;
    size_t layers;
    unsigned char *classic, *last, *bits[LAB_LAYERS_PROGRAM_SEGMENTS];
} lab_multilayer_program;

/* Both filters, for n URLs; they belong to the innermost block (run_memory.h). */
int lab_multilayer_program_make(lab_multilayer_program *program, uint64_t n);

static inline bool lab_multilayer_program_bit(const unsigned char *bits, uint64_t address)
{
    return bits[address / 8] >> address % 8 & 1;
}

static inline void lab_multilayer_program_set(unsigned char *bits, uint64_t address)
{
    bits[address / 8] |= (unsigned char)(1U << address % 8);
}

/* Adds layers until it has `layers`. */
int lab_multilayer_program_grow(lab_multilayer_program *program, size_t layers);

void lab_multilayer_program_add_classic(lab_multilayer_program *program, const lab_multilayer_program_url *url);
bool lab_multilayer_program_has_classic(const lab_multilayer_program *program, const lab_multilayer_program_url *url);
int lab_multilayer_program_add_layered(lab_multilayer_program *program, const lab_multilayer_program_url *url);
bool lab_multilayer_program_has_layered(const lab_multilayer_program *program, const lab_multilayer_program_url *url);

/* ---- theory ---- */

enum { LAB_LAYERS_PROGRAM_REGIONS = 3 };

/* The texts that a layered filter has, counted without its arrays. */
typedef struct lab_multilayer_program_tally {
    uint64_t m;
    lab_multilayer_map segments[LAB_LAYERS_PROGRAM_SEGMENTS];
    lab_multilayer_map urls;                  /* by the XOR of their segments' hashes */
    lab_multilayer_map classes;               /* by number of segments, and XOR of all segments but the last */
    double marks[LAB_LAYERS_PROGRAM_REGIONS]; /* bits set in each region of the last array, as often as they are set */
    double fills
        [LAB_LAYERS_PROGRAM_REGIONS]; /* share of set bits in each region; set by lab_multilayer_program_tally_end */
    double layers
        [LAB_LAYERS_PROGRAM_SEGMENTS]; /* share of set bits in each layer; set by lab_multilayer_program_tally_end */
} lab_multilayer_program_tally;

int lab_multilayer_program_tally_add(lab_multilayer_program_tally *tally, const lab_multilayer_program_url *url);
void lab_multilayer_program_tally_end(lab_multilayer_program_tally *tally);

/* The probability that a URL is seen, if the addresses of segments that the filter does not know are random. */
double lab_multilayer_program_expect(const lab_multilayer_program_tally *tally, const lab_multilayer_program_url *url);

/*
 * The same for a new URL of a host alone, "http://host/", after n other such URLs in arrays of m bits. The second
 * segment is empty, so that all of them have the same addresses there.
 */
double lab_multilayer_program_expect_home(uint64_t n, uint64_t m);

#endif
