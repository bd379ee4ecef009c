/*
 * The text of a link, for reports, the title of a page, and its text. A link's text is read from the page again when it is asked for, a few kilobytes at most, so
 * that callers that do not need it pay nothing.
 */
#include <string.h>

#include "crawler/html/context.h"
#include "crawler/html/page.h"

typedef struct writer {
    char *to;
    size_t len, room;
    bool space; /* a space is due before the next word */
    bool full;
} writer;

/* Length of the character that begins with this byte, in valid UTF-8. */
static size_t character_length(char first)
{
    unsigned char byte = (unsigned char)first;
    return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

static void write_text(writer *w, vidi_str text)
{
    for (size_t i = 0; i < text.len && !w->full;) {
        size_t n = character_length(text.ptr[i]);
        if (ascii_is_space(text.ptr[i])) {
            w->space = w->len > 0;
        } else if (w->len + w->space + n > w->room || n > text.len - i) {
            w->full = true;
        } else {
            if (w->space)
                w->to[w->len++] = ' ';
            w->space = false;
            memcpy(w->to + w->len, text.ptr + i, n);
            w->len += n;
        }
        i += n;
    }
}

static void write_piece(writer *w, const html_tokenizer *t, enum html_content content, html_piece piece)
{
    char decoded[HTML_DECODED_GROWTH * HTML_TEXT_SCANNED];
    write_text(w, (vidi_str){decoded, html_text_decode(content, html_piece_raw(t, piece), decoded)});
}

static void write_alternative(writer *w, const html_tokenizer *t, const html_token *image)
{
    for (size_t i = 0; i < image->attribute_count; i++)
        if (html_attribute_of(html_piece_raw(t, image->attributes[i].name)) == HTML_ATTRIBUTE_ALT) {
            write_piece(w, t, HTML_ATTRIBUTE, image->attributes[i].value);
            return;
        }
}

/* Writes one token's text. False at the tag that ends the link. */
static bool write_token(writer *w, html_tokenizer *t, html_context *context, const html_token *token)
{
    enum html_element element;
    enum html_space space;

    if (token->type == HTML_TEXT && (token->content == HTML_DATA || token->content == HTML_CDATA))
        write_piece(w, t, token->content, token->text);
    if (token->type != HTML_START_TAG && token->type != HTML_END_TAG)
        return true;
    if (html_context_follow(context, t, token, &element, &space) < 0 || element == HTML_ELEMENT_A)
        return false;
    if (token->type == HTML_START_TAG && element == HTML_ELEMENT_IMG)
        write_alternative(w, t, token);
    return true;
}

/* The greatest length up to `most`, which is less than that of the text, that cuts no character in two. */
static size_t whole_characters(vidi_str text, size_t most)
{
    while (most > 0 && ((unsigned char)text.ptr[most] & 0xC0) == 0x80)
        most--;
    return most;
}

/* The page after the link's tag, as far as it is looked at. */
static vidi_str scanned(const html_page *page, uint64_t end)
{
    vidi_str rest = {page->text.bytes.ptr + end, page->text.bytes.len - end};

    if (rest.len > HTML_TEXT_SCANNED)
        rest.len = whole_characters(rest, HTML_TEXT_SCANNED);
    return rest;
}

size_t html_link_text(const html_page *page, const html_link *link, char *to, size_t room)
{
    writer w = {.to = to, .room = room};
    html_tokenizer t;
    html_token token;
    html_context context = {.depth = 0};

    if (strcmp(link->element, "a") != 0 || link->end == 0 ||
        html_tokenizer_open(&t, scanned(page, link->end)) != VIDI_OK)
        return 0;
    while (!w.full && html_tokenizer_next(&t, &token) == VIDI_OK && token.type != HTML_END &&
           write_token(&w, &t, &context, &token))
        continue;
    html_tokenizer_close(&t);
    html_context_close(&context);
    return w.len;
}

size_t html_page_title(const html_page *page, char *to, size_t room)
{
    writer w = {.to = to, .room = room};
    vidi_str raw = {page->text.bytes.ptr + page->title.at, page->title.len};
    char decoded[HTML_DECODED_GROWTH * HTML_TEXT_SCANNED];

    if (!page->has_title)
        return 0;
    if (raw.len > HTML_TEXT_SCANNED)
        raw.len = whole_characters(raw, HTML_TEXT_SCANNED);
    write_text(&w, (vidi_str){decoded, html_text_decode(HTML_RCDATA, raw, decoded)});
    return w.len;
}

/* Writes one token's text, if it is part of the page. */
static int write_visible(html_page *page, writer *w, html_tokenizer *t, html_context *context, const html_token *token)
{
    enum html_element element;
    enum html_space space;
    vidi_str text;
    int result = VIDI_OK;

    if (token->type == HTML_START_TAG || token->type == HTML_END_TAG)
        return html_context_follow(context, t, token, &element, &space);
    if (token->type != HTML_TEXT || token->content == HTML_RAWTEXT || token->content == HTML_SCRIPT ||
        html_context_inert(context))
        return VIDI_OK;
    result = html_page_decode(page, token->content, token->text, &page->value, &text);
    if (result == VIDI_OK)
        write_text(w, text);
    return result;
}

int html_page_text(html_page *page, vidi_str *text)
{
    html_tokenizer t;
    html_token token = {.type = HTML_NOTHING};
    html_context context = {.depth = 0};
    int result = html_room_take(&page->visible, page->text.bytes.len);

    if (result == VIDI_OK)
        result = html_tokenizer_open(&t, page->text.bytes);
    if (result != VIDI_OK)
        return result;
    writer w = {.to = page->visible.at, .room = page->text.bytes.len};
    while (result == VIDI_OK && (result = html_tokenizer_next(&t, &token)) == VIDI_OK && token.type != HTML_END)
        result = write_visible(page, &w, &t, &context, &token);
    html_tokenizer_close(&t);
    html_context_close(&context);
    *text = (vidi_str){page->visible.at, w.len};
    return result;
}
