/*
 * Follows which elements are open (context.h; the HTML Standard, sections 13.2.6.4.4 and 13.2.6.5).
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/html/context.h"

/* HTML elements whose start tags end SVG and MathML. In the order of their bytes. */
static const char *const breaking_out[] = {
    "b",     "big",   "blockquote", "body",   "br",   "center", "code",  "dd", "div",  "dl",   "dt",
    "em",    "embed", "h1",         "h2",     "h3",   "h4",     "h5",    "h6", "head", "hr",   "i",
    "img",   "li",    "listing",    "menu",   "meta", "nobr",   "ol",    "p",  "pre",  "ruby", "s",
    "small", "span",  "strike",     "strong", "sub",  "sup",    "table", "tt", "u",    "ul",   "var",
};

/* Other HTML elements that SVG and MathML do not have. Their end tags close SVG that was left open. Sorted, too. */
static const char *const never_foreign[] = {
    "article", "aside", "body",    "button", "footer", "form",  "header", "html",  "label",
    "main",    "nav",   "section", "tbody",  "td",     "tfoot", "th",     "thead", "tr",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define IS_LISTED(list, name) (html_name_find(list, COUNT(list), name) < COUNT(list))

void html_context_close(html_context *context)
{
    free(context->stack);
    *context = (html_context){.depth = 0};
}

enum html_space html_context_space(const html_context *context)
{
    return context->depth ? (enum html_space)context->stack[context->depth - 1].space : HTML_SPACE_HTML;
}

bool html_context_inert(const html_context *context)
{
    return context->last[HTML_ELEMENT_TEMPLATE] > 0;
}

static int push(html_context *c, enum html_element element, enum html_space space)
{
    if (c->depth == c->room) {
        size_t room = c->room ? 2 * c->room : 16;
        html_open *stack = realloc(c->stack, room * sizeof *stack); /* at most one entry for 4 bytes of the page */
        if (!stack)
            return VIDI_EMEMORY;
        c->stack = stack;
        c->room = room;
    }
    c->stack[c->depth++] = (html_open){(uint8_t)element, (uint8_t)space, c->last[element]};
    c->last[element] = (uint32_t)c->depth;
    return VIDI_OK;
}

static void pop(html_context *c)
{
    const html_open *top = &c->stack[--c->depth];
    c->last[top->element] = top->previous;
}

static void leave_foreign(html_context *c)
{
    while (html_context_space(c) != HTML_SPACE_HTML)
        pop(c);
}

static bool has_attribute(const html_tokenizer *t, const html_token *token, enum html_attribute_name name)
{
    for (size_t i = 0; i < token->attribute_count; i++)
        if (html_attribute_of(html_piece_raw(t, token->attributes[i].name)) == name)
            return true;
    return false;
}

static bool breaks_out(const html_tokenizer *t, const html_token *token, enum html_element element)
{
    if (element == HTML_ELEMENT_FONT)
        return has_attribute(t, token, HTML_ATTRIBUTE_COLOR) || has_attribute(t, token, HTML_ATTRIBUTE_FACE) ||
               has_attribute(t, token, HTML_ATTRIBUTE_SIZE);
    return IS_LISTED(breaking_out, html_piece_raw(t, token->text));
}

/* True if this annotation-xml contains HTML, which its attribute `encoding` says. */
static bool annotates_html(const html_tokenizer *t, const html_token *token)
{
    for (size_t i = 0; i < token->attribute_count; i++)
        if (html_attribute_of(html_piece_raw(t, token->attributes[i].name)) == HTML_ATTRIBUTE_ENCODING) {
            vidi_str value = html_piece_raw(t, token->attributes[i].value);
            return ASCII_IS(value, "text/html") || ASCII_IS(value, "application/xhtml+xml");
        }
    return false;
}

/* Sets what an element of SVG or MathML contains. False if the element need not be on the stack. */
static bool contents_of(enum html_space space, const html_tokenizer *t, const html_token *token,
                        enum html_element element, enum html_space *contents)
{
    *contents = space;
    switch (element) {
    case HTML_ELEMENT_SVG:
        return space == HTML_SPACE_SVG;
    case HTML_ELEMENT_MATH:
        return space == HTML_SPACE_MATH;
    case HTML_ELEMENT_FOREIGNOBJECT:
    case HTML_ELEMENT_DESC:
    case HTML_ELEMENT_TITLE:
        *contents = HTML_SPACE_HTML;
        return space == HTML_SPACE_SVG;
    case HTML_ELEMENT_MI:
    case HTML_ELEMENT_MN:
    case HTML_ELEMENT_MO:
    case HTML_ELEMENT_MS:
    case HTML_ELEMENT_MTEXT:
        *contents = HTML_SPACE_HTML;
        return space == HTML_SPACE_MATH;
    case HTML_ELEMENT_ANNOTATION_XML:
        if (annotates_html(t, token))
            *contents = HTML_SPACE_HTML;
        return space == HTML_SPACE_MATH;
    default:
        return false;
    }
}

/* In MathML's elements for text, these two are MathML although all else is HTML. */
static bool stays_in_math(const html_context *c, enum html_element element)
{
    if (c->depth == 0 || (element != HTML_ELEMENT_MGLYPH && element != HTML_ELEMENT_MALIGNMARK))
        return false;
    uint8_t top = c->stack[c->depth - 1].element;
    return top >= HTML_ELEMENT_MI && top <= HTML_ELEMENT_MTEXT;
}

static int start_in_html(html_context *c, const html_token *token, enum html_element element, enum html_space *space)
{
    if (element == HTML_ELEMENT_TEMPLATE)
        return push(c, element, HTML_SPACE_HTML);
    if (element != HTML_ELEMENT_SVG && element != HTML_ELEMENT_MATH)
        return VIDI_OK;
    *space = element == HTML_ELEMENT_SVG ? HTML_SPACE_SVG : HTML_SPACE_MATH;
    return token->self_closing ? VIDI_OK : push(c, element, *space);
}

static int start(html_context *c, const html_tokenizer *t, const html_token *token, enum html_element element,
                 enum html_space *space)
{
    enum html_space contents;

    *space = html_context_space(c);
    if (*space != HTML_SPACE_HTML) {
        bool svg_in_annotation = *space == HTML_SPACE_MATH && element == HTML_ELEMENT_SVG &&
                                 c->stack[c->depth - 1].element == HTML_ELEMENT_ANNOTATION_XML;
        if (breaks_out(t, token, element))
            leave_foreign(c);
        else if (!svg_in_annotation)
            return !token->self_closing && contents_of(*space, t, token, element, &contents)
                       ? push(c, element, contents)
                       : VIDI_OK;
        *space = HTML_SPACE_HTML;
    } else if (stays_in_math(c, element)) {
        *space = HTML_SPACE_MATH;
        return token->self_closing ? VIDI_OK : push(c, element, HTML_SPACE_MATH);
    }
    return start_in_html(c, token, element, space);
}

static void end(html_context *c, vidi_str name, enum html_element element)
{
    uint32_t barrier = c->last[HTML_ELEMENT_TEMPLATE], place;

    if (c->depth == 0)
        return;
    place = element < HTML_ELEMENT_COUNT ? c->last[element] : 0;
    if (place && place >= barrier) {
        while (c->depth >= place)
            pop(c);
    } else if (html_context_space(c) != HTML_SPACE_HTML &&
               (IS_LISTED(breaking_out, name) || IS_LISTED(never_foreign, name))) {
        leave_foreign(c);
    }
}

/* Tells the tokenizer which elements have text without tags. */
static void expect_contents(html_tokenizer *t, enum html_element element)
{
    enum html_content content;

    switch (element) {
    case HTML_ELEMENT_TITLE:
    case HTML_ELEMENT_TEXTAREA:
        content = HTML_RCDATA;
        break;
    case HTML_ELEMENT_STYLE:
    case HTML_ELEMENT_XMP:
    case HTML_ELEMENT_IFRAME:
    case HTML_ELEMENT_NOEMBED:
    case HTML_ELEMENT_NOFRAMES:
        content = HTML_RAWTEXT;
        break;
    case HTML_ELEMENT_SCRIPT:
        content = HTML_SCRIPT;
        break;
    case HTML_ELEMENT_PLAINTEXT:
        content = HTML_PLAINTEXT;
        break;
    default:
        return;
    }
    const char *name = html_element_name(element);
    html_tokenizer_expect(t, content, (vidi_str){name, strlen(name)});
}

int html_context_follow(html_context *c, html_tokenizer *t, const html_token *tag, enum html_element *element,
                        enum html_space *space)
{
    vidi_str name = html_piece_raw(t, tag->text);
    int result = VIDI_OK;

    *element = html_element_of(name);
    *space = html_context_space(c);
    if (tag->type == HTML_END_TAG)
        end(c, name, *element);
    else
        result = start(c, t, tag, *element, space);
    if (tag->type == HTML_START_TAG && *space == HTML_SPACE_HTML)
        expect_contents(t, *element);
    t->foreign = html_context_space(c) != HTML_SPACE_HTML;
    return result;
}
