/*
 * The published cases of html5lib for the HTML Standard's tokenizer, from $VIDI_TESTDATA/conformance/html5lib: our
 * tokens are exactly the expected ones. Errors are not compared, because the tokenizer reports none.
 *
 * Both sides are written as text, one token a line, and the texts are compared. Cases whose expectation cannot apply
 * here are listed below with the reason; a listed case that passes fails the test.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/html/tokenizer.h"
#include "support/check.h"
#include "support/env.h"
#include "support/json.h"

/* These three describe a reader that changes what it reads so that it fits into XML. Nothing here needs XML. */
static const char *const exceptions[] = {"Non-XML character", "Non-XML space", "Double hyphen in comment"};

enum { ATTRIBUTES_MAX = 64, STATES_MAX = 8 };

static size_t cases, excepted;

/* ---- tokens as text ---- */

static void write_escaped(FILE *to, vidi_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        fprintf(to, c > 0x20 && c < 0x7f && c != '\\' && c != '|' ? "%c" : "\\x%02x", c);
    }
}

typedef struct attribute {
    char *name, *value;
    size_t name_len, value_len;
} attribute;

typedef struct writer {
    FILE *to;
    bool in_text; /* the last line is a text that the next one continues */
    attribute list[ATTRIBUTES_MAX];
    size_t count;
} writer;

static void begin(writer *w, const char *word)
{
    fprintf(w->to, "\n%s ", word);
    w->in_text = false;
}

static void write_text(writer *w, vidi_str text)
{
    if (!w->in_text && text.len)
        begin(w, "text");
    w->in_text |= text.len > 0;
    write_escaped(w->to, text);
}

/* The first attribute of a name counts. */
static void add_attribute(writer *w, attribute new)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->list[i].name_len == new.name_len && memcmp(w->list[i].name, new.name, new.name_len) == 0) {
            free(new.name);
            free(new.value);
            return;
        }
    assert_true(w->count < ATTRIBUTES_MAX);
    w->list[w->count++] = new;
}

static int by_name(const void *a, const void *b)
{
    const attribute *x = a, *y = b;
    size_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
    int order = memcmp(x->name, y->name, n);
    return order ? order : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

static void write_attributes(writer *w)
{
    qsort(w->list, w->count, sizeof w->list[0], by_name);
    for (size_t i = 0; i < w->count; i++) {
        fputs(" |", w->to);
        write_escaped(w->to, (vidi_str){w->list[i].name, w->list[i].name_len});
        fputs("|", w->to);
        write_escaped(w->to, (vidi_str){w->list[i].value, w->list[i].value_len});
        free(w->list[i].name);
        free(w->list[i].value);
    }
    w->count = 0;
}

static void write_identifier(writer *w, bool has, vidi_str text)
{
    fputs(has ? " |" : " null", w->to);
    write_escaped(w->to, text);
}

/* ---- what we read ---- */

static json_text decode(const html_tokenizer *t, enum html_content content, html_piece piece)
{
    vidi_str raw = html_piece_raw(t, piece);
    json_text out = {malloc(HTML_DECODED_GROWTH * raw.len + 1), 0};
    out.len = html_text_decode(content, raw, out.at);
    if (html_text_is_plain(content, raw))
        check(out.len == raw.len && memcmp(out.at, raw.ptr, raw.len) == 0, "not plain: %.*s", (int)raw.len, raw.ptr);
    return out;
}

static void write_piece(writer *w, const html_tokenizer *t, enum html_content content, html_piece piece)
{
    json_text text = decode(t, content, piece);
    if (content <= HTML_CDATA)
        write_text(w, (vidi_str){text.at, text.len});
    else
        write_escaped(w->to, (vidi_str){text.at, text.len});
    free(text.at);
}

static void write_doctype(writer *w, const html_tokenizer *t, const html_token *token)
{
    begin(w, "doctype");
    fputs(token->has_name ? " |" : " null", w->to);
    write_piece(w, t, HTML_NAME, token->text);
    fputs(token->has_public ? " |" : " null", w->to);
    write_piece(w, t, HTML_COMMENTARY, token->public_id);
    fputs(token->has_system ? " |" : " null", w->to);
    write_piece(w, t, HTML_COMMENTARY, token->system_id);
    fputs(token->quirks ? " quirks" : " correct", w->to);
}

static void write_token(writer *w, const html_tokenizer *t, const html_token *token)
{
    switch (token->type) {
    case HTML_TEXT:
        write_piece(w, t, token->content, token->text);
        break;
    case HTML_DOCTYPE:
        write_doctype(w, t, token);
        break;
    case HTML_COMMENT:
        begin(w, "comment");
        write_piece(w, t, HTML_COMMENTARY, token->text);
        break;
    case HTML_END_TAG:
        begin(w, "end");
        write_piece(w, t, HTML_NAME, token->text);
        break;
    default:
        begin(w, "start");
        write_piece(w, t, HTML_NAME, token->text);
        for (size_t i = 0; i < token->attribute_count; i++) {
            json_text name = decode(t, HTML_NAME, token->attributes[i].name);
            json_text value = decode(t, HTML_ATTRIBUTE, token->attributes[i].value);
            add_attribute(w, (attribute){name.at, value.at, name.len, value.len});
        }
        write_attributes(w);
        fputs(token->self_closing ? " closed" : "", w->to);
    }
}

static char *tokens_of(vidi_str input, enum html_content content, vidi_str last_tag)
{
    char *text = NULL;
    size_t len = 0;
    writer w = {.to = open_memstream(&text, &len)};
    html_tokenizer t;
    html_token token;
    char *exact = malloc(input.len); /* so that the sanitizer sees a read beyond the end */
    memcpy(exact, input.ptr, input.len);
    assert_int_equal(html_tokenizer_open(&t, (vidi_str){exact, input.len}), VIDI_OK);
    html_tokenizer_expect(&t, content, last_tag);
    while (html_tokenizer_next(&t, &token) == VIDI_OK && token.type != HTML_END)
        write_token(&w, &t, &token);
    html_tokenizer_close(&t);
    free(exact);
    fclose(w.to);
    return text;
}

/* ---- what is expected ---- */

static unsigned hex(const char *digits)
{
    char text[5] = {digits[0], digits[1], digits[2], digits[3], 0};
    return (unsigned)strtoul(text, NULL, 16);
}

/* Some cases write "\\u0041" for a character that JSON should not contain. */
static json_text unescape(json_text text, bool doubly)
{
    if (!doubly || !text.at)
        return text;
    size_t len = 0;
    for (size_t i = 0; i < text.len;) {
        unsigned code = 0;
        if (i + 6 <= text.len && memcmp(text.at + i, "\\u", 2) == 0) {
            code = hex(text.at + i + 2);
            i += 6;
            if (code >= 0xD800 && code < 0xE000)
                code = 0xFFFD; /* half a surrogate pair: cannot be in UTF-8 */
            if (code >= 0x800)
                text.at[len++] = (char)(0xE0 | code >> 12);
            if (code >= 0x80)
                text.at[len++] = (char)((code >= 0x800 ? 0x80 | (code >> 6 & 0x3F) : 0xC0 | code >> 6));
            text.at[len++] = (char)(code >= 0x80 ? 0x80 | (code & 0x3F) : code);
        } else {
            text.at[len++] = text.at[i++];
        }
    }
    text.len = len;
    return text;
}

static json_text read_string(json *j, bool doubly)
{
    return unescape(json_string(j), doubly);
}

static void expect_text(writer *w, json *j, bool doubly, bool is_text)
{
    json_text text = read_string(j, doubly);
    if (is_text)
        write_text(w, (vidi_str){text.at, text.len});
    else
        write_escaped(w->to, (vidi_str){text.at, text.len});
    free(text.at);
}

static void expect_doctype(writer *w, json *j, bool doubly)
{
    begin(w, "doctype");
    for (int i = 0; i < 3 && json_more(j, ']'); i++) {
        json_text text = read_string(j, doubly);
        write_identifier(w, text.at, (vidi_str){text.at, text.len});
        free(text.at);
    }
    json_more(j, ']');
    fputs(json_peek(j) == 't' ? " correct" : " quirks", w->to);
    json_skip(j);
}

static void expect_start_tag(writer *w, json *j, bool doubly)
{
    begin(w, "start");
    json_more(j, ']');
    expect_text(w, j, doubly, false);
    json_more(j, ']');
    json_enter(j, '{');
    while (json_more(j, '}')) {
        json_text name = unescape(json_name(j), doubly), value = read_string(j, doubly);
        add_attribute(w, (attribute){name.at, value.at, name.len, value.len});
    }
    write_attributes(w);
}

static void expect_token(writer *w, json *j, bool doubly)
{
    json_enter(j, '[');
    json_more(j, ']');
    json_text kind = json_string(j);
    if (strcmp(kind.at, "DOCTYPE") == 0) {
        expect_doctype(w, j, doubly);
    } else if (strcmp(kind.at, "StartTag") == 0) {
        expect_start_tag(w, j, doubly);
    } else {
        bool is_text = strcmp(kind.at, "Character") == 0;
        if (!is_text)
            begin(w, strcmp(kind.at, "Comment") == 0 ? "comment" : "end");
        json_more(j, ']');
        expect_text(w, j, doubly, is_text);
    }
    free(kind.at);
    while (json_more(j, ']')) { /* a fourth member of a start tag: it is self-closing */
        fputs(json_peek(j) == 't' ? " closed" : "", w->to);
        json_skip(j);
    }
}

static char *expected_of(json j, bool doubly)
{
    char *text = NULL;
    size_t len = 0;
    writer w = {.to = open_memstream(&text, &len)};
    json_enter(&j, '[');
    while (json_more(&j, ']'))
        expect_token(&w, &j, doubly);
    fclose(w.to);
    return text;
}

/* ---- the cases ---- */

typedef struct a_case {
    json_text description, input, last_tag;
    json output; /* where it begins */
    bool doubly;
    json_text states[STATES_MAX];
    size_t state_count;
} a_case;

static enum html_content content_of(const char *state)
{
    static const char *const names[] = {"Data state",        "RCDATA state",    "RAWTEXT state",
                                        "Script data state", "PLAINTEXT state", "CDATA section state"};
    for (int i = HTML_DATA; i <= HTML_CDATA; i++)
        if (strcmp(names[i], state) == 0)
            return (enum html_content)i;
    fail_msg("unknown state %s", state);
    return HTML_DATA;
}

static bool is_excepted(const char *file, const char *description)
{
    bool listed = false;
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        listed |= strcmp(exceptions[i], description) == 0;
    return listed && strcmp(file, "xmlViolation.test") == 0;
}

static void run_case(const char *file, const a_case *a)
{
    char *want = expected_of(a->output, a->doubly);
    bool right = true;
    cases++;
    for (size_t i = 0; i < (a->state_count ? a->state_count : 1); i++) {
        enum html_content content = a->state_count ? content_of(a->states[i].at) : HTML_DATA;
        char *got =
            tokens_of((vidi_str){a->input.at, a->input.len}, content, (vidi_str){a->last_tag.at, a->last_tag.len});
        right = right && strcmp(got, want) == 0;
        if (!right && !is_excepted(file, a->description.at))
            fail_msg("%s: %s: <%s>: got%s\ninstead of%s", file, a->description.at, a->input.at, got, want);
        free(got);
    }
    if (is_excepted(file, a->description.at)) {
        excepted++;
        check(!right, "%s: %s is listed as an exception, but passes", file, a->description.at);
    }
    free(want);
}

static void read_states(json *j, a_case *a)
{
    json_enter(j, '[');
    while (json_more(j, ']')) {
        assert_true(a->state_count < STATES_MAX);
        a->states[a->state_count++] = json_string(j);
    }
}

static void read_member(json *j, a_case *a)
{
    json_text name = json_name(j);
    if (strcmp(name.at, "description") == 0) {
        a->description = json_string(j);
    } else if (strcmp(name.at, "input") == 0) {
        a->input = json_string(j);
    } else if (strcmp(name.at, "lastStartTag") == 0) {
        a->last_tag = json_string(j);
    } else if (strcmp(name.at, "initialStates") == 0) {
        read_states(j, a);
    } else {
        a->doubly |= strcmp(name.at, "doubleEscaped") == 0 && json_peek(j) == 't';
        if (strcmp(name.at, "output") == 0)
            a->output = *j;
        json_skip(j);
    }
    free(name.at);
}

static void read_case(json *j, const char *file)
{
    a_case a = {.doubly = false};
    json_enter(j, '{');
    while (json_more(j, '}'))
        read_member(j, &a);
    a.input = unescape(a.input, a.doubly);
    run_case(file, &a);
    free(a.description.at);
    free(a.input.at);
    free(a.last_tag.at);
    for (size_t i = 0; i < a.state_count; i++)
        free(a.states[i].at);
}

static void run_file(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    ssize_t len = getdelim(&text, &room, 0, file);
    fclose(file);
    assert_true(len > 0);
    json j = {text, text + len, false};
    json_enter(&j, '{');
    while (json_more(&j, '}')) {
        json_text name = json_name(&j);
        free(name.at);
        json_enter(&j, '[');
        while (json_more(&j, ']'))
            read_case(&j, strrchr(path, '/') + 1);
    }
    check(!j.bad, "%s cannot be read", path);
    free(text);
}

static void tokens_are_those_of_the_standard(void **state)
{
    char pattern[1024];
    glob_t found;
    (void)state;
    if (!test_data())
        skip();
    snprintf(pattern, sizeof pattern, "%s/conformance/html5lib/tokenizer/*.test", test_data());
    if (glob(pattern, 0, NULL, &found) != 0)
        skip();
    for (size_t i = 0; i < found.gl_pathc; i++)
        run_file(found.gl_pathv[i]);
    globfree(&found);
    print_message("# %zu cases, %zu of them exceptions\n", cases, excepted);
    assert_true(cases >= 6810);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_those_of_the_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
