/*
 * What a crawler that comes back should do with its filter: the recommendation, and what supports it, as claims.
 * Bounds ("more than ten times") are in the claims' texts; a bound is reached or missed by a whole interval.
 */
#include "lab/judge/judging.h"
#include "lab/revisits/revisits.h"

#define OTHERS LAB_KEPT "|" LAB_EVERY_5 "|" LAB_EVERY_2 "|" LAB_TWO_EPOCHS "|" LAB_EMPTIED

const lab_claim lab_revisits_claims[] = {
    {"revisits-best", "vidi",
     "Begin each crawl with an empty filter and new salts, in all the memory there is: no other policy misses "
     "fewer page-crawls",
     "revisits-churn-0 revisits-churn-1 revisits-churn-10 revisits-churn-50", .margin = 0.15,
     .margin_reason = "a filter that is kept is drawn once in a run, so a hundred runs tell its losses to some 5 %",
     .cells = "revisits-churn-0 @ " LAB_EACH_CRAWL " @ 20 crawls; @ " OTHERS "; @ least " OTHERS
              "; revisits-churn-1 @ " LAB_EACH_CRAWL "; @ " OTHERS "; @ least " OTHERS
              "; revisits-churn-10 @ " LAB_EACH_CRAWL "; @ " OTHERS "; @ least " OTHERS
              "; revisits-churn-50 @ " LAB_EACH_CRAWL "; @ " OTHERS "; @ least " OTHERS,
     .tests = {"no-more A/B D/E G/H J/K"},
     .sentence =
         "With 8 bits per page and new salts each crawl, 20 crawls missed of a million page-crawls {A 0f} with "
         "a churn of 0 % (the best other policy: {C 0f}), {D 0f} with a churn of 1 % (the best other policy: {F "
         "0f}), {G 0f} with a churn of 10 % (the best other policy: {I 0f}), {J 0f} with a churn of 50 % (the "
         "best other policy: {L 0f})"},
    {"revisits-total", "vidi",
     "If pages never change, new salts do not change how many page-crawls are missed, only which", "revisits-4-bits",
     .margin = 0.05, .margin_reason = "a filter that is kept is drawn once in a run",
     .cells = "revisits-4-bits @ " LAB_EACH_CRAWL " @ churn 0 %; @ " LAB_KEPT "; @ " LAB_EVERY_5 "; @ " LAB_EVERY_2
              "; @ " LAB_EMPTIED,
     .tests = {"contest A/B A/C A/D A/E"},
     .rule = "a- fails; a? open; a0 open; holds", /* a policy without power would be a gap in the claim */
     .sentence = "With 4 bits per page and pages that never change, {A 0f} page-crawls in a million were missed with "
                 "new salts each crawl, {C 0f} with new salts every 5 crawls, {B 0f} with a filter that was kept and "
                 "{E 0f} with one that was emptied{a.left_out}"},
    {"revisits-churn", "vidi",
     "If a tenth of the pages is replaced between crawls, a filter that is kept for 20 crawls misses more than "
     "ten times as many page-crawls as one with new salts each crawl",
     "revisits-churn-10", .cells = "revisits-churn-10 @ " LAB_KEPT " @ 20 crawls; @ " LAB_EACH_CRAWL,
     .tests = {"more A/B to 10"},
     .sentence = "With 8 bits per page and a churn of 10 %, a filter that was kept for 20 crawls missed {A 0f} "
                 "page-crawls in a million, one with new salts each crawl {B 0f}"},
    {"revisits-every", "vidi",
     "If a tenth of the pages is replaced between crawls, new salts every second crawl miss less than 1.5 times "
     "as many page-crawls as new salts each crawl, and new salts every fifth crawl more than twice as many",
     "revisits-churn-10",
     .cells = "revisits-churn-10 @ " LAB_EACH_CRAWL " @ 20 crawls; @ " LAB_EVERY_2 "; @ " LAB_EVERY_5,
     .tests = {"no-more B/A of 2 to 1.5", "more C/A of 2 to 2"},
     .sentence = "With 8 bits per page and a churn of 10 %, {A 0f} page-crawls in a million were missed with new salts "
                 "each crawl, {B 0f} with new salts every second and {C 0f} every fifth crawl"},
    {"revisits-epochs", "vidi",
     "Keeping the previous epoch in the same memory makes a crawl miss more than five times as many pages",
     "revisits-churn-10 revisits-16-bits",
     .cells = "revisits-churn-10 @ " LAB_TWO_EPOCHS " @ 20 crawls; @ " LAB_EACH_CRAWL
              "; revisits-16-bits @ " LAB_TWO_EPOCHS " @ churn 10 %; @ " LAB_EACH_CRAWL,
     .tests = {"more A/B C/D to 5"},
     .sentence = "With 8 bits per page two epochs missed {A 0f} page-crawls in a million, one epoch in all of the "
                 "memory {B 0f}; with 16 bits {C 0f} and {D 3g}"},
    {"revisits-again", "vidi, after the thesis, section 4.2",
     "With new salts, the next crawl misses fewer than one in ten of the pages that a crawl has missed; with the "
     "same salts more than one in five, even in a different order",
     "revisits-never",
     .cells = "revisits-never @ " LAB_EACH_CRAWL " @ 1 crawl; @@ 2 crawls; @ " LAB_EMPTIED " @ 1 crawl; @@ 2 crawls",
     .tests = {"no-more B/A of 2 to 0.1", "more D/C of 2 to 0.2"},
     .sentence = "Of a million pages with 4 bits each, one crawl missed {A 0f}; two crawls with new salts both missed "
                 "{B 0f}, and two with the same salts in a different order {D 0f}"},
    {"revisits-rotations", "vidi",
     "What counts for a page that was missed is how often the salts change, not how often the site is crawled",
     "revisits-never", .margin = 0.15, .margin_reason = "both miss two pages in a thousand",
     .cells = "revisits-never @ " LAB_EVERY_5 " @ 10 crawls; @ " LAB_EACH_CRAWL " @ 2 crawls", .tests = {"equal A/B"},
     .sentence = "Of a million pages, ten crawls with new salts every fifth crawl all missed {A 0f}, and two crawls "
                 "with new salts each time {B 0f}; the ratio is {a}"},
    {"revisits-order", "vidi, after the thesis, section 5.7.1",
     "Even with new salts, the same order makes two crawls miss more than one and a half times as many pages as "
     "different orders do",
     "revisits-never", .cells = "revisits-never @ " LAB_EACH_IN_ORDER " @ 2 crawls; @ " LAB_EACH_CRAWL,
     .tests = {"more A/B to 1.5"},
     .sentence = "Of a million pages, two crawls with new salts both missed {A 0f} if they had the same order, and {B "
                 "0f} if they had different orders"},
    {"revisits-most", "vidi",
     "With new salts hardly any page is missed by most crawls: fewer than a thousandth of those that a kept "
     "filter makes them miss; emptying without new salts leaves more than a tenth",
     "revisits-half", .cells = "revisits-half @ " LAB_EACH_CRAWL " @ 10 crawls; @ " LAB_EMPTIED "; @ " LAB_KEPT,
     .tests = {"no-more A/C of 2 to 1e-3", "more B/C of 2 to 0.1"},
     .sentence =
         "Of a million pages, more than half of ten crawls missed {A 3g} with new salts each crawl, {B 0f} with "
         "a filter that was emptied and kept its salts, and {C 0f} with one that was never emptied"},
    {"revisits-memory", "vidi",
     "New salts take no more memory than the same if it is allocated when it is first written to; otherwise two "
     "filters exist for a moment, and three if the previous epoch is kept",
     "revisits-bytes",
     .cells = "revisits-bytes @ one filter, kept @ peak memory; @ vidi_rotate, VIDI_TOUCH_LATER; @ vidi_rotate; @ "
              "vidi_rotate, VIDI_KEEP_PREVIOUS",
     .provided = "A<=1.2", /* with few URLs, a set's other memory matters */
     .tests = {"true C>=2 D>=3 B<1.2"},
     .sentence =
         "With vidi_rotate a set took up to {C 2f} times the memory of a filter, with VIDI_KEEP_PREVIOUS {D 2f} "
         "times and with VIDI_TOUCH_LATER {B 2f} times"},
    {.id = NULL},
};
