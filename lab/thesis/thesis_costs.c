/* Judges the thesis's claims about memory and time. See thesis.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/thesis/thesis.h"

/* Relative error within which a figure counts as proportional. */
#define TOLERANCE 0.3

#define TOO_SLOW 100 /* ratio to the time of a filter */

lab_holding lab_claim_memory(const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *usual = lab_book_entry(book, "thesis-5.10", "3 HF", "2.0 M");
    const lab_entry *largest = lab_book_entry(book, "thesis-5.10", "10 HF", "5.0 M");
    const lab_entry *list = lab_book_entry(book, "thesis-5.13", "ArrayList", "memory");
    const lab_entry *hashset = lab_book_entry(book, "thesis-5.13", "HashSet", "memory");
    if (!usual || !largest || !list || !hashset)
        return LAB_UNJUDGED;
    double least = fmin(list->measured, hashset->measured);
    snprintf(sentence, room,
             "1,000,000 URLs take %.0f kilobytes in a filter with 3 functions and M = 2.0 and %.0f in the largest of "
             "the table, but %.0f in a list and %.0f in a hash set, which lose no pages",
             usual->measured, largest->measured, list->measured, hashset->measured);
    return largest->measured * 2 < least ? LAB_HOLDS : usual->measured < least ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

lab_holding lab_claim_memory_filters(const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *one = lab_book_entry(book, "thesis-5.10", "3 HF", "2.0 M");
    const lab_entry *two = lab_book_entry(book, "thesis-5.11", "3 HF", "2.0 M");
    const lab_entry *three = lab_book_entry(book, "thesis-5.12", "3 HF", "2.0 M");
    if (!one || !two || !three)
        return LAB_UNJUDGED;
    double twice = two->measured / one->measured, thrice = three->measured / one->measured;
    snprintf(sentence, room,
             "Two filters with 3 functions and M = 2.0 take %.3g times the memory of one, three take %.3g times", twice,
             thrice);
    return fabs(twice - 2) < 0.1 && fabs(thrice - 3) < 0.1 ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

/* Some tables give ratios of times and others the times: the ratio of two cells is the same in both. */
static double ten_to_three(const lab_book *book, const char *id)
{
    const lab_entry *three = lab_book_entry(book, id, "3 HF", "2.0 M");
    const lab_entry *ten = lab_book_entry(book, id, "10 HF", "2.0 M");
    return three && ten ? ten->measured / three->measured : (double)NAN;
}

static bool is_linear(double ratio)
{
    return fabs(ratio / (10.0 / 3) - 1) <= TOLERANCE;
}

lab_holding lab_claim_time_functions(const lab_book *book, char *sentence, size_t room)
{
    double ratio = ten_to_three(book, "thesis-A.4");
    if (isnan(ratio))
        return LAB_UNJUDGED;
    snprintf(sentence, room, "Adding with 10 functions takes %.3g times as long as with 3; linear growth would be 10/3",
             ratio);
    return is_linear(ratio) ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

lab_holding lab_claim_time_break(const lab_book *book, char *sentence, size_t room)
{
    double all = ten_to_three(book, "thesis-A.1"), ended = ten_to_three(book, "thesis-A.1-break");
    if (isnan(all) || isnan(ended))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "10 functions take %.3g times as long as 3 if every bit is looked up, but %.3g times if a lookup stops at "
             "the first zero bit, as the thesis's algorithm 2 does",
             all, ended);
    return !is_linear(all) ? LAB_DOES_NOT_HOLD : is_linear(ended) ? LAB_HOLDS : LAB_CONDITIONS;
}

lab_holding lab_claim_time_multiplier(const lab_book *book, char *sentence, size_t room)
{
    static const char *const column = "salted, look up known";
    const lab_entry *small = lab_book_entry(book, "further-equal-bits-time", "3 HF, 2.0 M: 6 bits", column);
    const lab_entry *large = lab_book_entry(book, "further-equal-bits-time", "3 HF, 4.0 M: 12 bits", column);
    if (!small || !large)
        return LAB_UNJUDGED;
    snprintf(sentence, room, "With 3 functions a lookup takes %.3g ns with M = 2.0 and %.3g ns with M = 4.0",
             small->measured, large->measured);
    return large->measured <= small->measured * (1 + TOLERANCE) ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

/* The tables of collections give times as multiples of a filter's time; other units cannot be judged here. */
static const lab_entry *collection(const lab_book *book, const char *id, const char *row)
{
    const lab_table *table = lab_book_find(book, id);
    return table && strcmp(table->unit, "times the filter") == 0 ? lab_book_entry(book, id, row, "time") : NULL;
}

lab_holding lab_claim_hashset_time(const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *add = collection(book, "thesis-5.14", "HashSet");
    const lab_entry *ask = collection(book, "thesis-5.15", "HashSet");
    if (!add || !ask)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "A hash set takes %.3g times as long as a filter with 3 salted functions to add, and %.3g times as long "
             "to query",
             add->measured, ask->measured);
    return add->measured < 1 && ask->measured < 1   ? LAB_HOLDS
           : add->measured < 1 || ask->measured < 1 ? LAB_CONDITIONS
                                                    : LAB_DOES_NOT_HOLD;
}

/* %.3g would print thousands with an exponent. */
static int decimals(const lab_entry *entry)
{
    return entry->measured < 10 ? 2 : 0;
}

lab_holding lab_claim_list_time(const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *add = collection(book, "thesis-5.14", "ArrayList");
    const lab_entry *other = collection(book, "thesis-5.14", "HashSet");
    const lab_entry *ask = collection(book, "thesis-5.15", "ArrayList");
    if (!add || !other || !ask)
        return LAB_UNJUDGED;
    bool fastest = add->measured < fmin(1, other->measured);
    bool slow = ask->measured > TOO_SLOW;
    snprintf(sentence, room,
             "A list takes %.*f times as long as a filter with 3 salted functions to add (a hash set %.*f times), and "
             "%.*f times as long to query",
             decimals(add), add->measured, decimals(other), other->measured, decimals(ask), ask->measured);
    return fastest && slow ? LAB_HOLDS : fastest || slow ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}
