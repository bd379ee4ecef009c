/*
 * URLs as a crawler meets them deep in one site, for the experiments on the eigenvalue paper.
 *
 *   http://www.kpress.amedia.q2s.com/en/archive/catalog/list/item/1734500012
 *          |        |      |  number of the site               number of the page
 *          three random letters
 *
 * The host is built as in the paper's table 1. All pages of a site are equal up to their number. It has ten digits and
 * stands at the end, where a hash function that shifts has the fewest steps left to mix it in. The first page number
 * differs from run to run.
 */
#include <string.h>

#include "lab/eigen/eigen.h"

enum { DIGITS = 10 };

static const char path[] = ".com/en/archive/catalog/list/item/";

static char *put_bytes(char *at, const char *bytes, size_t count)
{
    memcpy(at, bytes, count);
    return at + count;
}

static char *put_digits(char *at, uint64_t number)
{
    for (unsigned i = DIGITS; i > 0; i--, number /= 10)
        at[i - 1] = (char)('0' + number % 10);
    return at + DIGITS;
}

static char *put_site(char *at, uint64_t site)
{
    do {
        *at++ = "0123456789abcdefghijklmnopqrstuvwxyz"[site % 36];
        site /= 36;
    } while (site);
    return at;
}

static void letters_of(char letters[LAB_SITE_LETTERS], uint64_t start, uint64_t site)
{
    uint64_t bits = lab_run_start(start, site);
    for (unsigned i = 0; i < LAB_SITE_LETTERS; i++)
        letters[i] = (char)('a' + ((bits >> 16 * i & 0xffff) * 26 >> 16));
}

void lab_site_letters(char letters[LAB_SITE_LETTERS], const lab_settings *settings, uint64_t run, uint64_t site)
{
    letters_of(letters, lab_run_start(settings->seed, run), site);
}

size_t lab_deep_url(char *buffer, const lab_settings *settings, uint64_t run, uint64_t site, uint64_t number)
{
    uint64_t start = lab_run_start(settings->seed, run);
    char letters[LAB_SITE_LETTERS], *at = buffer;
    letters_of(letters, start, site);
    at = put_bytes(at, "http://www.", 11);
    *at++ = letters[0];
    at = put_bytes(at, "press.", 6);
    *at++ = letters[1];
    at = put_bytes(at, "media.", 6);
    *at++ = letters[2];
    at = put_site(at, site);
    at = put_bytes(at, path, sizeof path - 1);
    at = put_digits(at, UINT64_C(1000000000) + start % UINT64_C(4000000000) + number);
    return (size_t)(at - buffer);
}

size_t lab_site_feature(const lab_settings *settings, uint64_t run, uint64_t site)
{
    char letters[LAB_SITE_LETTERS];
    size_t feature = 0;
    lab_site_letters(letters, settings, run, site);
    for (size_t i = 0; i < LAB_SITE_LETTERS; i++)
        feature = feature * 26 + (size_t)(letters[i] - 'a');
    return feature;
}
