/* The cells of a claim: those that a name stands for, and several as one number. See claim_rules.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/judge/claim_rules.h"

/* ---- names ---- */

/* Reads "study @ row @ column" up to the next ';'. What is empty stays as it was. Returns the end. */
static const char *read_name(const char *at, lab_cell_text *name)
{
    char *const parts[] = {name->study, name->row, name->column};
    for (size_t i = 0; i < 3; i++) {
        at += strspn(at, " ");
        size_t length = strcspn(at, "@;"), used = length;
        while (used > 0 && at[used - 1] == ' ')
            used--;
        if (used > 0)
            snprintf(parts[i], LAB_NAME_ROOM, "%.*s", (int)used, at);
        at += length;
        if (*at != '@')
            break;
        at++;
    }
    return at;
}

/* The name of a cell, with what it repeats of those before; false after the last. */
static bool name_of(const lab_claim *claim, size_t cell, lab_cell_text *name)
{
    const char *at = claim->cells ? claim->cells : "";
    name->study[0] = name->row[0] = name->column[0] = 0;
    for (; *at; cell--) {
        at = read_name(at, name);
        if (cell == 0)
            return true;
        at += *at == ';';
    }
    return false;
}

typedef enum combination { EACH, MEAN, SUM, LEAST } combination;

/* Removes "mean " and the like. */
static combination combination_of(char *names)
{
    static const char *const words[] = {"mean ", "sum ", "least "};
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(names, words[i], length) != 0)
            continue;
        memmove(names, names + length, strlen(names + length) + 1);
        return (combination)(i + 1);
    }
    return EACH;
}

/* The same for a cell; its name becomes that of the cells that are combined. */
static combination cell_names(const lab_claim *claim, size_t cell, lab_cell_text *name)
{
    name_of(claim, cell, name);
    combination rows = combination_of(name->row), columns = combination_of(name->column);
    return rows != EACH ? rows : columns;
}

/* Row number `index` of the table, not counting the one that is left out; NULL after the last. */
static const char *row_of(const lab_table *table, const char *but, size_t index)
{
    for (size_t row = 0; table && row < table->rows; row++) {
        const char *name = table->entries[row * table->columns].row;
        if (strcmp(name, but) != 0 && index-- == 0)
            return name;
    }
    return NULL;
}

/* Replaces a list of names by number `index` of them; false after the last. */
static bool choose(const lab_table *table, char names[LAB_NAME_ROOM], size_t index)
{
    const char *from = names;
    if (names[0] == '*') {
        from = row_of(table, strncmp(names, "* but ", 6) == 0 ? names + 6 : "", index);
        if (from)
            snprintf(names, LAB_NAME_ROOM, "%s", from);
        return from != NULL;
    }
    if (!strchr(names, '|'))
        return true; /* the same for all */
    for (; index > 0; index--) {
        from += strcspn(from, "|");
        if (!*from++)
            return false;
    }
    size_t length = strcspn(from, "|");
    memmove(names, from, length);
    names[length] = 0;
    return true;
}

/* Cell number `index` of those that a name stands for; false after the last. */
static bool single(const lab_book *book, lab_cell_text *name, size_t index)
{
    const lab_table *table = lab_book_find(book, name->study);
    bool several = name->row[0] == '*' || strchr(name->row, '|') || strchr(name->column, '|');
    return (several || index == 0) && choose(table, name->row, index) && choose(table, name->column, index);
}

static size_t names_count(const lab_judgement *judgement, size_t cell)
{
    size_t count = 0;
    lab_cell_text name;
    for (cell_names(judgement->claim, cell, &name); single(judgement->book, &name, count); count++)
        cell_names(judgement->claim, cell, &name);
    return count;
}

/* ---- one number ---- */

/* Adds a cell to those before it; `errors` are the squares of the distances to the ends of the interval. */
static void combine(lab_entry *all, const lab_entry *one, combination how, double errors[2])
{
    double below = how == MEAN ? lab_entry_spread(one) : one->measured - one->low;
    double above = how == MEAN ? below : one->high - one->measured;
    all->measured = how == LEAST ? fmin(all->measured, one->measured) : all->measured + one->measured;
    errors[0] += below * below;
    errors[1] += above * above;
}

/* Gives the sum or the mean of `count` cells its interval. */
static lab_entry with_interval(lab_entry all, combination how, double count, const double errors[2])
{
    double part = how == MEAN ? count : 1, stretch = how == MEAN ? LAB_INTERVAL_Z : 1;
    all.measured /= part;
    if (how == LEAST || (how == MEAN && !(errors[1] > 0)))
        return lab_exact_entry(all.measured);
    all.low = all.measured - stretch * sqrt(errors[0]) / part;
    all.high = all.measured + stretch * sqrt(errors[1]) / part;
    all.low = how == MEAN ? fmax(0, all.low) : all.low;
    return all; /* its z is 0: the intervals are not estimated again from few runs */
}

static bool entry_at(const lab_book *book, lab_cell_text *name, size_t index, lab_entry *entry)
{
    const lab_entry *found =
        single(book, name, index) ? lab_book_entry(book, name->study, name->row, name->column) : NULL;
    if (found)
        *entry = *found;
    return found != NULL;
}

static void find_cell(lab_judgement *judgement, size_t cell)
{
    lab_cell_text name;
    combination how = cell_names(judgement->claim, cell, &name);
    lab_entry all = {.measured = how == LEAST ? INFINITY : 0}, one;
    double errors[2] = {0, 0};
    size_t count = names_count(judgement, cell);
    bool found = count > 0;
    for (size_t i = 0; i < count && found; i++) {
        cell_names(judgement->claim, cell, &name);
        found = entry_at(judgement->book, &name, i, &one);
        if (found && how != EACH)
            combine(&all, &one, how, errors);
    }
    judgement->found[cell] = found;
    if (found)
        judgement->cells[cell] = how == EACH ? one : with_interval(all, how, (double)count, errors);
}

void lab_cells_find(lab_judgement *judgement)
{
    lab_cell_text name;
    for (size_t i = 0; i < LAB_CLAIM_CELLS && name_of(judgement->claim, i, &name); i++, judgement->count++)
        find_cell(judgement, i);
}

size_t lab_cell_count(const lab_judgement *judgement, size_t cell)
{
    lab_cell_text name;
    return cell_names(judgement->claim, cell, &name) == EACH ? names_count(judgement, cell) : 1;
}

bool lab_cell_at(const lab_judgement *judgement, size_t cell, size_t index, lab_entry *entry, lab_cell_text *name)
{
    if (cell_names(judgement->claim, cell, name) == EACH)
        return entry_at(judgement->book, name, index, entry);
    *entry = judgement->cells[cell];
    return judgement->found[cell];
}
