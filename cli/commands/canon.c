/*
 * vidi canon: prints the canonical form of each line, one line out for one line in.
 *
 * Lines that aren't URLs are kept, dropped, or end the run, as --invalid says. --explain and --json also tell which
 * rules changed a line; for that each line is canonicalised twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/utf8.h"
#include "pipeline/options/canon_options.h"
#include "pipeline/input/lines.h"
#include "ui/options.h"
#include "ui/output.h"
#include "vidi/url.h"

enum { ROOM = 4096 };

typedef struct canon_options {
    const char *canon, *tracking, *base, *invalid;
    bool explain, json, stats, rules;
} canon_options;

typedef struct canon {
    vidi_canon *form;
    const canon_options *options;
    uint32_t invalid; /* vidi_invalid_policy */
    vidi_str base;    /* ptr NULL: none */
    cli_out out;
    char *text; /* the canonical form of the current line */
    size_t room;
    uint64_t read, changed, bad, not_utf8;
    const char *file; /* of the current line */
    uint64_t line;    /* its number in that file */
} canon;

static const vidi_str *base_of(const canon *job)
{
    return job->base.ptr ? &job->base : NULL;
}

/* Writes the canonical form to job->text. VIDI_OK, VIDI_INVALID or an error. */
static int make_form(canon *job, vidi_str line, size_t *len)
{
    for (;;) {
        *len = job->room;
        int result = vidi_url_canon(job->form, line, base_of(job), job->text, len);
        if (result != VIDI_ELIMIT || *len <= job->room)
            return result;
        char *text = realloc(job->text, *len);
        if (!text)
            return VIDI_EMEMORY;
        job->text = text;
        job->room = *len;
    }
}

static int show_step(void *context, const vidi_canon_change *step)
{
    cli_out *out = context;
    cli_out_format(out, "  %-10s ", step->rule);
    cli_out_bytes(out, step->after.ptr, step->after.len);
    cli_out_text(out, "\n");
    return 0;
}

static int name_step(void *context, const vidi_canon_change *step)
{
    json_add_string(context, NULL, step->rule);
    return 0;
}

/* Prints the line, and below it the result of each rule that changed it. */
static int print_explained(canon *job, vidi_str line, const char *reason)
{
    cli_out_bytes(&job->out, line.ptr, line.len);
    cli_out_text(&job->out, "\n");
    if (reason) {
        cli_out_format(&job->out, "  %-10s %s\n", "invalid", reason);
        return VIDI_OK;
    }
    return vidi_url_explain(job->form, line, base_of(job), show_step, &job->out);
}

static int print_json(canon *job, vidi_str line, vidi_str form, const char *reason)
{
    json_writer json = cli_json_begin(&job->out);
    int result = VIDI_OK;

    cli_json_text(&json, "input", line);
    cli_json_text(&json, "canonical", form);
    json_add_bool(&json, "valid", !reason);
    json_open(&json, "rules", '[');
    if (!reason)
        result = vidi_url_explain(job->form, line, base_of(job), name_step, &json);
    json_close(&json, ']');
    if (reason)
        json_add_string(&json, "reason", reason);
    cli_json_end(&json);
    return result;
}

/* reason: why the line is not a URL; NULL if it is one. */
static int print_line(canon *job, vidi_str line, vidi_str form, const char *reason)
{
    int result = VIDI_OK;

    if (job->options->json) {
        result = print_json(job, line, form, reason);
    } else if (job->options->explain) {
        result = print_explained(job, line, reason);
    } else {
        cli_out_bytes(&job->out, form.ptr, form.len);
        cli_out_text(&job->out, "\n");
    }
    return result < 0 ? cli_library_error(result) : CLI_OK;
}

static int take_invalid(canon *job, vidi_str line)
{
    char reason[512];

    job->bad++;
    if (job->invalid == VIDI_DROP_INVALID)
        return CLI_OK;
    if (job->invalid == VIDI_FAIL_INVALID)
        return cli_error("%s: line %llu: %s", job->file, (unsigned long long)job->line, vidi_message());
    snprintf(reason, sizeof reason, "%s", vidi_message()); /* explaining may fail again */
    return print_line(job, line, line, reason);
}

static int take_line(canon *job, vidi_str line)
{
    size_t len;
    int result = make_form(job, line, &len);

    job->read++;
    job->line++;
    job->not_utf8 += job->options->stats && !utf8_is_valid(line.ptr, line.len);
    if (result < 0)
        return cli_library_error(result);
    if (result == VIDI_INVALID)
        return take_invalid(job, line);
    job->changed += len != line.len || (len && memcmp(job->text, line.ptr, len) != 0);
    return print_line(job, line, (vidi_str){job->text, len}, NULL);
}

static int canon_block(void *context, const cli_block *block)
{
    canon *job = context;
    int status = CLI_OK;

    job->file = block->name;
    job->line = block->first - 1;
    for (size_t i = 0; i < block->count && status == CLI_OK; i++)
        status = take_line(job, block->lines[i]);
    if (status == CLI_OK && (job->out.error != 0 || block->waits))
        status = cli_out_flush(&job->out);
    return status;
}

static int print_stats(const canon *job)
{
    const cli_figure figures[] = {
        {"read", "read", CLI_IS_COUNT, .count = job->read},
        {"changed", "changed", CLI_IS_COUNT, .count = job->changed},
        {"unchanged", "unchanged", CLI_IS_COUNT, .count = job->read - job->changed - job->bad},
        {"invalid", "invalid", CLI_IS_COUNT, .count = job->bad},
        {"not_utf8", "not UTF-8", CLI_IS_COUNT, .count = job->not_utf8},
        {"canon", NULL, CLI_IS_TEXT, .text = vidi_canon_name(job->form)},
    };
    return cli_figures_print(figures, sizeof figures / sizeof *figures, job->options->json);
}

static int make_canon(canon *job)
{
    char *tracking;

    CLI_TRY(cli_tracking_read(job->options->tracking, &tracking));
    int error = vidi_canon_create(&job->form, job->options->canon, tracking, NULL);
    free(tracking);
    return cli_library_status(error);
}

static int read_options(canon *job)
{
    const canon_options *options = job->options;

    if (options->explain && options->json)
        return cli_error("--explain and --json exclude each other");
    CLI_TRY(cli_invalid_parse(options->invalid, &job->invalid));
    CLI_TRY(cli_base_check(options->base));
    if (options->base)
        job->base = (vidi_str){options->base, strlen(options->base)};
    return make_canon(job);
}

static int canon_run(const canon_options *options, cli_words files)
{
    canon job = {.options = options, .room = ROOM, .text = malloc(ROOM)};
    int status = job.text ? read_options(&job) : cli_error("out of memory");

    if (status == CLI_OK) {
        cli_out_init(&job.out, STDOUT_FILENO);
        status = cli_out_end(&job.out, cli_lines_each(files, canon_block, &job));
        if (options->stats && status != CLI_PIPE) {
            int counted = print_stats(&job);
            status = status != CLI_OK ? status : counted;
        }
    }
    vidi_canon_close(job.form);
    free(job.text);
    return status;
}

/* Prints the forms and their rules instead of reading anything. */
static int print_rules(void)
{
    cli_out out;
    cli_table table = {.layout = "llll"};
    vidi_canon_info info = {.size = sizeof info};

    cli_table_cell(&table, "form");
    cli_table_cell(&table, "rule");
    cli_table_cell(&table, "default");
    cli_table_cell(&table, "what it does");
    for (size_t i = 0; vidi_canon_rule(i, &info) == VIDI_OK; i++) {
        cli_table_cell(&table, "%s/%u", info.profile, info.version);
        cli_table_cell(&table, "%s", info.rule ? info.rule : "");
        cli_table_cell(&table, "%s", !info.rule ? "always" : info.is_on ? "on" : "off");
        cli_table_cell(&table, "%s", info.summary);
    }
    cli_out_init(&out, STDOUT_FILENO);
    int printed = cli_table_print(&table, &out), closed = cli_out_close(&out);
    return printed != CLI_OK ? printed : closed;
}

static int run(void *values, cli_words words)
{
    const canon_options *options = values;

    return options->rules ? print_rules() : canon_run(options, words);
}

#define FIELD(name) offsetof(canon_options, name)

static const cli_option options_table[] = {
    {"canon", 0, CLI_TEXT, FIELD(canon), "P", CLI_CANON_SUMMARY, CLI_CANON_DETAILS, 0},
    {"tracking", 0, CLI_TEXT, FIELD(tracking), "FILE", CLI_TRACKING_SUMMARY, CLI_TRACKING_DETAILS, 0},
    {"base", 0, CLI_TEXT, FIELD(base), "URL", "Resolve relative lines against this URL", NULL, 0},
    {"rules", 0, CLI_FLAG, FIELD(rules), NULL, "List all forms and their rules, and do nothing else", NULL, 0},
    {"explain", 0, CLI_FLAG, FIELD(explain), NULL, "Print each line and how each rule changed it", NULL, 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print a JSON object for each line",
     "It has input, canonical, valid, rules (an array of the rules that changed the line), and a reason if the line is "
     "not valid.",
     0},
    {"invalid", 0, CLI_TEXT, FIELD(invalid), "WHAT", CLI_INVALID_SUMMARY,
     "They are printed unchanged, left out, or end the run with an error.", 0},
    {"stats", 0, CLI_FLAG, FIELD(stats), NULL, "Print statistics on standard error at the end",
     "How many lines were read, changed, unchanged and invalid, and how many were not UTF-8; with --json as one "
     "object.",
     0},
    CLI_OPTIONS_END,
};

const cli_command cli_canon = {
    .name = "canon",
    .summary = "Print the canonical form of each URL",
    .usage = "vidi canon [OPTION]... [FILE]...",
    .about = "Reads URLs, one per line, and prints their canonical forms, so that different spellings of a URL become "
             "the same.",
    .details = "Reads the files one after the other, or standard input if no file is given; '-' means standard input "
               "too. Prints one line for each line read, except for those that --invalid drops.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi canon urls.txt | vidi > new.txt\n"
                "  vidi canon --canon crawl --stats < urls.txt > canonical.txt\n"
                "  vidi canon --canon crawl --tracking mine.txt < urls.txt\n"
                "  vidi canon --base https://example.org/a/ --invalid drop < links.txt\n"
                "  echo 'HTTP://Example.com:80/a/../b#top' | vidi canon --explain\n",
    .options = options_table,
    .size = sizeof(canon_options),
    .operand = "FILE",
    .run = run,
};
