/*
 * Tokens of style sheets: see css_tokens.h. Each function is one algorithm of the standard's section 4.3 and has its name.
 */
#include "crawler/css/css_tokens.h"

#include <string.h>

#include "common/ascii.h"
#include "common/utf8.h"

enum { HEX_DIGITS = 6 };

/* The character `ahead` of the current one; -1: the text has ended. */
static int peek(const css_tokenizer *t, size_t ahead)
{
    return ahead < t->len - t->at ? (unsigned char)t->text[t->at + ahead] : -1;
}

static bool is_newline(int c)
{
    return c == '\n' || c == '\r' || c == '\f';
}

static bool is_space(int c)
{
    return c == ' ' || c == '\t' || is_newline(c);
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Zero bytes stand for U+FFFD, which may be in a name as every character beyond ASCII. */
static bool begins_name(int c)
{
    return (c >= 0 && ascii_is_letter((char)c)) || c == '_' || c >= 0x80 || c == 0;
}

static bool is_in_name(int c)
{
    return begins_name(c) || is_digit(c) || c == '-';
}

static bool is_printable(int c)
{
    return !((c > 0 && c <= 8) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F);
}

static bool is_escape(const css_tokenizer *t, size_t ahead)
{
    return peek(t, ahead) == '\\' && !is_newline(peek(t, ahead + 1));
}

static bool starts_identifier(const css_tokenizer *t, size_t ahead)
{
    int c = peek(t, ahead);

    if (c == '-')
        return begins_name(peek(t, ahead + 1)) || peek(t, ahead + 1) == '-' || is_escape(t, ahead + 1);
    return begins_name(c) || is_escape(t, ahead);
}

static bool starts_number(const css_tokenizer *t)
{
    size_t sign = peek(t, 0) == '+' || peek(t, 0) == '-';

    return is_digit(peek(t, sign)) || (peek(t, sign) == '.' && is_digit(peek(t, sign + 1)));
}

static void skip_newline(css_tokenizer *t)
{
    t->at += peek(t, 0) == '\r' && peek(t, 1) == '\n' ? 2 : 1;
}

static void skip_spaces(css_tokenizer *t)
{
    while (is_space(peek(t, 0)))
        t->at++;
}

/* Moves past '\' and what it escapes. Bytes of a character beyond ASCII but the first are left: they are part of names. */
static void consume_escape(css_tokenizer *t)
{
    int digits = 0;

    t->at++;
    while (digits < HEX_DIGITS && peek(t, 0) >= 0 && ascii_hex((char)peek(t, 0)) >= 0) {
        t->at++;
        digits++;
    }
    if (digits == 0)
        t->at += peek(t, 0) >= 0;
    else if (is_space(peek(t, 0)))
        skip_newline(t);
}

static void consume_name(css_tokenizer *t)
{
    for (;;) {
        if (is_in_name(peek(t, 0)))
            t->at++;
        else if (is_escape(t, 0))
            consume_escape(t);
        else
            return;
    }
}

static void consume_digits(css_tokenizer *t)
{
    while (is_digit(peek(t, 0)))
        t->at++;
}

/* A number with its unit. */
static void consume_numeric(css_tokenizer *t)
{
    t->at += peek(t, 0) == '+' || peek(t, 0) == '-';
    consume_digits(t);
    if (peek(t, 0) == '.' && is_digit(peek(t, 1))) {
        t->at++;
        consume_digits(t);
    }
    if (peek(t, 0) == 'e' || peek(t, 0) == 'E') {
        size_t sign = peek(t, 1) == '+' || peek(t, 1) == '-';
        if (is_digit(peek(t, 1 + sign))) {
            t->at += 1 + sign;
            consume_digits(t);
        }
    }
    if (starts_identifier(t, 0))
        consume_name(t);
}

static void consume_string(css_tokenizer *t, css_token *token)
{
    int quote = peek(t, 0);

    token->at = ++t->at;
    token->type = CSS_STRING;
    for (int c; (c = peek(t, 0)) >= 0 && c != quote;) {
        if (is_newline(c)) {
            token->type = CSS_OTHER;
            return;
        }
        if (c != '\\') {
            t->at++;
        } else if (is_newline(peek(t, 1))) {
            t->at++;
            skip_newline(t);
        } else {
            consume_escape(t);
        }
    }
    token->len = t->at - token->at;
    t->at += t->at < t->len;
}

static void consume_bad_url(css_tokenizer *t, css_token *token)
{
    token->type = CSS_OTHER;
    while (peek(t, 0) >= 0 && peek(t, 0) != ')') {
        if (is_escape(t, 0))
            consume_escape(t);
        else
            t->at++;
    }
    t->at += t->at < t->len;
}

/* After "url(" and spaces. */
static void consume_url(css_tokenizer *t, css_token *token)
{
    token->type = CSS_URL;
    token->at = t->at;
    for (int c; (c = peek(t, 0)) >= 0 && c != ')' && !is_space(c);) {
        if (is_escape(t, 0)) {
            consume_escape(t);
        } else if (c == '"' || c == '\'' || c == '(' || c == '\\' || !is_printable(c)) {
            consume_bad_url(t, token);
            return;
        } else {
            t->at++;
        }
    }
    token->len = t->at - token->at;
    skip_spaces(t);
    if (peek(t, 0) >= 0 && peek(t, 0) != ')')
        consume_bad_url(t, token);
    else
        t->at += t->at < t->len;
}

/* A name, a function, or a URL. */
static void consume_ident_like(css_tokenizer *t, css_token *token)
{
    token->at = t->at;
    consume_name(t);
    token->len = t->at - token->at;
    if (peek(t, 0) != '(')
        return;
    token->type = CSS_FUNCTION;
    t->at++;
    if (!css_is_name((vidi_str){t->text + token->at, token->len}, "url"))
        return;
    skip_spaces(t);
    if (peek(t, 0) != '"' && peek(t, 0) != '\'')
        consume_url(t, token);
}

static void skip_comments(css_tokenizer *t)
{
    while (peek(t, 0) == '/' && peek(t, 1) == '*') {
        const char *from = t->text + t->at + 2, *end = memmem(from, t->len - t->at - 2, "*/", 2);
        t->at = end ? (size_t)(end + 2 - t->text) : t->len;
    }
}

static bool follows(const css_tokenizer *t, const char *text)
{
    size_t n = strlen(text);

    return t->len - t->at >= n && memcmp(t->text + t->at, text, n) == 0;
}

/* A character that may begin something longer, or stand alone. */
static void consume_punctuation(css_tokenizer *t, css_token *token, int c)
{
    if (c == '#' && (is_in_name(peek(t, 1)) || is_escape(t, 1))) {
        t->at++;
        consume_name(t);
    } else if (c == '@' && starts_identifier(t, 1)) {
        token->type = CSS_AT;
        token->at = ++t->at;
        consume_name(t);
        token->len = t->at - token->at;
    } else if (follows(t, "<!--")) {
        token->type = CSS_SPACE;
        t->at += 4;
    } else {
        token->type = c == '(' || c == '[' || c == '{'   ? CSS_OPEN
                      : c == ')' || c == ']' || c == '}' ? CSS_CLOSE
                      : c == ';'                         ? CSS_SEMICOLON
                                                         : CSS_OTHER;
        t->at++;
    }
}

void css_next(css_tokenizer *t, css_token *token)
{
    skip_comments(t);
    int c = peek(t, 0);
    *token = (css_token){.type = CSS_OTHER, .first = (char)c, .at = t->at};
    if (c < 0) {
        token->type = CSS_END;
    } else if (is_space(c)) {
        token->type = CSS_SPACE;
        skip_spaces(t);
    } else if (c == '"' || c == '\'') {
        consume_string(t, token);
    } else if (starts_number(t)) {
        consume_numeric(t);
    } else if (follows(t, "-->")) {
        token->type = CSS_SPACE;
        t->at += 3;
    } else if (starts_identifier(t, 0)) {
        consume_ident_like(t, token);
    } else {
        consume_punctuation(t, token, c);
    }
}

/* ---- values ---- */

bool css_has_escapes(vidi_str value)
{
    return value.len && (memchr(value.ptr, '\\', value.len) || memchr(value.ptr, 0, value.len));
}

/* The character that the escape at t stands for, in UTF-8; moves past it. Returns the length. */
static size_t decode_escape(css_tokenizer *t, char to[4])
{
    size_t from = t->at + 1;
    unsigned long code = 0;

    consume_escape(t);
    for (size_t i = from; i < t->at && i < from + HEX_DIGITS && ascii_hex(t->text[i]) >= 0; i++)
        code = code * 16 + (unsigned long)ascii_hex(t->text[i]);
    if (from < t->len && ascii_hex(t->text[from]) < 0 && t->text[from]) {
        to[0] = t->text[from];
        return 1;
    }
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        code = 0xFFFD;
    return utf8_put(to, (uint32_t)code);
}

/* The next character of a value. Returns its length; 0: an escaped line end, which is nothing. */
static size_t decode_character(css_tokenizer *t, char to[4])
{
    if (is_escape(t, 0) && peek(t, 1) >= 0)
        return decode_escape(t, to);
    if (peek(t, 0) == '\\') { /* before a line end, or at the end of the text */
        t->at++;
        if (peek(t, 0) >= 0)
            skip_newline(t);
        return 0;
    }
    to[0] = t->text[t->at++];
    return to[0] ? 1 : utf8_put(to, 0xFFFD);
}

int css_append_decoded(bytes *to, vidi_str value)
{
    css_tokenizer t = {.text = value.ptr, .len = value.len};
    char character[4];
    int error = BYTES_NO_MEMORY;

    if (value.len > SIZE_MAX / 4)
        return error;
    error = bytes_reserve(to, 3 * value.len); /* the growth of zero bytes and of "\0" */
    while (!error && t.at < t.len) {
        size_t n = decode_character(&t, character);
        error = bytes_append(to, character, n);
    }
    return error;
}

bool css_is_name(vidi_str name, const char *lower)
{
    css_tokenizer t = {.text = name.ptr, .len = name.len};
    size_t n = strlen(lower), i = 0;
    char character[4];

    while (t.at < t.len && i < n && decode_character(&t, character) == 1 && ascii_lower(character[0]) == lower[i])
        i++;
    return i == n && t.at == t.len;
}
