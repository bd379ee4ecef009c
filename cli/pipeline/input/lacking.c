/*
 * Lines without a URL: see lacking.h. Only the first of them are searched for what was perhaps meant.
 */
#include "pipeline/input/lacking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ui/options.h"
#include "ui/output.h"

enum { LINES_SEARCHED = 16, KEYS_LISTED = 6, TEXT_ROOM = 640 };

/* ---- what is learnt from a line ---- */

static void meet_key(void *context, vidi_str key)
{
    cli_lacking *lacking = context;

    if (key.len == 0 || key.len >= CLI_KEY_MET_ROOM || memchr(key.ptr, 0, key.len))
        return;
    for (size_t i = 0; i < lacking->keys_count; i++)
        if (strlen(lacking->keys[i]) == key.len && memcmp(lacking->keys[i], key.ptr, key.len) == 0)
            return;
    if (lacking->keys_count == CLI_KEYS_MET)
        return;
    char *name = lacking->keys[lacking->keys_count++];
    memcpy(name, key.ptr, key.len);
    name[key.len] = 0;
}

char cli_guess_delimiter(vidi_str line, uint64_t times)
{
    static const char usual[] = "\t,;| ";

    for (const char *delimiter = usual; *delimiter; delimiter++) {
        uint64_t found = 0;
        for (size_t i = 0; i < line.len && found < times; i++)
            found += line.ptr[i] == *delimiter;
        if (found >= times && times > 0)
            return *delimiter;
    }
    return 0;
}

void cli_lacking_note(cli_lacking *lacking, const cli_lookup *lookup, vidi_str line, cli_lack lack, uint64_t fields)
{
    lacking->count[lack]++;
    lacking->fields = fields;
    if (lacking->looked == LINES_SEARCHED)
        return;
    lacking->looked++;
    if (lookup->key.ptr)
        cli_line_json_keys(line, meet_key, lacking);
    else if (!lacking->delimiter)
        lacking->delimiter = cli_guess_delimiter(line, lookup->field - 1);
}

void cli_lacking_join(cli_lacking *lacking, const cli_lacking *next)
{
    lacking->lines += next->lines;
    for (size_t i = 0; i < CLI_LACKS; i++)
        lacking->count[i] += next->count[i];
    if (cli_lacking_sum(next) > 0)
        lacking->fields = next->fields;
    if (lacking->looked >= LINES_SEARCHED)
        return;
    lacking->looked += next->looked;
    for (size_t i = 0; i < next->keys_count; i++)
        meet_key(lacking, (vidi_str){next->keys[i], strlen(next->keys[i])});
    if (!lacking->delimiter)
        lacking->delimiter = next->delimiter;
}

/* ---- what was perhaps meant ---- */

static const char *key_met(const void *context, size_t index)
{
    const cli_lacking *lacking = context;
    return index < lacking->keys_count ? lacking->keys[index] : NULL;
}

/* What follows the last dot. */
static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

/* The key that was perhaps meant; NULL if none is near. */
static const char *nearest_key(const cli_lacking *lacking, const char *key)
{
    const char *name;

    for (size_t i = 0; (name = key_met(lacking, i)) != NULL; i++)
        if (strcasecmp(name, key) == 0)
            return name;
    for (size_t i = 0; (name = key_met(lacking, i)) != NULL; i++)
        if (strcasecmp(last_part(name), last_part(key)) == 0)
            return name;
    for (size_t i = 0; (name = key_met(lacking, i)) != NULL; i++)
        if (strncmp(name, key, strlen(key)) == 0 && name[strlen(key)] == '.')
            return name;
    return cli_nearest(key, key_met, lacking);
}

/* "; did you mean …?", or the keys that there are; empty if none was met. */
static void suggest_key(const cli_lacking *lacking, const char *key, char text[TEXT_ROOM])
{
    const char *nearest = nearest_key(lacking, key);
    size_t n = lacking->keys_count, used = 0;

    *text = 0;
    if (nearest) {
        snprintf(text, TEXT_ROOM, "; did you mean \"%s\"?", nearest);
        return;
    }
    for (size_t i = 0; i < n && i < KEYS_LISTED; i++)
        used += (size_t)snprintf(text + used, TEXT_ROOM - used, "%s\"%s\"",
                                 i       ? ", "
                                 : n > 1 ? "; there are "
                                         : "; there is ",
                                 lacking->keys[i]);
    if (n > KEYS_LISTED)
        snprintf(text + used, TEXT_ROOM - used, " and others");
}

const char *cli_delimiter_name(char text[8], char delimiter)
{
    snprintf(text, 8, delimiter == '\t' ? "'\\t'" : "'%c'", delimiter);
    return text;
}

/* "; is -d ',' missing?"; empty if no delimiter would do. */
static void suggest_delimiter(const cli_lacking *lacking, const cli_lookup *lookup, char text[TEXT_ROOM])
{
    char name[8];

    *text = 0;
    if (lacking->delimiter && lacking->delimiter != lookup->delimiter)
        snprintf(text, TEXT_ROOM, "; is the delimiter %s? Then give -d %s",
                 cli_delimiter_name(name, lacking->delimiter), name);
}

/* What is looked for, as the user named it: key "meta.url", field 2, field "url". */
static void name_lookup(const cli_lookup *lookup, char text[TEXT_ROOM])
{
    if (lookup->key.ptr)
        snprintf(text, TEXT_ROOM, "key \"%.200s\"", lookup->key.ptr);
    else if (lookup->field_name)
        snprintf(text, TEXT_ROOM, "field \"%.200s\"", lookup->field_name);
    else
        snprintf(text, TEXT_ROOM, "field %llu", (unsigned long long)lookup->field);
}

static void suggest(const cli_lacking *lacking, const cli_lookup *lookup, char text[TEXT_ROOM])
{
    if (lookup->key.ptr)
        suggest_key(lacking, lookup->key.ptr, text);
    else
        suggest_delimiter(lacking, lookup, text);
}

/* ---- messages ---- */

char *cli_lacking_why(const cli_lacking *lacking, const cli_lookup *lookup, cli_lack lack)
{
    char name[TEXT_ROOM], advice[TEXT_ROOM], *text = NULL;
    int length;

    name_lookup(lookup, name);
    suggest(lacking, lookup, advice);
    if (lack == CLI_LACKS_OBJECT)
        length = asprintf(&text, "the line is not a JSON object");
    else if (lack == CLI_LACKS_STRING)
        length = asprintf(&text, "the value of %s is not a string%s", name, advice);
    else if (lack == CLI_LACKS_FIELD)
        length = asprintf(&text, "the line has no %s, only %llu field%s%s", name, (unsigned long long)lacking->fields,
                          lacking->fields == 1 ? "" : "s", advice);
    else
        length = asprintf(&text, "the line has no %s%s", name, advice);
    return length < 0 ? NULL : text;
}

uint64_t cli_lacking_sum(const cli_lacking *lacking)
{
    uint64_t sum = 0;

    for (cli_lack lack = CLI_LACKS_FIELD; lack < CLI_LACKS; lack++)
        sum += lacking->count[lack];
    return sum;
}

void cli_lacking_warn(const cli_lacking *lacking, const cli_lookup *lookup)
{
    char name[TEXT_ROOM], advice[TEXT_ROOM];
    cli_number some, all;
    cli_lack most = CLI_LACKS_FIELD;

    if (cli_lacking_sum(lacking) <= lacking->lines / 2)
        return;
    for (cli_lack lack = CLI_LACKS_FIELD; lack < CLI_LACKS; lack++)
        most = lacking->count[lack] > lacking->count[most] ? lack : most;
    name_lookup(lookup, name);
    suggest(lacking, lookup, advice);
    cli_human_count(&some, lacking->count[most]);
    cli_human_count(&all, lacking->lines);
    bool one = lacking->lines == 1;
    if (most == CLI_LACKS_OBJECT)
        cli_warning("%s of %s %s", some.text, all.text,
                    one ? "line is not a JSON object" : "lines are not JSON objects");
    else if (most == CLI_LACKS_STRING)
        cli_warning("%s of %s %s no string under %s%s", some.text, all.text, one ? "line has" : "lines have", name,
                    advice);
    else
        cli_warning("%s of %s %s no %s%s", some.text, all.text, one ? "line has" : "lines have", name, advice);
}
