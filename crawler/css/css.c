/*
 * The URLs and the encoding of a style sheet: see css.h.
 */
#include "crawler/css/css.h"

#include <string.h>

#include "crawler/css/css_tokens.h"

/* Where the next token stands. */
typedef enum css_place {
    CSS_ANYWHERE,
    CSS_IMPORTS, /* directly after @import */
    CSS_PRELUDE  /* between the name of an at-rule and its block: nothing there is fetched */
} css_place;

typedef struct finder {
    css_tokenizer tokens;
    css_link_visitor visitor;
    void *context;
    bytes decoded;
    css_place place;
    bool in_url;             /* directly after "url(" */
    size_t depth, image_set; /* brackets that are open; how many there are inside of image-set(, 0: not in one */
} finder;

static bool is_fetched(vidi_str value)
{
    while (value.len && ascii_is_space(value.ptr[0]))
        value = (vidi_str){value.ptr + 1, value.len - 1};
    return value.len && value.ptr[0] != '#' && !(value.len >= 5 && ascii_same(value.ptr, 5, "data:"));
}

static int report(finder *f, const css_token *token)
{
    css_link link = {
        .position = token->at, .value = {f->tokens.text + token->at, token->len}, .is_import = f->place == CSS_IMPORTS};

    if (f->place == CSS_PRELUDE || !is_fetched(link.value))
        return VIDI_OK;
    if (css_has_escapes(link.value)) {
        f->decoded.len = 0;
        if (css_append_decoded(&f->decoded, link.value))
            return VIDI_EMEMORY;
        link.value = (vidi_str){f->decoded.ptr, f->decoded.len};
    }
    return is_fetched(link.value) ? f->visitor(f->context, &link) : VIDI_OK;
}

static bool is_url_string(const finder *f)
{
    return f->in_url || f->place == CSS_IMPORTS || (f->image_set && f->depth == f->image_set);
}

static void open_function(finder *f, vidi_str name)
{
    f->depth++;
    f->in_url = css_is_name(name, "url");
    if (!f->image_set && (css_is_name(name, "image-set") || css_is_name(name, "-webkit-image-set")))
        f->image_set = f->depth;
}

static void close_bracket(finder *f)
{
    f->depth -= f->depth > 0;
    if (f->depth < f->image_set)
        f->image_set = 0;
}

static int take_token(finder *f, const css_token *token)
{
    vidi_str name = {f->tokens.text + token->at, token->len};
    int result = VIDI_OK;

    if (token->type == CSS_SPACE)
        return VIDI_OK;
    if (token->type == CSS_URL || (token->type == CSS_STRING && is_url_string(f)))
        result = report(f, token);
    f->in_url = false;
    if (token->type == CSS_FUNCTION)
        open_function(f, name);
    else if (token->type == CSS_OPEN)
        f->depth++;
    else if (token->type == CSS_CLOSE)
        close_bracket(f);
    if (token->type == CSS_AT)
        f->place = css_is_name(name, "import") ? CSS_IMPORTS : CSS_PRELUDE;
    else if (token->type == CSS_SEMICOLON || token->first == '{' || token->first == '}')
        f->place = CSS_ANYWHERE;
    else if (f->place == CSS_IMPORTS && !f->in_url)
        f->place = CSS_PRELUDE;
    return result;
}

int css_links(vidi_str text, css_link_visitor visitor, void *context)
{
    finder f = {.tokens = {.text = text.ptr, .len = text.len}, .visitor = visitor, .context = context};
    css_token token;
    int result = VIDI_OK;

    do {
        css_next(&f.tokens, &token);
        result = take_token(&f, &token);
    } while (result == VIDI_OK && token.type != CSS_END);
    bytes_free(&f.decoded);
    return result;
}

/* ---- encoding ---- */

/* What an @charset at the beginning says; it must be written exactly so. NULL: nothing. */
static const text_encoding *by_rule(vidi_str sheet)
{
    static const char begin[] = "@charset \"";
    enum { BEGIN = sizeof begin - 1, LOOKED_AT = 1024 };

    if (sheet.len < BEGIN || memcmp(sheet.ptr, begin, BEGIN) != 0)
        return NULL;
    vidi_str label = {sheet.ptr + BEGIN, (sheet.len < LOOKED_AT ? sheet.len : LOOKED_AT) - BEGIN};
    const char *end = memchr(label.ptr, '"', label.len);
    if (!end || end + 1 == label.ptr + label.len || end[1] != ';')
        return NULL;
    label.len = (size_t)(end - label.ptr);
    const text_encoding *found = encoding_find(label);
    /* A sheet in UTF-16 could not be read as far as here. */
    return found && encoding_is_utf16(found) ? encoding_find((vidi_str){"utf-8", 5}) : found;
}

int css_decode(vidi_str sheet, vidi_str charset, encoding_text *text)
{
    size_t mark = 0;
    const text_encoding *encoding = encoding_by_mark(sheet, &mark);

    if (!encoding)
        encoding = encoding_find(charset);
    if (!encoding)
        encoding = by_rule(sheet);
    if (!encoding)
        encoding = encoding_find((vidi_str){"utf-8", 5});
    return encoding_decode(encoding, (vidi_str){sheet.ptr + mark, sheet.len - mark}, text);
}
