/* Judges the thesis's claims about memory and time. See thesis.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/thesis/thesis.h"

#define TOO_SLOW 100 /* ratio to the time of a filter */

lab_holding lab_claim_memory(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *usual = lab_book_entry(book, "thesis-5.10", "3 HF", "2.0 M");
    const lab_entry *largest = lab_book_entry(book, "thesis-5.10", "10 HF", "5.0 M");
    const lab_entry *list = lab_book_entry(book, "thesis-5.13", "ArrayList", "memory");
    const lab_entry *hashset = lab_book_entry(book, "thesis-5.13", "HashSet", "memory");
    (void)claim;
    if (!usual || !largest || !list || !hashset)
        return LAB_UNJUDGED;
    double least = fmin(list->measured, hashset->measured);
    snprintf(sentence, room,
             "1,000,000 URLs take %.0f kilobytes in a filter with 3 functions and M = 2.0 and %.0f in the largest of "
             "the table, but %.0f in a list and %.0f in a hash set, which lose no pages",
             usual->measured, largest->measured, list->measured, hashset->measured);
    return largest->measured * 2 < least ? LAB_HOLDS : usual->measured < least ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

lab_holding lab_claim_memory_filters(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
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
    return lab_relate(lab_exact_ratio(twice / 2), claim->margin) == LAB_EQUAL &&
                   lab_relate(lab_exact_ratio(thrice / 3), claim->margin) == LAB_EQUAL
               ? LAB_HOLDS
               : LAB_DOES_NOT_HOLD;
}

/* Some tables give ratios of times and others the times: the ratio of two cells is the same in both. */
static lab_ratio ten_to_three(const lab_book *book, const char *id)
{
    lab_cell_name ten = {id, "10 HF", "2.0 M"}, three = {id, "3 HF", "2.0 M"};
    return lab_ratio_of_times(book, &ten, &three);
}

/* LAB_EQUAL: the time is proportional to the number of functions. */
static lab_relation is_linear(lab_ratio ten_to_three, double margin)
{
    return lab_relate(lab_ratio_to(ten_to_three, 10.0 / 3), margin);
}

static bool has_table(const lab_book *book, const char *id)
{
    return lab_book_entry(book, id, "10 HF", "2.0 M") && lab_book_entry(book, id, "3 HF", "2.0 M");
}

lab_holding lab_claim_time_functions(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    lab_ratio ratio = ten_to_three(book, "thesis-A.4");
    lab_relation linear = is_linear(ratio, claim->margin);
    char text[LAB_RATIO_ROOM];
    if (!has_table(book, "thesis-A.4"))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "The time to add with 10 functions, divided by that with 3, is %s; linear growth would be 10/3",
             lab_ratio_text(ratio, text));
    return lab_holds_if_equal(linear);
}

lab_holding lab_claim_time_break(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    lab_ratio all = ten_to_three(book, "thesis-A.1"), ended = ten_to_three(book, "thesis-A.1-break");
    lab_relation all_linear = is_linear(all, claim->margin), ended_linear = is_linear(ended, claim->margin);
    char text[LAB_RATIO_ROOM], text_ended[LAB_RATIO_ROOM];
    if (!has_table(book, "thesis-A.1") || !has_table(book, "thesis-A.1-break"))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "The time with 10 functions, divided by that with 3, is %s if every bit is looked up, but %s if a lookup "
             "stops at the first zero bit, as the thesis's algorithm 2 does; linear growth would be 10/3",
             lab_ratio_text(all, text), lab_ratio_text(ended, text_ended));
    if (all_linear == LAB_TOO_LITTLE || ended_linear == LAB_TOO_LITTLE)
        return LAB_UNJUDGED;
    return all_linear != LAB_EQUAL ? LAB_DOES_NOT_HOLD : ended_linear == LAB_EQUAL ? LAB_HOLDS : LAB_CONDITIONS;
}

lab_holding lab_claim_time_multiplier(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const lab_cell_name small_cell = {"further-equal-bits-time", "3 HF, 2.0 M: 6 bits", "salted, look up known"};
    static const lab_cell_name large_cell = {"further-equal-bits-time", "3 HF, 4.0 M: 12 bits",
                                             "salted, look up known"};
    const lab_entry *small = lab_book_entry(book, small_cell.study, small_cell.row, small_cell.column);
    const lab_entry *large = lab_book_entry(book, large_cell.study, large_cell.row, large_cell.column);
    char text[LAB_RATIO_ROOM];
    if (!small || !large)
        return LAB_UNJUDGED;
    lab_ratio ratio = lab_ratio_of_times(book, &large_cell, &small_cell);
    lab_comparison more = lab_compare(ratio, claim->margin);
    snprintf(sentence, room,
             "With 3 functions a lookup takes %.3g ns with M = 2.0 and %.3g ns with M = 4.0: a ratio of %s",
             small->measured, large->measured, lab_ratio_text(ratio, text));
    return lab_holds_if_not_more(more);
}

/* The tables of collections give times as multiples of a filter's time; other units cannot be judged here. */
static const lab_entry *collection(const lab_book *book, const char *id, const char *row)
{
    const lab_table *table = lab_book_find(book, id);
    return table && strcmp(table->unit, "times the filter") == 0 ? lab_book_entry(book, id, row, "time") : NULL;
}

/* The same with its interval, from the raw numbers of the runs. */
static lab_ratio ratio_of(const lab_book *book, const char *id, const char *row)
{
    lab_cell_name name = {id, row, "time"};
    return lab_ratio_of_times(book, &name, NULL);
}

lab_holding lab_claim_hashset_time(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *add = collection(book, "thesis-5.14", "HashSet");
    const lab_entry *ask = collection(book, "thesis-5.15", "HashSet");
    if (!add || !ask)
        return LAB_UNJUDGED;
    lab_ratio to_add = ratio_of(book, "thesis-5.14", "HashSet"), to_ask = ratio_of(book, "thesis-5.15", "HashSet");
    lab_relation adding = lab_relate(to_add, claim->margin), asking = lab_relate(to_ask, claim->margin);
    char text[LAB_RATIO_ROOM], text_ask[LAB_RATIO_ROOM];
    snprintf(sentence, room,
             "The time of a hash set, divided by that of a filter with 3 salted functions, is %s to add and %s to "
             "query",
             lab_ratio_text(to_add, text), lab_ratio_text(to_ask, text_ask));
    if (adding == LAB_TOO_LITTLE || asking == LAB_TOO_LITTLE)
        return LAB_UNJUDGED;
    return adding == LAB_BELOW && asking == LAB_BELOW   ? LAB_HOLDS
           : adding == LAB_BELOW || asking == LAB_BELOW ? LAB_CONDITIONS
                                                        : LAB_DOES_NOT_HOLD;
}

/* %.3g would print thousands with an exponent. */
static int decimals(const lab_entry *entry)
{
    return entry->measured < 10 ? 2 : 0;
}

static lab_ratio ratio_inverse(lab_ratio ratio)
{
    return (lab_ratio){1 / ratio.value, 1 / ratio.high, 1 / ratio.low, ratio.known};
}

/* A list is the fastest to add to if both the filter and the hash set take longer. */
lab_holding lab_claim_list_time(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *add = collection(book, "thesis-5.14", "ArrayList");
    const lab_entry *other = collection(book, "thesis-5.14", "HashSet");
    const lab_entry *careful = collection(book, "thesis-5.14", "a list that looks up first");
    const lab_entry *ask = collection(book, "thesis-5.15", "ArrayList");
    if (!add || !other || !careful || !ask)
        return LAB_UNJUDGED;
    lab_cell_name list = {"thesis-5.14", "ArrayList", "time"}, set = {"thesis-5.14", "HashSet", "time"};
    lab_comparison filter_slower = lab_compare(ratio_inverse(lab_ratio_of_times(book, &list, NULL)), claim->margin);
    lab_comparison set_slower = lab_compare(lab_ratio_of_times(book, &set, &list), claim->margin);
    lab_comparison slow =
        lab_compare(lab_ratio_to(ratio_of(book, "thesis-5.15", "ArrayList"), TOO_SLOW), claim->margin);
    snprintf(
        sentence, room,
        "To append to a list takes %.*f times as long as to add to a filter with 3 salted functions, and to add to "
        "a hash set %.*f times; but a URL cache must look up first, which makes it %.*f times; a query of a list "
        "takes %.*f times as long",
        decimals(add), add->measured, decimals(other), other->measured, decimals(careful), careful->measured,
        decimals(ask), ask->measured);
    bool open = (filter_slower == LAB_OPEN && set_slower != LAB_NOT_MORE) ||
                (set_slower == LAB_OPEN && filter_slower != LAB_NOT_MORE) || slow == LAB_OPEN;
    bool fastest = filter_slower == LAB_MORE && set_slower == LAB_MORE;
    if (open)
        return LAB_UNJUDGED;
    return fastest && slow == LAB_MORE ? LAB_HOLDS : fastest || slow == LAB_MORE ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}
