/*
 * X-Robots-Tag: what <meta name=robots> says, in the head. There is no standard; Google and Bing have described it.
 *
 *   X-Robots-Tag: noarchive, unavailable_after: 25 Jun 2030 15:00:00 PST
 *   X-Robots-Tag: otherbot: noindex, nofollow
 *
 * A name with a colon before a rule names the robot that this rule and those after it are for. Some rules contain a
 * colon, too. Dates contain commas and colons, but no name of a robot is made of digits.
 */
#include "crawler/http/http.h"

#include <string.h>

#include "crawler/html/html.h"
#include "crawler/http/http_text.h"

static bool is_rule_with_value(vidi_str name)
{
    return ASCII_IS(name, "unavailable_after") || ASCII_IS(name, "max-snippet") ||
           ASCII_IS(name, "max-image-preview") || ASCII_IS(name, "max-video-preview");
}

/* Takes the name of a robot off an item. A version number after a '/' is left out. False if there is none. */
static bool take_robot(vidi_str *item, vidi_str *robot)
{
    const char *colon = item->len ? memchr(item->ptr, ':', item->len) : NULL;

    if (!colon)
        return false;
    size_t n = (size_t)(colon - item->ptr);
    vidi_str name = http_trim((vidi_str){item->ptr, n});
    if (name.len == 0 || !(ascii_is_letter(name.ptr[0]) || name.ptr[0] == '*') || is_rule_with_value(name))
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!http_is_token(name.ptr[i]) && name.ptr[i] != '/')
            return false;
    const char *slash = memchr(name.ptr, '/', name.len);
    *robot = (vidi_str){name.ptr, slash ? (size_t)(slash - name.ptr) : name.len};
    *item = (vidi_str){colon + 1, item->len - n - 1};
    return true;
}

static uint32_t flags_of(vidi_str rule)
{
    if (ASCII_IS(rule, "noindex"))
        return HTML_ROBOTS_NOINDEX;
    if (ASCII_IS(rule, "nofollow"))
        return HTML_ROBOTS_NOFOLLOW;
    if (ASCII_IS(rule, "noarchive"))
        return HTML_ROBOTS_NOARCHIVE;
    return ASCII_IS(rule, "none") ? HTML_ROBOTS_NOINDEX | HTML_ROBOTS_NOFOLLOW : 0;
}

static uint32_t flags_of_field(vidi_str value, vidi_str agent)
{
    vidi_str item, robot, word;
    uint32_t flags = 0;
    bool for_us = true;

    while (http_next_item(&value, &item)) {
        if (take_robot(&item, &robot))
            for_us = ASCII_IS(robot, "*") || http_same(robot, agent);
        while (for_us && http_next_word(&item, "", &word))
            flags |= flags_of(word);
    }
    return flags;
}

uint32_t http_robots(vidi_str head, vidi_str agent)
{
    http_field field;
    uint32_t flags = 0;

    for (size_t at = 0; http_next(head, &at, &field);)
        if (ASCII_IS(field.name, "x-robots-tag"))
            flags |= flags_of_field(field.value, agent);
    return flags;
}
