/*
 * Dates (RFC 9110, section 5.6.7), in any of these formats, with or without the name of the day:
 *
 *   Sun, 06 Nov 1994 08:49:37 GMT      the one that servers shall send
 *   Sunday, 06-Nov-94 08:49:37 GMT     RFC 850
 *   Sun Nov  6 08:49:37 1994           asctime of C
 */
#include "crawler/http/http.h"

#include "crawler/http/http_text.h"

enum { SECONDS_A_DAY = 24 * 60 * 60 };

typedef struct moment {
    int year, month, day; /* from 1 */
    int hour, minute, second;
} moment;

/* Reads a number of at most `most` digits. False if the text is not one. */
static bool read_number(vidi_str text, size_t digits, int *number)
{
    *number = 0;
    if (text.len == 0 || text.len > digits)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!ascii_is_digit(text.ptr[i]))
            return false;
        *number = *number * 10 + (text.ptr[i] - '0');
    }
    return true;
}

/* Which of the names of three letters the text begins with, from 1; 0: none. */
static int find_name(vidi_str text, const char *names)
{
    for (int i = 0; text.len >= 3 && names[3 * i]; i++)
        if (ascii_lower(text.ptr[0]) == names[3 * i] && ascii_lower(text.ptr[1]) == names[3 * i + 1] &&
            ascii_lower(text.ptr[2]) == names[3 * i + 2])
            return i + 1;
    return 0;
}

static bool read_month(vidi_str text, int *month)
{
    *month = find_name(text, "janfebmaraprmayjunjulaugsepoctnovdec");
    return *month > 0;
}

/* Two digits are a year from 1970 to 2069. */
static bool read_year(vidi_str text, int *year)
{
    if ((text.len != 2 && text.len != 4) || !read_number(text, 4, year))
        return false;
    if (text.len == 2)
        *year += *year < 70 ? 2000 : 1900;
    return true;
}

static bool read_time(vidi_str text, moment *at)
{
    vidi_str hour, minute, second;

    return http_next_word(&text, ":", &hour) && http_next_word(&text, ":", &minute) &&
           http_next_word(&text, ":", &second) && text.len == 0 && read_number(hour, 2, &at->hour) &&
           read_number(minute, 2, &at->minute) && read_number(second, 2, &at->second);
}

static bool is_universal(vidi_str zone)
{
    return ASCII_IS(zone, "gmt") || ASCII_IS(zone, "utc") || ASCII_IS(zone, "z") || ASCII_IS(zone, "+0000");
}

static bool read_moment(vidi_str text, moment *at)
{
    enum { WORDS = 7 };
    vidi_str words[WORDS];
    size_t n = 0, i = 0;

    while (n < WORDS && http_next_word(&text, ",-", &words[n]))
        n++;
    if (n > 0 && find_name(words[0], "montuewedthufrisatsun"))
        i++;
    if (n - i == 5 && is_universal(words[n - 1]))
        n--;
    if (n - i != 4)
        return false;
    const vidi_str *word = words + i;
    if (read_number(word[0], 2, &at->day))
        return read_month(word[1], &at->month) && read_year(word[2], &at->year) && read_time(word[3], at);
    return read_month(word[0], &at->month) && read_number(word[1], 2, &at->day) && read_time(word[2], at) &&
           read_year(word[3], &at->year);
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static bool exists(const moment *at)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return at->day >= 1 && at->day <= days[at->month - 1] + (at->month == 2 && is_leap(at->year)) && at->hour < 24 &&
           at->minute < 60 && at->second <= 60;
}

/* Days since 1970, in the calendar that begins its years in March, so that the leap day is the last. */
static int64_t days_since_1970(const moment *at)
{
    int64_t year = at->year - (at->month <= 2), month = (at->month + 9) % 12;

    return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + at->day - 1 - 719468;
}

static int64_t date_of(const moment *at)
{
    if (!exists(at))
        return -1;
    if (at->year < 1970)
        return 0;
    return 1000 * (days_since_1970(at) * SECONDS_A_DAY + at->hour * 3600 + at->minute * 60 + at->second);
}

int64_t http_date(vidi_str text)
{
    moment at;

    return read_moment(text, &at) ? date_of(&at) : -1;
}

/* ---- dates in cookies ---- */

static bool separates(char c)
{
    return c == '\t' || (c >= 0x20 && c <= 0x2F) || (c >= 0x3B && c <= 0x40) || (c >= 0x5B && c <= 0x60) ||
           (c >= 0x7B && c <= 0x7E);
}

/* Takes a number of `least` to `most` digits off the text; no further digit follows. */
static bool take_number(vidi_str *text, size_t least, size_t most, int *number)
{
    size_t n = 0;

    while (n < text->len && ascii_is_digit(text->ptr[n]))
        n++;
    if (n < least || !read_number((vidi_str){text->ptr, n}, most, number))
        return false;
    *text = (vidi_str){text->ptr + n, text->len - n};
    return true;
}

static bool take_colon(vidi_str *text)
{
    if (text->len == 0 || text->ptr[0] != ':')
        return false;
    *text = (vidi_str){text->ptr + 1, text->len - 1};
    return true;
}

/* Whatever may follow the digits. */
static bool read_cookie_time(vidi_str word, moment *at)
{
    return take_number(&word, 1, 2, &at->hour) && take_colon(&word) && take_number(&word, 1, 2, &at->minute) &&
           take_colon(&word) && take_number(&word, 1, 2, &at->second);
}

/* Each word is the first of these that it can be and that has not been found. */
static void read_cookie_word(vidi_str word, moment *at)
{
    moment time = *at;
    vidi_str rest = word;
    int number;

    if (at->hour < 0 && read_cookie_time(word, &time))
        *at = time;
    else if (at->day < 0 && take_number(&rest, 1, 2, &number))
        at->day = number;
    else if (at->month < 0 && read_month(word, &number))
        at->month = number;
    else if (at->year < 0 && take_number(&rest, 2, 4, &number))
        at->year = number + (number < 70 ? 2000 : number < 100 ? 1900 : 0);
}

int64_t http_cookie_date(vidi_str text)
{
    moment at = {-1, -1, -1, -1, -1, -1};

    for (size_t i = 0, from = 0; i <= text.len; i++)
        if (i == text.len || separates(text.ptr[i])) {
            if (i > from)
                read_cookie_word((vidi_str){text.ptr + from, i - from}, &at);
            from = i + 1;
        }
    return at.hour >= 0 && at.day >= 0 && at.month > 0 && at.year >= 1601 ? date_of(&at) : -1;
}

static int64_t clipped(int64_t ms)
{
    return ms < 0 ? 0 : ms > HTTP_RETRY_MOST ? HTTP_RETRY_MOST : ms;
}

/* "120", also "1.5", which some servers send: the next whole second. Negative if it is no number. */
static int64_t read_seconds(vidi_str text)
{
    int64_t seconds = 0;
    size_t i = 0, digits;

    for (; i < text.len && ascii_is_digit(text.ptr[i]); i++)
        if (seconds <= HTTP_RETRY_MOST / 1000)
            seconds = seconds * 10 + (text.ptr[i] - '0');
    digits = i;
    if (i < text.len && text.ptr[i] == '.')
        for (i++, seconds++; i < text.len && ascii_is_digit(text.ptr[i]);)
            i++;
    return digits > 0 && i == text.len ? seconds : -1;
}

int64_t http_retry_after(vidi_str value, int64_t date)
{
    value = http_trim(value);
    int64_t seconds = read_seconds(value);
    if (seconds >= 0)
        return clipped(1000 * seconds);
    int64_t until = http_date(value);
    return until < 0 ? -1 : clipped(until - date);
}
