/*
 * Makes a URL from a number. The number's mixed bits choose a few pieces. The number itself, scrambled by a
 * multiplication, follows in eight characters and makes the URL unique. Pieces are copied as 16 bytes whatever their
 * length: this needs no branch, and a URL takes about 20 ns.
 *
 *     https://www. river - market 7 .co.uk/ products/ silver / 1q7x0m2k .html
 */
#include "urls.h"

#include <stdlib.h>
#include <string.h>

typedef struct piece {
    char text[16];
    size_t len;
} piece;

#define PIECE(text)                                                                                                    \
    {                                                                                                                  \
        text, sizeof(text) - 1                                                                                         \
    }

static const piece starts[4] = {PIECE("https://www."), PIECE("https://"), PIECE("http://www."), PIECE("https://m.")};

static const piece words[64] = {
    PIECE("river"),      PIECE("market"),   PIECE("silver"),   PIECE("oak"),           PIECE("weekly"),
    PIECE("northern"),   PIECE("garden"),   PIECE("photo"),    PIECE("motor"),         PIECE("atlas"),
    PIECE("architect"),  PIECE("blue"),     PIECE("cinema"),   PIECE("daily"),         PIECE("engineering"),
    PIECE("forum"),      PIECE("guitar"),   PIECE("harbour"),  PIECE("insurance"),     PIECE("journal"),
    PIECE("kitchen"),    PIECE("library"),  PIECE("mountain"), PIECE("network"),       PIECE("opera"),
    PIECE("press"),      PIECE("quarter"),  PIECE("recipes"),  PIECE("science"),       PIECE("travel"),
    PIECE("university"), PIECE("village"),  PIECE("weather"),  PIECE("yacht"),         PIECE("zoo"),
    PIECE("auction"),    PIECE("bicycle"),  PIECE("chess"),    PIECE("design"),        PIECE("energy"),
    PIECE("finance"),    PIECE("green"),    PIECE("history"),  PIECE("international"), PIECE("jazz"),
    PIECE("knowledge"),  PIECE("language"), PIECE("museum"),   PIECE("novel"),         PIECE("orchestra"),
    PIECE("planet"),     PIECE("radio"),    PIECE("school"),   PIECE("technology"),    PIECE("union"),
    PIECE("vintage"),    PIECE("wine"),     PIECE("xylo"),     PIECE("young"),         PIECE("basket"),
    PIECE("coast"),      PIECE("dance"),    PIECE("express"),  PIECE("fashion"),
};

static const piece domains[8] = {
    PIECE(".com/"), PIECE(".org/"), PIECE(".co.uk/"),  PIECE(".net/"),
    PIECE(".de/"),  PIECE(".fr/"),  PIECE(".com.br/"), PIECE(".info/"),
};

static const piece folders[16] = {
    PIECE("products/"), PIECE("news/"),       PIECE("2024/11/"),  PIECE("article/"),
    PIECE("en/blog/"),  PIECE("wiki/"),       PIECE("category/"), PIECE("tag/"),
    PIECE("archive/"),  PIECE("users/list/"), PIECE("shop/"),     PIECE("forum/thread/"),
    PIECE("p/"),        PIECE("img/"),        PIECE("events/"),   PIECE("catalogue/"),
};

static const piece ends[8] = {
    PIECE(".html"),        PIECE("/"),           PIECE(""),          PIECE("?page=1"),
    PIECE(".php?lang=en"), PIECE("/index.html"), PIECE("?ref=home"), PIECE(""),
};

static char *put(char *at, const piece *piece)
{
    memcpy(at, piece->text, sizeof piece->text);
    return at + piece->len;
}

/* Writes 40 bits as eight characters. */
static char *put_code(char *at, uint64_t code)
{
    static const char digits[33] = "0123456789abcdefghijklmnopqrstuv";
    for (int i = 0; i < 8; i++)
        at[i] = digits[code >> (5 * i) & 31];
    return at + 8;
}

static char *make_url(char *at, uint64_t seed, uint64_t number)
{
    uint64_t bits = url_mix(number ^ seed);
    at = put(at, &starts[bits & 3]);
    at = put(at, &words[bits >> 2 & 63]);
    *at++ = '-';
    at = put(at, &words[bits >> 8 & 63]);
    *at++ = (char)('0' + (bits >> 14 & 7));
    at = put(at, &domains[bits >> 17 & 7]);
    at = put(at, &folders[bits >> 20 & 15]);
    at = put(at, &words[bits >> 24 & 63]);
    *at++ = '-';
    at = put(at, &words[bits >> 30 & 63]);
    *at++ = '/';
    at = put_code(at, number * UINT64_C(0x5851f42d4c957f2d) + seed);
    return put(at, &ends[bits >> 36 & 7]);
}

int url_chunk_open(url_chunk *chunk, size_t room)
{
    chunk->room = room;
    chunk->bytes = malloc(room * URL_ROOM);
    chunk->urls = malloc(room * sizeof *chunk->urls);
    chunk->numbers = malloc(room * sizeof *chunk->numbers);
    return chunk->bytes && chunk->urls && chunk->numbers ? 0 : -1;
}

void url_chunk_close(url_chunk *chunk)
{
    free(chunk->bytes);
    free(chunk->urls);
    free(chunk->numbers);
}

void url_chunk_fill(url_chunk *chunk, uint64_t seed, size_t n)
{
    char *at = chunk->bytes;
    for (size_t i = 0; i < n; i++) {
        char *end = make_url(at, seed, chunk->numbers[i]);
        chunk->urls[i] = (vidi_str){at, (size_t)(end - at)};
        at = end;
    }
}
