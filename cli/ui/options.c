/*
 * The parser of command lines: see options.h.
 */
#include "ui/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/numbers.h"

enum { NAME_ROOM = 32 }; /* longer words get no suggestion */

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* The fewest insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_ROOM + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t a_length = strlen(a), b_length = strlen(b);

    if (a_length > NAME_ROOM || b_length > NAME_ROOM)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; j++)
        before[j] = above[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smallest(row[j], before[j - 2] + 1, row[j]);
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[b_length];
}

const char *cli_nearest(const char *word, const char *(*next)(const void *context, size_t index), const void *context)
{
    size_t length = strlen(word);
    size_t least = length < 5 ? 1 : (length + 1) / 3; /* a word farther away was hardly meant */
    const char *nearest = NULL, *begins = NULL, *name;

    if (length < 2)
        return NULL;
    for (size_t i = 0; (name = next(context, i)) != NULL; i++) {
        size_t distance = edit_distance(word, name);
        if (distance < least || (distance == least && !nearest)) {
            least = distance;
            nearest = name;
        }
        if (!begins && strncmp(word, name, length) == 0)
            begins = name;
    }
    return nearest ? nearest : begins;
}

static const char *option_name(const void *context, size_t index)
{
    return ((const cli_option *)context)[index].name;
}

/* The first command that has an option of this name; NULL if none has. */
static const cli_command *owner_of(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        for (const cli_option *option = cli_commands[i]->options; option && option->name; option++)
            if (strcmp(option->name, name) == 0)
                return cli_commands[i];
    return NULL;
}

static int unknown_option(const cli_command *command, const char *name)
{
    const cli_command *owner = owner_of(name);
    const char *nearest = cli_nearest(name, option_name, command->options);

    if (owner)
        return cli_error("--%s is an option of 'vidi %s', not of 'vidi %s'", name, owner->name, command->name);
    if (nearest)
        return cli_error("unknown option '--%s'; did you mean '--%s'?", name, nearest);
    return cli_error("unknown option '--%s'; 'vidi help %s' lists all options", name, command->name);
}

static int set_count(const cli_option *option, const char *text, uint64_t *field)
{
    bool size = option->type == CLI_BYTES;
    uint64_t most = option->most ? option->most : UINT64_MAX;
    cli_parsed parsed = size ? cli_parse_size(text, field) : cli_parse_count(text, field);

    if (parsed == CLI_NOT_A_NUMBER)
        return cli_error("--%s needs a %s like %s, not '%s'", option->name, size ? "size" : "number",
                         size ? CLI_SIZE_EXAMPLES : CLI_COUNT_EXAMPLES, text);
    if (parsed == CLI_TOO_LARGE || (parsed == CLI_PARSED && *field > most))
        return cli_error("--%s %s is too large: at most %llu", option->name, text, (unsigned long long)most);
    if (parsed == CLI_NOT_WHOLE)
        return cli_error("--%s needs a whole number, not '%s'", option->name, text);
    if (*field == 0 && option->type != CLI_WHOLE)
        return cli_error("--%s must be at least 1, not %s", option->name, text);
    return CLI_GO_ON;
}

static int set_real(const cli_option *option, const char *text, double *field)
{
    cli_parsed parsed = cli_parse_real(text, field);

    if (parsed == CLI_NOT_A_NUMBER)
        return cli_error("--%s needs a number like " CLI_REAL_EXAMPLES ", not '%s'", option->name, text);
    if (option->type == CLI_PROBABILITY && !(*field > 0 && *field < 1))
        return cli_error("--%s must be more than 0 and less than 1, not %s", option->name, text);
    if (option->type == CLI_REAL && !(*field > 0))
        return cli_error("--%s must be more than 0, not %s", option->name, text);
    if (parsed == CLI_TOO_LARGE)
        return cli_error("--%s %s is too large", option->name, text);
    return CLI_GO_ON;
}

static int add_pair(const cli_option *option, const char *text, char **field)
{
    const char *equals = strchr(text, '=');
    char *joined;

    if (!equals || equals == text)
        return cli_error("--%s needs %s, not '%s'", option->name, option->value, text);
    if (asprintf(&joined, "%s%s%s", *field ? *field : "", *field ? "," : "", text) < 0)
        return cli_error("out of memory");
    free(*field);
    *field = joined;
    return CLI_GO_ON;
}

static int needs_value(const cli_option *option)
{
    return cli_error("--%s needs a value: --%s %s", option->name, option->name, option->value);
}

static int add_text(const cli_option *option, const char *text, cli_words *field)
{
    if (*text == 0)
        return needs_value(option);
    char **list = realloc(field->list, (field->count + 1) * sizeof *list);
    if (!list)
        return cli_error("out of memory");
    field->list = list;
    field->list[field->count++] = (char *)text;
    return CLI_GO_ON;
}

int cli_option_set(const cli_option *option, const char *text, void *values)
{
    void *field = (char *)values + option->offset;

    switch (option->type) {
    case CLI_FLAG:
        *(bool *)field = true;
        return CLI_GO_ON;
    case CLI_TEXT:
        if (*text == 0)
            return needs_value(option);
        *(const char **)field = text;
        return CLI_GO_ON;
    case CLI_TEXTS:
        return add_text(option, text, field);
    case CLI_PAIRS:
        return add_pair(option, text, field);
    case CLI_COUNT:
    case CLI_WHOLE:
    case CLI_BYTES:
        return set_count(option, text, field);
    case CLI_REAL:
    case CLI_AMOUNT:
    case CLI_PROBABILITY:
        return set_real(option, text, field);
    }
    return CLI_GO_ON;
}

bool cli_option_is_given(const cli_option *option, const void *values, const void *defaults)
{
    static const size_t sizes[] = {
        [CLI_FLAG] = sizeof(bool),         [CLI_TEXT] = sizeof(char *),    [CLI_PAIRS] = sizeof(char *),
        [CLI_TEXTS] = sizeof(cli_words),   [CLI_COUNT] = sizeof(uint64_t), [CLI_WHOLE] = sizeof(uint64_t),
        [CLI_BYTES] = sizeof(uint64_t),    [CLI_REAL] = sizeof(double),    [CLI_AMOUNT] = sizeof(double),
        [CLI_PROBABILITY] = sizeof(double)};
    const char *now = values, *before = defaults;

    return memcmp(now + option->offset, before + option->offset, sizes[option->type]) != 0;
}

int cli_option_choose(const char *option, const char *word, const char *const *words, uint32_t *place)
{
    char list[160] = "";

    for (*place = 0; words[*place]; ++*place) {
        size_t used = strlen(list);
        if (!word || strcmp(word, words[*place]) == 0)
            return CLI_OK;
        snprintf(list + used, sizeof list - used, "%s'%s'",
                 used == 0           ? ""
                 : words[*place + 1] ? ", "
                                     : " or ",
                 words[*place]);
    }
    return cli_error("--%s is %s, not '%s'", option, list, word);
}

/* A walk over the words of a command line; `at` is the current one. */
typedef struct walk_state {
    const cli_command *command;
    cli_words words;
    size_t at;
    void *values;
} walk_state;

/* Notes the name and the value, if the command asks for that. */
static int note_given(walk_state *walk, const cli_option *option, const char *text)
{
    cli_words *given = (cli_words *)((char *)walk->values + walk->command->given);

    if (walk->command->given == 0)
        return CLI_GO_ON;
    char **list = realloc(given->list, (given->count + 2) * sizeof *list);
    if (!list)
        return cli_error("out of memory");
    given->list = list;
    list[given->count++] = (char *)option->name;
    list[given->count++] = (char *)text;
    return CLI_GO_ON;
}

/* Reads an option's value: the attached text, or else the next word, which must not look like an option. */
static int take_value(walk_state *walk, const cli_option *option, const char *text)
{
    if (option->type != CLI_FLAG && !text) {
        if (walk->at + 1 >= walk->words.count || strncmp(walk->words.list[walk->at + 1], "--", 2) == 0)
            return needs_value(option);
        text = walk->words.list[++walk->at];
    }
    int status = cli_option_set(option, text, walk->values);
    return status == CLI_GO_ON ? note_given(walk, option, text) : status;
}

static int long_option(walk_state *walk, char *word)
{
    char *equals = strchr(word, '=');
    const cli_option *option = walk->command->options;

    if (strcmp(word, "help") == 0)
        return cli_help_print(walk->command, true);
    if (equals)
        *equals = 0; /* word is now the name alone */
    while (option->name && strcmp(option->name, word) != 0)
        option++;
    if (!option->name)
        return unknown_option(walk->command, word);
    if (option->type == CLI_FLAG && equals)
        return cli_error("--%s takes no value", option->name);
    return take_value(walk, option, equals ? equals + 1 : NULL);
}

static int short_options(walk_state *walk, const char *letters)
{
    for (; *letters; letters++) {
        const cli_option *option = walk->command->options;
        if (*letters == 'h')
            return cli_help_print(walk->command, false);
        while (option->name && option->letter != *letters)
            option++;
        if (!option->name)
            return cli_error("unknown option '-%c'; 'vidi help %s' lists all options", *letters, walk->command->name);
        const char *attached = letters[1] ? letters + 1 : NULL;
        int status = take_value(walk, option, attached);
        if (status != CLI_GO_ON || option->type != CLI_FLAG)
            return status;
    }
    return CLI_GO_ON;
}

/* Names what is missing by the usage, such as "vidi has [OPTION]... STATE [FILE]...": its operands follow the options. */
static int check_operands(const cli_command *command, cli_words words)
{
    const char *name = strstr(command->usage, "... ");

    if (words.count < command->least) {
        for (size_t i = 0; i <= words.count; i++)
            name = strchr(name, ' ') + 1;
        return cli_error("missing %.*s; usage: %s", (int)strcspn(name, " ."), name, command->usage);
    }
    if (command->most > 0 && words.count > command->most)
        return cli_error("unexpected argument '%s'; usage: %s", words.list[command->most], command->usage);
    return CLI_GO_ON;
}

int cli_options_parse(const cli_command *command, cli_words *words, void *values)
{
    walk_state walk = {command, *words, 0, values};
    size_t operands = 0;
    bool only_operands = false;

    for (; walk.at < walk.words.count; walk.at++) {
        char *word = walk.words.list[walk.at];
        int status = CLI_GO_ON;
        if (only_operands || word[0] != '-' || word[1] == 0) {
            if (!command->operand)
                return cli_error("'vidi %s' takes options only, not '%s'", command->name, word);
            walk.words.list[operands++] = word;
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else {
            status = word[1] == '-' ? long_option(&walk, word + 2) : short_options(&walk, word + 1);
        }
        if (status != CLI_GO_ON)
            return status;
    }
    words->count = operands;
    return check_operands(command, *words);
}
