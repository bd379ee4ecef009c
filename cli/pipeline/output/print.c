/*
 * Printing of lines, URLs, verdicts and counts: see print.h.
 */
#include "pipeline/output/print.h"

#include <stdlib.h>
#include <string.h>

#include "ui/options.h"

int cli_print_parse(const char *word, cli_print *what)
{
    static const char *const words[] = {[CLI_PRINT_LINE] = "line",
                                        [CLI_PRINT_URL] = "url",
                                        [CLI_PRINT_CANONICAL] = "canonical",
                                        [CLI_PRINT_VERDICT] = "verdict",
                                        NULL};
    uint32_t place;
    int status = cli_option_choose("print", word, words, &place);

    *what = (cli_print)place;
    return status;
}

/* ---- lines on their way ---- */

/* Where the next byte of output goes. */
static uint64_t position(const cli_printer *printer)
{
    return printer->out.written + printer->out.used;
}

/* The mark before the URL of a line. */
static uint64_t mark_before(const cli_printer *printer, const cli_slot *slot, size_t i)
{
    return i > 0 ? slot->marks[i - 1] : printer->lines->mark;
}

static int add_line(cli_printer *printer, uint64_t end, uint64_t mark)
{
    return cli_undelivered_add(printer->lines, end, mark) ? CLI_OK : cli_error("out of memory");
}

/* Adds a run of lines that will be printed as they are. */
static int add_run(cli_printer *printer, const cli_slot *slot, size_t first, size_t after)
{
    const vidi_str *lines = slot->block.lines;
    uint64_t begin = position(printer);
    int status = CLI_OK;

    for (size_t i = first; printer->lines && i < after && status == CLI_OK; i++)
        status = add_line(printer, begin + (uint64_t)(cli_line_end(lines[i]) - lines[first].ptr),
                          mark_before(printer, slot, i));
    return status;
}

/* Adds the output of one URL. The text of a JSON string can have ends of lines in it: then it is several lines. */
static int add_text(cli_printer *printer, const cli_slot *slot, size_t i, vidi_str text)
{
    uint64_t begin = position(printer), mark;
    const char *at = text.ptr, *end = text.ptr + text.len;

    if (!printer->lines)
        return CLI_OK;
    mark = mark_before(printer, slot, i);
    while (at < end && (at = memchr(at, printer->end, (size_t)(end - at))) != NULL)
        CLI_TRY(add_line(printer, begin + (uint64_t)(++at - text.ptr), mark));
    return add_line(printer, begin + text.len + 1, mark);
}

int cli_printer_put_header(cli_printer *printer)
{
    if (!printer->header || printer->header_put || printer->what != CLI_PRINT_LINE)
        return CLI_OK;
    if (printer->counts)
        cli_out_format(&printer->out, "%7s ", "count");
    if (printer->lines && add_line(printer, position(printer) + printer->header_length, printer->lines->mark) != CLI_OK)
        return CLI_ERROR;
    cli_out_bytes(&printer->out, printer->header, printer->header_length);
    printer->header_put = true;
    return CLI_OK;
}

/* ---- lines and URLs ---- */

/* The next neighbours with the wanted verdict, from line *i on: where they begin. *i becomes the line after them. */
static size_t next_run(const cli_printer *printer, const cli_slot *slot, size_t *i)
{
    const uint8_t *verdicts = slot->verdicts, wanted = printer->wanted;
    size_t first = *i, n = slot->block.count;

    while (first < n && verdicts[first] != wanted)
        first++;
    size_t after = first;
    while (after < n && verdicts[after] == wanted)
        after++;
    *i = after;
    return first;
}

/* Copies the lines with the wanted verdict, a run of neighbours at a time. */
static int put_lines(cli_printer *printer, const cli_slot *slot)
{
    const vidi_str *lines = slot->block.lines;

    for (size_t i = 0, first; (first = next_run(printer, slot, &i)) < i;) {
        const char *begin = lines[first].ptr;
        CLI_TRY(add_run(printer, slot, first, i));
        cli_out_bytes(&printer->out, begin, (size_t)(cli_line_end(lines[i - 1]) - begin));
    }
    return CLI_OK;
}

bool cli_printer_can_pack(const cli_printer *printer)
{
    return printer->what == CLI_PRINT_LINE && !printer->counts && !printer->lines;
}

size_t cli_printer_pack(const cli_printer *printer, cli_slot *slot)
{
    const vidi_str *lines = slot->block.lines;
    size_t used = 0;

    for (size_t i = 0, first; (first = next_run(printer, slot, &i)) < i;) {
        const char *begin = lines[first].ptr;
        size_t length = (size_t)(cli_line_end(lines[i - 1]) - begin);
        memmove(slot->block.bytes + used, begin, length);
        used += length;
    }
    return used;
}

static void put_text(cli_printer *printer, vidi_str text)
{
    cli_out_bytes(&printer->out, text.ptr, text.len);
    cli_out_bytes(&printer->out, &printer->end, 1);
}

/* Writes the canonical form to printer->text. A URL that has none stands for itself. */
static int make_form(cli_printer *printer, vidi_str url, vidi_str *form)
{
    for (;;) {
        size_t len = printer->text_room;
        int result = vidi_url_canon(printer->form, url, NULL, printer->text, &len);
        *form = result == VIDI_OK ? (vidi_str){printer->text, len} : url;
        if (result != VIDI_ELIMIT || len <= printer->text_room)
            return result < 0 ? cli_library_error(result) : CLI_OK;
        char *text = realloc(printer->text, len);
        if (!text)
            return cli_error("out of memory");
        printer->text = text;
        printer->text_room = len;
    }
}

static int put_urls(cli_printer *printer, const cli_slot *slot)
{
    for (size_t i = 0; i < slot->block.count; i++)
        if (slot->verdicts[i] == printer->wanted) {
            vidi_str url = slot->urls[i];
            if (printer->what == CLI_PRINT_CANONICAL && make_form(printer, url, &url) != CLI_OK)
                return CLI_ERROR;
            CLI_TRY(add_text(printer, slot, i, url));
            put_text(printer, url);
        }
    return CLI_OK;
}

/* ---- verdicts ---- */

/* Lines that were not looked up, because an error came before them, get no answer. */
static int put_verdicts(cli_printer *printer, const cli_slot *slot)
{
    static const char *const words[] = {[VIDI_NEW] = "new", [VIDI_SEEN] = "seen", [VIDI_INVALID] = "invalid"};

    for (size_t i = 0; i < slot->block.count; i++)
        if (slot->verdicts[i] != VIDI_UNTRIED) {
            const char *word = words[slot->verdicts[i]];
            vidi_str text = {word, strlen(word)};
            CLI_TRY(add_text(printer, slot, i, text));
            put_text(printer, text);
        }
    return CLI_OK;
}

/* ---- counts ---- */

/* What is kept before the bytes of a line. The same field may have another number in each file. */
typedef struct kept_line {
    size_t length;
    uint64_t field;
} kept_line;

/* Keeps the first line of each URL. */
static int keep_lines(cli_printer *printer, const cli_slot *slot)
{
    for (size_t i = 0; i < slot->block.count; i++) {
        vidi_str line = slot->block.lines[i];
        kept_line about = {line.len, slot->extract.lookup.field};
        if (slot->verdicts[i] != VIDI_NEW)
            continue;
        if (printer->kept_room - printer->kept_used < sizeof about + line.len) {
            size_t room = (printer->kept_room + line.len) * 2 + CLI_BLOCK_BYTES;
            char *kept = realloc(printer->kept, room);
            if (!kept)
                return cli_error("out of memory: --count keeps every URL");
            printer->kept = kept;
            printer->kept_room = room;
        }
        memcpy(printer->kept + printer->kept_used, &about, sizeof about);
        memcpy(printer->kept + printer->kept_used + sizeof about, line.ptr, line.len);
        printer->kept_used += sizeof about + line.len;
    }
    return CLI_OK;
}

static int put_count(cli_printer *printer, const vidi_set *set, vidi_str line, vidi_str url)
{
    uint64_t times = 0;
    int error = vidi_count(set, url, &times);

    if (error < 0)
        return cli_library_error(error);
    if (printer->repeats_only && times < 2)
        return CLI_OK;
    if (printer->what == CLI_PRINT_URL)
        line = url;
    if (printer->what == CLI_PRINT_CANONICAL && make_form(printer, url, &line) != CLI_OK)
        return CLI_ERROR;
    cli_out_format(&printer->out, "%7llu ", (unsigned long long)times);
    put_text(printer, line);
    return printer->out.error ? cli_out_flush(&printer->out) : CLI_OK;
}

int cli_printer_put_counts(cli_printer *printer, const vidi_set *set, const cli_extract *extract)
{
    cli_unquoted unquoted = {0};
    cli_lookup lookup = extract->lookup;
    int status = cli_printer_put_header(printer);

    for (size_t at = 0; at < printer->kept_used && status == CLI_OK;) {
        kept_line about;
        memcpy(&about, printer->kept + at, sizeof about);
        vidi_str line = {printer->kept + at + sizeof about, about.length}, url = line;
        at += sizeof about + line.len;
        lookup.field = about.field;
        if (extract->active)
            status = cli_extract_one(&lookup, line, &url, &unquoted);
        if (status == CLI_OK)
            status = put_count(printer, set, line, url);
    }
    free(unquoted.bytes);
    return status;
}

/* ---- a slot ---- */

int cli_printer_put(cli_printer *printer, const cli_slot *slot)
{
    if (printer->counts)
        return keep_lines(printer, slot);
    CLI_TRY(cli_printer_put_header(printer));
    if (slot->packed) {
        cli_out_bytes(&printer->out, slot->block.bytes, slot->output);
        return CLI_OK;
    }
    switch (printer->what) {
    case CLI_PRINT_LINE:
        return put_lines(printer, slot);
    case CLI_PRINT_URL:
    case CLI_PRINT_CANONICAL:
        return put_urls(printer, slot);
    case CLI_PRINT_VERDICT:
        return put_verdicts(printer, slot);
    case CLI_PRINT_NOTHING:
        break;
    }
    return CLI_OK;
}

void cli_printer_free(cli_printer *printer)
{
    free(printer->out.buffer);
    free(printer->header);
    free(printer->text);
    free(printer->kept);
}
