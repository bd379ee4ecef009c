/* Opens and closes readers, and names what they report: see sitemap.h. */
#include "crawler/sitemap/sitemap_reader.h"

#include <stdlib.h>

int sitemap_open(sitemap **reader, const sitemap_options *options)
{
    sitemap *made = calloc(1, sizeof *made);

    *reader = made;
    if (!made)
        return VIDI_EMEMORY;
    made->options = *options;
    made->options.max_bytes = options->max_bytes ? options->max_bytes : SITEMAP_BYTES;
    made->options.max_urls = options->max_urls ? options->max_urls : SITEMAP_URLS;
    made->line = 1;
    sitemap_entry_init(made);
    return VIDI_OK;
}

int sitemap_close(sitemap *reader, sitemap_report *report)
{
    sitemap_unpack_end(reader);
    if (reader->result == SITEMAP_GO_ON)
        sitemap_decode_end(reader);
    if (reader->result == SITEMAP_GO_ON)
        sitemap_parse_end(reader);
    if (report)
        *report = reader->report;
    int result = reader->result == SITEMAP_ENOUGH ? VIDI_OK : reader->result;
    free(reader->scratch);
    free(reader);
    return result;
}

bool sitemap_is_incomplete(const sitemap_report *report)
{
    for (int i = 0; i <= SITEMAP_LONG_URL; i++)
        if (report->problems[i].count > 0)
            return true;
    return false;
}

const char *sitemap_problem_text(sitemap_problem problem)
{
    static const char *const texts[SITEMAP_PROBLEMS] = {
        [SITEMAP_CUT_OFF] = "the file ends too early",
        [SITEMAP_DAMAGED] = "the packed data is damaged; what follows was not read",
        [SITEMAP_NO_GZIP] = "it is packed with gzip, which this build cannot unpack",
        [SITEMAP_TOO_LARGE] = "the file is larger than the limit; what follows was not read",
        [SITEMAP_TOO_MANY] = "there are more URLs than the limit; the others were not read",
        [SITEMAP_LONG_URL] = "a URL is too long and was left out",
        [SITEMAP_NOT_A_URL] = "what stands for a URL is not an absolute URL of http or https, and was left out",
        [SITEMAP_NO_URL] = "an entry has no URL",
        [SITEMAP_BARE_AMPERSAND] = "an '&' is not written as '&amp;'",
        [SITEMAP_UNKNOWN_ENTITY] = "an entity is not one of XML's own, and was left as it is",
        [SITEMAP_BAD_MARKUP] = "the XML is not well-formed",
        [SITEMAP_GARBAGE] = "something stands before the sitemap, or its root element is missing",
        [SITEMAP_NOT_UTF8] = "a URL is not in UTF-8",
        [SITEMAP_WRONG_ENCODING] = "the encoding that it declares is not UTF-8 or not the one it is in",
    };
    return texts[problem];
}
