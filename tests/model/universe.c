#include "model/universe.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 9300 };

static char texts[MODEL_URLS][MODEL_SPELLINGS][TEXT];
static size_t lengths[MODEL_URLS][MODEL_SPELLINGS];

bool model_url_is_invalid(size_t number)
{
    return number % 16 == 15;
}

/* Most are short, some are longer than a sector of the disk or two, and one is too long for the library's stack. */
static int tail_of(size_t number)
{
    return number == 61 ? 9200 : number % 9 == 4 ? 590 : number % 31 == 7 ? 1200 : 1;
}

static int spell(char *to, size_t number, size_t spelling)
{
    if (model_url_is_invalid(number))
        return snprintf(to, TEXT, "http://[no-url-%zu", number);
    static const struct {
        const char *scheme, *domain, *path, *fragment;
    } parts[MODEL_SPELLINGS] = {
        {"https://u", ".example", "/p/", ""},
        {"HTTPS://U", ".EXAMPLE", "/p/", ""},
        {"https://u", ".example:443", "/p/", ""},
        {"https://u", ".example", "/x/../p/", "#part"},
    };
    return snprintf(to, TEXT, "%s%zu%s%s%0*d%s", parts[spelling].scheme, number, parts[spelling].domain,
                    parts[spelling].path, tail_of(number), 7, parts[spelling].fragment);
}

void model_universe_make(void)
{
    for (size_t i = 0; i < MODEL_URLS; i++)
        for (size_t j = 0; j < MODEL_SPELLINGS; j++)
            lengths[i][j] = (size_t)spell(texts[i][j], i, j);
}

vidi_str model_url(size_t number, size_t spelling)
{
    return (vidi_str){texts[number][spelling], lengths[number][spelling]};
}

size_t model_url_find(vidi_str text)
{
    size_t i = 0;
    while (i < MODEL_URLS && (lengths[i][0] != text.len || memcmp(texts[i][0], text.ptr, text.len) != 0))
        i++;
    return i;
}
