/* Salts before and after the URL: the values are the library's, and what is lost is what theory says. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/tables.h"
#include "lab/thesis/salts.h"
#include "lib/inside/inside.h"
#include "support/runner.h"

/* ---- values ---- */

static uint32_t library_value(const char *name, vidi_str first, vidi_str second)
{
    static const unsigned char key[VIDI_KEY_BYTES];
    vidi_digest value;
    check(vidi__inside_hash(name, key, first, &second, 1, &value) == VIDI_OK, "%s", vidi_message());
    return (uint32_t)value.lo;
}

/* URLs of all lengths, so that every remainder of a block occurs. */
static void salted_values_are_the_librarys(void **state)
{
    enum { SALTS = 3, LENGTHS = 80 };
    static const char *const names[] = {"jenkins", "murmur2"};
    unsigned char salts[SALTS][LAB_SALT_BYTES];
    char url[LENGTHS];
    uint32_t values[3][SALTS];
    (void)state;
    for (size_t i = 0; i < sizeof salts; i++)
        salts[i / LAB_SALT_BYTES][i % LAB_SALT_BYTES] = (unsigned char)(i * 37 + 200);
    for (size_t length = 1; length <= LENGTHS; length++) {
        url[length - 1] = (char)('!' + length % 90);
        vidi_str text = {url, length};
        for (unsigned function = 0; function < 2; function++) {
            for (unsigned place = 0; place < 3; place++)
                lab_salted_values((lab_salted_function)function, (lab_salt_place)place,
                                  (const unsigned char(*)[LAB_SALT_BYTES])salts, SALTS, text, values[place]);
            for (unsigned i = 0; i < SALTS; i++) {
                vidi_str salt = {(const char *)salts[i], LAB_SALT_BYTES};
                uint32_t before = library_value(names[function], salt, text);
                uint32_t after = library_value(names[function], text, salt);
                check(values[LAB_SALT_BEFORE][i] == before, "%s, %zu bytes: salt before", names[function], length);
                check(values[LAB_SALT_AFTER][i] == after, "%s, %zu bytes: salt after", names[function], length);
                check(values[LAB_SALT_AFTER_ONCE][i] == after, "%s, %zu bytes: hashed once", names[function], length);
            }
        }
    }
}

/* ---- false positives ---- */

/* The same counts through the public interface. */
static double count_publicly(const lab_settings *settings, uint64_t n, const char *params)
{
    vidi_set *set;
    char url[LAB_URL_ROOM];
    double seen = 0;
    check(lab_set_make(&set, settings, 0, "classic", params, n) == VIDI_OK, "%s", vidi_message());
    for (uint64_t i = 0; i < n; i++)
        check(vidi_add(set, lab_url_text(url, settings, 0, i)) >= 0, "%s", vidi_message());
    for (uint64_t i = n; i < 2 * n; i++)
        seen += vidi_has(set, lab_url_text(url, settings, 0, i)) == VIDI_SEEN;
    vidi_close(set);
    return seen;
}

static void salted_filters_count_as_the_public_interface_does(void **state)
{
    static const char *const functions[] = {"jenkins", "murmur2", "oaat"};
    static const char *const shapes[] = {"k=3,M=2.0,salt=prefix", "k=3,M=2.0,salt=suffix", "k=8,M=5.0,salt=prefix",
                                         "k=8,M=5.0,salt=suffix"};
    lab_settings settings = {.urls = 12000, .runs = 1, .seed = 6, .threads = 1};
    double sum = 0;
    (void)state;
    lab_numbers numbers = numbers_of("thesis-salt-place", &settings);
    for (size_t i = 0; i < 12; i++) {
        char params[128];
        snprintf(params, sizeof params, "mode=salted,hash=%s,%s", functions[i / 4], shapes[i % 4]);
        double wanted = count_publicly(&settings, lab_urls_part(&settings, 4, 1), params);
        check(fabs(numbers.numbers[i] - wanted) < 0.5, "%s: %g, the public interface %g", params, numbers.numbers[i],
              wanted);
        sum += wanted;
    }
    check(sum > 500, "only %g false positives to compare", sum);
    lab_numbers_free(&numbers);
}

static lab_entry judge_salts(const lab_settings *settings, size_t row, size_t column, double number)
{
    const lab_study *study = study_of("thesis-salt-place");
    lab_entry entry = {.row = study->rows[row], .column = study->columns[column], .runs = 1};
    study->judge(&(lab_cell){study, settings, row, column, &number, NULL}, &entry);
    return entry;
}

/* For a million URLs, of which a quarter are inserted: 250,000 / 2^32 = 0.00582 % of the lookups meet a twin. */
static void twins_add_what_their_state_says(void **state)
{
    lab_settings settings = {.urls = 1000000, .runs = 1, .seed = 1, .threads = 1};
    (void)state;
    for (size_t row = 0; row < 3; row++)
        for (size_t size = 0; size < 4; size += 2) {
            double before = judge_salts(&settings, row, size, 0).theory;
            double after = judge_salts(&settings, row, size + 1, 0).theory;
            double more = (after - before) / (1 - before / 100), any = 100 * 250000 / 4294967296.0;
            if (row == 0)
                check(fabs(more) < 1e-12, "Jenkins: %g more", more);
            else if (row == 1) /* a quarter of the lengths fit together, and a quarter of these have equal endings … */
                check(more > any / 16 && more < any / 4, "MurmurHash: %g more", more);
            else
                check(fabs(more / any - 1) < 1e-6, "one-at-a-time: %g more, not %g", more, any);
        }
}

/* Values that collide for every salt are found: 4.7 in both runs are expected, and 0.2 without them. */
static void one_at_a_time_with_salts_after_the_url_meets_twins(void **state)
{
    lab_settings settings = {.urls = 400000, .runs = 2, .seed = 3, .threads = 2};
    (void)state;
    lab_table table = table_of("thesis-salt-place", &settings);
    none_fails(&table);
    const lab_entry *before = entry_of(&table, "one-at-a-time", "8 HF, 5.0 M, salt before");
    const lab_entry *after = entry_of(&table, "one-at-a-time", "8 HF, 5.0 M, salt after");
    check(after->low > before->theory, "%g to %g, and %g by chance", after->low, after->high, before->theory);
    lab_table_free(&table);
}

/* ---- times ---- */

static void times_of_salts_are_compared_by_bytes(void **state)
{
    const lab_study *study = study_of("thesis-salt-place-time");
    lab_settings settings = {.urls = 1000, .runs = 1, .seed = 1, .threads = 1};
    double one = 1;
    (void)state;
    for (size_t row = 0; row < 4; row++)
        for (size_t column = 0; column < 3; column++) {
            lab_entry entry = {.row = study->rows[row], .column = study->columns[column], .measured = 1, .runs = 1};
            study->judge(&(lab_cell){study, &settings, row, column, &one, NULL}, &entry);
            /* k (L + 24) bytes, or L + 24 k; URLs have 40 to 80 bytes. */
            double k = row % 2 ? 8 : 3, shortest = (40 + 24 * k) / (k * 64), longest = (80 + 24 * k) / (k * 104);
            check(column < 2 ? fabs(entry.theory - 1) < 1e-12 : entry.theory < shortest && entry.theory > longest,
                  "row %zu, column %zu: %g", row, column, entry.theory);
        }
}

static void every_time_is_measured(void **state)
{
    static const char *const ids[] = {"thesis-hash-time", "thesis-salt-place-time"};
    lab_settings settings = {.urls = 20000, .runs = 1, .seed = 1, .threads = 1};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        if (!lab_study_built(study_of(ids[i])))
            continue;
        lab_numbers numbers = numbers_of(ids[i], &settings);
        for (size_t cell = 0; cell < cells_of(numbers.study); cell++)
            check(numbers.numbers[cell] > 0 && isfinite(numbers.numbers[cell]), "%s, cell %zu: %g", ids[i], cell,
                  numbers.numbers[cell]);
        lab_numbers_free(&numbers);
    }
}

int main(int argc, char **argv)
{
    test_add("salted values are the library's", salted_values_are_the_librarys, NULL);
    test_add("salted filters count as the public interface does", salted_filters_count_as_the_public_interface_does,
             NULL);
    test_add("twins add what their state says", twins_add_what_their_state_says, NULL);
    test_add_once("one-at-a-time with salts after the URL meets twins",
                  one_at_a_time_with_salts_after_the_url_meets_twins, NULL);
    test_add("times of salts are compared by bytes", times_of_salts_are_compared_by_bytes, NULL);
    test_add("every time is measured", every_time_is_measured, NULL);
    return test_run("lab/salts", argc, argv);
}
