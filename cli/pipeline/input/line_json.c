/*
 * Values and keys of JSON objects: see line_formats.h. The text is read once, token by token, without recursion, and is
 * understood as far as that is needed: strings, brackets and commas. Whether it is valid JSON otherwise is not checked.
 */
#include <string.h>

#include "common/ascii.h"
#include "common/utf8.h"
#include "pipeline/input/line_formats.h"

enum { LEVELS = CLI_JSON_DOTS + 2, KEY_ROOM = 256 };

/* ---- strings ---- */

/* The value of four hexadecimal digits; -1 if there are fewer. */
static int32_t code_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = at + i < end ? ascii_hex(at[i]) : -1;
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Decodes a \u escape whose 'u' is at *at. Two escapes may make one character; half of such a pair becomes U+FFFD. */
static char *put_escape(char *to, const char **at, const char *end)
{
    int32_t high = code_unit(*at + 1, end);

    if (high < 0) {
        *to++ = 'u'; /* as with any letter that is not an escape: the backslash is dropped */
        return to;
    }
    *at += 4;
    if (high >= 0xd800 && high < 0xdc00 && end - *at > 6 && (*at)[1] == '\\' && (*at)[2] == 'u') {
        int32_t low = code_unit(*at + 3, end);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return to + utf8_put(to, 0x10000u + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
        }
    }
    return to + utf8_put(to, high >= 0xd800 && high < 0xe000 ? 0xfffdu : (uint32_t)high);
}

static vidi_str without_escapes(vidi_str text, cli_unquoted *unquoted)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    char *start = unquoted->bytes + unquoted->used, *to = start;
    const char *end = text.ptr + text.len;

    for (const char *at = text.ptr; at < end; at++) {
        if (*at != '\\' || ++at == end) {
            *to++ = (char)(at < end ? *at : '\\');
            continue;
        }
        const char *letter = *at ? strchr(letters, *at) : NULL;
        if (*at == 'u')
            to = put_escape(to, &at, end);
        else
            *to++ = (char)(letter ? controls[letter - letters] : *at);
    }
    unquoted->used += (size_t)(to - start);
    return (vidi_str){start, (size_t)(to - start)};
}

/* The bytes between the quotes of a string, unescaped. */
static vidi_str string_value(vidi_str text, cli_unquoted *unquoted)
{
    return text.len > 0 && memchr(text.ptr, '\\', text.len) ? without_escapes(text, unquoted) : text;
}

/* ---- tokens ---- */

typedef struct scanner {
    const char *at, *end;
    vidi_str string; /* between the quotes of the last string */
} scanner;

/* The closing quote of a string whose first byte is at `at`; NULL if there is none. */
static const char *string_end(const char *at, const char *end)
{
    for (const char *quote = at; quote < end; quote++) {
        size_t slashes = 0;
        quote = memchr(quote, '"', (size_t)(end - quote));
        if (!quote)
            return NULL;
        while (slashes < (size_t)(quote - at) && quote[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        if (slashes % 2 == 0)
            return quote;
    }
    return NULL;
}

/*
 * The next token: a bracket, a comma, '"' for a string, 'x' for the beginning of a number or a word, or 0 at the end of
 * the text, which may be in the middle of a string. Colons and spaces are skipped.
 */
static char next_token(scanner *scanner)
{
    while (scanner->at < scanner->end) {
        const char *at = scanner->at++;
        switch (*at) {
        case ' ':
        case '\t':
        case '\r':
        case '\n':
        case ':':
            continue;
        case '{':
        case '}':
        case '[':
        case ']':
        case ',':
            return *at;
        case '"': {
            const char *quote = string_end(at + 1, scanner->end);
            scanner->at = quote ? quote + 1 : scanner->end;
            scanner->string = (vidi_str){at + 1, quote ? (size_t)(quote - at) - 1 : 0};
            return (char)(quote ? '"' : 0);
        }
        default:
            return 'x';
        }
    }
    return 0;
}

/* ---- the value of a key ---- */

/*
 * The search for a key. `depth` brackets are open. The first `level` of them are objects on the way to the key;
 * matched[i] bytes of the key have led to the object at level i. Anything deeper is only skipped.
 */
typedef struct search {
    vidi_str key;
    size_t depth, level;
    size_t matched[LEVELS];
    bool key_next;   /* the next string is a key */
    size_t leads_to; /* bytes of the key that are matched if the value is an object; 0: it leads nowhere */
    bool value_next; /* the next value is what is looked for */
    cli_lack lack;
    vidi_str value;
} search;

/*
 * A key in an object on the way. It takes the place of an earlier one of the same name, so whatever that has led to is
 * forgotten.
 */
static void take_key(search *self, vidi_str name)
{
    size_t matched = self->matched[self->level], left = self->key.len - matched;

    if (name.len > left || (name.len > 0 && memcmp(name.ptr, self->key.ptr + matched, name.len) != 0))
        return;
    self->value_next = name.len == left;
    if (!self->value_next && self->key.ptr[matched + name.len] == '.')
        self->leads_to = matched + name.len + 1;
    if (self->value_next || self->leads_to)
        self->lack = CLI_LACKS_KEY;
}

static void take_string(search *self, vidi_str text, cli_unquoted *unquoted)
{
    size_t used = unquoted->used;

    if (self->depth != self->level)
        return;
    if (self->key_next) {
        take_key(self, string_value(text, unquoted));
        unquoted->used = used;
    } else if (self->value_next) {
        self->value = string_value(text, unquoted);
        self->lack = CLI_LACKS_NOTHING;
        self->value_next = false;
    }
    self->key_next = false;
}

/* A number, a word, an array or an object: if it is the value of the key, then that is not a string. */
static void take_other(search *self)
{
    if (self->depth == self->level && self->value_next)
        self->lack = CLI_LACKS_STRING;
    self->value_next = false;
}

static void open_bracket(search *self, char bracket)
{
    take_other(self);
    if (bracket == '{' && self->depth == self->level && self->leads_to) {
        self->matched[++self->level] = self->leads_to;
        self->key_next = true;
    }
    self->leads_to = 0;
    self->depth++;
}

static void close_bracket(search *self)
{
    self->level -= self->depth == self->level;
    self->depth--;
    self->key_next = self->value_next = false;
    self->leads_to = 0;
}

static void take_comma(search *self)
{
    self->key_next = self->depth == self->level;
    self->value_next = false;
    self->leads_to = 0;
}

cli_lack cli_line_json(vidi_str line, vidi_str key, vidi_str *value, cli_unquoted *unquoted)
{
    scanner scanner = {.at = line.ptr, .end = line.ptr + line.len};
    search self = {.key = key, .depth = 1, .level = 1, .key_next = true, .lack = CLI_LACKS_KEY};
    char token = next_token(&scanner);

    if (token != '{')
        return CLI_LACKS_OBJECT;
    while (self.depth > 0 && (token = next_token(&scanner)) != 0) {
        if (token == '"')
            take_string(&self, scanner.string, unquoted);
        else if (token == '{' || token == '[')
            open_bracket(&self, token);
        else if (token == '}' || token == ']')
            close_bracket(&self);
        else if (token == ',')
            take_comma(&self);
        else
            take_other(&self);
    }
    *value = self.value;
    /* A line that was cut off may have its URL before that. */
    return self.depth > 0 && self.lack != CLI_LACKS_NOTHING ? CLI_LACKS_OBJECT : self.lack;
}

/* ---- all keys ---- */

/* The way to the current key: its bytes, and how many of them lead to the object at each level. */
typedef struct path {
    char bytes[KEY_ROOM];
    size_t used;
    size_t ends[LEVELS];
    size_t level;
} path;

/* false if there is no room for it. */
static bool append_key(path *path, vidi_str key)
{
    size_t from = path->ends[path->level], dot = path->level > 1;

    if (key.len > sizeof path->bytes || from + dot + key.len > sizeof path->bytes)
        return false;
    if (dot)
        path->bytes[from] = '.';
    memcpy(path->bytes + from + dot, key.ptr, key.len);
    path->used = from + dot + key.len;
    return true;
}

void cli_line_json_keys(vidi_str line, void (*found)(void *context, vidi_str key), void *context)
{
    scanner scanner = {.at = line.ptr, .end = line.ptr + line.len};
    path path = {.level = 1};
    size_t depth = 1; /* brackets that are open; those above path.level are arrays, or too deep, and are skipped */
    bool key_next = true, has_key = false;
    char token = next_token(&scanner);

    if (token != '{')
        return;
    while (depth > 0 && (token = next_token(&scanner)) != 0) {
        bool on_path = depth == path.level;
        if (token == '"' && on_path && key_next) {
            has_key = append_key(&path, scanner.string);
            key_next = false;
            continue;
        }
        if (token == '"' && on_path && has_key)
            found(context, (vidi_str){path.bytes, path.used});
        if (token == '{' && on_path && has_key && path.level + 1 < LEVELS) {
            path.ends[++path.level] = path.used;
            key_next = true;
        }
        if (token == ',')
            key_next = on_path;
        path.level -= (token == '}' || token == ']') && on_path;
        depth += token == '{' || token == '[';
        depth -= token == '}' || token == ']';
        has_key = false;
    }
}
