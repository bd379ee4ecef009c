/*
 * The names that a fragment can have on a page. The page is read again when they are asked for, so that callers that do
 * not need them pay nothing.
 */
#include "crawler/html/context.h"
#include "crawler/html/page.h"

typedef struct walk {
    html_page *page;
    html_tokenizer tokenizer;
    html_context context;
    html_name_visitor visitor;
    void *context_of_visitor;
} walk;

static int tell_name(walk *w, html_piece piece)
{
    vidi_str name;
    int result = html_page_decode(w->page, HTML_ATTRIBUTE, piece, &w->page->value, &name);

    return result < 0 || name.len == 0 ? result : w->visitor(w->context_of_visitor, name);
}

/* Of two attributes with the same name, the first counts. */
static int tell_names(walk *w, const html_token *tag, bool is_anchor)
{
    bool has_id = false, has_name = !is_anchor;
    int result = VIDI_OK;

    for (size_t i = 0; i < tag->attribute_count && result == VIDI_OK; i++) {
        vidi_str name = html_piece_raw(&w->tokenizer, tag->attributes[i].name);
        bool *had = ASCII_IS(name, "id") ? &has_id : ASCII_IS(name, "name") ? &has_name : NULL;
        if (!had || *had)
            continue;
        *had = true;
        result = tell_name(w, tag->attributes[i].value);
    }
    return result;
}

static int tell_token(walk *w, const html_token *token)
{
    enum html_element element;
    enum html_space space;

    if (token->type != HTML_START_TAG && token->type != HTML_END_TAG)
        return VIDI_OK;
    bool inert = html_context_inert(&w->context); /* a template itself is part of the page */
    int result = html_context_follow(&w->context, &w->tokenizer, token, &element, &space);
    if (result < 0 || token->type == HTML_END_TAG || inert)
        return result;
    return tell_names(w, token, element == HTML_ELEMENT_A && space == HTML_SPACE_HTML);
}

int html_page_names(html_page *page, html_name_visitor visitor, void *context)
{
    walk w = {.page = page, .visitor = visitor, .context_of_visitor = context};
    html_token token;
    int result = html_tokenizer_open(&w.tokenizer, page->text.bytes);

    while (result == VIDI_OK && (result = html_tokenizer_next(&w.tokenizer, &token)) == VIDI_OK &&
           token.type != HTML_END)
        result = tell_token(&w, &token);
    html_tokenizer_close(&w.tokenizer);
    html_context_close(&w.context);
    return result;
}
