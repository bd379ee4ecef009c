/*
 * Style sheets: the first byte chooses the charset of the header, the rest is the sheet. URLs must come in the order of
 * the sheet and lie in it, be valid UTF-8, and be none of those that are never fetched.
 */
#include <string.h>

#include "crawler/css/css.h"
#include "common/utf8.h"
#include "fuzz.h"

typedef struct walk {
    vidi_str sheet;
    size_t next, found;
} walk;

static int check_link(void *context, const css_link *link)
{
    walk *w = context;
    FUZZ_CHECK(link->position >= w->next && link->position < w->sheet.len);
    FUZZ_CHECK(link->value.len > 0 && link->value.len <= 3 * (w->sheet.len - link->position));
    FUZZ_CHECK(link->value.ptr[0] != '#' && !memchr(link->value.ptr, 0, link->value.len));
    FUZZ_CHECK(utf8_is_valid(link->value.ptr, link->value.len));
    w->next = link->position + 1;
    w->found++;
    return 0;
}

static int stop(void *context, const css_link *link)
{
    (void)context;
    (void)link;
    return 5;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const vidi_str charsets[] = {{NULL, 0},           FUZZ_STR("utf-8"),
                                        FUZZ_STR("latin1"),  FUZZ_STR("shift_jis"),
                                        FUZZ_STR("gb18030"), FUZZ_STR("utf-16le")};
    if (size == 0)
        return 0;
    /* In a block of exactly its size, so that the sanitizer detects overruns. */
    size_t len = size - 1;
    char *copy = malloc(len + !len);
    FUZZ_CHECK(copy);
    memcpy(copy, data + 1, len);
    encoding_text text = {.owned = NULL};
    FUZZ_CHECK(css_decode((vidi_str){copy, len}, charsets[data[0] % FUZZ_COUNT(charsets)], &text) == VIDI_OK);
    walk w = {.sheet = text.bytes};
    FUZZ_CHECK(css_links(text.bytes, check_link, &w) == VIDI_OK);
    FUZZ_CHECK(css_links(text.bytes, stop, NULL) == (w.found ? 5 : VIDI_OK));
    encoding_text_free(&text);
    free(copy);
    return 0;
}
