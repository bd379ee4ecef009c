/* How what the lab has found is printed: lab_forms.c, and lab_report.c. */
#ifndef VIDI_CLI_LAB_H
#define VIDI_CLI_LAB_H

#include "lab/report.h"
#include "lab/study.h"
#include "lab/svg.h"
#include "output.h"

typedef enum lab_form { LAB_TABLE, LAB_CSV, LAB_JSON, LAB_RAW } lab_form;

/* CLI_OK or CLI_ERROR, if memory ran out. */
int lab_print(cli_out *out, lab_form form, const lab_book *book);

/* One line on a configuration: "jenkins, k = 3, M = 2, 2 filters, incremental". */
const char *lab_config_text(const lab_config *config, char *text, size_t room);

typedef struct lab_report_options {
    const char *file;  /* NULL or "-": standard output */
    const char *plots; /* a folder for the plots, one file each; NULL: none is written */
    cli_words ids;     /* what was asked for */
    cli_words corpus;  /* the files that URLs came from; none: they are made up */
} lab_report_options;

/* Whether a page can be put there, before anything is measured for it. The exit status. */
int cli_lab_report_ready(const lab_report_options *options);

/* The book as a page. The exit status. */
int cli_lab_report(const lab_book *book, const lab_report_options *options);

#endif
