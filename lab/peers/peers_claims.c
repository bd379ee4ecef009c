/*
 * What holds for the filters people use now: at equal bits, at equal losses, in time. Each claim is judged by our own
 * measurements. Memory is counted, so its ratios have no interval; rates and times have one.
 */
#include <math.h>
#include <stdio.h>

#include "lab/judge/judging.h"
#include "lab/peers/peers.h"

#define HARDLY_ANY 50.0 /* pages lost per million: what three runs can tell from none */

static const lab_entry *lost(const lab_book *book, lab_peer_sort sort, const char *size)
{
    return lab_book_entry(book, "peers-lost", lab_peer_names[sort], size);
}

static double needs(const lab_book *book, lab_peer_sort sort, const char *rate)
{
    return lab_book_measured(book, "peers-needs", lab_peer_names[sort], rate);
}

static double memory(const lab_book *book, lab_peer_sort sort, const char *moment)
{
    return lab_book_measured(book, "peers-memory", lab_peer_names[sort], moment);
}

/* For claims that no first figure is larger: if only some are, the claim holds with conditions. */
static lab_holding none_more(const lab_outcomes *score)
{
    if (score->open)
        return LAB_UNJUDGED;
    return !score->more ? LAB_HOLDS : score->not_more ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

/* ---- binary fuse ---- */

static lab_holding judge_fuse(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const lab_peer_sort others[] = {LAB_PEER_BLOCKED, LAB_PEER_CLASSIC, LAB_PEER_CUCKOO, LAB_PEER_ROCKSDB};
    static const char *const sizes[] = {"8 bits", "12 bits", "16 bits"};
    enum { OTHERS = sizeof others / sizeof *others, SIZES = sizeof sizes / sizeof *sizes };
    double adds = lab_book_measured(book, "peers-can", lab_peer_names[LAB_PEER_FUSE_4], "add");
    lab_outcomes score = {0};
    for (size_t i = 0; i < (size_t)OTHERS * SIZES; i++) {
        const lab_entry *other = lost(book, others[i / SIZES], sizes[i % SIZES]);
        const lab_entry *fuse = lost(book, LAB_PEER_FUSE_4, sizes[i % SIZES]);
        if (!other || !fuse || isnan(adds))
            return LAB_UNJUDGED;
        lab_outcomes_add(&score,
                         lab_compare(lab_ratio_of_rates_among(other, fuse, (size_t)OTHERS * SIZES), claim->margin));
    }
    int used = snprintf(sentence, room, "With 12 bits per URL, fuse 4-wise lost %.0f pages in a million",
                        lost(book, LAB_PEER_FUSE_4, "12 bits")->measured);
    for (size_t i = 0; i < OTHERS; i++)
        used += snprintf(sentence + used, room - (size_t)used, ", %s %.0f", lab_peer_names[others[i]],
                         lost(book, others[i], "12 bits")->measured);
    snprintf(sentence + used, room - (size_t)used, "; it %s add a URL once it is built", adds > 0 ? "can" : "cannot");
    return lab_holds_if_all_more(&score);
}

static lab_holding judge_fuse_peak(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double built = memory(book, LAB_PEER_FUSE_3, "in the end, n known");
    double peak = memory(book, LAB_PEER_FUSE_3, "at the peak, n known");
    double set = memory(book, LAB_PEER_HASHSET, "at the peak, n known");
    if (isnan(built) || isnan(peak) || isnan(set))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Fuse 3-wise takes %.1f bits per URL in the end and %.0f while it is built, with the hashes that it keeps "
             "until then; the hash set takes %.0f",
             built, peak, set);
    return lab_compare(lab_exact_ratio(peak / set), claim->margin) == LAB_MORE ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

/* ---- cuckoo ---- */

static lab_holding judge_cuckoo(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const rates[] = {"1 in 100", "1 in 1,000", "1 in 10,000", "1 in 1,000,000"};
    int used = snprintf(sentence, room, "Bits per URL of cuckoo and classic: ");
    lab_outcomes score = {0};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        double cuckoo = needs(book, LAB_PEER_CUCKOO, rates[i]), classic = needs(book, LAB_PEER_CLASSIC, rates[i]);
        if (isnan(cuckoo) || isnan(classic)) {
            sentence[0] = 0;
            return LAB_UNJUDGED;
        }
        used += snprintf(sentence + used, room - (size_t)used, "%s%.1f and %.1f for %s", i ? ", " : "", cuckoo, classic,
                         rates[i]);
        lab_outcomes_add(&score, lab_compare(lab_exact_ratio(cuckoo / classic), claim->margin));
    }
    return none_more(&score);
}

/* ---- Bloom filters in one cache line ---- */

static lab_holding judge_lines_lose(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const sizes[] = {"12 bits", "16 bits"};
    const lab_entry *rocksdb[2], *classic[2];
    lab_outcomes score = {0};
    for (size_t i = 0; i < 2; i++) {
        rocksdb[i] = lost(book, LAB_PEER_ROCKSDB, sizes[i]);
        classic[i] = lost(book, LAB_PEER_CLASSIC, sizes[i]);
        if (!rocksdb[i] || !classic[i])
            return LAB_UNJUDGED;
        lab_outcomes_add(&score, lab_compare(lab_ratio_of_rates_among(rocksdb[i], classic[i], 2), claim->margin));
    }
    snprintf(sentence, room,
             "RocksDB's filter lost %.0f pages in a million with 12 bits per URL and %.0f with 16, a Bloom filter with "
             "the best k %.0f and %.0f",
             rocksdb[0]->measured, rocksdb[1]->measured, classic[0]->measured, classic[1]->measured);
    return lab_holds_if_all_more(&score);
}

static lab_holding judge_blocked(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const sizes[] = {"8 bits", "24 bits"};
    const lab_entry *blocked[2], *rocksdb[2];
    lab_outcomes score = {0};
    for (size_t i = 0; i < 2; i++) {
        blocked[i] = lost(book, LAB_PEER_BLOCKED, sizes[i]);
        rocksdb[i] = lost(book, LAB_PEER_ROCKSDB, sizes[i]);
        if (!blocked[i] || !rocksdb[i])
            return LAB_UNJUDGED;
        lab_outcomes_add(&score, lab_compare(lab_ratio_of_rates_among(blocked[i], rocksdb[i], 2), claim->margin));
    }
    snprintf(sentence, room,
             "With 8 bits per URL, blocked lost %.0f pages in a million and RocksDB's filter %.0f; with 24 bits, where "
             "blocked takes two lines, %.3g and %.3g",
             blocked[0]->measured, rocksdb[0]->measured, blocked[1]->measured, rocksdb[1]->measured);
    return none_more(&score);
}

static lab_ratio time_ratio(const lab_book *book, lab_peer_sort sort, lab_peer_sort base, const char *deed)
{
    lab_cell_name cell = {"peers-time", lab_peer_names[sort], deed}, other = {"peers-time", lab_peer_names[base], deed};
    return lab_ratio_of_times(book, &cell, &other);
}

static lab_holding judge_lines_fast(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const deeds[] = {"known, out of it", "new, out of it"};
    static const lab_peer_sort lines[] = {LAB_PEER_BLOCKED, LAB_PEER_ROCKSDB};
    char texts[4][LAB_RATIO_ROOM];
    lab_outcomes score = {0};
    for (size_t i = 0; i < 4; i++) {
        lab_ratio ratio = time_ratio(book, LAB_PEER_CLASSIC, lines[i / 2], deeds[i % 2]);
        if (isnan(lab_book_measured(book, "peers-time", lab_peer_names[lines[i / 2]], deeds[i % 2])))
            return LAB_UNJUDGED;
        lab_ratio_text(ratio, texts[i]);
        lab_outcomes_add(&score, lab_compare(lab_ratio_to(ratio, 2), claim->margin));
    }
    snprintf(sentence, room,
             "A lookup in classic takes %s times as long as in blocked for known URLs and %s times for new ones; "
             "compared with RocksDB's filter, %s and %s times",
             texts[0], texts[1], texts[2], texts[3]);
    return lab_holds_if_all_more(&score);
}

/* ---- fingerprint and hash set ---- */

static lab_holding judge_smaller(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {needs(book, LAB_PEER_FINGERPRINT, "1 in 1,000,000,000"),
                        needs(book, LAB_PEER_HASHSET, "1 in 1,000,000,000"),
                        memory(book, LAB_PEER_FINGERPRINT, "at the peak, n unknown"),
                        memory(book, LAB_PEER_HASHSET, "at the peak, n unknown")};
    const lab_entry *losses = lost(book, LAB_PEER_FINGERPRINT, "64 bits");
    lab_entry hardly_any = lab_exact_entry(HARDLY_ANY);
    if (isnan(f[0] + f[1] + f[2] + f[3]) || !losses)
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "For one in 1e9 fingerprint takes %.0f bits per URL and a hash set of 64-bit hashes %.0f; if the number of "
        "URLs is unknown, for one in 10,000, %.0f and %.0f at the peak; with 64 bits per URL, fingerprint lost %.3g "
        "pages in a million",
        f[0], f[1], f[2], f[3], losses->measured);
    lab_comparison loses = lab_compare(lab_ratio_of_rates(losses, &hardly_any), 0);
    bool smaller = lab_compare(lab_exact_ratio(f[1] / f[0]), claim->margin) == LAB_MORE &&
                   lab_compare(lab_exact_ratio(f[3] / f[2]), claim->margin) == LAB_MORE;
    if (!smaller || loses == LAB_MORE)
        return LAB_DOES_NOT_HOLD;
    return loses == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

#define OUT_OF_CACHE_URLS 1000000 /* with fewer, the keys that should be out of the cache are in it */

static lab_holding judge_as_fast(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const deeds[] = {"add, out of it", "known, out of it", "new, out of it"};
    char texts[3][LAB_RATIO_ROOM];
    lab_outcomes score = {0};
    if (book->settings.urls < OUT_OF_CACHE_URLS)
        return LAB_UNJUDGED;
    for (size_t i = 0; i < 3; i++) {
        lab_ratio ratio = time_ratio(book, LAB_PEER_FINGERPRINT, LAB_PEER_HASHSET, deeds[i]);
        if (isnan(lab_book_measured(book, "peers-time", lab_peer_names[LAB_PEER_HASHSET], deeds[i])))
            return LAB_UNJUDGED;
        lab_ratio_text(ratio, texts[i]);
        lab_outcomes_add(&score, lab_compare(ratio, claim->margin));
    }
    snprintf(
        sentence, room,
        "Out of the cache, fingerprint takes %s times as long as a hash set for an add, %s times for the lookup of "
        "a known URL, and %s times for that of a new one",
        texts[0], texts[1], texts[2]);
    return none_more(&score);
}

const lab_claim lab_peers_claims[] = {
    {.id = "peers-fuse",
     .source = "vidi, after the binary fuse paper",
     .text = "In the same memory, a finished binary fuse filter loses fewest pages of all filters",
     .evidence = "peers-lost peers-can",
     .judge = judge_fuse,
     .margin = LAB_RATE_MARGIN},
    {.id = "peers-fuse-peak",
     .source = "vidi",
     .text = "While it is built, a binary fuse filter takes more memory than a hash set of all hashes",
     .evidence = "peers-memory",
     .judge = judge_fuse_peak,
     .margin = 0.1,
     .margin_reason = "memory is counted; less than a tenth would not matter"},
    {.id = "peers-cuckoo",
     .source = "the cuckoo paper, abstract",
     .text = "For moderately low rates, a cuckoo filter takes no more memory than a Bloom filter with the best k",
     .evidence = "peers-needs",
     .judge = judge_cuckoo,
     .margin = LAB_RATE_MARGIN},
    {.id = "peers-lines-lose",
     .source = "vidi, after RocksDB's wiki",
     .text = "A Bloom filter that keeps the bits of a URL in one cache line loses more pages in the same memory",
     .evidence = "peers-lost",
     .judge = judge_lines_lose,
     .margin = LAB_RATE_MARGIN},
    {.id = "peers-lines-fast",
     .source = "vidi, after RocksDB's wiki",
     .text = "A filter that keeps the bits of a URL in one cache line answers lookups in less than half the time of a "
             "Bloom filter",
     .evidence = "peers-time",
     .judge = judge_lines_fast,
     .margin = LAB_TIME_MARGIN},
    {.id = "peers-blocked",
     .source = "vidi",
     .text = "In the same memory, blocked loses no more pages than RocksDB's filter",
     .evidence = "peers-lost",
     .judge = judge_blocked,
     .margin = LAB_RATE_MARGIN},
    {.id = "peers-smaller",
     .source = "vidi",
     .text = "Fingerprint takes less memory than a hash set of 64-bit hashes, and loses hardly any page (fewer than 50 "
             "in a million)",
     .evidence = "peers-needs peers-memory peers-lost",
     .judge = judge_smaller,
     .margin = 0.1,
     .margin_reason = "memory is counted; less than a tenth would not matter"},
    {.id = "peers-as-fast",
     .source = "vidi",
     .text = "With more URLs than the near caches hold, fingerprint takes no longer than a hash set of 64-bit hashes",
     .evidence = "peers-time",
     .judge = judge_as_fast,
     .margin = LAB_TIME_MARGIN},
    {.id = NULL},
};
