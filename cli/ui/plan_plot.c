/*
 * The drawing: see plan_plot.h. Each column stands for an amount of memory, for which the library plans each kind, and
 * each row for a power of ten of pages lost. A cell keeps the kinds that meet in it, and those take turns from column
 * to column. Kinds that lose nothing have a row of their own below, with a symbol at the memory that they need.
 */
#include "ui/plan_plot.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ui/terminal.h"

enum { WIDTH = 60, LEAST_WIDTH = 20, ROWS = 12, LABEL_WIDTH = 7, LABEL_EVERY = 3, KINDS = 32 };

typedef struct plot {
    const vidi_plan_entry *plans;
    size_t n, width;
    uint64_t urls;
    double least_memory, most_memory; /* logarithms of the memory in the first and the last column */
    double least_lost, most_lost; /* whole logarithms to base 10 of the pages lost in the lowest and the highest row */
    char symbols[KINDS];
    double lost[KINDS][WIDTH];    /* NAN: the memory is too small for the kind */
    uint32_t cells[ROWS][WIDTH];  /* a bit for each kind */
    uint32_t nothing_lost[WIDTH]; /* the row of kinds that lose nothing */
    bool color, has_lossy, has_exact;
} plot;

/* The first letter of a kind, or another one that is still free. */
static void choose_symbols(plot *plot)
{
    for (size_t i = 0; i < plot->n; i++) {
        const char *name = plot->plans[i].kind;
        char symbol = name[0];
        if (memchr(plot->symbols, symbol, i))
            symbol = (char)toupper((unsigned char)name[0]);
        for (size_t at = 1; memchr(plot->symbols, symbol, i) && name[at]; at++)
            symbol = name[at];
        plot->symbols[i] = symbol;
    }
}

static double memory_at(const plot *plot, size_t column)
{
    double share = plot->width > 1 ? (double)column / (double)(plot->width - 1) : 0;
    return exp(plot->least_memory + share * (plot->most_memory - plot->least_memory));
}

static size_t column_of(const plot *plot, double memory)
{
    double share = (log(memory) - plot->least_memory) / (plot->most_memory - plot->least_memory);
    return share <= 0 ? 0 : share >= 1 ? plot->width - 1 : (size_t)(share * (double)(plot->width - 1) + 0.5);
}

static void compute(plot *plot, const vidi_plan_request *asked)
{
    for (size_t i = 0; i < plot->n; i++)
        for (size_t column = 0; column < plot->width; column++) {
            vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
            vidi_plan_entry answer;
            size_t n = 1;
            want.kind = plot->plans[i].kind;
            want.params = asked->params;
            want.urls = plot->urls;
            want.memory = (uint64_t)memory_at(plot, column);
            want.url_bytes = asked->url_bytes;
            bool done = vidi_plan(&want, &answer, &n) == VIDI_OK && n > 0;
            plot->lost[i][column] = done ? answer.expected_lost : (double)NAN;
        }
}

/* Puts the memory and the losses of the plans into the middle. */
static void choose_range(plot *plot)
{
    double least = INFINITY, most = 0, least_lost = INFINITY;

    for (size_t i = 0; i < plot->n; i++) {
        double bytes = (double)plot->plans[i].bytes, lost = plot->plans[i].expected_lost;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
        least_lost = lost > 0 && lost < least_lost ? lost : least_lost;
        plot->has_lossy |= lost > 0;
        plot->has_exact |= !(lost > 0);
    }
    plot->least_memory = log(least / 8 > 1 ? least / 8 : 1);
    plot->most_memory = log(most * 2 + 2);
    plot->least_lost = isfinite(least_lost) ? floor(log10(least_lost)) - 3 : -3;
}

static void place(plot *plot, size_t kind, size_t column, double lost)
{
    double share = (log10(lost) - plot->least_lost) / (plot->most_lost - plot->least_lost);

    if (share >= 0 && share <= 1)
        plot->cells[(size_t)((1 - share) * (ROWS - 1) + 0.5)][column] |= UINT32_C(1) << kind;
}

static void place_all(plot *plot)
{
    plot->most_lost = plot->least_lost + 1;
    for (size_t i = 0; i < plot->n; i++) {
        if (plot->plans[i].expected_lost > 0)
            plot->most_lost = fmax(plot->most_lost, ceil(log10(plot->plans[i].expected_lost)));
        for (size_t column = 0; column < plot->width; column++)
            if (plot->lost[i][column] > 0)
                plot->most_lost = fmax(plot->most_lost, ceil(log10(plot->lost[i][column])));
    }
    for (size_t i = 0; i < plot->n; i++) {
        size_t column = column_of(plot, (double)plot->plans[i].bytes);
        if (!(plot->plans[i].expected_lost > 0)) {
            plot->nothing_lost[column] |= UINT32_C(1) << i;
            continue;
        }
        place(plot, i, column, plot->plans[i].expected_lost);
        for (column = 0; column < plot->width; column++)
            if (plot->lost[i][column] > 0)
                place(plot, i, column, plot->lost[i][column]);
    }
}

/* ---- drawing ---- */

static void put_symbol(cli_out *out, const plot *plot, size_t kind)
{
    if (plot->color)
        cli_out_format(out, "\033[%s%dm%c\033[0m", kind == 0 ? "1;" : "", 31 + (int)(kind % 6), plot->symbols[kind]);
    else
        cli_out_bytes(out, &plot->symbols[kind], 1);
}

static void put_row(cli_out *out, const plot *plot, const char *label, const uint32_t cells[WIDTH])
{
    size_t end = plot->width;

    cli_out_format(out, "%*s |", LABEL_WIDTH, label);
    while (end > 0 && cells[end - 1] == 0)
        end--;
    for (size_t column = 0; column < end; column++) {
        int turn = cells[column] ? (int)(column % (size_t)__builtin_popcount(cells[column])) : 0;
        size_t kind = 0;
        while (cells[column] && (!(cells[column] >> kind & 1) || turn-- > 0))
            kind++;
        if (cells[column])
            put_symbol(out, plot, kind);
        else
            cli_out_text(out, " ");
    }
    cli_out_text(out, "\n");
}

static void put_axis(cli_out *out, const plot *plot)
{
    cli_number left, middle, right, urls;
    size_t half = plot->width / 2;

    cli_out_format(out, "%*s +", LABEL_WIDTH, "");
    for (size_t i = 0; i < plot->width; i++)
        cli_out_text(out, i == half || i + 1 == plot->width ? "+" : "-");
    cli_human_bytes(&left, (uint64_t)memory_at(plot, 0));
    cli_human_bytes(&middle, (uint64_t)memory_at(plot, half));
    cli_human_bytes(&right, (uint64_t)memory_at(plot, plot->width - 1));
    int to_middle = (int)(half + strlen(middle.text) / 2 - strlen(left.text));
    int to_right = (int)(plot->width - half - strlen(middle.text) / 2);
    cli_out_format(out, "\n%*s%s%*s%*s\n", LABEL_WIDTH + 2, "", left.text, to_middle, middle.text, to_right,
                   right.text);
    cli_out_format(out, "%*smemory for %s URLs\n", LABEL_WIDTH + 2, "", cli_human_count(&urls, plot->urls));
}

static void put_legend(cli_out *out, const plot *plot)
{
    size_t used = 0, room = plot->width;

    for (size_t i = 0; i < plot->n; i++) {
        size_t length = strlen(plot->plans[i].kind) + 2;
        if (used > 0 && used + 2 + length > room) {
            cli_out_text(out, "\n");
            used = 0;
        }
        cli_out_format(out, "%*s", used == 0 ? LABEL_WIDTH + 2 : 2, "");
        used += (used > 0 ? 2 : 0) + length;
        put_symbol(out, plot, i);
        cli_out_format(out, " %s", plot->plans[i].kind);
    }
    cli_out_text(out, "\n");
}

/* 10 to the power of 5.5 as "3e5". */
static void name_power(cli_number *label, double power)
{
    double exponent = floor(power + 0.02);
    int digit = (int)fmax(1, round(pow(10, power - exponent)));

    if (digit >= 10)
        snprintf(label->text, sizeof label->text, "1e%.0f", exponent + 1);
    else
        snprintf(label->text, sizeof label->text, "%de%.0f", digit, exponent);
}

static void put(cli_out *out, const plot *plot)
{
    cli_number label;

    cli_out_text(out, "\npages lost\n");
    for (size_t row = 0; row < ROWS && plot->has_lossy; row++) {
        double power = plot->most_lost - (double)row / (ROWS - 1) * (plot->most_lost - plot->least_lost);
        bool labelled = row % LABEL_EVERY == 0 || row == ROWS - 1;
        name_power(&label, power);
        put_row(out, plot, labelled ? label.text : "", plot->cells[row]);
    }
    if (plot->has_exact)
        put_row(out, plot, "0", plot->nothing_lost);
    put_axis(out, plot);
    put_legend(out, plot);
}

void cli_plot(cli_out *out, const vidi_plan_request *want, const vidi_plan_entry *plans, size_t n, bool color)
{
    plot plot = {.plans = plans, .n = n < KINDS ? n : KINDS, .color = color};
    size_t columns = cli_terminal_columns(STDOUT_FILENO);

    if (n == 0 || columns < LEAST_WIDTH + LABEL_WIDTH + 3)
        return;
    plot.width = columns - LABEL_WIDTH - 3 < WIDTH ? columns - LABEL_WIDTH - 3 : WIDTH;
    plot.urls = plans[0].urls;
    choose_symbols(&plot);
    choose_range(&plot);
    compute(&plot, want);
    place_all(&plot);
    put(out, &plot);
}
