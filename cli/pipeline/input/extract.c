/*
 * URLs out of lines: see extract.h.
 */
#include "pipeline/input/extract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/numbers.h"

enum { COLUMNS_LISTED = 20, NAME_LISTED = 80, LIST_ROOM = 1024 };

/* ---- options ---- */

static int init_delimiter(cli_lookup *lookup, const char *delimiter)
{
    lookup->delimiter = '\t';
    if (!delimiter || strcmp(delimiter, "\\t") == 0)
        return CLI_OK;
    if (delimiter[1] != 0)
        return cli_error("--delimiter needs one character, not '%s'", delimiter);
    lookup->delimiter = *delimiter;
    return CLI_OK;
}

/* Digits alone are a number, anything else is a name. */
static int init_field(cli_lookup *lookup, const char *field, bool header)
{
    if (field[strspn(field, "0123456789")] == 0) {
        if (cli_parse_count(field, &lookup->field) != CLI_PARSED)
            return cli_error("--field %s is too large", field);
        return lookup->field > 0 ? CLI_OK : cli_error("--field must be at least 1, not %s", field);
    }
    if (!header)
        return cli_error("--field %s is a name; give --header too if the first line of each file names the fields",
                         field);
    lookup->field_name = field;
    return CLI_OK;
}

static int init_key(cli_lookup *lookup, const char *key)
{
    size_t dots = 0;

    for (const char *at = key; *at; at++)
        dots += *at == '.';
    if (dots > CLI_JSON_DOTS)
        return cli_error("--json-key has %zu dots, but at most %d are possible", dots, CLI_JSON_DOTS);
    lookup->key = (vidi_str){key, strlen(key)};
    return CLI_OK;
}

int cli_extract_init(cli_extract *extract, const cli_extract_options *options, uint32_t invalid)
{
    *extract = (cli_extract){.header = options->header, .invalid = invalid};
    if (options->field && options->json_key)
        return cli_error("--field and --json-key exclude each other");
    if (options->header && options->json_key)
        return cli_error("--header and --json-key exclude each other: objects name their values themselves");
    if (options->delimiter && !options->field)
        return cli_error("--delimiter needs --field: which of the fields is the URL?");
    extract->active = options->field || options->json_key;
    CLI_TRY(init_delimiter(&extract->lookup, options->delimiter));
    if (options->field)
        return init_field(&extract->lookup, options->field, options->header);
    return options->json_key ? init_key(&extract->lookup, options->json_key) : CLI_OK;
}

/* ---- one line ---- */

static cli_lack find_field(const cli_lookup *lookup, vidi_str line, vidi_str *url, uint64_t *fields,
                           cli_unquoted *unquoted)
{
    cli_fields walk = cli_fields_of(line, lookup->delimiter);

    for (*fields = 0; *fields < lookup->field; ++*fields)
        if (!cli_fields_next(&walk))
            return CLI_LACKS_FIELD;
    *url = cli_fields_text(&walk, unquoted);
    return CLI_LACKS_NOTHING;
}

static cli_lack find_url(const cli_lookup *lookup, vidi_str line, vidi_str *url, uint64_t *fields,
                         cli_unquoted *unquoted)
{
    return lookup->key.ptr ? cli_line_json(line, lookup->key, url, unquoted)
                           : find_field(lookup, line, url, fields, unquoted);
}

/* Makes room for what is taken out of lines, which is never longer than they are: "\uXXXX" is 6 bytes for at most 3. */
static int make_room(cli_unquoted *unquoted, const vidi_str *lines, size_t n)
{
    size_t need = (n ? (size_t)(lines[n - 1].ptr + lines[n - 1].len - lines[0].ptr) : 0) + 1;

    unquoted->used = 0;
    if (unquoted->bytes && need <= unquoted->room)
        return CLI_OK;
    free(unquoted->bytes);
    unquoted->bytes = malloc(need);
    unquoted->room = unquoted->bytes ? need : 0;
    return unquoted->bytes ? CLI_OK : cli_error("out of memory");
}

int cli_extract_one(const cli_lookup *lookup, vidi_str line, vidi_str *url, cli_unquoted *unquoted)
{
    uint64_t fields;

    CLI_TRY(make_room(unquoted, &line, 1));
    if (find_url(lookup, line, url, &fields, unquoted) != CLI_LACKS_NOTHING)
        *url = line;
    return CLI_OK;
}

/* ---- all lines of a block ---- */

static const char no_url[] = "";

bool cli_extract_is_none(vidi_str url)
{
    return url.ptr == no_url;
}

int cli_extract_urls(cli_extract *extract, const vidi_str *lines, size_t *n, vidi_str *urls, cli_unquoted *unquoted,
                     cli_lack *lack)
{
    uint64_t fields = 0;

    *lack = CLI_LACKS_NOTHING;
    CLI_TRY(make_room(unquoted, lines, *n));
    for (size_t i = 0; i < *n; i++) {
        cli_lack here = find_url(&extract->lookup, lines[i], &urls[i], &fields, unquoted);
        if (here == CLI_LACKS_NOTHING)
            continue;
        cli_lacking_note(&extract->lacking, &extract->lookup, lines[i], here, fields);
        urls[i] = extract->invalid == VIDI_DROP_INVALID ? (vidi_str){no_url, 0} : lines[i];
        if (extract->invalid == VIDI_FAIL_INVALID) {
            *lack = here;
            *n = i + 1;
        }
    }
    extract->lacking.lines += *n;
    return CLI_OK;
}

/* ---- headers ---- */

/* Writes the names in a header, with quotes and commas, as far as there is room. Returns how many fields there are. */
static uint64_t list_columns(cli_fields walk, char text[LIST_ROOM], cli_unquoted *unquoted)
{
    uint64_t fields = 0;
    size_t used = 0;

    unquoted->used = 0;
    for (; cli_fields_next(&walk); fields++) {
        vidi_str name = cli_fields_text(&walk, unquoted);
        if (fields < COLUMNS_LISTED && used < LIST_ROOM)
            used += (size_t)snprintf(text + used, LIST_ROOM - used, "%s\"%.*s\"", fields ? ", " : "",
                                     (int)(name.len < NAME_LISTED ? name.len : NAME_LISTED), name.ptr);
    }
    if (fields > COLUMNS_LISTED && used < LIST_ROOM)
        snprintf(text + used, LIST_ROOM - used, " and others");
    return fields;
}

static int unknown_column(const cli_lookup *lookup, const char *file, vidi_str line, cli_unquoted *unquoted)
{
    char columns[LIST_ROOM], delimiter[8];
    uint64_t fields = list_columns(cli_fields_of(line, lookup->delimiter), columns, unquoted);
    char guess = 0;

    if (fields == 1)
        guess = cli_guess_delimiter(line, 1);
    if (guess && guess != lookup->delimiter)
        return cli_error("%s has no field \"%s\", but only one, %s; is the delimiter %s? Then give -d %s", file,
                         lookup->field_name, columns, cli_delimiter_name(delimiter, guess), delimiter);
    return cli_error("%s has no field \"%s\"; its header has %s", file, lookup->field_name, columns);
}

static int find_column(cli_lookup *lookup, const char *file, vidi_str line, cli_unquoted *unquoted)
{
    cli_fields walk = cli_fields_of(line, lookup->delimiter);
    size_t length = strlen(lookup->field_name);

    for (uint64_t number = 1; cli_fields_next(&walk); number++) {
        vidi_str name = cli_fields_text(&walk, unquoted);
        if (name.len == length && memcmp(name.ptr, lookup->field_name, length) == 0) {
            lookup->field = number;
            return CLI_OK;
        }
    }
    return unknown_column(lookup, file, line, unquoted);
}

int cli_extract_header(cli_extract *extract, const char *file, vidi_str line)
{
    cli_unquoted unquoted = {0};

    if (!extract->lookup.field_name)
        return CLI_OK;
    int status = make_room(&unquoted, &line, 1);
    if (status == CLI_OK)
        status = find_column(&extract->lookup, file, line, &unquoted);
    free(unquoted.bytes);
    return status;
}
