/* The studies of the filters people use now: theory, memory, abilities, which times are shown, and claims both ways. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/books.h"
#include "lab/peers/peers.h"
#include "lab/tables.h"
#include "support/runner.h"

/* ---- against the papers ---- */

static void implementations_reproduce_their_papers(void **state)
{
    static const char *const cells[][2] = {{"cuckoo 12 bits", "highest load"},
                                           {"cuckoo 12 bits", "bits per key"},
                                           {"cuckoo 12 bits", "false positives"},
                                           {"fuse 3-wise 8 bits", "false positives"},
                                           {"fuse 4-wise 16 bits", "false positives"},
                                           {"RocksDB 10 bits", "bits per key"},
                                           {"RocksDB 10 bits", "false positives"},
                                           {"RocksDB 16 bits", "false positives"},
                                           {"hash set", "highest load"}};
    lab_settings settings = {.urls = 60000, .runs = 1, .seed = 3, .threads = 1};
    (void)state;
    lab_table table = table_of("peers-check", &settings);
    none_fails(&table);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const lab_entry *entry = entry_of(&table, cells[i][0], cells[i][1]);
        check(entry->verdict == LAB_AGREES, "%s, %s: published %g, theory %g, measured %g", entry->row, entry->column,
              entry->published, entry->theory, entry->measured);
    }
    double load = entry_of(&table, "cuckoo 12 bits", "highest load")->measured;
    check(load > 95 && load < 98.1, "a cuckoo filter is full at %g %%", load);
    lab_table_free(&table);
}

/* ---- at equal bits and at equal losses ---- */

static void losses_fit_theory_and_memory_fits_the_bits(void **state)
{
    static const double bits[] = {8, 10, 12, 16, 24, 32, 48, 64, 96, 168};
    lab_settings settings = {.urls = 60000, .runs = 2, .seed = 8, .threads = 1};
    (void)state;
    lab_table table = table_of("peers-lost", &settings);
    none_fails(&table);
    for (size_t sort = 0; sort < LAB_PEERS; sort++)
        for (size_t size = 0; size < sizeof bits / sizeof *bits; size++) {
            lab_peer_plan plan;
            bool fits;
            const lab_entry *entry = entry_of(&table, lab_peer_names[sort], lab_peer_sizes[size]);
            assert_int_equal(lab_peer_plan_bits(&plan, &fits, (lab_peer_sort)sort, 6000, bits[size]), VIDI_OK);
            if (!fits)
                assert_true(isnan(entry->measured));
            else
                check(lab_peer_plan_needs(&plan) <= bits[size] * 1.0001, "%s: %g bits, not %g", lab_peer_names[sort],
                      lab_peer_plan_needs(&plan), bits[size]);
            assert_true(entry->theory_sort == LAB_DERIVED);
        }
    assert_true(isnan(entry_of(&table, "hash set", "64 bits")->measured));
    check(!isnan(entry_of(&table, "hash set", "168 bits")->measured), "a hash set does not fit");
    check(entry_of(&table, "cuckoo", "64 bits")->remark[0], "a cuckoo filter makes use of 64 bits");
    lab_table_free(&table);
}

/* Twice the right number fails; the right one does not. */
static void wrong_losses_fail(void **state)
{
    lab_settings settings = {.urls = 1000000, .runs = 1, .seed = 6, .threads = 1};
    const lab_study *study = study_of("peers-lost");
    (void)state;
    for (size_t row = LAB_PEER_BLOCKED; row < LAB_PEER_HASHSET; row++)
        for (unsigned times = 1; times <= 2; times++) {
            lab_peer_plan plan;
            bool fits;
            assert_int_equal(lab_peer_plan_bits(&plan, &fits, (lab_peer_sort)row, 100000, 8), VIDI_OK);
            assert_true(fits);
            double number = round(lab_peer_theory(&plan, 100000).mean * times);
            lab_entry entry = {.row = study->rows[row], .column = "8 bits", .measured = number, .runs = 1};
            study->judge(&(lab_cell){study, &settings, row, 0, &number, NULL}, &entry);
            check((entry.verdict == LAB_FAILS) == (times == 2), "%s: %g is '%s'", study->rows[row], number,
                  lab_verdict_name(entry.verdict));
        }
}

/* Counted by the allocator: what the formulas say, and a constant of a few kilobytes for each. */
static void memory_is_what_the_formulas_say(void **state)
{
    lab_settings settings = {.urls = 40000, .runs = 1, .seed = 8, .threads = 1};
    const double constant = 8 * 16384 / 20000.0;
    (void)state;
    lab_table table = table_of("peers-needs", &settings);
    for (size_t i = 0; i < table.rows * table.columns; i++) {
        const lab_entry *entry = &table.entries[i];
        check(entry->measured < entry->theory * 1.03 + constant && entry->measured > entry->theory * 0.9,
              "%s, %s: %g bits, theory %g", entry->row, entry->column, entry->measured, entry->theory);
        check((entry->theory_sort == LAB_PLANNED) == (i / table.columns == LAB_PEER_FINGERPRINT), "%s: sort of theory",
              entry->row);
    }
    check(entry_of(&table, "RocksDB", "1 in 1,000,000,000")->remark[0], "RocksDB reaches one in 1e9");
    lab_table_free(&table);
}

static void peaks_are_counted(void **state)
{
    lab_settings settings = {.urls = 40000, .runs = 1, .seed = 8, .threads = 1};
    (void)state;
    lab_table table = table_of("peers-memory", &settings);
    double end = entry_of(&table, "hash set", "in the end, n unknown")->measured;
    double peak = entry_of(&table, "hash set", "at the peak, n unknown")->measured;
    check(fabs(peak / end - 1.5) < 0.01, "a table that doubles takes %g times as much at its peak", peak / end);
    end = entry_of(&table, "fuse 3-wise", "in the end, n known")->measured;
    peak = entry_of(&table, "fuse 3-wise", "at the peak, n known")->measured;
    /* keys and a stack of them: 64 + 64 + 8 bits; for each place, keys, counters and a list: 64 + 8 + 32 */
    double places = (double)lab_fuse_places(20000, 3) / 20000;
    check(fabs(peak - end - 136 - 104 * places) < 1, "fuse: %g bits at its peak, %g in the end", peak, end);
    for (lab_peer_sort sort = 0; sort < LAB_PEERS; sort++) {
        bool grows = sort != LAB_PEER_CLASSIC && sort != LAB_PEER_CUCKOO && sort != LAB_PEER_ROCKSDB;
        assert_int_equal(!isnan(entry_of(&table, lab_peer_names[sort], "at the peak, n unknown")->measured), grows);
    }
    lab_table_free(&table);
}

/* ---- what they can do ---- */

static void each_can_do_what_the_documentation_says(void **state)
{
    static const char *const can[LAB_PEERS] = {"11111", "11010", "10010", "10110", "00000", "00000", "10010", "11111"};
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        lab_settings settings = {.urls = 1000, .runs = 1, .seed = seed, .threads = 1};
        lab_table table = table_of("peers-abilities", &settings);
        for (size_t i = 0; i < table.rows * table.columns; i++)
            check((table.entries[i].measured > 0) == (can[i / 5][i % 5] == '1'), "seed %llu: %s, %s is %g",
                  (unsigned long long)seed, table.entries[i].row, table.entries[i].column, table.entries[i].measured);
        lab_table_free(&table);
    }
}

/* ---- times ---- */

static void only_times_that_were_compared_are_shown(void **state)
{
    lab_settings settings = {.urls = 2000, .runs = 1, .seed = 1, .threads = 1};
    char why[LAB_REMARK_ROOM];
    (void)state;
    lab_table time = table_of("peers-time", &settings), speed = table_of("peers-speed", &settings);
    for (lab_peer_sort sort = 0; sort < LAB_PEERS; sort++) {
        bool timed = lab_peer_timed(lab_peer_compared, sort, why, sizeof why), shown = false;
        assert_int_equal(why[0] != 0, sort > LAB_PEER_CLASSIC);
        assert_int_equal(strncmp(why, "left out", 8) == 0, !timed);
        for (size_t i = 0; lab_peer_deeds[i]; i++)
            check(isnan(entry_of(&time, lab_peer_names[sort], lab_peer_deeds[i])->measured) == !timed, "%s, %s",
                  lab_peer_names[sort], lab_peer_deeds[i]);
        for (size_t i = 0; lab_peer_time_sizes[i]; i++)
            shown |= !isnan(entry_of(&speed, lab_peer_names[sort], lab_peer_time_sizes[i])->measured);
        assert_int_equal(shown, timed);
        assert_string_equal(entry_of(&time, lab_peer_names[sort], lab_peer_deeds[0])->remark, why);
    }
    assert_false(lab_peer_timed(lab_peer_compared, LAB_PEER_FUSE_3, why, sizeof why)); /* Debian has no such filter */
    lab_table_free(&time);
    lab_table_free(&speed);
}

static void one_slow_time_leaves_all_out(void **state)
{
    lab_peer_comparison list[] = {{"cuckoo", "another", "add, in the cache", 0.9, 1.29},
                                  {"hash set", "a third", "add, in the cache", 2, 2},
                                  {"cuckoo", "another", "new, out of it", 1.3, 0.8},
                                  {NULL, NULL, NULL, 0, 0}};
    char why[LAB_REMARK_ROOM];
    (void)state;
    assert_true(lab_peer_timed(list, LAB_PEER_CUCKOO, why, sizeof why));
    assert_string_equal(why, "our times are at most 1.30 times those of another");
    assert_false(lab_peer_timed(list, LAB_PEER_HASHSET, why, sizeof why));
    assert_string_equal(why, "left out: our times are up to 2.00 times those of a third");
    assert_false(lab_peer_timed(list, LAB_PEER_ROCKSDB, why, sizeof why));
    assert_true(lab_peer_timed(list, LAB_PEER_BLOCKED, why, sizeof why));
    list[2].best = 1.31;
    assert_false(lab_peer_timed(list, LAB_PEER_CUCKOO, why, sizeof why));
    list[2].best = 1;
    list[0].median = 1.31;
    assert_false(lab_peer_timed(list, LAB_PEER_CUCKOO, why, sizeof why));
}

/* ---- claims ---- */

static void claims_without_tables_stay_unjudged(void **state)
{
    const made_figure none[] = {{.table = NULL}};
    (void)state;
    for (const lab_claim *claim = lab_peers_claims; claim->id; claim++)
        check(judged(claim->id, none) == LAB_UNJUDGED, "%s is judged", claim->id);
}

static void claims_on_losses_follow_the_figures(void **state)
{
    static const char *const sizes[] = {"8 bits", "12 bits", "16 bits"};
    static const char *const others[] = {"blocked", "classic", "cuckoo", "RocksDB"};
    static const double least[] = {7800, 980, 61};
    made_figure fuse[17] = {{"peers-abilities", "fuse 4-wise", "add", 0}};
    made_figure lines[] = {{"peers-lost", "RocksDB", "12 bits", 4100},
                           {"peers-lost", "classic", "12 bits", 3300},
                           {"peers-lost", "RocksDB", "16 bits", 840},
                           {"peers-lost", "classic", "16 bits", 470},
                           {.table = NULL}};
    made_figure blocked[] = {{"peers-lost", "blocked", "8 bits", 29000},
                             {"peers-lost", "RocksDB", "8 bits", 23000},
                             {"peers-lost", "blocked", "24 bits", 18},
                             {"peers-lost", "RocksDB", "24 bits", 53},
                             {.table = NULL}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        fuse[1 + 5 * i] = (made_figure){"peers-lost", "fuse 4-wise", sizes[i], least[i]};
        for (size_t j = 0; j < 4; j++)
            fuse[2 + 5 * i + j] = (made_figure){"peers-lost", others[j], sizes[i], 3 * least[i]};
    }
    assert_int_equal(judged("peers-fuse", fuse), LAB_HOLDS);
    fuse[3].measured = 7800;
    assert_int_equal(judged("peers-fuse", fuse), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("peers-lines-lose", lines), LAB_HOLDS);
    lines[0].measured = 3300;
    assert_int_equal(judged("peers-lines-lose", lines), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("peers-blocked", blocked), LAB_CONDITIONS);
    blocked[0].measured = 22000;
    assert_int_equal(judged("peers-blocked", blocked), LAB_HOLDS);
    blocked[0].measured = 29000;
    blocked[2].measured = 80;
    assert_int_equal(judged("peers-blocked", blocked), LAB_DOES_NOT_HOLD);
}

static void claims_on_memory_follow_the_figures(void **state)
{
    made_figure peak[] = {{"peers-memory", "fuse 3-wise", "in the end, n known", 16},
                          {"peers-memory", "fuse 3-wise", "at the peak, n known", 271},
                          {"peers-memory", "hash set", "at the peak, n known", 151},
                          {.table = NULL}};
    made_figure cuckoo[] = {{"peers-needs", "cuckoo", "1 in 100", 10.5},
                            {"peers-needs", "classic", "1 in 100", 9.6},
                            {"peers-needs", "cuckoo", "1 in 1,000", 13.7},
                            {"peers-needs", "classic", "1 in 1,000", 14.4},
                            {"peers-needs", "cuckoo", "1 in 10,000", 17.9},
                            {"peers-needs", "classic", "1 in 10,000", 19.2},
                            {"peers-needs", "cuckoo", "1 in 1,000,000", 24.2},
                            {"peers-needs", "classic", "1 in 1,000,000", 28.8},
                            {.table = NULL}};
    made_figure smaller[] = {{"peers-needs", "fingerprint", "1 in 1,000,000,000", 53},
                             {"peers-needs", "hash set", "1 in 1,000,000,000", 151},
                             {"peers-memory", "fingerprint", "at the peak, n unknown", 34},
                             {"peers-memory", "hash set", "at the peak, n unknown", 226},
                             {"peers-lost", "fingerprint", "64 bits", 0},
                             {.table = NULL}};
    (void)state;
    assert_int_equal(judged("peers-fuse-peak", peak), LAB_HOLDS);
    peak[1].measured = 160;
    assert_int_equal(judged("peers-fuse-peak", peak), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("peers-cuckoo", cuckoo), LAB_CONDITIONS);
    cuckoo[0].measured = 9;
    assert_int_equal(judged("peers-cuckoo", cuckoo), LAB_HOLDS);
    for (size_t i = 0; i < 8; i += 2)
        cuckoo[i].measured = 30;
    assert_int_equal(judged("peers-cuckoo", cuckoo), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("peers-smaller", smaller), LAB_HOLDS);
    smaller[4].measured = 300;
    assert_int_equal(judged("peers-smaller", smaller), LAB_DOES_NOT_HOLD);
    smaller[4].measured = 0;
    smaller[2].measured = 220;
    assert_int_equal(judged("peers-smaller", smaller), LAB_DOES_NOT_HOLD);
}

static void claims_on_times_follow_the_figures(void **state)
{
    made_figure lines[] = {{"peers-time", "classic", "known, out of it", 38},
                           {"peers-time", "classic", "new, out of it", 19},
                           {"peers-time", "blocked", "known, out of it", 3.5},
                           {"peers-time", "blocked", "new, out of it", 3.5},
                           {"peers-time", "RocksDB", "known, out of it", 4.6},
                           {"peers-time", "RocksDB", "new, out of it", 4.1},
                           {.table = NULL}};
    made_figure fast[] = {{"peers-time", "fingerprint", "add, out of it", 12},
                          {"peers-time", "hash set", "add, out of it", 16},
                          {"peers-time", "fingerprint", "known, out of it", 10},
                          {"peers-time", "hash set", "known, out of it", 16},
                          {"peers-time", "fingerprint", "new, out of it", 18},
                          {"peers-time", "hash set", "new, out of it", 11},
                          {.table = NULL}};
    (void)state;
    assert_int_equal(judged("peers-lines-fast", lines), LAB_HOLDS);
    lines[5].measured = 15;
    assert_int_equal(judged("peers-lines-fast", lines), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("peers-as-fast", fast), LAB_CONDITIONS);
    fast[4].measured = 11;
    assert_int_equal(judged("peers-as-fast", fast), LAB_HOLDS);
    for (size_t i = 0; i < 6; i += 2)
        fast[i].measured = 40;
    assert_int_equal(judged("peers-as-fast", fast), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged_with(100000, "peers-as-fast", fast), LAB_UNJUDGED); /* they are in the cache */
}

int main(int argc, char **argv)
{
    test_add("implementations reproduce their papers", implementations_reproduce_their_papers, NULL);
    test_add("losses fit theory, and memory fits the bits", losses_fit_theory_and_memory_fits_the_bits, NULL);
    test_add("wrong losses fail", wrong_losses_fail, NULL);
    test_add("memory is what the formulas say", memory_is_what_the_formulas_say, NULL);
    test_add("peaks are counted", peaks_are_counted, NULL);
    test_add("each can do what the documentation says", each_can_do_what_the_documentation_says, NULL);
    test_add("only times that were compared are shown", only_times_that_were_compared_are_shown, NULL);
    test_add("one slow time leaves all out", one_slow_time_leaves_all_out, NULL);
    test_add("claims without tables stay unjudged", claims_without_tables_stay_unjudged, NULL);
    test_add("claims on losses follow the figures", claims_on_losses_follow_the_figures, NULL);
    test_add("claims on memory follow the figures", claims_on_memory_follow_the_figures, NULL);
    test_add("claims on times follow the figures", claims_on_times_follow_the_figures, NULL);
    return test_run("lab/peers", argc, argv);
}
