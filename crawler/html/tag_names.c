/*
 * Finds names in the sorted lists of tag_names.h.
 */
#include "crawler/html/tag_names.h"
#include "crawler/html/tokenizer.h"

#define TEXT_OF(id, name) name,

static const char *const element_names[] = {HTML_ELEMENTS(TEXT_OF)};
static const char *const attribute_names[] = {HTML_ATTRIBUTES(TEXT_OF)};

/* Less than 0, 0 or more, as strcmp. */
static int compare(vidi_str raw, const char *name)
{
    for (size_t i = 0; i < raw.len; i++) {
        int difference = (unsigned char)ascii_lower(raw.ptr[i]) - (unsigned char)name[i];
        if (difference || !name[i])
            return name[i] ? difference : 1;
    }
    return name[raw.len] ? -1 : 0;
}

size_t html_name_find(const char *const *names, size_t count, vidi_str raw)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(raw, names[middle]);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return count;
}

enum html_element html_element_of(vidi_str raw)
{
    return (enum html_element)html_name_find(element_names, HTML_ELEMENT_COUNT, raw);
}

enum html_attribute_name html_attribute_of(vidi_str raw)
{
    return (enum html_attribute_name)html_name_find(attribute_names, HTML_ATTRIBUTE_COUNT, raw);
}

const char *html_element_name(enum html_element element)
{
    return element < HTML_ELEMENT_COUNT ? element_names[element] : "";
}

const char *html_attribute_text(enum html_attribute_name attribute)
{
    return attribute < HTML_ATTRIBUTE_COUNT ? attribute_names[attribute] : "";
}
