/* A made-up table with names that must be escaped, and the report and the plot of it. */
#ifndef TESTS_LAB_REPORT_MADE_TABLES_H
#define TESTS_LAB_REPORT_MADE_TABLES_H

#include <math.h>

#include "lab/pages.h"
#include "lab/report/report.h"
#include "lab/report/svg.h"

enum { ROWS = 3, COLUMNS = 4 };

static const char *const row_names[ROWS] = {"first", "<script>alert(\"&\")</script>", "third, with a \"comma\""};
static const char *const column_names[COLUMNS] = {"1 URL", "10 URLs", "100 URLs", "1,000 URLs"};

static lab_entry entries[ROWS * COLUMNS];

/* Row r has (r + 1) 10^column, an interval around it, theory, and published values in the first row. */
static inline lab_table make_table(void)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        double value = (double)(i / COLUMNS + 1) * pow(10, (double)(i % COLUMNS));
        entries[i] = (lab_entry){.row = row_names[i / COLUMNS],
                                 .column = column_names[i % COLUMNS],
                                 .published = NAN,
                                 .theory = value,
                                 .measured = value,
                                 .low = value * 0.9,
                                 .high = value * 1.1,
                                 .runs = 3,
                                 .z = 0,
                                 .verdict = LAB_NO_FIGURE};
        if (i < COLUMNS) {
            entries[i].printed = "1.5%";
            entries[i].published = value;
            entries[i].verdict = LAB_AGREES;
        }
    }
    return (lab_table){.id = "made-up",
                       .title = "A title with <b> & \"quotes\"",
                       .source = "the <paper>, section 1",
                       .note = "A note: 5 < 6 & 7 > 6.",
                       .unit = "%",
                       .plot = {.x = "URLs <n>", .y = "rate & more", .log_x = true, .log_y = true},
                       .entries = entries,
                       .rows = ROWS,
                       .columns = COLUMNS};
}

static const lab_origin origin = {.command = "vidi lab report '<&>' \xFF",
                                  .commit = "abc",
                                  .processor = "A \"processor\"",
                                  .cores = "3",
                                  .memory = "4 <GiB>",
                                  .system = "Linux 9",
                                  .compiler = "cc 1",
                                  .libraries = "xxHash 2",
                                  .seconds = 1382};

static inline char *report_of(lab_table *tables, size_t count)
{
    lab_book book = {.settings = {.urls = 1000, .runs = 3, .seed = 1}, .tables = tables, .count = count};
    page page;
    start(&page);
    lab_report_write(page.to, &book, &origin);
    return end(&page);
}

static inline char *plot_of(const lab_table *table, bool alone)
{
    page page;
    start(&page);
    lab_svg_write(page.to, table, alone);
    return end(&page);
}

#endif
