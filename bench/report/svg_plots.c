/*
 * Writes the plots as SVG. They have no background and medium colours, to be readable on light and on dark pages.
 *
 *     bench-speed.svg   ns to add a URL against the number of URLs
 *     bench-space.svg   ns to add a URL against bits a URL, at the largest size measured; down and left is better
 *
 * Both axes are logarithmic. Every line or point has a label; labels that would overlap are moved down.
 */
#include "bench/subjects.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 820.0
#define HEIGHT 480.0
#define LEFT 64.0
#define RIGHT 190.0 /* room for labels */
#define TOP 44.0
#define BOTTOM 52.0
#define LINE_HEIGHT 14.0
#define LETTER 6.3 /* approximate width of a letter */
#define LABELS_MAX 64

typedef struct axis {
    double low, high; /* logarithms */
} axis;

typedef struct label {
    double x, y, at_x, at_y; /* position of the text, and of the point it belongs to */
    char text[48];
    const char *colour;
} label;

typedef struct plot {
    FILE *file;
    axis x, y;
    label labels[LABELS_MAX];
    size_t label_count;
} plot;

/* A group of subjects that share a colour. */
typedef struct family {
    const char *name, *colour;
    size_t
        joined; /* this many members, the first ones, are joined by a line: the same subject at several error rates */
    const char *members[4];
} family;

static const family families[] = {
    {"libbloom", "#e5534b", 3, {"libbloom 1e-2", "libbloom 1e-4", "libbloom 1e-6"}},
    {"Guava", "#b08800", 2, {"Guava 1e-2", "Guava 1e-4"}},
    {"classic", "#8957e5", 3, {"classic 1e-2", "classic 1e-4", "classic 1e-6"}},
    {"blocked", "#2f81f7", 3, {"blocked 1e-2", "blocked 1e-4", "blocked 1e-6"}},
    {"fingerprint", "#2da44e", 2, {"fingerprint 1e-6", "fingerprint", "fingerprint, grown"}},
    {"absl", "#d9730d", 0, {"absl batched, 2 MiB pages", "absl batched", "absl batched, grown"}},
    {"robin-map", "#8b949e", 0, {"robin-map batched"}},
    {"khash", "#8b949e", 0, {"khash batched"}},
    {"unordered_set", "#8b949e", 0, {"unordered_set"}},
};
#define FAMILIES (sizeof families / sizeof families[0])

#define LIMIT "one random line of memory"

/* The lines of the plot over the number of URLs. */
static const char *const lines[] = {LIMIT,          "libbloom 1e-2", "libbloom 1e-4", "classic 1e-2",
                                    "blocked 1e-2", "blocked 1e-4",  "fingerprint",   "fingerprint, grown",
                                    "absl batched", "absl",          "unordered_set", "absl batched, grown"};
#define LINES (sizeof lines / sizeof lines[0])

static const char *colour_of(const char *name)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (strncmp(name, families[i].name, strlen(families[i].name)) == 0)
            return families[i].colour;
    return "#8b949e";
}

static double x_of(const plot *plot, double value)
{
    return LEFT + (log10(value) - plot->x.low) / (plot->x.high - plot->x.low) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const plot *plot, double value)
{
    return HEIGHT - BOTTOM - (log10(value) - plot->y.low) / (plot->y.high - plot->y.low) * (HEIGHT - TOP - BOTTOM);
}

static void widen(axis *axis, double value)
{
    double at = log10(value);
    axis->low = at < axis->low ? at : axis->low;
    axis->high = at > axis->high ? at : axis->high;
}

static void pad(axis *axis, double by)
{
    axis->low -= by;
    axis->high += by;
}

static const bench_result *measured(const bench_run *run, const char *name, size_t size)
{
    const bench_subject *subject = name ? bench_find(run, name) : NULL;
    const bench_result *result = subject ? &subject->results[size] : NULL;
    return result && result->series[BENCH_URLS][BENCH_ADD].rounds ? result : NULL;
}

static double ns_of(const bench_result *result)
{
    return bench_best(&result->series[BENCH_URLS][BENCH_ADD]);
}

static double bits_of(const bench_result *result)
{
    return (double)result->bytes * 8 / (double)result->n;
}

static bool begin(plot *plot, const char *folder, const char *name, const char *title)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || !(plot->file = fopen(path, "w")))
        return false;
    fprintf(plot->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\">\n<title>%s</title>\n"
            "<style>text{font:12px sans-serif;fill:#6e7781}.title{font-size:14px;font-weight:bold}"
            ".grid{stroke:#8b949e;stroke-opacity:.3}.lead{stroke:#8b949e;stroke-opacity:.6}"
            "@media(prefers-color-scheme:dark){text{fill:#9ea7b3}}</style>\n"
            "<text class=\"title\" x=\"%g\" y=\"22\">%s</text>\n",
            WIDTH, HEIGHT, title, LEFT, title);
    return true;
}

/* "20", "10 million". */
static void number(char text[32], double value)
{
    if (value < 1e6)
        snprintf(text, 32, "%g", value);
    else
        snprintf(text, 32, "%g %s", value < 1e9 ? value / 1e6 : value / 1e9, value < 1e9 ? "million" : "billion");
}

/* Draws a horizontal or vertical grid line and its number. */
static void tick(plot *plot, double value, bool upright)
{
    char text[32];
    number(text, value);
    double x = x_of(plot, value), y = y_of(plot, value);
    if (upright)
        fprintf(plot->file,
                "<path class=\"grid\" d=\"M%.1f %gV%g\"/><text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n",
                x, TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18, text);
    else
        fprintf(plot->file,
                "<path class=\"grid\" d=\"M%g %.1fH%g\"/><text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                LEFT, y, WIDTH - RIGHT, LEFT - 8, y + 4, text);
}

static void ticks(plot *plot, const axis *axis, bool upright, bool fine)
{
    static const double steps[] = {1, 2, 5};
    for (int power = (int)floor(axis->low); power <= (int)ceil(axis->high); power++)
        for (size_t i = 0; i < (fine ? 3 : 1); i++) {
            double value = steps[i] * pow(10, power);
            if (log10(value) >= axis->low - 1e-9 && log10(value) <= axis->high + 1e-9)
                tick(plot, value, upright);
        }
}

static void axes(plot *plot, const char *x_name, const char *y_name, bool fine_x)
{
    ticks(plot, &plot->x, true, fine_x);
    ticks(plot, &plot->y, false, true);
    fprintf(plot->file, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 12, x_name);
    fprintf(plot->file, "<text transform=\"translate(16 %g) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
            (TOP + HEIGHT - BOTTOM) / 2, y_name);
}

static void point(plot *plot, double x, double y, const char *colour)
{
    fprintf(plot->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x, y, colour);
}

static void stroke(plot *plot, double x1, double y1, double x2, double y2, const char *colour)
{
    fprintf(plot->file, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"2\" stroke-opacity=\".7\"/>\n",
            x1, y1, x2, y2, colour);
}

static void name_it(plot *plot, double x, double y, const char *text, const char *colour)
{
    if (plot->label_count == LABELS_MAX)
        return;
    label *label = &plot->labels[plot->label_count++];
    *label = (struct label){.x = x + 10, .y = y + 4, .at_x = x, .at_y = y, .colour = colour};
    snprintf(label->text, sizeof label->text, "%s", text);
}

static int higher(const void *a, const void *b)
{
    const label *one = a, *two = b;
    return (one->y > two->y) - (one->y < two->y);
}

static bool overlap(const label *one, const label *two)
{
    double one_end = one->x + LETTER * (double)strlen(one->text), two_end = two->x + LETTER * (double)strlen(two->text);
    return one->x < two_end && two->x < one_end && fabs(one->y - two->y) < LINE_HEIGHT;
}

/* Places the labels from the top down, each as high as those above allow. */
static void place_names(plot *plot)
{
    qsort(plot->labels, plot->label_count, sizeof plot->labels[0], higher);
    for (size_t i = 0; i < plot->label_count; i++)
        for (size_t j = 0; j < i; j++)
            if (overlap(&plot->labels[i], &plot->labels[j])) {
                plot->labels[i].y = plot->labels[j].y + LINE_HEIGHT;
                j = (size_t)-1; /* it may overlap another one now: check all again */
            }
}

static int finish(plot *plot)
{
    place_names(plot);
    for (size_t i = 0; i < plot->label_count; i++) {
        const label *label = &plot->labels[i];
        if (fabs(label->y - 4 - label->at_y) > 5)
            fprintf(plot->file, "<path class=\"lead\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", label->at_x + 5, label->at_y,
                    label->x - 2, label->y - 4);
        fprintf(plot->file, "<text x=\"%.1f\" y=\"%.1f\" style=\"fill:%s\">%s</text>\n", label->x, label->y,
                label->colour, label->text);
    }
    fprintf(plot->file, "</svg>\n");
    bool failed = ferror(plot->file);
    return fclose(plot->file) || failed ? -1 : 0;
}

/* ns at one size; 0: not measured. LIMIT is the machine's limit with the working set of `fingerprint`. */
static double speed_at(const bench_run *run, const char *name, size_t size)
{
    bool limit = strcmp(name, LIMIT) == 0;
    const bench_result *result = measured(run, limit ? "fingerprint" : name, size);
    if (!result || (limit && !result->limit[0].rounds))
        return 0;
    return limit ? bench_best(&result->limit[0]) : ns_of(result);
}

/* Draws one subject over the sizes, with its label at the last. */
static void speed_line(plot *plot, const bench_run *run, const char *name)
{
    const char *colour = colour_of(name);
    double last_x = 0, last_y = 0;
    for (size_t size = 0; size < run->size_count; size++) {
        double ns = speed_at(run, name, size);
        if (!(ns > 0))
            continue;
        double x = x_of(plot, (double)run->sizes[size]), y = y_of(plot, ns);
        if (last_x > 0)
            stroke(plot, last_x, last_y, x, y, colour);
        point(plot, x, y, colour);
        last_x = x;
        last_y = y;
    }
    if (last_x > 0)
        name_it(plot, last_x, last_y, name, colour);
}

static int speed(const bench_run *run, const char *folder)
{
    static plot plot;
    plot = (struct plot){.x = {99, -99}, .y = {99, -99}};
    for (size_t i = 0; i < LINES; i++)
        for (size_t size = 0; size < run->size_count; size++)
            if (speed_at(run, lines[i], size) > 0) {
                widen(&plot.x, (double)run->sizes[size]);
                widen(&plot.y, speed_at(run, lines[i], size));
            }
    if (plot.x.low > plot.x.high)
        return 0;
    pad(&plot.x, plot.x.high - plot.x.low < 0.1 ? 0.5 : 0.05);
    pad(&plot.y, 0.1);
    if (!begin(&plot, folder, "bench-speed.svg", "Time to add a URL, one thread"))
        return -1;
    axes(&plot, "URLs in the set", "ns a URL", false);
    for (size_t i = 0; i < LINES; i++)
        speed_line(&plot, run, lines[i]);
    return finish(&plot);
}

static void space_line(plot *plot, const bench_run *run, const family *family, size_t size)
{
    double last_x = 0, last_y = 0;
    for (size_t i = 0; i < 4 && family->members[i]; i++) {
        const bench_result *result = measured(run, family->members[i], size);
        if (!result)
            continue;
        double x = x_of(plot, bits_of(result)), y = y_of(plot, ns_of(result));
        if (last_x > 0 && i < family->joined)
            stroke(plot, last_x, last_y, x, y, family->colour);
        point(plot, x, y, family->colour);
        name_it(plot, x, y, family->members[i], family->colour);
        last_x = x;
        last_y = y;
    }
}

static int space(const bench_run *run, const char *folder)
{
    static plot plot;
    char title[96], count[32];
    size_t size = run->size_count - 1;
    number(count, (double)run->sizes[size]);
    plot = (struct plot){.x = {99, -99}, .y = {99, -99}};
    for (size_t i = 0; i < FAMILIES; i++)
        for (size_t j = 0; j < 4; j++) {
            const bench_result *result = measured(run, families[i].members[j], size);
            if (!result)
                continue;
            widen(&plot.x, bits_of(result));
            widen(&plot.y, ns_of(result));
        }
    if (plot.x.low > plot.x.high)
        return 0;
    pad(&plot.x, 0.05);
    pad(&plot.y, 0.1);
    snprintf(title, sizeof title, "Space and time at %s URLs: down and left is better", count);
    if (!begin(&plot, folder, "bench-space.svg", title))
        return -1;
    axes(&plot, "bits a URL", "ns to add a URL", true);
    for (size_t i = 0; i < FAMILIES; i++)
        space_line(&plot, run, &families[i], size);
    return finish(&plot);
}

int bench_plots(const bench_run *run, const char *folder)
{
    return speed(run, folder) < 0 || space(run, folder) < 0 ? -1 : 0;
}
