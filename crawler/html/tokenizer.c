/*
 * The tokenizer: text, tags, comments and CDATA sections (tokenizer.h says what it promises).
 *
 * Each of the standard's groups of states is one function that moves through the input once. What the standard does
 * character by character with "reconsume" is here a look at the next byte or two.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/html/tokenizer.h"

/* The most attributes that are kept from one tag to the next. */
enum { ATTRIBUTES_KEPT = 4096 };

int html_tokenizer_open(html_tokenizer *tokenizer, vidi_str input)
{
    *tokenizer = (html_tokenizer){.input = input.len ? input.ptr : ""};
    if (input.len > HTML_INPUT_MAX)
        return VIDI_ELIMIT;
    tokenizer->len = (uint32_t)input.len;
    return VIDI_OK;
}

void html_tokenizer_close(html_tokenizer *tokenizer)
{
    free(tokenizer->attributes);
    *tokenizer = (html_tokenizer){.input = ""};
}

void html_tokenizer_expect(html_tokenizer *tokenizer, enum html_content content, vidi_str end_name)
{
    tokenizer->content = content;
    tokenizer->end_name = end_name;
}

static html_piece piece(uint32_t from, uint32_t to)
{
    return (html_piece){from, to - from};
}

/* The byte at a place, 0 after the end: a NUL in the input has no meaning of its own in any state. */
static char byte_at(const html_tokenizer *t, uint32_t at)
{
    return (char)(at < t->len ? t->input[at] : 0);
}

/* The first place from `at` on that has this byte, or the end. */
static uint32_t find(const html_tokenizer *t, uint32_t at, char byte)
{
    const char *found = at < t->len ? memchr(t->input + at, byte, t->len - at) : NULL;
    return found ? (uint32_t)(found - t->input) : t->len;
}

static bool follows(const html_tokenizer *t, uint32_t at, const char *lower)
{
    for (; *lower; at++, lower++)
        if (ascii_lower(byte_at(t, at)) != *lower)
            return false;
    return true;
}

static uint32_t skip_spaces(const html_tokenizer *t, uint32_t at)
{
    while (at < t->len && ascii_is_space(t->input[at]))
        at++;
    return at;
}

/* Ends the input. A tag that has begun is dropped. */
static void end_of_input(html_tokenizer *t, html_token *token)
{
    t->at = t->len;
    *token = (html_token){.type = HTML_END, .at = t->len};
}

/* Continues at `at` without a token: "</>" and the brackets of a CDATA section have none. */
static void take_nothing(html_tokenizer *t, html_token *token, uint32_t at)
{
    token->type = HTML_NOTHING;
    t->at = at;
}

/* ---- tags ---- */

static int add_attribute(html_tokenizer *t, html_piece name)
{
    if (t->attribute_count == t->attribute_room) {
        size_t room = t->attribute_room ? 2 * t->attribute_room : 16;
        html_attribute *list = realloc(t->attributes, room * sizeof *list); /* room <= HTML_INPUT_MAX */
        if (!list)
            return VIDI_EMEMORY;
        t->attributes = list;
        t->attribute_room = room;
    }
    t->attributes[t->attribute_count++] = (html_attribute){.name = name, .value = {name.at + name.len, 0}};
    return VIDI_OK;
}

/* Empties the list, and frees it if the last tag was enormous. */
static void forget_attributes(html_tokenizer *t)
{
    t->attribute_count = 0;
    if (t->attribute_room > ATTRIBUTES_KEPT) {
        free(t->attributes);
        t->attributes = NULL;
        t->attribute_room = 0;
    }
}

static bool ends_tag_name(char c)
{
    return ascii_is_space(c) || c == '/' || c == '>';
}

/* Reads what follows '=': returns the place after the value, or the end of the input if that comes first. */
static uint32_t read_value(html_tokenizer *t, uint32_t at, html_piece *value)
{
    at = skip_spaces(t, at);
    char quote = byte_at(t, at);
    if (quote == '"' || quote == '\'') {
        uint32_t end = find(t, at + 1, quote);
        *value = piece(at + 1, end);
        return end < t->len ? end + 1 : end;
    }
    uint32_t end = at;
    while (end < t->len && !ascii_is_space(t->input[end]) && t->input[end] != '>')
        end++;
    *value = piece(at, end);
    return end;
}

/* Reads an attribute that begins at `at`, where there is neither space nor '/' nor '>'. */
static int read_attribute(html_tokenizer *t, uint32_t *at)
{
    uint32_t from = *at, end = from + 1; /* '=' as first character belongs to the name */
    while (end < t->len && !ends_tag_name(t->input[end]) && t->input[end] != '=')
        end++;
    int result = add_attribute(t, piece(from, end));
    end = skip_spaces(t, end);
    if (result == VIDI_OK && byte_at(t, end) == '=')
        end = read_value(t, end + 1, &t->attributes[t->attribute_count - 1].value);
    *at = end;
    return result;
}

/*
 * Reads the attributes of a tag, from the end of its name to its '>', inclusive. A tag that the input cuts off is
 * dropped.
 */
static int read_attributes(html_tokenizer *t, html_token *token, uint32_t at)
{
    int result = VIDI_OK;

    forget_attributes(t);
    while (result == VIDI_OK && at < t->len) {
        char c = t->input[at];
        if (c == '>') {
            t->at = at + 1;
            token->attributes = t->attributes;
            token->attribute_count = t->attribute_count;
            return VIDI_OK;
        }
        token->self_closing = c == '/' && byte_at(t, at + 1) == '>';
        if (c == '/' || ascii_is_space(c))
            at++;
        else
            result = read_attribute(t, &at);
    }
    if (result == VIDI_OK)
        end_of_input(t, token);
    return result;
}

/* Reads the tag whose '<' is at `from` and whose name begins at `at`. */
static int read_tag(html_tokenizer *t, html_token *token, enum html_token_type type, uint32_t from, uint32_t at)
{
    uint32_t end = at;
    while (end < t->len && !ends_tag_name(t->input[end]))
        end++;
    *token = (html_token){.type = type, .at = from, .text = piece(at, end)};
    return read_attributes(t, token, end);
}

/* ---- comments ---- */

static void take_comment(html_tokenizer *t, html_token *token, uint32_t from, uint32_t to, uint32_t next)
{
    token->type = HTML_COMMENT;
    token->text = piece(from, to);
    t->at = next < t->len ? next : t->len;
}

/* Reads what looks like markup but is not, up to the next '>', as a comment. */
static void read_bogus_comment(html_tokenizer *t, html_token *token, uint32_t from)
{
    uint32_t end = find(t, from, '>');
    take_comment(t, token, from, end, end + 1);
}

/* How much of the unfinished end of a comment does not belong to it: "--!", "--" or "-" at the end of the input. */
static uint32_t unfinished_end(const html_tokenizer *t, uint32_t from)
{
    const char *end = t->input + t->len;
    uint32_t len = t->len - from;
    if (len >= 3 && memcmp(end - 3, "--!", 3) == 0)
        return 3;
    if (len >= 2 && memcmp(end - 2, "--", 2) == 0)
        return 2;
    return len >= 1 && end[-1] == '-';
}

/* Reads the comment whose text begins at `from`, after "<!--". It ends at the first "-->" or "--!>". */
static void read_comment(html_tokenizer *t, html_token *token, uint32_t from)
{
    if (byte_at(t, from) == '>') {
        take_comment(t, token, from, from, from + 1);
        return;
    }
    if (byte_at(t, from) == '-' && byte_at(t, from + 1) == '>') {
        take_comment(t, token, from, from, from + 2);
        return;
    }
    for (uint32_t at = find(t, from, '-'); at < t->len; at = find(t, at + 1, '-')) {
        if (byte_at(t, at + 1) != '-')
            continue;
        uint32_t close = at + 2 + (byte_at(t, at + 2) == '!');
        if (byte_at(t, close) == '>') {
            take_comment(t, token, from, at, close + 1);
            return;
        }
    }
    take_comment(t, token, from, t->len - unfinished_end(t, from), t->len);
}

/* Reads what begins with "<!" at `from`. */
static void read_declaration(html_tokenizer *t, html_token *token, uint32_t from)
{
    uint32_t at = from + 2;
    *token = (html_token){.at = from};
    if (byte_at(t, at) == '-' && byte_at(t, at + 1) == '-') {
        read_comment(t, token, at + 2);
    } else if (follows(t, at, "doctype")) {
        t->at = at + 7;
        html_doctype_read(t, token);
    } else {
        read_bogus_comment(t, token, at);
    }
}

/* ---- text ---- */

static void take_text(html_tokenizer *t, html_token *token, uint32_t from, uint32_t to)
{
    *token = (html_token){.type = HTML_TEXT, .content = t->content, .at = from, .text = piece(from, to)};
    t->at = to;
}

/* True if '<' at this place begins anything but text. */
static bool begins_markup(const html_tokenizer *t, uint32_t at)
{
    char next = byte_at(t, at + 1);
    return ascii_is_letter(next) || next == '!' || next == '?' || (next == '/' && at + 2 < t->len);
}

static bool begins_cdata(const html_tokenizer *t, uint32_t at)
{
    return t->foreign && t->len - at >= 9 && memcmp(t->input + at, "<![CDATA[", 9) == 0;
}

/* Reads the markup at `from`; begins_markup is true there. */
static int read_markup(html_tokenizer *t, html_token *token, uint32_t from)
{
    char next = t->input[from + 1], second = byte_at(t, from + 2);

    if (ascii_is_letter(next))
        return read_tag(t, token, HTML_START_TAG, from, from + 1);
    if (next == '!') {
        read_declaration(t, token, from);
        return VIDI_OK;
    }
    if (next == '/' && ascii_is_letter(second))
        return read_tag(t, token, HTML_END_TAG, from, from + 2);
    *token = (html_token){.at = from};
    if (next == '/' && second == '>') {
        take_nothing(t, token, from + 3);
        return VIDI_OK;
    }
    read_bogus_comment(t, token, next == '/' ? from + 2 : from + 1);
    return VIDI_OK;
}

static int next_in_data(html_tokenizer *t, html_token *token)
{
    uint32_t from = t->at, at = find(t, from, '<');

    while (at < t->len && !begins_markup(t, at))
        at = find(t, at + 1, '<');
    if (at > from) {
        take_text(t, token, from, at);
        return VIDI_OK;
    }
    if (begins_cdata(t, at)) {
        t->content = HTML_CDATA;
        take_nothing(t, token, at + 9);
        return VIDI_OK;
    }
    return read_markup(t, token, at);
}

static void next_in_cdata(html_tokenizer *t, html_token *token)
{
    uint32_t from = t->at, at = find(t, from, ']');

    while (at < t->len && !(byte_at(t, at + 1) == ']' && byte_at(t, at + 2) == '>'))
        at = find(t, at + 1, ']');
    take_text(t, token, from, at);
    t->content = HTML_DATA;
    if (at < t->len)
        t->at = at + 3;
    if (at == from)
        take_nothing(t, token, t->at);
}

/* True if "</", the awaited name and what may follow a tag's name are at this place. */
static bool is_end_tag(const html_tokenizer *t, uint32_t at)
{
    size_t n = t->end_name.len;
    if (n == 0 || byte_at(t, at + 1) != '/' || t->len - at < n + 3)
        return false;
    for (size_t i = 0; i < n; i++)
        if (ascii_lower(t->input[at + 2 + i]) != t->end_name.ptr[i])
            return false;
    return ends_tag_name(t->input[at + 2 + n]);
}

static uint32_t end_of_raw_text(const html_tokenizer *t)
{
    uint32_t at = find(t, t->at, '<');
    while (at < t->len && !is_end_tag(t, at))
        at = find(t, at + 1, '<');
    return at;
}

/* True if the name "script" is at this place. In an escaped script, such tags hide "</script>". */
static bool is_script_name(const html_tokenizer *t, uint32_t at)
{
    return follows(t, at, "script") && at + 6 < t->len && ends_tag_name(t->input[at + 6]);
}

/*
 * Where a script ends. Between "<!--" and "-->" the script is escaped: there, "<script" hides the next "</script>". The
 * dashes of "<!--" count for "-->", too: "<!-->" escapes nothing.
 */
static uint32_t end_of_script(const html_tokenizer *t)
{
    enum { PLAIN, ESCAPED, TWICE } state = PLAIN;
    uint32_t at = t->at;

    for (; at < t->len; at++) {
        char c = t->input[at];
        if (c == '-' && state != PLAIN && byte_at(t, at + 1) == '-' && byte_at(t, at + 2) == '>')
            state = PLAIN;
        if (c != '<')
            continue;
        if (state != TWICE && is_end_tag(t, at))
            break;
        if (state == PLAIN && follows(t, at, "<!--")) {
            state = ESCAPED;
            at++; /* the loop goes on at the dashes */
        } else if (state == ESCAPED && is_script_name(t, at + 1)) {
            state = TWICE;
        } else if (state == TWICE && byte_at(t, at + 1) == '/' && is_script_name(t, at + 2)) {
            state = ESCAPED;
        }
    }
    return at;
}

/* Text without markup, then the end tag. */
static int next_in_raw_text(html_tokenizer *t, html_token *token)
{
    uint32_t from = t->at, end = t->content == HTML_SCRIPT ? end_of_script(t) : end_of_raw_text(t);

    if (end > from) {
        take_text(t, token, from, end);
        return VIDI_OK;
    }
    t->content = HTML_DATA;
    return read_tag(t, token, HTML_END_TAG, from, from + 2);
}

/* One step: a token, or HTML_NOTHING if markup without any was passed over. */
static int step(html_tokenizer *t, html_token *token)
{
    if (t->at >= t->len) {
        end_of_input(t, token);
        return VIDI_OK;
    }
    switch (t->content) {
    case HTML_RCDATA:
    case HTML_RAWTEXT:
    case HTML_SCRIPT:
        return next_in_raw_text(t, token);
    case HTML_PLAINTEXT:
        take_text(t, token, t->at, t->len);
        return VIDI_OK;
    case HTML_CDATA:
        next_in_cdata(t, token);
        return VIDI_OK;
    default:
        return next_in_data(t, token);
    }
}

int html_tokenizer_next(html_tokenizer *tokenizer, html_token *token)
{
    int result;

    do
        result = step(tokenizer, token);
    while (result == VIDI_OK && token->type == HTML_NOTHING);
    return result;
}
