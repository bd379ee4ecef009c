/*
 * Options about canonical forms: see canon_options.h.
 */
#include "pipeline/canon_options.h"

#include <string.h>

int cli_invalid_parse(const char *word, uint32_t *policy)
{
    static const char *const words[] = {"keep", "drop", "fail"};

    *policy = VIDI_KEEP_INVALID;
    for (; word && strcmp(word, words[*policy]) != 0; ++*policy)
        if (*policy == VIDI_FAIL_INVALID)
            return cli_error("--invalid is 'keep', 'drop' or 'fail', not '%s'", word);
    return CLI_OK;
}
