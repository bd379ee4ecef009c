/*
 * multilayer-program-time: the times of the paper's own program. It inserts all rows into filters that are made for
 * half of them, and then looks up a random half of the same rows. So no lookup ends early: every URL is there. A
 * segment that is found is hashed a second time for the XOR.
 */
#include "lab/multilayer/multilayer_program.h"

#include <math.h>
#include <stdio.h>

#include "lab/urls/run_urls.h"

enum { CLASSIC_INSERT, LAYERED_INSERT, CLASSIC_QUERY, LAYERED_QUERY, INSERT_RATIO, QUERY_RATIO, COLUMNS };

/* Rows of a run, for a twentieth of the paper's. */
typedef struct file {
    lab_texts texts;
    uint32_t *order;
    uint64_t rows, half;
} file;

static int make_file(file *file, const lab_settings *settings, uint64_t run, size_t size)
{
    file->rows = lab_multilayer_program_size(settings, size, LAB_LAYERS_PART);
    file->half = (file->rows + 1) / 2;
    LAB_TRY(LAB_NEW(file->order, file->rows));
    lab_shuffle(file->order, file->rows, settings->seed, run, 1);
    return lab_texts_make(&file->texts, settings, run, 0, file->rows);
}

/* Sets or looks up the bits of a text, one after the other. */
static void add_text(unsigned char *bits, vidi_str text, uint64_t m, uint64_t combined[LAB_LAYERS_PROGRAM_K])
{
    for (uint32_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++) {
        uint64_t address = lab_multilayer_program_address(text, j, m);
        lab_multilayer_program_set(bits, address);
        combined[j] ^= address;
    }
}

static bool has_text(const unsigned char *bits, vidi_str text, uint64_t m)
{
    for (uint32_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
        if (!lab_multilayer_program_bit(bits, lab_multilayer_program_address(text, j, m)))
            return false;
    return true;
}

static void add_layers(lab_multilayer_program *program, vidi_str url)
{
    lab_multilayer_program_url cut;
    uint64_t combined[LAB_LAYERS_PROGRAM_K] = {0};
    lab_multilayer_program_split(&cut, url);
    for (size_t i = 0; i < cut.count; i++)
        add_text(program->bits[i], cut.segments[i], program->m, combined);
    for (size_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
        lab_multilayer_program_set(program->last, combined[j] % program->m);
}

/* Hashes each segment twice, as the paper's program does. */
static bool has_layers(const lab_multilayer_program *program, vidi_str url)
{
    lab_multilayer_program_url cut;
    uint64_t combined[LAB_LAYERS_PROGRAM_K] = {0};
    lab_multilayer_program_split(&cut, url);
    for (size_t i = 0; i < cut.count; i++) {
        if (!has_text(program->bits[i], cut.segments[i], program->m))
            return false;
        for (uint32_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
            combined[j] ^= lab_multilayer_program_address(cut.segments[i], j, program->m);
    }
    for (size_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
        if (!lab_multilayer_program_bit(program->last, combined[j] % program->m))
            return false;
    return true;
}

/* Layers are made in advance: otherwise the first URLs that need them would pay for clearing them. */
static int make_layers(lab_multilayer_program *program, const file *file)
{
    lab_multilayer_program_url cut;
    for (uint64_t i = 0; i < file->rows; i++) {
        lab_multilayer_program_split(&cut, file->texts.urls[i]);
        LAB_TRY(lab_multilayer_program_grow(program, cut.count));
    }
    return VIDI_OK;
}

static void insert(lab_multilayer_program *program, const file *file, bool layered, double *time)
{
    uint64_t start = lab_thread_time(), unused[LAB_LAYERS_PROGRAM_K] = {0};
    for (uint64_t i = 0; i < file->rows; i++) {
        if (layered)
            add_layers(program, file->texts.urls[i]);
        else
            add_text(program->classic, file->texts.urls[i], program->m, unused);
    }
    *time = (double)(lab_thread_time() - start);
}

static int look_up(const lab_multilayer_program *program, const file *file, bool layered, double *time)
{
    uint64_t start = lab_thread_time(), seen = 0;
    for (uint64_t i = 0; i < file->half; i++) {
        vidi_str url = file->texts.urls[file->order[i]];
        seen += layered ? has_layers(program, url) : has_text(program->classic, url, program->m);
    }
    *time = (double)(lab_thread_time() - start);
    return seen == file->half ? VIDI_OK : lab_fail(VIDI_ECANNOT, "the paper's program has lost a URL");
}

/* In seconds for the paper's rows. */
static int time_size(const file *file, double published, double *numbers)
{
    double scale = published / (double)file->rows * 1e-9;
    lab_multilayer_program program;
    LAB_TRY(lab_multilayer_program_make(&program, file->half));
    LAB_TRY(make_layers(&program, file));
    for (size_t layered = 0; layered < 2; layered++)
        insert(&program, file, layered, &numbers[CLASSIC_INSERT + layered]);
    for (size_t layered = 0; layered < 2; layered++)
        LAB_TRY(look_up(&program, file, layered, &numbers[CLASSIC_QUERY + layered]));
    for (size_t i = 0; i < INSERT_RATIO; i++)
        numbers[i] *= scale;
    numbers[INSERT_RATIO] = numbers[LAYERED_INSERT] / numbers[CLASSIC_INSERT];
    numbers[QUERY_RATIO] = numbers[LAYERED_QUERY] / numbers[CLASSIC_QUERY];
    return VIDI_OK;
}

static int measure_program_time(const lab_settings *settings, uint64_t run, double *numbers)
{
    for (size_t size = 0; size < LAB_LAYERS_PROGRAM_SIZES; size++) {
        file file;
        LAB_BLOCK;
        LAB_TRY(make_file(&file, settings, run, size));
        LAB_TRY(time_size(&file, lab_multilayer_program_published_rows(size), numbers + size * COLUMNS));
    }
    return VIDI_OK;
}

LAB_STUDY(multilayer_program_time, "multilayer-program-time",
          "The paper's own program: seconds for all insertions, and for lookups of half of the rows",
          "the multi-layer paper, figures 4 and 5, and its authors' program",
          "A twentieth of the rows; seconds are extrapolated. The filters are made for half of the rows that are "
          "inserted, and every URL that is looked up is there. The paper's program is in Python, ours in C, so only "
          "ratios can be compared.",
          "s", lab_multilayer_program_rows, lab_multilayer_slower_columns, .timed = true, .runs_most = 9,
          .measure = measure_program_time, .judge = lab_multilayer_slower_judge);
