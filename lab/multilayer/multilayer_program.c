/*
 * multilayer-program: the counts of the paper's own program.
 *
 * The rows of a file are cut in two halves, and each half is inserted into filters of its own, made for as many URLs. A
 * random half of all rows is then looked up in both. The program counts a row that both have seen as a false positive:
 * it is in one of the halves, so the other filter must be wrong, unless the file has the same URL in both halves. The
 * paper's did; the lab's URLs are all different. It then divided by the number of rows, which is twice the lookups.
 */
#include "lab/multilayer/multilayer_program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/urls/mix.h"
#include "lib/inside/inside.h"

static const double published_rows[LAB_LAYERS_PROGRAM_SIZES] = {32432, 269452, 1562978};
const char *const lab_multilayer_program_rows[] = {"32432 rows", "269452 rows", "1562978 rows", NULL};

enum { ROWS_LEAST = 400 };
#define ERROR_RATE 0.05

double lab_multilayer_program_published_rows(size_t size)
{
    return published_rows[size];
}

uint64_t lab_multilayer_program_size(const lab_settings *settings, size_t size, uint64_t part)
{
    double rows = published_rows[size] * (double)settings->urls / LAB_PUBLISHED_URLS / (double)part;
    return rows < ROWS_LEAST ? ROWS_LEAST : (uint64_t)(rows + 0.5);
}

/* Bits of an array for n URLs. */
static uint64_t bits_for(uint64_t n)
{
    return (uint64_t)(-(double)n * log(ERROR_RATE) / (M_LN2 * M_LN2));
}

/* ---- URLs ---- */

/* Removes every occurrence of the scheme from a text in place; returns the new length. */
static size_t remove_all(char *bytes, size_t length, const char *scheme)
{
    size_t kept = 0, room = strlen(scheme);
    for (size_t i = 0; i < length;) {
        if (bytes[i] == *scheme && length - i >= room && memcmp(bytes + i, scheme, room) == 0)
            i += room;
        else
            bytes[kept++] = bytes[i++];
    }
    return kept;
}

void lab_multilayer_program_split(lab_multilayer_program_url *cut, vidi_str url)
{
    memcpy(cut->bytes, url.ptr, url.len);
    size_t length = remove_all(cut->bytes, url.len, "https://"), begin = 0;
    length = remove_all(cut->bytes, length, "http://");
    cut->whole = url;
    cut->count = 0;
    for (size_t i = 0; i <= length && cut->count < LAB_LAYERS_PROGRAM_SEGMENTS; i++)
        if (i == length || cut->bytes[i] == '/') {
            cut->segments[cut->count++] = (vidi_str){cut->bytes + begin, i - begin};
            begin = i + 1;
        }
}

/* The program's language gives the remainder of a negative number the sign of m. */
uint64_t lab_multilayer_program_address(vidi_str text, uint32_t function, uint64_t m)
{
    int64_t address = (int32_t)vidi__inside_murmur3(text, function) % (int64_t)m;
    return (uint64_t)(address < 0 ? address + (int64_t)m : address);
}

void lab_multilayer_program_read(lab_multilayer_program_url *read, vidi_str url, uint64_t m)
{
    lab_multilayer_program_split(read, url);
    for (size_t i = 0; i < read->count; i++)
        for (uint32_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
            read->addresses[i][j] = lab_multilayer_program_address(read->segments[i], j, m);
}

void lab_multilayer_program_read_whole(lab_multilayer_program_url *read, uint64_t m)
{
    for (uint32_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
        read->classic[j] = lab_multilayer_program_address(read->whole, j, m);
}

/* ---- filters ---- */

int lab_multilayer_program_make(lab_multilayer_program *program, uint64_t n)
{
    *program = (lab_multilayer_program){.m = bits_for(n)};
    LAB_TRY(LAB_NEW(program->classic, program->m / 8 + 1));
    return LAB_NEW(program->last, program->m / 8 + 1);
}

int lab_multilayer_program_grow(lab_multilayer_program *program, size_t layers)
{
    for (; program->layers < layers; program->layers++)
        LAB_TRY(LAB_NEW(program->bits[program->layers], program->m / 8 + 1));
    return VIDI_OK;
}

static void add_all(unsigned char *bits, const uint64_t addresses[LAB_LAYERS_PROGRAM_K])
{
    for (size_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
        lab_multilayer_program_set(bits, addresses[j]);
}

static bool has_all(const unsigned char *bits, const uint64_t addresses[LAB_LAYERS_PROGRAM_K])
{
    for (size_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
        if (!lab_multilayer_program_bit(bits, addresses[j]))
            return false;
    return true;
}

static void combine(uint64_t combined[LAB_LAYERS_PROGRAM_K], const lab_multilayer_program_url *url, uint64_t m)
{
    for (size_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++) {
        combined[j] = 0;
        for (size_t i = 0; i < url->count; i++)
            combined[j] ^= url->addresses[i][j];
        combined[j] %= m;
    }
}

void lab_multilayer_program_add_classic(lab_multilayer_program *program, const lab_multilayer_program_url *url)
{
    add_all(program->classic, url->classic);
}

bool lab_multilayer_program_has_classic(const lab_multilayer_program *program, const lab_multilayer_program_url *url)
{
    return has_all(program->classic, url->classic);
}

int lab_multilayer_program_add_layered(lab_multilayer_program *program, const lab_multilayer_program_url *url)
{
    uint64_t combined[LAB_LAYERS_PROGRAM_K];
    LAB_TRY(lab_multilayer_program_grow(program, url->count));
    for (size_t i = 0; i < url->count; i++)
        add_all(program->bits[i], url->addresses[i]);
    combine(combined, url, program->m);
    add_all(program->last, combined);
    return VIDI_OK;
}

bool lab_multilayer_program_has_layered(const lab_multilayer_program *program, const lab_multilayer_program_url *url)
{
    uint64_t combined[LAB_LAYERS_PROGRAM_K];
    if (url->count > program->layers)
        return false;
    for (size_t i = 0; i < url->count; i++)
        if (!has_all(program->bits[i], url->addresses[i]))
            return false;
    combine(combined, url, program->m);
    return has_all(program->last, combined);
}

/* ---- counts ---- */

enum { HALVES = 2 };
enum { CLASSIC, LAYERED, EXPECTED, HOMES, COLUMNS };
static const char *const program_columns[] = {"classic", "multilayer", "multilayer expected", "multilayer, home pages",
                                              NULL};

typedef struct bench {
    const lab_settings *settings;
    uint64_t run, rows, half, m;
    bool homes;
    lab_multilayer_program programs[HALVES];
    lab_multilayer_program_tally tallies[HALVES];
    uint32_t *order;
    lab_multilayer_program_url url;
} bench;

/* "http://www.abcdefghijklm.com/": bijections make all of them different. */
static size_t home_page(char *buffer, uint64_t start, uint64_t row)
{
    char name[16] = "";
    size_t length = 0;
    for (uint64_t number = lab_mix(start + row); number; number /= 26)
        name[length++] = (char)('a' + number % 26);
    return (size_t)snprintf(buffer, LAB_URL_ROOM, "http://www.%s.com/", name);
}

static void read_row(bench *bench, uint64_t row)
{
    char buffer[LAB_URL_ROOM];
    vidi_str url = {buffer, 0};
    if (bench->homes)
        url.len = home_page(buffer, lab_run_start(bench->settings->seed, bench->run), row);
    else
        url = lab_url_text(buffer, bench->settings, bench->run, row);
    lab_multilayer_program_read(&bench->url, url, bench->m);
    if (!bench->homes)
        lab_multilayer_program_read_whole(&bench->url, bench->m);
}

static int insert(bench *bench)
{
    for (size_t h = 0; h < HALVES; h++) {
        lab_multilayer_program *program = &bench->programs[h];
        uint64_t last = h ? bench->rows : bench->half;
        LAB_TRY(lab_multilayer_program_make(program, bench->half));
        bench->m = bench->tallies[h].m = program->m;
        for (uint64_t i = h * bench->half; i < last; i++) {
            read_row(bench, i);
            LAB_TRY(lab_multilayer_program_add_layered(program, &bench->url));
            if (bench->homes)
                continue;
            lab_multilayer_program_add_classic(program, &bench->url);
            LAB_TRY(lab_multilayer_program_tally_add(&bench->tallies[h], &bench->url));
        }
        lab_multilayer_program_tally_end(&bench->tallies[h]);
    }
    return VIDI_OK;
}

/* Rows that both filters have seen. The filter that does not have the row is expected to see it so often. */
static void ask(bench *bench, double *numbers)
{
    const lab_multilayer_program *a = &bench->programs[0], *b = &bench->programs[1];
    const lab_multilayer_program_url *url = &bench->url;
    for (uint64_t i = 0; i < bench->half; i++) {
        uint32_t row = bench->order[i];
        read_row(bench, row);
        bool layered = lab_multilayer_program_has_layered(a, url) && lab_multilayer_program_has_layered(b, url);
        numbers[bench->homes ? HOMES : LAYERED] += layered;
        if (bench->homes)
            continue;
        numbers[CLASSIC] += lab_multilayer_program_has_classic(a, url) && lab_multilayer_program_has_classic(b, url);
        numbers[EXPECTED] += lab_multilayer_program_expect(&bench->tallies[row < bench->half], url);
    }
}

static int insert_and_ask(bench *bench, double *numbers)
{
    bench->half = (bench->rows + 1) / 2;
    LAB_TRY(LAB_NEW(bench->order, bench->rows));
    lab_shuffle(bench->order, bench->rows, bench->settings->seed, bench->run, 1);
    LAB_TRY(insert(bench));
    ask(bench, numbers);
    return VIDI_OK;
}

/* One file of the paper, with the lab's URLs or with home pages. */
static int measure_file(bench *bench, const lab_settings *settings, uint64_t run, uint64_t rows, bool homes,
                        double *numbers)
{
    LAB_BLOCK;
    memset(bench, 0, sizeof *bench);
    bench->settings = settings;
    bench->run = run;
    bench->rows = rows;
    bench->homes = homes;
    return insert_and_ask(bench, numbers);
}

static int measure_program(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench *bench;
    LAB_TRY(LAB_NEW(bench, 1));
    memset(numbers, 0, (size_t)LAB_LAYERS_PROGRAM_SIZES * COLUMNS * sizeof *numbers);
    for (size_t i = 0; i < 2 * LAB_LAYERS_PROGRAM_SIZES; i++)
        LAB_TRY(measure_file(bench, settings, run, lab_multilayer_program_size(settings, i / 2, 1), i % 2,
                             numbers + i / 2 * COLUMNS));
    return VIDI_OK;
}

/* The published counts include URLs that are in both halves, so they are shown and not judged. */
static void show_published(const lab_study *study, size_t row, lab_entry *entry)
{
    entry->printed = lab_published_find(lab_published_all, study->id, entry->row, entry->column);
    if (!entry->printed)
        return;
    entry->published = lab_figure_read(entry->printed).percent;
    if (entry->verdict != LAB_FAILS)
        snprintf(entry->remark, sizeof entry->remark,
                 "the published count includes URLs that are in both halves of the paper's file, and the paper divides "
                 "it by %.0f rows instead of half as many lookups",
                 lab_multilayer_program_published_rows(row));
}

/* Two filters differ in their fills, and half of the lookups meet each: the variance is at most that of one filter. */
static lab_theory home_theory(double asked, uint64_t half, uint64_t m)
{
    double mean = asked * lab_multilayer_program_expect_home(half, m);
    return (lab_theory){mean, mean + LAB_LAYERS_PROGRAM_K * LAB_LAYERS_PROGRAM_K * mean * mean / (double)m, asked};
}

static void judge_program(const lab_cell *cell, lab_entry *entry)
{
    uint64_t half = (lab_multilayer_program_size(cell->settings, cell->row, 1) + 1) / 2, m = bits_for(half);
    double asked = (double)half, published = ceil(lab_multilayer_program_published_rows(cell->row) / 2);
    if (cell->column == CLASSIC)
        lab_entry_count(entry, cell->numbers, lab_multilayer_classic(asked, asked, (double)m, LAB_LAYERS_PROGRAM_K),
                        published);
    else if (cell->column == HOMES)
        lab_entry_count(entry, cell->numbers, home_theory(asked, half, m), published);
    else if (cell->column == LAYERED)
        lab_multilayer_judge_expected(cell->all, cell->row * COLUMNS + EXPECTED, cell->numbers, entry, (double)m,
                                      LAB_LAYERS_PROGRAM_K, asked, published);
    else
        lab_entry_scale(entry, published / asked);
    show_published(cell->study, cell->row, entry);
}

LAB_STUDY(multilayer_program, "multilayer-program",
          "The paper's own program: rows that two filters of one half each have both seen",
          "the multi-layer paper, experiment and results, figure 3, and its authors' program",
          "Rows are for --urls 1e6 and scale with it; counts are converted back. Each half of the rows is inserted "
          "into filters of its own, and a random half of all rows is looked up in both. p = 0.05, m = 6.235 n, "
          "k = 4, MurmurHash3 with the seeds 0 to 3; as many layers as the longest URL has segments; the XOR of the "
          "addresses modulo m. Our rows are all different. Home pages: rows http://host/ alone.",
          "false positives", lab_multilayer_program_rows, program_columns, .runs_most = 2, .work = 3,
          .measure = measure_program, .judge = judge_program);
