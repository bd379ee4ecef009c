/*
 * The seeds of a crawl: http and https URLs from the command line and from files. A seed is never completed by
 * guessing: a message says what may have been meant.
 *
 * A seed may have a user name and a password. No message shows them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "crawler/scope/scope.h"
#include "pipeline/input/lines.h"
#include "vidi/url.h"

enum { SHOWN_MOST = 200 }; /* bytes of a seed in a message */

/* A seed as it was written, and where: for messages. */
typedef struct candidate {
    vidi_str text;
    const char *file; /* NULL: the command line */
    uint64_t line;
    char shown[SHOWN_MOST + 1]; /* with "***" for what may be a user name and a password; cut off if it is long */
} candidate;

static bool is_one_of(char c, const char *these)
{
    return c && strchr(these, c);
}

static void make_shown(candidate *seed)
{
    const char *begin = seed->text.ptr, *end = begin + seed->text.len, *at = NULL;
    const char *slashes = memmem(begin, seed->text.len, "//", 2), *authority = slashes ? slashes + 2 : begin;
    size_t used = 0;

    for (const char *c = authority; c < end && !is_one_of(*c, "/?#"); c++)
        at = *c == '@' ? c : at;
    for (const char *c = begin; c < end && used < SHOWN_MOST; c++)
        if (!at || c < authority || c >= at)
            seed->shown[used++] = (char)(*c ? *c : '?');
        else if (c < authority + 3)
            seed->shown[used++] = '*';
    seed->shown[used] = 0;
}

/* CLI_ERROR; for a line of a file CLI_GO_ON, because the others can be crawled. */
__attribute__((format(printf, 2, 3))) static int refuse(const candidate *seed, const char *format, ...)
{
    va_list arguments;
    char *sentence;

    va_start(arguments, format);
    int length = vasprintf(&sentence, format, arguments);
    va_end(arguments);
    if (length < 0)
        return cli_error("out of memory");
    if (seed->file)
        cli_error("%s:%llu: %s", seed->file, (unsigned long long)seed->line, sentence);
    else
        cli_error("%s", sentence);
    free(sentence);
    return seed->file ? CLI_GO_ON : CLI_ERROR;
}

/* The length of what would be a host. */
static size_t host_length(vidi_str text)
{
    size_t length = 0;

    while (length < text.len && !is_one_of(text.ptr[length], "/?#: "))
        length++;
    return length;
}

/* True for a host and a port, such as "localhost:8080". */
static bool has_port(vidi_str text)
{
    size_t host = host_length(text);
    return host > 0 && host + 1 < text.len && text.ptr[host] == ':' && is_one_of(text.ptr[host + 1], "0123456789");
}

/* True for a URL without its scheme, such as "example.org/x". */
static bool lacks_scheme(vidi_str text)
{
    size_t host = host_length(text);
    bool ends = host == text.len || is_one_of(text.ptr[host], "/?#");
    return has_port(text) || (ends && memchr(text.ptr, '.', host));
}

/* What is wrong with a seed that is not an http or https URL. */
static int refuse_other(const candidate *seed, const char *why)
{
    if (!seed->file && *seed->shown && access(seed->shown, F_OK) == 0)
        return refuse(seed, "'%s' is a file; --seeds %s reads URLs from it", seed->shown, seed->shown);
    if (lacks_scheme(seed->text))
        return refuse(seed, "'%s' is not a whole URL; did you mean %s://%s?", seed->shown,
                      has_port(seed->text) ? "http" : "https", seed->shown);
    return refuse(seed, "'%s' cannot be crawled: %s", seed->shown, why);
}

int cli_crawl_seeds_keep(cli_crawl_seeds *seeds, vidi_str url)
{
    if (seeds->count == seeds->room) {
        size_t room = seeds->room * 2 + 16;
        vidi_str *urls = realloc(seeds->urls, room * sizeof *urls);
        if (!urls)
            return cli_error("out of memory");
        seeds->urls = urls;
        seeds->room = room;
    }
    seeds->urls[seeds->count] = (vidi_str){strndup(url.ptr, url.len), url.len};
    if (!seeds->urls[seeds->count].ptr)
        return cli_error("out of memory");
    seeds->count++;
    return CLI_OK;
}

static bool is(vidi_str text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

static int check(const candidate *seed, const vidi_url *url)
{
    if (!is(url->scheme, "http") && !is(url->scheme, "https"))
        return refuse_other(seed, "vidi crawl fetches http and https only");
    if (url->port_number >= 0 && scope_port_is_bad(url->port_number))
        return refuse(seed, "'%s' cannot be crawled: port %d belongs to another protocol than HTTP", seed->shown,
                      url->port_number);
    return CLI_OK;
}

static int add(cli_crawl_seeds *seeds, candidate *seed)
{
    vidi_url url = {.size = sizeof url};
    size_t len = 0;

    make_shown(seed);
    int result = vidi_url_parse(seed->text, NULL, NULL, &len, &url);
    if (result == VIDI_INVALID) /* the library's message may have the password in it */
        return refuse_other(seed, strchr(seed->shown, '@') ? "it is not a URL" : vidi_message());
    char *buffer = malloc(len + 1);
    if (!buffer)
        return cli_error("out of memory");
    result = vidi_url_parse(seed->text, NULL, buffer, &len, &url);
    int status = result == VIDI_OK ? check(seed, &url) : cli_library_error(result);
    if (status == CLI_OK) /* the fragment is nothing that a server hears of */
        status = cli_crawl_seeds_keep(
            seeds,
            (vidi_str){url.href.ptr, url.fragment.ptr ? (size_t)(url.fragment.ptr - url.href.ptr) - 1 : url.href.len});
    seeds->secret = seeds->secret || url.username.len || url.password.len;
    free(buffer);
    return status;
}

static vidi_str trimmed(vidi_str line)
{
    while (line.len > 0 && is_one_of(line.ptr[line.len - 1], " \t\r"))
        line.len--;
    while (line.len > 0 && is_one_of(line.ptr[0], " \t")) {
        line.ptr++;
        line.len--;
    }
    return line;
}

static int add_lines(cli_crawl_seeds *seeds, cli_reader *reader, cli_block *block)
{
    int status;

    do {
        status = cli_reader_fill(reader, block);
        for (size_t i = 0; i < block->count && status == CLI_OK; i++) {
            candidate seed = {.text = trimmed(block->lines[i]), .file = block->name, .line = block->first + i};
            if (seed.text.len == 0 || seed.text.ptr[0] == '#')
                continue;
            status = add(seeds, &seed);
            if (status == CLI_GO_ON) {
                seeds->bad++;
                status = CLI_OK;
            }
        }
    } while (status == CLI_OK && block->count > 0);
    return status;
}

static int read_files(cli_crawl_seeds *seeds, cli_words files)
{
    cli_reader reader;
    cli_block block;
    int status = cli_block_init(&block);

    if (status == CLI_OK)
        status = cli_reader_init(&reader, files, '\n');
    if (status == CLI_OK) {
        status = add_lines(seeds, &reader, &block);
        cli_reader_free(&reader);
    }
    cli_block_free(&block);
    return status;
}

int cli_crawl_seeds_read(cli_crawl_seeds *seeds, cli_words words, cli_words files)
{
    int status = CLI_OK;

    for (size_t i = 0; i < words.count && status == CLI_OK; i++) {
        candidate seed = {.text = {words.list[i], strlen(words.list[i])}};
        status =
            strcmp(words.list[i], "-") == 0 ? read_files(seeds, (cli_words){words.list + i, 1}) : add(seeds, &seed);
    }
    if (status == CLI_OK && files.count > 0)
        status = read_files(seeds, files);
    if (status == CLI_OK && seeds->count == 0 && seeds->bad == 0)
        return cli_error("there is nothing to crawl: name a URL, as in 'vidi crawl https://example.org/', or a file of "
                         "URLs with --seeds");
    return status == CLI_OK && seeds->count == 0 ? CLI_ERROR : status;
}

void cli_crawl_seeds_free(cli_crawl_seeds *seeds)
{
    for (size_t i = 0; i < seeds->count; i++)
        free((char *)seeds->urls[i].ptr);
    free(seeds->urls);
    *seeds = (cli_crawl_seeds){0};
}
