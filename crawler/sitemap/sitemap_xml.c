/*
 * The tokenizer: see sitemap_xml.h. There is a function for each state, which is called with one byte; a byte is given
 * to at most three of them, because it may also end what came before.
 */
#include "crawler/sitemap/sitemap_xml.h"

#include <string.h>

#include "common/ascii.h"
#include "common/utf8.h"

static void step(xml *x, char c);

static bool begins_name(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == ':' || (c & 0x80);
}

static void problem(xml *x, sitemap_problem what)
{
    x->handler->problem(x->context, what);
}

static void text(xml *x, const char *bytes, size_t n)
{
    if (n > 0)
        x->handler->text(x->context, bytes, n);
}

/* ---- names ---- */

static void add_to_name(char *name, size_t *len, char c)
{
    if (*len < XML_NAME_MOST)
        name[*len] = c;
    *len += *len <= XML_NAME_MOST;
}

static xml_name split_name(const char *name, size_t len)
{
    if (len > XML_NAME_MOST)
        return (xml_name){{name, 0}, {name, 0}};
    const char *colon = len ? memchr(name, ':', len) : NULL;
    size_t prefix = colon ? (size_t)(colon - name) : 0, skip = colon ? prefix + 1 : 0;
    return (xml_name){{name, prefix}, {name + skip, len - skip}};
}

/* ---- references ---- */

static int digit_value(char c, unsigned base)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return base == 16 && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character of "#65" or "#x41"; 0 if it is none. Ten digits at most, so nothing overflows. */
static uint32_t numbered(vidi_str reference)
{
    unsigned base = reference.len > 1 && (reference.ptr[1] | 0x20) == 'x' ? 16 : 10;
    uint64_t value = 0;

    for (size_t i = base == 16 ? 2 : 1; i < reference.len; i++) {
        int digit = digit_value(reference.ptr[i], base);
        if (digit < 0)
            return 0;
        value = value * base + (unsigned)digit;
    }
    return value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ? 0 : (uint32_t)value;
}

static uint32_t referenced(vidi_str reference)
{
    static const struct {
        const char *name;
        char c;
    } list[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

    if (reference.len > 1 && reference.ptr[0] == '#')
        return numbered(reference);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (strlen(list[i].name) == reference.len && memcmp(list[i].name, reference.ptr, reference.len) == 0)
            return (unsigned char)list[i].c;
    return 0;
}

/* Adds to the text or to the value, wherever the reference stands. */
static void put(xml *x, const char *bytes, size_t n)
{
    if (x->after_reference == XML_TEXT) {
        text(x, bytes, n);
        return;
    }
    size_t room = sizeof x->value - x->value_len;
    n = n < room ? n : room;
    memcpy(x->value + x->value_len, bytes, n);
    x->value_len += n;
}

static void begin_reference(xml *x)
{
    x->after_reference = x->state;
    x->state = XML_REFERENCE;
    x->reference_len = 0;
}

/* What looked like a reference is text. */
static void drop_reference(xml *x)
{
    x->state = x->after_reference;
    put(x, "&", 1);
    put(x, x->reference, x->reference_len);
}

static void in_reference(xml *x, char c)
{
    char bytes[4];

    if (c == ';' && x->reference_len > 0) {
        uint32_t found = referenced((vidi_str){x->reference, x->reference_len});
        if (found) {
            x->state = x->after_reference;
            put(x, bytes, utf8_put(bytes, found));
        } else {
            problem(x, SITEMAP_UNKNOWN_ENTITY);
            drop_reference(x);
            put(x, ";", 1);
        }
    } else if (x->reference_len < XML_REFERENCE_MOST &&
               ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                (c == '#' && !x->reference_len))) {
        x->reference[x->reference_len++] = c;
    } else {
        problem(x, SITEMAP_BARE_AMPERSAND);
        drop_reference(x);
        step(x, c);
    }
}

/* ---- text ---- */

static void in_text(xml *x, char c)
{
    if (c == '<')
        x->state = XML_OPEN;
    else if (c == '&')
        begin_reference(x);
    else
        text(x, &c, 1);
}

static void after_open(xml *x, char c)
{
    x->name_len = 0;
    x->declaration_len = 0;
    x->tail = 0;
    if (begins_name(c)) {
        x->state = XML_NAME;
        add_to_name(x->name, &x->name_len, c);
    } else if (c == '/') {
        x->state = XML_END_NAME;
    } else if (c == '!') {
        x->state = XML_BANG;
    } else if (c == '?') {
        x->state = XML_INSTRUCTION;
    } else {
        problem(x, SITEMAP_BAD_MARKUP);
        x->state = XML_TEXT;
        text(x, "<", 1);
        step(x, c);
    }
}

/* ---- tags ---- */

static void finish_tag(xml *x, bool empty)
{
    x->state = XML_TEXT;
    x->handler->started(x->context, empty);
}

/* A '<' where none may be: the tag is taken to end before it. */
static void break_off_tag(xml *x)
{
    problem(x, SITEMAP_BAD_MARKUP);
    finish_tag(x, false);
    x->state = XML_OPEN;
}

static void in_tag(xml *x, char c)
{
    if (c == '>') {
        finish_tag(x, false);
    } else if (c == '/') {
        x->state = XML_SLASH;
    } else if (c == '<') {
        break_off_tag(x);
    } else if (!ascii_is_blank(c)) {
        x->state = XML_ATTRIBUTE;
        x->attribute_len = 0;
        add_to_name(x->attribute, &x->attribute_len, c);
    }
}

static void in_name(xml *x, char c)
{
    if (!ascii_is_blank(c) && c != '>' && c != '/' && c != '<') {
        add_to_name(x->name, &x->name_len, c);
        return;
    }
    x->handler->start(x->context, split_name(x->name, x->name_len));
    x->state = XML_IN_TAG;
    in_tag(x, c);
}

static void after_slash(xml *x, char c)
{
    if (c == '>') {
        finish_tag(x, true);
        return;
    }
    problem(x, SITEMAP_BAD_MARKUP);
    x->state = XML_IN_TAG;
    in_tag(x, c);
}

static void in_attribute(xml *x, char c)
{
    if (c == '=') {
        x->state = XML_VALUE_BEGIN;
    } else if (ascii_is_blank(c)) {
        x->state = XML_EQUALS;
    } else if (c == '>' || c == '/' || c == '<') {
        problem(x, SITEMAP_BAD_MARKUP);
        x->state = XML_IN_TAG;
        in_tag(x, c);
    } else {
        add_to_name(x->attribute, &x->attribute_len, c);
    }
}

static void before_equals(xml *x, char c)
{
    if (c == '=') {
        x->state = XML_VALUE_BEGIN;
    } else if (!ascii_is_blank(c)) {
        problem(x, SITEMAP_BAD_MARKUP);
        x->state = XML_IN_TAG;
        in_tag(x, c);
    }
}

static void finish_value(xml *x)
{
    x->state = XML_IN_TAG;
    x->handler->attribute(x->context, split_name(x->attribute, x->attribute_len), (vidi_str){x->value, x->value_len});
}

static void in_value(xml *x, char c)
{
    bool ends = x->quote ? c == x->quote : ascii_is_blank(c) || c == '>';

    if (c == '<') {
        x->state = XML_IN_TAG; /* the value has no end: leave it out */
        in_tag(x, c);
    } else if (ends) {
        finish_value(x);
        if (!x->quote)
            in_tag(x, c);
    } else if (c == '&') {
        begin_reference(x);
    } else if (x->value_len < sizeof x->value) {
        x->value[x->value_len++] = c;
    }
}

static void before_value(xml *x, char c)
{
    if (ascii_is_blank(c))
        return;
    x->state = XML_VALUE;
    x->value_len = 0;
    x->quote = 0;
    if (c == '"' || c == '\'') {
        x->quote = c;
    } else {
        problem(x, SITEMAP_BAD_MARKUP);
        in_value(x, c);
    }
}

/* ---- tags that end ---- */

static void in_end_rest(xml *x, char c)
{
    if (c != '>' && c != '<')
        return;
    if (c == '<')
        problem(x, SITEMAP_BAD_MARKUP);
    x->state = c == '<' ? XML_OPEN : XML_TEXT;
}

static void in_end_name(xml *x, char c)
{
    if (!ascii_is_blank(c) && c != '>' && c != '<') {
        add_to_name(x->name, &x->name_len, c);
        return;
    }
    x->handler->end(x->context, split_name(x->name, x->name_len));
    x->state = XML_END_REST;
    in_end_rest(x, c);
}

/* ---- comments and other things that begin with "<!" or "<?" ---- */

static bool could_be(const xml *x, const char *word)
{
    size_t len = strlen(word);
    return x->name_len <= len && memcmp(x->name, word, x->name_len) == 0;
}

static void after_bang(xml *x, char c)
{
    add_to_name(x->name, &x->name_len, c);
    if (could_be(x, "--")) {
        x->state = x->name_len == 2 ? XML_COMMENT : XML_BANG;
    } else if (could_be(x, "[CDATA[")) {
        x->state = x->name_len == 7 ? XML_CDATA : XML_BANG;
    } else {
        /* The bytes that were taken for the beginning of something else contain no bracket, quote or '>'. */
        x->state = XML_DOCTYPE;
        x->quote = 0;
        x->brackets = x->name[0] == '[';
        step(x, c);
    }
}

static void in_comment(xml *x, char c)
{
    if (c == '>' && x->tail >= 2)
        x->state = XML_TEXT;
    x->tail = c == '-' ? x->tail + (x->tail < 2) : 0;
}

static void in_cdata(xml *x, char c)
{
    if (c == ']') {
        if (x->tail == 2)
            text(x, "]", 1);
        x->tail += x->tail < 2;
    } else if (c == '>' && x->tail == 2) {
        x->state = XML_TEXT;
    } else {
        text(x, "]]", x->tail);
        text(x, &c, 1);
        x->tail = 0;
    }
}

/* Skips <!DOCTYPE …>, in which quotes and brackets protect '>'. Nothing that it declares is used. */
static void in_doctype(xml *x, char c)
{
    if (x->quote) {
        if (c == x->quote)
            x->quote = 0;
    } else if (c == '"' || c == '\'') {
        x->quote = c;
    } else if (c == '[') {
        x->brackets++;
    } else if (c == ']') {
        x->brackets -= x->brackets > 0;
    } else if (c == '>' && x->brackets == 0) {
        x->state = XML_TEXT;
    }
}

static void in_instruction(xml *x, char c)
{
    if (c == '>' && x->tail) {
        vidi_str all = {x->declaration, x->declaration_len};
        x->state = XML_TEXT;
        if (all.len > 3 && memcmp(all.ptr, "xml", 3) == 0 && ascii_is_blank(all.ptr[3]))
            x->handler->declaration(x->context, all);
    } else if (x->declaration_len < sizeof x->declaration) {
        x->declaration[x->declaration_len++] = c;
    }
    x->tail = c == '?';
}

/* ---- all ---- */

static void (*const steps[XML_STATES])(xml *, char) = {
    [XML_TEXT] = in_text,           [XML_OPEN] = after_open,
    [XML_NAME] = in_name,           [XML_IN_TAG] = in_tag,
    [XML_SLASH] = after_slash,      [XML_ATTRIBUTE] = in_attribute,
    [XML_EQUALS] = before_equals,   [XML_VALUE_BEGIN] = before_value,
    [XML_VALUE] = in_value,         [XML_END_NAME] = in_end_name,
    [XML_END_REST] = in_end_rest,   [XML_BANG] = after_bang,
    [XML_COMMENT] = in_comment,     [XML_CDATA] = in_cdata,
    [XML_DOCTYPE] = in_doctype,     [XML_INSTRUCTION] = in_instruction,
    [XML_REFERENCE] = in_reference,
};

static void step(xml *x, char c)
{
    steps[x->state](x, c);
}

void xml_init(xml *x, const xml_handler *handler, void *context)
{
    *x = (xml){.handler = handler, .context = context, .line = 1};
}

/* Passes a run of plain text on as one piece. Returns its length. */
static size_t run_of_text(xml *x, const char *bytes, size_t n)
{
    size_t len = 0;

    for (; len < n && bytes[len] != '<' && bytes[len] != '&'; len++)
        x->line += bytes[len] == '\n';
    text(x, bytes, len);
    return len;
}

void xml_feed(xml *x, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (x->state == XML_TEXT)
            i += run_of_text(x, bytes + i, n - i);
        if (i == n)
            break;
        step(x, bytes[i]);
        x->line += bytes[i] == '\n';
    }
}

bool xml_end(xml *x)
{
    if (x->state == XML_REFERENCE && x->after_reference == XML_TEXT) {
        problem(x, SITEMAP_BARE_AMPERSAND);
        drop_reference(x);
    }
    return x->state == XML_TEXT;
}
