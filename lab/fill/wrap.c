/* Wraps Markdown. See figures.h. */
#include <string.h>

#include "common/ascii.h"
#include "lab/fill/figures.h"

#define BLANKS " \t\n"

enum { INDENT_MOST = 32 };

typedef struct wrapper {
    FILE *to;
    const char *words, *end; /* the words of the paragraph or list item so far; NULL: none has begun */
    size_t begins;           /* spaces before its first line */
    bool numbered;           /* it is an item of a numbered list */
    size_t indent;           /* spaces before its further lines */
    size_t column;           /* characters on the line so far */
    char fence;              /* the character of the code block's fence; 0: not in a code block */
    bool comment;            /* in an HTML comment */
} wrapper;

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n';
}

/* Whether a byte of the words is written: blanks between them become one space. */
static bool is_written(const char *byte)
{
    return !is_space(byte[0]) || !is_space(byte[1]);
}

static size_t width_of(const char *words, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += is_written(&words[i]) && ((unsigned char)words[i] & 0xC0) != 0x80;
    return count;
}

/* The length of a list item's bullet or number with the spaces after it; 0: the line is not a list item. */
static size_t bullet_length(const char *text)
{
    size_t length = strspn(text, "0123456789");
    if (length > 0 && length < 4 && (text[length] == '.' || text[length] == ')'))
        length++;
    else if (length == 0 && text[0] && strchr("-*+", text[0]))
        length = 1;
    else
        return 0;
    size_t spaces = strspn(text + length, " ");
    return spaces > 0 && spaces < 5 ? length + spaces : 0;
}

/* Whether Markdown would take a line that begins with this word for something else, or the word belongs to a number. */
static bool cannot_begin(const char *word, size_t length)
{
    size_t digits = strspn(word, "0123456789"), marks = strspn(word, "#"), rule = strspn(word, "-=");
    if (length == 1 && strchr("-+*%", word[0]))
        return true;
    if (digits > 0 && digits + 1 == length && (word[digits] == '.' || word[digits] == ')'))
        return true;
    return marks == length || rule == length || strchr(">|<~", word[0]) || strncmp(word, "```", 3) == 0;
}

/* Writes words that must stand together, on this line or the next. */
static void put_words(wrapper *wrapper, const char *words, size_t length)
{
    size_t width = width_of(words, length);
    bool first = wrapper->column == wrapper->indent; /* nothing but the indentation is there */
    if (!first && wrapper->column + 1 + width > LAB_WRAP_COLUMNS) {
        fprintf(wrapper->to, "\n%*s", (int)wrapper->indent, "");
        wrapper->column = wrapper->indent;
        first = true;
    }
    if (!first)
        fputc(' ', wrapper->to);
    for (size_t i = 0; i < length; i++)
        if (is_written(&words[i]))
            fputc(is_space(words[i]) ? ' ' : words[i], wrapper->to);
    wrapper->column += width + !first;
}

static size_t word_length(const char *text)
{
    return strcspn(text, BLANKS);
}

/* The length of a word with those after it that cannot begin a line. */
static size_t group_length(const char *text, const char *end)
{
    size_t length = word_length(text), next = length + strspn(text + length, BLANKS);
    while (text + next < end && cannot_begin(text + next, word_length(text + next))) {
        length = next + word_length(text + next);
        next = length + strspn(text + length, BLANKS);
    }
    return length;
}

static void end_block(wrapper *wrapper)
{
    if (!wrapper->words)
        return;
    for (const char *text = wrapper->words + strspn(wrapper->words, BLANKS); text < wrapper->end;) {
        size_t length = group_length(text, wrapper->end);
        put_words(wrapper, text, length);
        text += length + strspn(text + length, BLANKS);
    }
    fputc('\n', wrapper->to);
    wrapper->words = NULL;
}

/* Whether a line is copied as it is. */
static bool is_kept(const char *text, size_t length)
{
    return length == 0 || strchr("#|><", text[0]) || strncmp(text, "---", 3) == 0;
}

static bool is_fence(const char *text)
{
    return strncmp(text, "```", 3) == 0 || strncmp(text, "~~~", 3) == 0;
}

static void copy_line(wrapper *wrapper, const char *line, size_t length)
{
    end_block(wrapper);
    fwrite(line, 1, length, wrapper->to);
    fputc('\n', wrapper->to);
}

/* Code blocks and comments, as long as they last; whether the line belongs to one. */
static bool is_inside(wrapper *wrapper, const char *text, size_t length)
{
    if (wrapper->fence) {
        if (is_fence(text) && *text == wrapper->fence)
            wrapper->fence = 0;
        return true;
    }
    if (is_fence(text)) {
        wrapper->fence = *text;
        return true;
    }
    if (!wrapper->comment && strncmp(text, "<!--", 4) != 0)
        return false;
    const char *end = strstr(text, "-->");
    wrapper->comment = !end || end > text + length;
    return true;
}

/*
 * Whether a line with a bullet begins an item of a list. A number does so only after an empty line or an item of the
 * same list: otherwise it is a figure at the end of a sentence, such as "13." in the place of a placeholder.
 */
static bool begins_item(const wrapper *wrapper, const char *text, size_t indent)
{
    if (indent >= INDENT_MOST)
        return false;
    return !ascii_is_digit(*text) || !wrapper->words || (wrapper->numbered && wrapper->begins == indent);
}

static void begin_block(wrapper *wrapper, const char *line, size_t indent, size_t bullet)
{
    end_block(wrapper);
    fprintf(wrapper->to, "%*s%.*s", (int)indent, "", (int)bullet, line + indent);
    wrapper->begins = indent;
    wrapper->numbered = bullet > 0 && ascii_is_digit(line[indent]);
    wrapper->words = line + indent + bullet;
    wrapper->column = wrapper->indent = indent + bullet;
}

static void wrap_line(wrapper *wrapper, const char *line, size_t length)
{
    size_t indent = strspn(line, " "), bullet;
    const char *text = line + indent;
    if (is_inside(wrapper, text, length - indent) || is_kept(text, length - indent)) {
        copy_line(wrapper, line, length);
        return;
    }
    bullet = bullet_length(text);
    if (bullet > 0 && begins_item(wrapper, text, indent))
        begin_block(wrapper, line, indent, bullet);
    else if (!wrapper->words)
        begin_block(wrapper, line, indent, 0);
    wrapper->end = line + length;
}

void lab_wrap(FILE *to, const char *text)
{
    wrapper wrapper = {.to = to};
    while (*text) {
        size_t length = strcspn(text, "\n");
        wrap_line(&wrapper, text, length);
        text += length + (text[length] == '\n');
    }
    end_block(&wrapper);
}
