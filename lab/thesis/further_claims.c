/* Judges the thesis's claims about its further work and about questions that its tables leave open. See thesis.h. */
#include <math.h>
#include <stdio.h>

#include "lab/thesis/thesis.h"

lab_holding lab_claim_multiplier(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const larger = "3 HF, 4.0 M: 12 bits", *const more = "6 HF, 2.0 M: 12 bits";
    static const char *const times = "further-equal-bits-time", *const salted = "salted, look up known";
    const lab_entry *by_multiplier = lab_book_entry(book, "further-equal-bits", larger, "FP");
    const lab_entry *by_functions = lab_book_entry(book, "further-equal-bits", more, "FP");
    const lab_entry *few = lab_book_entry(book, times, larger, salted);
    const lab_entry *many = lab_book_entry(book, times, more, salted);
    const lab_entry *derived = lab_book_entry(book, times, more, "derived, look up known");
    if (!by_multiplier || !by_functions || !few || !many || !derived)
        return LAB_UNJUDGED;
    lab_cell_name few_cell = {times, larger, salted}, many_cell = {times, more, salted};
    lab_comparison worse = lab_compare(lab_ratio_of_rates(by_multiplier, by_functions), LAB_RATE_MARGIN);
    lab_ratio ratio = lab_ratio_of_times(book, &few_cell, &many_cell);
    lab_relation faster = lab_relate(ratio, claim->margin);
    char text[LAB_RATIO_ROOM];
    snprintf(
        sentence, room,
        "With 12 bits per URL, M = 4.0 with 3 functions loses %.3g %% and M = 2.0 with 6 functions %.3g %%; a lookup "
        "takes %.3g and %.3g ns with salted functions (a ratio of %s), and %.3g ns with 6 values derived from one hash",
        by_multiplier->measured, by_functions->measured, few->measured, many->measured, lab_ratio_text(ratio, text),
        derived->measured);
    if (worse == LAB_OPEN || (worse == LAB_MORE && faster == LAB_TOO_LITTLE))
        return LAB_UNJUDGED;
    return worse == LAB_NOT_MORE ? LAB_HOLDS : faster == LAB_BELOW ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

lab_holding lab_claim_delay(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "further-delay", *const same = "same order", *const other = "other order";
    const lab_entry *one = lab_book_entry(book, id, "by 1 crawl or more", same);
    const lab_entry *two = lab_book_entry(book, id, "by 2 crawls or more", same);
    const lab_entry *two_other = lab_book_entry(book, id, "by 2 crawls or more", other);
    const lab_entry *three = lab_book_entry(book, id, "by 3 crawls or more", same);
    const lab_entry *last = lab_book_entry(book, id, "by 1 crawl or more", "last tenth, same order");
    if (!one || !two || !two_other || !three || !last)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 3 functions and M = 2.0, %.3g %% of all pages wait for the second crawl, %.3g %% for the third "
             "(%.3g %% if each crawl has a different order) and %.3g %% for longer; of the tenth that a crawl meets "
             "last, %.3g %% wait",
             one->measured, two->measured, two_other->measured, three->measured, last->measured);
    lab_comparison fewer = lab_compare(lab_ratio_of_rates(one, two), claim->margin);
    if (fewer == LAB_OPEN)
        return LAB_UNJUDGED;
    return fewer == LAB_MORE && two->measured >= three->measured ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

/* The share that both crawls lose, divided by the square of what one loses. */
static lab_ratio ratio_to_square(const lab_entry *one, const lab_entry *both)
{
    lab_entry square = *one;
    square.measured *= one->measured / 100;
    square.low *= one->low / 100;
    square.high *= one->high / 100;
    return lab_ratio_of_rates(both, &square);
}

lab_holding lab_claim_scalable(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const grown = "scalable, first stage n / 10", *const right = "classic, for n URLs";
    static const char *const id = "further-scalable", *const memory = "further-scalable-memory";
    const lab_entry *one = lab_book_entry(book, id, grown, "first crawl");
    const lab_entry *both = lab_book_entry(book, id, grown, "both crawls");
    const lab_entry *known = lab_book_entry(book, id, right, "both crawls");
    const lab_entry *guessed = lab_book_entry(book, id, "classic, for a tenth of n", "both crawls");
    const lab_entry *bits = lab_book_entry(book, memory, grown, "bits per URL");
    const lab_entry *least = lab_book_entry(book, memory, right, "bits per URL");
    if (!one || !both || !known || !guessed || !bits || !least)
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "A scalable filter that starts with room for a tenth of the URLs loses %.3g %% in one crawl and %.3g %% in "
        "both; a classic filter made for the right number loses %.3g %% in both, and one made for a tenth of it "
        "%.3g %%; but the scalable filter takes %.3g bits per URL instead of %.3g",
        one->measured, both->measured, known->measured, guessed->measured, bits->measured, least->measured);
    lab_relation square = lab_relate(ratio_to_square(one, both), claim->margin);
    lab_comparison gains = lab_compare(lab_ratio_of_rates(guessed, both), claim->margin);
    if (square == LAB_ABOVE || square == LAB_BELOW || gains == LAB_NOT_MORE)
        return LAB_DOES_NOT_HOLD;
    if (square == LAB_TOO_LITTLE || gains == LAB_OPEN)
        return LAB_UNJUDGED;
    return bits->measured > least->measured ? LAB_CONDITIONS : LAB_HOLDS;
}

lab_holding lab_claim_revisit(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "further-revisit";
    const lab_entry *right = lab_book_entry(book, id, "first for n, headroom 1", "crawl 1");
    const lab_entry *oversized = lab_book_entry(book, id, "first for 4 n, headroom 1", "crawl 2");
    const lab_entry *first = lab_book_entry(book, id, "first for 0.25 n, headroom 1", "crawl 1");
    const lab_entry *second = lab_book_entry(book, id, "first for 0.25 n, headroom 1", "crawl 2");
    const lab_entry *third = lab_book_entry(book, id, "first for 0.25 n, headroom 1", "crawl 3");
    if (!right || !oversized || !first || !second || !third)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "After a first filter four times too large, the second crawl loses %.3g %%, as it should (%.3g %%); after "
             "one four times too small, which lost %.3g %% and so counted too few, it loses %.3g %%, and only the "
             "third crawl gets down to %.3g %%",
             oversized->measured, right->measured, first->measured, second->measured, third->measured);
    lab_relation as_it_should = lab_relate(lab_ratio_of_rates(oversized, right), claim->margin);
    if (as_it_should != LAB_EQUAL)
        return as_it_should == LAB_TOO_LITTLE ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
    lab_comparison worse = lab_compare(lab_ratio_of_rates(second, right), claim->margin);
    return worse == LAB_MORE ? LAB_CONDITIONS : worse == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

lab_holding lab_claim_genetic(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "further-genetic", *const next = "next crawls";
    static const char *const time = "further-genetic-time", *const value = "a hash value";
    const lab_entry *training = lab_book_entry(book, id, "found", "training crawl");
    const lab_entry *found = lab_book_entry(book, id, "found", next);
    const lab_entry *sip = lab_book_entry(book, id, "sip13", next);
    const lab_entry *found_time = lab_book_entry(book, time, "found", value);
    const lab_entry *sip_time = lab_book_entry(book, time, "sip13", value);
    if (!training || !found || !sip || !found_time || !sip_time)
        return LAB_UNJUDGED;
    lab_comparison gain = lab_compare(lab_ratio_of_rates(sip, found), claim->margin);
    snprintf(sentence, room,
             "The bred function loses %.3g %% of the crawl it was bred for, but %.3g %% of the next ones, where an "
             "ideal function loses %.3g %% and sip13, which knows nothing of the site, %.3g %%%s; it takes %.3g ns per "
             "URL, sip13 %.3g ns, and it has no key against attackers",
             training->measured, found->measured, found->theory, sip->measured,
             gain != LAB_NOT_MORE ? "" : ": it learnt the URLs, not the site", found_time->measured,
             sip_time->measured);
    lab_entry hardly_any = lab_exact_entry(found->theory / 10);
    lab_comparison many = lab_compare(lab_ratio_of_rates(found, &hardly_any), 0);
    if (gain == LAB_MORE && many != LAB_OPEN)
        return many == LAB_MORE ? LAB_CONDITIONS : LAB_HOLDS;
    return gain == LAB_NOT_MORE && many == LAB_MORE ? LAB_DOES_NOT_HOLD : LAB_UNJUDGED;
}

lab_holding lab_claim_processes(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const time = "further-processes-time", *const members = "2 members";
    const lab_entry *rate = lab_book_entry(book, "further-processes", "2 processes", "processes");
    const lab_entry *differ = lab_book_entry(book, "further-processes", "2 processes", "answers that differ");
    const lab_entry *one_by_one = lab_book_entry(book, time, members, "processes, 1 URL at a time");
    const lab_entry *batched = lab_book_entry(book, time, members, "processes, 4096 URLs at a time");
    const lab_entry *here = lab_book_entry(book, time, members, "one set, 4096 URLs at a time");
    const lab_entry *messages =
        lab_book_entry(book, "further-processes-messages", members, "processes, 1 URL at a time");
    if (!rate || !differ || !one_by_one || !batched || !here || !messages)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Two processes with one member each lose %.3g %%, and %s; but a lookup takes %.3g messages and %.3g "
             "microseconds, %.3g with 4,096 URLs in a message, and %.3g in one set",
             rate->measured,
             differ->measured > 0 ? "some answers differ from those of one set" : "every answer equals that of one set",
             messages->measured, one_by_one->measured, batched->measured, here->measured);
    if (differ->measured > 0)
        return LAB_DOES_NOT_HOLD;
    lab_cell_name apart = {time, members, "processes, 1 URL at a time"};
    lab_cell_name together = {time, members, "one set, 4096 URLs at a time"};
    lab_comparison slower = lab_compare(lab_ratio_to(lab_ratio_of_times(book, &apart, &together), 2), claim->margin);
    return slower == LAB_OPEN ? LAB_UNJUDGED : slower == LAB_MORE ? LAB_CONDITIONS : LAB_HOLDS;
}
