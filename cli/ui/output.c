/*
 * Output: see output.h.
 */
#include "ui/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/utf8.h"

enum { OUT_ROOM = 256 * 1024 };

/* ---- writing ---- */

/* Writes everything, in as many calls as the kernel needs, and counts it in *written. 0 or errno. */
static int write_all(int fd, const char *bytes, size_t length, uint64_t *written)
{
    while (length > 0) {
        ssize_t wrote = write(fd, bytes, length);
        if (wrote >= 0) {
            bytes += wrote;
            length -= (size_t)wrote;
            *written += (uint64_t)wrote;
        } else if (errno == EAGAIN) {
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            (void)poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static int send_all(cli_out *out, const char *bytes, size_t length)
{
    return out->send ? out->send(out, bytes, length) : write_all(out->fd, bytes, length, &out->written);
}

void cli_out_init(cli_out *out, int fd)
{
    *out = (cli_out){.fd = fd, .buffer = malloc(OUT_ROOM)};
    if (!out->buffer)
        out->error = ENOMEM;
}

int cli_out_flush(cli_out *out)
{
    if (out->error == 0 && out->used > 0)
        out->error = send_all(out, out->buffer, out->used);
    out->used = 0;
    return out->error == 0 ? CLI_OK : out->error == EPIPE ? CLI_PIPE : CLI_ERROR;
}

void cli_out_bytes(cli_out *out, const char *bytes, size_t length)
{
    if (length > OUT_ROOM - out->used)
        cli_out_flush(out);
    if (out->error != 0)
        return;
    if (length > OUT_ROOM) {
        out->error = send_all(out, bytes, length);
        return;
    }
    memcpy(out->buffer + out->used, bytes, length);
    out->used += length;
}

void cli_out_text(cli_out *out, const char *text)
{
    cli_out_bytes(out, text, strlen(text));
}

__attribute__((format(printf, 2, 0))) static void out_formatted(cli_out *out, const char *format, va_list arguments)
{
    char *text;
    int length = vasprintf(&text, format, arguments);

    if (length < 0) {
        out->error = out->error ? out->error : ENOMEM;
        return;
    }
    cli_out_bytes(out, text, (size_t)length);
    free(text);
}

void cli_out_format(cli_out *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    out_formatted(out, format, arguments);
    va_end(arguments);
}

int cli_out_close(cli_out *out)
{
    int status = cli_out_flush(out);

    const char *stream = out->fd == STDOUT_FILENO ? "standard output" : "standard error";

    if (status == CLI_ERROR)
        cli_error("cannot write %s: %s", out->name ? out->name : stream, strerror(out->error));
    free(out->buffer);
    out->buffer = NULL;
    return status;
}

int cli_out_end(cli_out *out, int status)
{
    int closed = cli_out_close(out);
    return status != CLI_OK ? status : closed;
}

int cli_print_result(const char *format, ...)
{
    cli_out out;
    va_list arguments;

    cli_out_init(&out, STDOUT_FILENO);
    va_start(arguments, format);
    out_formatted(&out, format, arguments);
    va_end(arguments);
    return cli_out_close(&out);
}

/* ---- text ---- */

void cli_clean(char *text)
{
    size_t length = strlen(text), to = 0;

    for (size_t at = 0; at < length;) {
        size_t bytes = utf8_length(text + at, length - at);
        bool harmless = bytes > 0 && !utf8_is_control(utf8_code(text + at, bytes));
        if (harmless)
            memmove(text + to, text + at, bytes);
        else
            text[to] = '?';
        to += harmless ? bytes : 1;
        at += bytes ? bytes : 1;
    }
    text[to] = 0;
}

/* ---- messages ---- */

static bool colors, silent;

int cli_color_on(int fd, const char *when, bool *on)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    *on = isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
    if (!when || strcmp(when, "auto") == 0)
        return CLI_OK;
    *on = strcmp(when, "always") == 0;
    if (!*on && strcmp(when, "never") != 0)
        return cli_error("--color is 'auto', 'always' or 'never', not '%s'", when);
    return CLI_OK;
}

int cli_color_set(const char *when)
{
    return cli_color_on(STDERR_FILENO, when, &colors);
}

bool cli_color(void)
{
    return colors;
}

/* Prints a message after the word for its sort, which has a colour if colours are on. */
__attribute__((format(printf, 3, 0))) static void say(const char *sort, const char *color, const char *format,
                                                      va_list arguments)
{
    char *message, *line;
    uint64_t ignored = 0;

    if (vasprintf(&message, format, arguments) < 0)
        return;
    cli_clean(message);
    int length = asprintf(&line, "%s%s%s %s\n", colors ? color : "", sort, colors ? "\033[0m" : "", message);
    free(message);
    if (length < 0)
        return;
    (void)write_all(STDERR_FILENO, line, (size_t)length, &ignored);
    free(line);
}

int cli_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("vidi:", "\033[1;31m", format, arguments);
    va_end(arguments);
    return CLI_ERROR;
}

void cli_warnings_off(void)
{
    silent = true;
}

void cli_warning(const char *format, ...)
{
    va_list arguments;

    if (silent)
        return;
    va_start(arguments, format);
    say("vidi: warning:", "\033[1;33m", format, arguments);
    va_end(arguments);
}

int cli_library_error(int error)
{
    const char *message = vidi_message();
    return cli_error("%s", message && *message ? message : vidi_strerror(error));
}

int cli_library_status(int error)
{
    return error < 0 ? cli_library_error(error) : CLI_OK;
}

/* ---- numbers for people ---- */

const char *cli_human_count(cli_number *number, uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = number->text;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return number->text;
}

/* "1e+09" and "1e-06" as people write them: "1e9", "1e-6". */
static void tidy_exponent(char *text)
{
    char *from = strchr(text, 'e'), *to = from;

    if (!from)
        return;
    to++;
    from++;
    if (*from == '-')
        *to++ = *from;
    from += strspn(from, "+-0");
    memmove(to, from, strlen(from) + 1);
}

const char *cli_human_real(cli_number *number, double value)
{
    if (value >= 999.5 && value < 1e15)
        return cli_human_count(number, (uint64_t)llround(value));
    snprintf(number->text, sizeof number->text, "%.3g", value);
    tidy_exponent(number->text);
    return number->text;
}

const char *cli_human_bytes(cli_number *number, uint64_t value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)value;
    size_t unit = 0;

    while (amount >= 1023.5 && unit + 1 < sizeof units / sizeof *units) {
        amount /= 1024;
        unit++;
    }
    int decimals = unit == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
    snprintf(number->text, sizeof number->text, "%.*f %s", decimals, amount, units[unit]);
    return number->text;
}

const char *cli_human_short(cli_number *number, double value)
{
    static const char units[] = " kMGT";
    size_t unit = 0;

    while (value >= 999.5 && units[unit + 1]) {
        value /= 1000;
        unit++;
    }
    if (unit == 0)
        snprintf(number->text, sizeof number->text, "%.0f", value);
    else
        snprintf(number->text, sizeof number->text, "%.*f%c",
                 value < 9.995   ? 2
                 : value < 99.95 ? 1
                                 : 0,
                 value, units[unit]);
    return number->text;
}

const char *cli_human_time(cli_number *number, double seconds)
{
    if (seconds < 99.5)
        snprintf(number->text, sizeof number->text, "%.*f s", seconds < 9.95 ? 1 : 0, seconds);
    else if (seconds < 5970)
        snprintf(number->text, sizeof number->text, "%.0f min", seconds / 60);
    else
        snprintf(number->text, sizeof number->text, "%.1f h", seconds / 3600);
    return number->text;
}

const char *cli_shortest_real(cli_number *number, double value)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(number->text, sizeof number->text, "%.*g", digits, value);
        if (strtod(number->text, NULL) == value)
            break;
    }
    tidy_exponent(number->text);
    return number->text;
}

const char *cli_meaning_sign(uint32_t fp_meaning)
{
    return fp_meaning == VIDI_FP_EXACT ? "" : fp_meaning == VIDI_FP_AT_MOST ? "<=" : "~";
}

const char *cli_meaning_name(uint32_t fp_meaning)
{
    return fp_meaning == VIDI_FP_EXACT ? "exact" : fp_meaning == VIDI_FP_AT_MOST ? "at most" : "about";
}

/* Three digits, but never more than six decimals, and no zeros at the end. */
static void format_lost(char *text, size_t room, double lost)
{
    int decimals = lost >= 1 ? 2 - (int)log10(lost) : 2 - (int)floor(log10(lost));

    snprintf(text, room, "%.*f", decimals < 0 ? 0 : decimals > 6 ? 6 : decimals, lost);
    if (!strchr(text, '.'))
        return;
    for (size_t end = strlen(text); text[end - 1] == '0' || text[end - 1] == '.';) {
        bool point = text[--end] == '.';
        text[end] = 0;
        if (point)
            break;
    }
}

const char *cli_human_lost(cli_number *number, double lost, uint32_t fp_meaning)
{
    const double least = 1e-6;
    cli_number value;

    if (lost > 0 && lost < least) {
        snprintf(number->text, sizeof number->text, "less than 0.000001");
        return number->text;
    }
    if (lost >= least && lost < 999.5)
        format_lost(value.text, sizeof value.text, lost);
    else
        cli_human_real(&value, lost);
    snprintf(number->text, sizeof number->text, "%s%.30s", cli_meaning_sign(fp_meaning), value.text);
    return number->text;
}

const char *cli_human_expected(cli_number *number, double lost, const char *meaning)
{
    cli_number value;
    bool plain = strcmp(meaning, "exact") == 0 || lost < 1e-6; /* such a number is "0" or "less than ..." */

    cli_human_lost(&value, lost, VIDI_FP_EXACT);
    snprintf(number->text, sizeof number->text, "%s%s%.25s", plain ? "" : meaning, plain ? "" : " ", value.text);
    return number->text;
}

/* ---- capabilities ---- */

static const struct {
    uint32_t bit;
    char letter;
    const char *word;
} capabilities[] = {{VIDI_CAN_DELETE, 'd', "delete"}, {VIDI_CAN_COUNT, 'c', "count"},
                    {VIDI_CAN_MERGE, 'm', "merge"},   {VIDI_CAN_ITERATE, 'l', "iterate"},
                    {VIDI_CAN_GROW, 'g', "grow"},     {VIDI_IS_CONCURRENT, 'p', "concurrent"}};

enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

_Static_assert(CLI_CAN_LETTERS == CAPABILITIES + 1, "there is room for every letter");

const char *cli_human_can(char text[64], uint32_t can)
{
    size_t used = 0;

    for (size_t i = 0; i < CAPABILITIES; i++)
        if (can & capabilities[i].bit)
            used += (size_t)snprintf(text + used, 64 - used, "%s%s", used ? "," : "", capabilities[i].word);
    if (used == 0)
        snprintf(text, 64, "-");
    return text;
}

const char *cli_can_letters(char text[CLI_CAN_LETTERS], uint32_t can)
{
    for (size_t i = 0; i < CAPABILITIES; i++)
        text[i] = (char)(can & capabilities[i].bit ? capabilities[i].letter : '-');
    text[CAPABILITIES] = 0;
    return text;
}

/* ---- JSON ---- */

static void put_json(void *out, const char *bytes, size_t n)
{
    cli_out_bytes(out, bytes, n);
}

json_writer cli_json_to(cli_out *out)
{
    return (json_writer){.put = put_json, .to = out};
}

json_writer cli_json_begin(cli_out *out)
{
    json_writer json = cli_json_to(out);

    json_open(&json, NULL, '{');
    return json;
}

void cli_json_end(json_writer *json)
{
    json_close(json, '}');
    cli_out_text(json->to, "\n");
}

void cli_json_text(json_writer *json, const char *key, vidi_str text)
{
    json_add_text(json, key, text.ptr, text.len);
}

void cli_json_can(json_writer *json, const char *key, uint32_t can)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < CAPABILITIES; i++)
        if (can & capabilities[i].bit)
            json_add_string(json, NULL, capabilities[i].word);
    json_close(json, ']');
}

/* ---- tables ---- */

void cli_table_cell(cli_table *table, const char *format, ...)
{
    va_list arguments;

    if (table->used == table->room) {
        size_t room = table->room * 2 + 64;
        char **cells = realloc(table->cells, room * sizeof *cells);
        table->failed |= !cells;
        if (!cells)
            return;
        table->cells = cells;
        table->room = room;
    }
    va_start(arguments, format);
    int length = vasprintf(&table->cells[table->used], format, arguments);
    va_end(arguments);
    if (length >= 0)
        cli_clean(table->cells[table->used]);
    table->failed |= length < 0;
    table->used += length >= 0;
}

void cli_table_text(cli_table *table, const char *label, const char *text)
{
    cli_table_cell(table, "%s", label);
    cli_table_cell(table, "%s", text);
}

void cli_table_count(cli_table *table, const char *label, uint64_t count)
{
    cli_number number;
    cli_table_text(table, label, cli_human_count(&number, count));
}

void cli_table_bytes(cli_table *table, const char *label, uint64_t bytes)
{
    cli_number number;
    cli_table_text(table, label, cli_human_bytes(&number, bytes));
}

static void table_real(cli_table *table, const char *label, double value)
{
    cli_number number;
    cli_table_text(table, label, cli_human_real(&number, value));
}

void cli_json_figures(json_writer *json, const cli_figure *figures, size_t n)
{
    for (const cli_figure *figure = figures; figure < figures + n; figure++) {
        if (!figure->key)
            continue;
        if (figure->is == CLI_IS_TEXT)
            json_add_string(json, figure->key, figure->text);
        else if (figure->is == CLI_IS_COUNT || figure->is == CLI_IS_BYTES)
            json_add_count(json, figure->key, figure->count);
        else
            json_add_real(json, figure->key, figure->real);
    }
}

static void figure_row(cli_table *table, const cli_figure *figure)
{
    if (figure->is == CLI_IS_COUNT) {
        cli_table_count(table, figure->label, figure->count);
    } else if (figure->is == CLI_IS_BYTES) {
        cli_table_bytes(table, figure->label, figure->count);
    } else if (figure->is == CLI_IS_REAL) {
        table_real(table, figure->label, figure->real);
    } else if (figure->is == CLI_IS_TEXT) {
        cli_table_text(table, figure->label, figure->text);
    } else {
        cli_table_cell(table, "%s", figure->label);
        cli_table_cell(table, "%.3f", figure->real);
    }
}

int cli_figures_print(const cli_figure *figures, size_t n, bool json)
{
    cli_out err;
    cli_table table = {.layout = "ll"};

    cli_out_init(&err, STDERR_FILENO);
    if (json) {
        json_writer object = cli_json_begin(&err);
        cli_json_figures(&object, figures, n);
        cli_json_end(&object);
        return cli_out_close(&err);
    }
    for (size_t i = 0; i < n; i++)
        if (figures[i].label)
            figure_row(&table, &figures[i]);
    return cli_out_end(&err, cli_table_print(&table, &err));
}

void cli_table_heads(cli_table *table, const char *const *heads)
{
    for (size_t i = 0; table->layout[i]; i++)
        cli_table_cell(table, "%s", heads[i]);
}

static size_t column_width(const cli_table *table, size_t column, size_t columns)
{
    size_t width = 0;

    for (size_t i = column; i < table->used; i += columns) {
        size_t length = strlen(table->cells[i]);
        width = length > width ? length : width;
    }
    return width;
}

int cli_table_print(cli_table *table, cli_out *out)
{
    size_t columns = strlen(table->layout);

    for (size_t i = 0; i < table->used && !table->failed; i++) {
        size_t column = i % columns;
        bool last = column + 1 == columns;
        int width = last && table->layout[column] == 'l' ? 0 : (int)column_width(table, column, columns);
        cli_out_format(out, "%*s%s", table->layout[column] == 'r' ? width : -width, table->cells[i],
                       last ? "\n" : "  ");
    }
    for (size_t i = 0; i < table->used; i++)
        free(table->cells[i]);
    free(table->cells);
    bool failed = table->failed;
    *table = (cli_table){.layout = table->layout};
    return failed ? cli_error("out of memory") : CLI_OK;
}
