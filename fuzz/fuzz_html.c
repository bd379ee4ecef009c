/*
 * HTML pages: the first byte chooses what the tokenizer begins with, and an encoding for the reader of links; the rest
 * is the page. Tokens must lie in the input one after the other, decoding must stay within its bounds and give UTF-8,
 * and every link must be a URL that parses to itself, in the order of the page.
 */
#include <string.h>

#include "crawler/html/html.h"
#include "crawler/html/tokenizer.h"
#include "fuzz.h"
#include "vidi/url.h"

static bool is_utf8(vidi_str text)
{
    for (size_t i = 0; i < text.len;) {
        unsigned char c = (unsigned char)text.ptr[i];
        size_t more = c < 0x80                ? 0
                      : c >= 0xC2 && c < 0xE0 ? 1
                      : c >= 0xE0 && c < 0xF0 ? 2
                      : c >= 0xF0 && c < 0xF5 ? 3
                                              : 9;
        if (more == 9 || text.len - i <= more)
            return false;
        for (size_t j = 1; j <= more; j++)
            if (((unsigned char)text.ptr[i + j] & 0xC0) != 0x80)
                return false;
        i += more + 1;
    }
    return true;
}

/* Decodes a piece into a block of exactly the room that is promised to be enough. */
static void check_piece(const html_tokenizer *t, enum html_content content, html_piece piece, uint32_t from)
{
    FUZZ_CHECK(piece.len == 0 || (piece.at >= from && piece.at + piece.len <= t->at));
    vidi_str raw = html_piece_raw(t, piece);
    char *text = malloc(HTML_DECODED_GROWTH * raw.len + 1);
    FUZZ_CHECK(text);
    size_t len = html_text_decode(content, raw, text);
    FUZZ_CHECK(len <= HTML_DECODED_GROWTH * raw.len);
    if (html_text_is_plain(content, raw))
        FUZZ_CHECK(len == raw.len && memcmp(text, raw.ptr, len) == 0);
    if (is_utf8(raw))
        FUZZ_CHECK(is_utf8((vidi_str){text, len}));
    free(text);
}

static void check_token(const html_tokenizer *t, const html_token *token, uint32_t from)
{
    enum html_content content = token->type == HTML_TEXT      ? token->content
                                : token->type == HTML_COMMENT ? HTML_COMMENTARY
                                                              : HTML_NAME;
    FUZZ_CHECK(token->at >= from && t->at > from && t->at <= t->len);
    check_piece(t, content, token->text, token->at);
    check_piece(t, HTML_COMMENTARY, token->public_id, token->at);
    check_piece(t, HTML_COMMENTARY, token->system_id, token->at);
    for (size_t i = 0; i < token->attribute_count; i++) {
        check_piece(t, HTML_NAME, token->attributes[i].name, token->at);
        check_piece(t, HTML_ATTRIBUTE, token->attributes[i].value, token->at);
        FUZZ_CHECK(token->attributes[i].name.len > 0);
    }
}

static void check_tokens(vidi_str input, uint8_t choice)
{
    static const vidi_str ends[] = {FUZZ_STR("title"), FUZZ_STR("script"), FUZZ_STR("a"), FUZZ_STR("")};
    html_tokenizer t;
    html_token token;
    FUZZ_CHECK(html_tokenizer_open(&t, input) == VIDI_OK);
    html_tokenizer_expect(&t, (enum html_content)(choice % (HTML_CDATA + 1)), ends[choice / 8 % 4]);
    t.foreign = choice & 64;
    for (uint32_t from = 0;; from = t.at) {
        FUZZ_CHECK(html_tokenizer_next(&t, &token) == VIDI_OK);
        if (token.type == HTML_END)
            break;
        check_token(&t, &token, from);
    }
    FUZZ_CHECK(t.at == t.len);
    html_tokenizer_close(&t);
}

typedef struct last {
    const html_page *page;
    uint64_t position, len;
} last;

static void check_text(const html_page *page, const html_link *link)
{
    enum { ROOM = 40 };
    char *text = malloc(ROOM); /* a block of its own, so that the sanitizer detects overruns */
    FUZZ_CHECK(text);
    size_t len = html_link_text(page, link, text, ROOM);
    FUZZ_CHECK(len <= ROOM && is_utf8((vidi_str){text, len}));
    free(text);
}

static int check_link(void *context, const html_link *link)
{
    last *l = context;
    FUZZ_CHECK(link->position >= l->position && link->position <= l->len);
    FUZZ_CHECK(link->end == 0 || (link->end > link->position && link->end <= l->len));
    check_text(l->page, link);
    FUZZ_CHECK((*link->element || *link->attribute) && is_utf8(link->value) && is_utf8(link->rel));
    l->position = link->attribute[0] == 'h' ? link->position : l->position; /* one tag's may stand in any order */
    if (link->url.ptr) {
        size_t len = link->url.len;
        char *again = malloc(len);
        vidi_url url = {.size = sizeof url};
        FUZZ_CHECK(again && vidi_url_parse(link->url, NULL, again, &len, &url) == VIDI_OK);
        FUZZ_CHECK(len == link->url.len && memcmp(again, link->url.ptr, len) == 0);
        free(again);
    }
    return 0;
}

static void check_page(vidi_str bytes, uint8_t choice)
{
    static const vidi_str labels[] = {FUZZ_STR("utf-8"),
                                      FUZZ_STR("latin1"),
                                      FUZZ_STR("shift_jis"),
                                      FUZZ_STR("euc-jp"),
                                      FUZZ_STR("big5"),
                                      FUZZ_STR("gb18030"),
                                      FUZZ_STR("iso-2022-jp"),
                                      FUZZ_STR("utf-16be"),
                                      FUZZ_STR("gbk"),
                                      FUZZ_STR("euc-kr"),
                                      FUZZ_STR("koi8-r"),
                                      FUZZ_STR("x-user-defined"),
                                      FUZZ_STR("replacement"),
                                      FUZZ_STR("utf-16le"),
                                      {NULL, 0},
                                      {NULL, 0}};
    html_options options = {.url = FUZZ_STR("http://h/d/p?q"), .encoding = labels[choice % 16]};
    html_page *page;
    if (choice & 32)
        options.url = (vidi_str){NULL, 0};
    FUZZ_CHECK(html_page_open(&page, bytes, &options) == VIDI_OK);
    html_page_info info = html_page_about(page);
    FUZZ_CHECK(*info.encoding && *info.source && is_utf8(info.text));
    last l = {page, 0, info.text.len};
    FUZZ_CHECK(html_page_links(page, HTML_LINKS | HTML_RESOURCES | HTML_FORMS, check_link, &l) == VIDI_OK);
    html_page_close(page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    /* In a block of exactly its size, so that the sanitizer detects overruns. */
    char *bytes = malloc(size - 1 ? size - 1 : 1);
    FUZZ_CHECK(bytes);
    memcpy(bytes, data + 1, size - 1);
    check_tokens((vidi_str){bytes, size - 1}, data[0]);
    check_page((vidi_str){bytes, size - 1}, data[0]);
    vidi_str label = html_header_charset((vidi_str){bytes, size - 1});
    FUZZ_CHECK(!label.ptr || (label.ptr >= bytes && label.ptr + label.len <= bytes + size - 1));
    free(bytes);
    return 0;
}
