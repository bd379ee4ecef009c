/*
 * Which kind to use, and what it costs: the recommendations of the documentation, judged by the tables of all kinds
 * like the claims of a paper.
 */
#include "lab/judge/judging.h"
#include "lab/kinds/kinds.h"

#define FIXED "6 bits, same salts and order"
#define SHUFFLED "6 bits, same salts"
#define TEMPORAL "6 bits, new salts: temporal"

const lab_claim lab_kinds_claims[] = {
    {"kinds-default", "vidi",
     "Unless memory is very scarce, use fingerprint: it loses practically nothing, and it grows",
     "kinds-lost kinds-needs kinds-growth",
     .cells = "kinds-lost @ fingerprint @ 64 bits; @@ 48 bits; kinds-growth @@ 4 times as many; kinds-needs @@ 1 in "
              "1,000,000; @ hashset",
     /* Practically nothing: 10 pages per million. */
     .tests = {"no-more A/(10) B/(10) C/(10)", "true D<E/10"},
     .sentence =
         "Fingerprint lost {A 3g} pages in a million with 64 bits per URL, {B 3g} with 48, and {C 3g} with four "
         "times the URLs that it was made for; for one in a million it takes {D 0f} bits, a hash table of the "
         "URLs {E 0f}"},
    {"kinds-small", "vidi",
     "If one page in a hundred may be lost, use blocked: it takes little more memory than the smallest, and is "
     "faster",
     "kinds-needs kinds-time", .margin = LAB_TIME_MARGIN,
     .cells = "kinds-needs @ blocked @ 1 in 100; @ classic; @ fingerprint; kinds-time @ blocked @ look up, 16 bits; @ "
              "classic; @ blocked @ add, 16 bits; @ classic",
     .tests = {"true A>1.25*B A>C", "equal D:E", "equal F:G"},
     .rule = "a+ fails; b+ fails; b> fails; b? open; c? open; c< holds; conditions",
     .sentence =
         "To lose one page in a hundred, blocked takes {A 1f} bits per URL, classic {B 1f}, fingerprint {C 1f}; "
         "with 16 bits a lookup takes {D 0f} ns (classic {E 0f}), an add {F 0f} (classic {G 0f})"},
    {"kinds-papers", "vidi",
     "With the same memory, none of the papers' kinds loses fewer pages than a plain Bloom filter", "kinds-lost",
     .margin = 0.1, .margin_reason = "the table has a tenth of the URLs and ten runs",
     .cells = "kinds-lost @ classic @ 8 bits; @ spatial; @ scalable; @ eigen; @ multilayer; @ counting",
     .tests = {"no-more A/B A/C A/D A/E A/F"},
     .sentence =
         "With 8 bits per URL classic lost {A 0f} pages in a million, spatial {B 0f}, scalable {C 0f}, eigen {D "
         "0f}, multilayer {E 0f}, counting {F 0f}"},
    {"kinds-deleting", "vidi", "Counters cost four times the memory of bits for the same losses", "kinds-lost",
     .margin = 0.1, .margin_reason = "the table has a tenth of the URLs and ten runs",
     .cells = "kinds-lost @ counting @ 32 bits; @ classic @ 8 bits; @@ 32 bits; @ fingerprint @ 48 bits",
     .tests = {"equal A/B"},
     .sentence = "Counting lost {A 0f} pages in a million with 32 bits per URL, as classic does with 8 ({B 0f}); "
                 "classic lost {C 3g} with 32, and fingerprint, which can also delete, {D 3g} with 48"},
    {"kinds-growth", "vidi", "If you do not know how many URLs will come, use a kind that grows", "kinds-growth",
     .cells = "kinds-growth @ classic @ as many; @@ 2 times as many; @@ 4 times as many; @ scalable; @ blocked; @ "
              "fingerprint",
     /* Kinds that grow lose less than a twentieth. */
     .tests = {"no-more D/C E/C F/C to 1/20"},
     .sentence = "Classic lost {A 0f} pages in a million with the number of URLs that it was made for, {B 0f} with "
                 "twice and {C 0f} with four times as many; with four times as many scalable lost {D 0f}, blocked {E "
                 "0f}, fingerprint {F 3g}"},
    {"kinds-expected", "vidi", "A set reports its losses correctly", "kinds-expected kinds-lost", .margin = 0.1,
     .margin_reason = "the table has a tenth of the URLs and ten runs",
     .cells =
         "kinds-lost @ classic @ 8 bits; @ spatial; @ scalable; @ blocked; @ counting; @ multilayer; kinds-expected @ "
         "classic; @ spatial; @ scalable; @ blocked; @ counting; @ multilayer",
     .provided = "min(A,B,C,D,E)>0", .tests = {"contest A/=G B/=H C/=I D/=J E/=K", "more =L/F to 2 margin 0"},
     .rule = "a- fails; a? open; b+ conditions; holds",
     .sentence = "With 8 bits per URL five kinds reported their losses within "
                 "{100*max(abs(G/A-1),abs(H/B-1),abs(I/C-1),abs(J/D-1),abs(K/E-1)) 1f} %; multilayer, which reports an "
                 "upper bound, reported {L 0f} pages in a million and had lost {F 0f}{a.left_out}"},
    {"kinds-salts", "vidi, after the thesis, section 4.2",
     "New salts for each crawl recover the pages that the last one lost", "kinds-recrawl",
     .cells = "kinds-recrawl @ " TEMPORAL " @ after 1; @@ after 3; @ " SHUFFLED "; @ " FIXED "; @ " SHUFFLED
              " @ after 10; @ " FIXED,
     .provided = "A>0", .tests = {"no-more B/C of 2", "no-more B/D of 2 to 0.1"},
     .sentence = "Of {A 0f} pages in a million that the first crawl lost, {B 3g} were still lost after three crawls "
                 "with new salts, {C 0f} with the same salts in a different order and {D 0f} in the same order; after "
                 "ten crawls the latter two had {E 3g} and {F 0f} left"},
    {"kinds-bits", "vidi, after the thesis, section 4.2",
     "Twice the bits achieve in one crawl what new salts achieve in two", "kinds-recrawl", .margin = 1,
     .margin_reason = "a factor of two: both lose a few pages in a million",
     .cells =
         "kinds-recrawl @ 12 bits, same salts @ after 1; @ 2 x 6 bits, same salts: spatial; @ " TEMPORAL "; @@ after 2",
     .provided = "C>0", .tests = {"no-more A/D of 2", "no-more A/C of 2 to 0.1 margin 0"},
     .sentence = "One crawl with 12 bits per URL lost {A 0f} pages in a million, with two filters of 6 bits {B 0f}; "
                 "with 6 bits and new salts {C 0f} were lost after one crawl and {D 0f} after two"},
    {"kinds-late", "vidi, after the thesis, section 5.7.1",
     "A crawl loses the pages that it meets late; a different order in the next crawl spreads the delay",
     "kinds-by-tenth", .margin = LAB_RATE_MARGIN,
     .cells = "kinds-by-tenth @ last tenth @ by one crawl or more; @@ by two or more, same order; @@ by two or more, "
              "other order; @ sum * but last tenth @ by one crawl or more",
     .provided = "A+D>0",
     /* More than a fifth of all, twice its share, in the last tenth. */
     .tests = {"more B/C of 2", "more A/D of 2 to 0.2/(1-0.2) margin 0"},
     .sentence = "{100*A/(A+D) 0f} % of the pages that the first crawl lost were in its last tenth; of a million pages "
                 "there, a second crawl in the same order lost {B 0f} again, one in a different order {C 0f}"},
    {.id = NULL},
};
