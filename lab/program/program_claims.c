/* vidi lab claims: measures what the papers' claims rest on, and prints which of them hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/program/program.h"

enum { SENTENCE_ROOM = 2048 };

typedef struct judged {
    const lab_claim *claim;
    lab_holding holding;
    char sentence[SENTENCE_ROOM];
} judged;

static void judge(judged *judged, const char *id, const lab_book *book)
{
    judged->claim = lab_claim_find(id);
    judged->holding = lab_claim_judged(judged->claim, book, judged->sentence, sizeof judged->sentence);
    if (!judged->sentence[0])
        snprintf(judged->sentence, sizeof judged->sentence, "cells that it needs are missing");
}

static void print_csv(FILE *to, const judged *all, size_t count)
{
    fputs("claim,verdict,text,sentence,margin\n", to);
    for (size_t i = 0; i < count; i++) {
        const lab_claim *claim = all[i].claim;
        lab_csv_name(to, claim->id);
        lab_csv_name(to, lab_holding_name(all[i].holding));
        lab_csv_name(to, claim->text);
        lab_csv_name(to, all[i].sentence);
        fprintf(to, "%g\n", claim->margin);
    }
}

static void print_object(json_writer *json, const judged *judged, const lab_book *book)
{
    const lab_claim *claim = judged->claim;
    char id[LAB_ID_ROOM];
    json_open(json, NULL, '{');
    json_add_string(json, "claim", claim->id);
    json_add_string(json, "source", claim->source);
    json_add_string(json, "text", claim->text);
    json_add_string(json, "verdict", lab_holding_name(judged->holding));
    json_add_string(json, "sentence", judged->sentence);
    json_add_real(json, "margin", claim->margin);
    json_open(json, "evidence", '[');
    for (const char *list = claim->evidence; lab_evidence_next(&list, id);)
        json_add_string(json, NULL, id);
    json_close(json, ']');
    json_add_count(json, "urls", book->settings.urls);
    json_add_count(json, "seed", book->settings.seed);
    json_close(json, '}');
}

static void print_json(cli_out *out, const judged *all, size_t count, const lab_book *book)
{
    for (size_t i = 0; i < count; i++) {
        json_writer json = cli_json_to(out);
        cli_out_text(out, i ? ",\n" : "[\n");
        print_object(&json, &all[i], book);
    }
    cli_out_text(out, count ? "\n]\n" : "[]\n");
}

static void print_text(cli_out *out, const judged *all, size_t count)
{
    size_t counts[LAB_DOES_NOT_HOLD + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        cli_out_format(out, "%s: %s\n  Claim: %s.\n  Found: %s.\n\n", all[i].claim->id,
                       lab_holding_name(all[i].holding), all[i].claim->text, all[i].sentence);
        counts[all[i].holding]++;
    }
    cli_out_format(
        out, "%zu of %zu claims hold, %zu hold with conditions, %zu do not hold; for %zu too little was measured.\n",
        counts[LAB_HOLDS], count, counts[LAB_CONDITIONS], counts[LAB_DOES_NOT_HOLD], counts[LAB_UNJUDGED]);
}

static int print_all(const judged *all, size_t count, const lab_book *book, const lab_options *options)
{
    cli_out out;
    cli_out_init(&out, STDOUT_FILENO);
    if (options->csv) {
        FILE *to = lab_file_of(&out);
        if (!to)
            return cli_error("out of memory");
        print_csv(to, all, count);
        fclose(to);
    } else if (options->json) {
        print_json(&out, all, count, book);
    } else {
        print_text(&out, all, count);
    }
    return cli_out_close(&out);
}

static int judge_and_print(const lab_book *book, cli_words claims, const lab_options *options)
{
    LAB_OWN(lab_release) judged *all = calloc(claims.count + 1, sizeof *all);
    if (!all)
        return cli_error("out of memory");
    for (size_t i = 0; i < claims.count; i++)
        judge(&all[i], claims.list[i], book);
    return print_all(all, claims.count, book, options);
}

/* The tables that the claims rest on, each once. */
static int find_evidence(cli_words *ids, cli_words claims)
{
    char id[LAB_ID_ROOM];
    int status = lab_names_make(ids, (cli_words){NULL, 0}, lab_experiment_name);
    for (size_t i = 0; i < claims.count && status == CLI_OK; i++)
        for (const char *list = lab_claim_find(claims.list[i])->evidence; lab_evidence_next(&list, id);)
            lab_names_add(ids, id, lab_experiment_name);
    return status;
}

static bool needs_streams(const lab_claim *claim)
{
    char id[LAB_ID_ROOM];
    bool needs = false;
    for (const char *list = claim->evidence; lab_evidence_next(&list, id);) {
        const lab_study *study = lab_study_find(id);
        needs |= study && study->streams;
    }
    return needs;
}

/* Of all claims, leaves out those about streams; a claim that was named stays, and is an error without streams. */
static void leave_out_streams(cli_words *claims)
{
    size_t stay = 0;
    for (size_t i = 0; i < claims->count; i++)
        if (!needs_streams(lab_claim_find(claims->list[i])))
            claims->list[stay++] = claims->list[i];
    claims->count = stay;
}

int lab_measure_claims(lab_options *options, cli_words words)
{
    char any[] = "*", *all[] = {any};
    LAB_OWN(lab_names_free) cli_words claims = {NULL, 0}, ids = {NULL, 0};
    LAB_OWN(lab_book_free) lab_book book = {.count = 0};
    if (options->csv && options->json)
        return cli_error("--csv and --json exclude one another");
    CLI_TRY(lab_names_make(&claims, words.count ? words : (cli_words){all, 1}, lab_claim_name));
    if (words.count == 0 && options->stream_files.count == 0)
        leave_out_streams(&claims);
    CLI_TRY(find_evidence(&ids, claims));
    CLI_TRY(lab_run_book(&book, options, ids, NULL));
    return judge_and_print(&book, claims, options);
}
