/*
 * Doctypes (the HTML Standard, sections 13.2.5.53 to 13.2.5.68): a name, and perhaps a public and a system identifier.
 */
#include <string.h>

#include "crawler/html/tokenizer.h"

/* The next byte; '>' at the end of the input, where a doctype ends as well. */
static char peek(const html_tokenizer *t)
{
    return (char)(t->at < t->len ? t->input[t->at] : '>');
}

static void skip_spaces(html_tokenizer *t)
{
    while (t->at < t->len && ascii_is_space(t->input[t->at]))
        t->at++;
}

/* Moves to the '>' that ends the doctype. */
static void skip_rest(html_tokenizer *t)
{
    const char *end = t->at < t->len ? memchr(t->input + t->at, '>', t->len - t->at) : NULL;
    t->at = end ? (uint32_t)(end - t->input) : t->len;
}

static bool take_word(html_tokenizer *t, const char *word)
{
    size_t n = strlen(word);
    if (t->len - t->at < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (ascii_lower(t->input[t->at + i]) != word[i])
            return false;
    t->at += (uint32_t)n;
    return true;
}

/* Reads an identifier in quotes. False if there is none, or if '>' or the end of the input cuts it off. */
static bool read_identifier(html_tokenizer *t, bool *has, html_piece *identifier)
{
    char quote = peek(t);
    if (quote != '"' && quote != '\'')
        return false;
    uint32_t from = ++t->at;
    while (peek(t) != quote && peek(t) != '>')
        t->at++;
    *has = true;
    *identifier = (html_piece){from, t->at - from};
    if (peek(t) != quote)
        return false;
    t->at++;
    return true;
}

/* Reads what follows the name. False if the doctype is not as it should be, which puts the page into quirks mode. */
static bool read_identifiers(html_tokenizer *t, html_token *token)
{
    if (peek(t) == '>')
        return t->at < t->len;
    bool is_public = take_word(t, "public");
    if (!is_public && !take_word(t, "system"))
        return false;
    skip_spaces(t);
    if (!is_public)
        return read_identifier(t, &token->has_system, &token->system_id);
    if (!read_identifier(t, &token->has_public, &token->public_id))
        return false;
    skip_spaces(t);
    if (peek(t) == '>')
        return t->at < t->len;
    return read_identifier(t, &token->has_system, &token->system_id);
}

void html_doctype_read(html_tokenizer *t, html_token *token)
{
    token->type = HTML_DOCTYPE;
    skip_spaces(t);
    uint32_t from = t->at;
    while (peek(t) != '>' && !ascii_is_space(peek(t)))
        t->at++;
    token->has_name = t->at > from;
    token->text = (html_piece){from, t->at - from};
    skip_spaces(t);
    token->quirks = !token->has_name || !read_identifiers(t, token);
    /* A doctype that ends too early is in quirks mode; one with something left over after its identifiers is not. */
    skip_spaces(t);
    token->quirks |= t->at == t->len;
    skip_rest(t);
    if (t->at < t->len)
        t->at++;
}
