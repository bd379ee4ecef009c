/* What the files of vidi-lab share: its options, how it measures, and how it prints. */
#ifndef VIDI_LAB_PROGRAM_PROGRAM_H
#define VIDI_LAB_PROGRAM_PROGRAM_H

#include "lab/urls/line_streams.h"
#include "lab/report/report.h"
#include "lab/engine/study.h"
#include "lab/report/svg.h"
#include "ui/output.h"

#define LAB_PRECISION_USUAL 5.0 /* in per cent */

typedef struct lab_options {
    uint64_t runs, urls, seed, threads, run;
    double precision; /* in per cent; negative: not given */
    const char *kind, *hash;
    uint64_t k, filters, crawls;
    double multiplier;
    bool incremental, shuffled, csv, json, raw, fresh;
    cli_words files;        /* of the corpus */
    cli_words stream_files; /* each is a stream */
    cli_words graph_files;  /* of the link graph */
    cli_words fill;         /* IN=OUT */
    const char *file, *plots, *tables;
    /* made by lab_options_begin */
    lab_corpus *corpus;
    lab_streams *streams;
    lab_graph *graph;
    lab_keep *keep;
    /* set by lab_run_book */
    double seconds; /* how long measuring took */
    bool continued; /* it used runs of an interrupted command */
} lab_options;

/*
 * Reads the corpus, the streams and the link graph, and finds a place for finished runs; the exit status.
 * lab_options_end in every case, also without.
 */
int lab_options_begin(lab_options *options);

/* `status` is that of the whole command; after CLI_OK and CLI_CONTRADICTED the kept runs are deleted. */
void lab_options_end(lab_options *options, int status);

/* Begins, and measures experiments, or a cell in place of them. lab_book_free in every case. The exit status. */
int lab_run_book(lab_book *book, lab_options *options, cli_words ids, const lab_config *cell);

/* What to measure and how, without progress, stopping and keeping. */
lab_settings lab_settings_of(const lab_options *options);

/* ---- program_names.c ---- */

/* Name number `index` of all, NULL after the last. */
typedef const char *lab_name_at(const void *context, size_t index);
lab_name_at lab_experiment_name, lab_claim_name;

/*
 * The names that the words stand for, each once, in an array with room for all names; free its list in every case. A
 * word that stands for none is an error. CLI_OK or CLI_ERROR.
 */
int lab_names_make(cli_words *names, cli_words words, lab_name_at *next);

static inline void lab_names_free(cli_words *names)
{
    free(names->list);
}

/* Adds the names that the word stands for, unless they are there. Returns how many it stands for. */
size_t lab_names_add(cli_words *names, const char *word, lab_name_at *next);

/* ---- program_apart.c ---- */

/* For lab_settings: makes one run in a process of its own. The context is the lab_options. */
int lab_run_apart(void *context, const lab_study *study, const lab_settings *settings, uint64_t run, double *numbers);

/* Whether a process of its own can read the same URLs again. */
bool lab_can_run_apart(const lab_options *options);

/* What that process does: prints the numbers of one run. The exit status. */
int lab_one_run(lab_options *options, cli_words ids);

/* ---- program_claims.c ---- */

/* Measures what these claims rest on, or all of them, and prints what was found. The exit status. */
int lab_measure_claims(lab_options *options, cli_words words);

/* ---- program_formats.c ---- */

typedef enum lab_form { LAB_TABLE, LAB_CSV, LAB_JSON, LAB_RAW } lab_form;

/* CLI_OK or CLI_ERROR, if memory ran out. */
int lab_print(cli_out *out, lab_form form, const lab_book *book);

/* The library of the lab writes CSV to a FILE: this is one that ends where all else goes. NULL without memory. */
FILE *lab_file_of(cli_out *out);

/* One line on a configuration: "jenkins, k = 3, M = 2, 2 filters, incremental". */
const char *lab_config_text(const lab_config *config, char *text, size_t room);

/* ---- program_report.c ---- */

typedef struct lab_report_options {
    const char *file;   /* NULL or "-": standard output */
    const char *plots;  /* a folder for the plots, one file each; NULL: none is written */
    const char *tables; /* a file for all figures as CSV; NULL: it is not written */
    cli_words fill;     /* IN=OUT: texts that are filled with the figures */
    cli_words ids;      /* what was asked for */
    cli_words corpus;   /* the files that the URLs come from; none: synthetic URLs */
    cli_words streams;  /* the files that are streams */
    cli_words graph;    /* the files that the link graph comes from */
    double seconds;     /* how long measuring took */
    bool continued;     /* it used runs of an interrupted command */
} lab_report_options;

/* Checks that everything can be written, before anything is measured. The exit status. */
int cli_lab_report_ready(const lab_report_options *options);

/* The book as a page. The exit status. */
int cli_lab_report(const lab_book *book, const lab_report_options *options);

/* ---- files: program_files.c ---- */

/* A text that is written as if to a file. */
typedef struct lab_page {
    FILE *to;
    char *text;
    size_t length;
} lab_page;

int lab_page_open(lab_page *page);

/* The text is complete afterwards. */
int lab_page_close(lab_page *page);

/* Begins and ends the life of a page; its owner has nothing to free. */
#define LAB_PAGE(name) LAB_OWN(lab_page_free) lab_page name = {.to = NULL}
void lab_page_free(lab_page *page);

/*
 * Writes a page to a file, or to standard output if the name is NULL or "-". A file that was there stays until the new
 * one is complete. lab_page_ready tells before anything is measured whether the file can be written.
 */
int lab_page_save(const lab_page *page, const char *name);
int lab_page_ready(const char *name);

/* Whether two names are the same regular file, so that the second output would replace the first. */
bool lab_same_file(const char *name, const char *other);

/* ---- texts: program_fill.c ---- */

/* Fills a template with the figures of a file, as 'vidi lab fill' does. The exit status. */
int lab_fill_action(cli_words words, const char *output);

/* Fills the texts of --fill, each IN=OUT, with the figures. */
int lab_fill_all(cli_words words, const lab_page *figures);

/* Whether they can be filled and written, before anything is measured. */
int lab_fill_ready(cli_words words);

/* ---- the machine: program_machine.c ---- */

/* The texts that a lab_origin points to. */
typedef struct lab_machine {
    char processor[256], cores[32], memory[64], system[512];
} lab_machine;

/* What is known about the machine and the program; the caller adds the command and the duration. */
lab_origin lab_machine_find(lab_machine *machine);

#endif
