/*
 * Options about canonical forms: see canon_options.h.
 */
#include "pipeline/options/canon_options.h"

#include <stdio.h>
#include <string.h>

#include "ui/options.h"
#include "vidi/url.h"

int cli_base_check(const char *base)
{
    size_t len = 0;

    if (!base)
        return CLI_OK;
    vidi_url url = {.size = sizeof url};
    int result = vidi_url_parse((vidi_str){base, strlen(base)}, NULL, NULL, &len, &url);
    return result == VIDI_OK || result == VIDI_ELIMIT ? CLI_OK : cli_error("--base is not a URL: %s", vidi_message());
}

int cli_invalid_parse(const char *word, uint32_t *policy)
{
    static const char *const words[] = {
        [VIDI_KEEP_INVALID] = "keep", [VIDI_DROP_INVALID] = "drop", [VIDI_FAIL_INVALID] = "fail", NULL};

    return cli_option_choose("invalid", word, words, policy);
}
