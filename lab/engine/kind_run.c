/*
 * Configurations that name a kind: measured through the public interface, as a user would.
 *
 * A run inserts n URLs and looks up n others. If the configuration deletes, it inserts n/2 more URLs before and removes
 * them afterwards, which must leave the same filter as the n URLs alone.
 */
#include "lab/engine/filter_run.h"
#include "lab/engine/study.h"

typedef int deed(vidi_set *set, vidi_str url);

static int ask(vidi_set *set, vidi_str url)
{
    return vidi_has(set, url);
}

/* Calls `deed` with the URLs first to last - 1 of the run; returns how many were VIDI_SEEN, or an error. */
static int64_t each(vidi_set *set, const lab_settings *settings, uint64_t run, uint64_t first, uint64_t last,
                    deed *deed)
{
    char url[LAB_URL_ROOM];
    int64_t seen = 0;
    for (uint64_t i = first; i < last; i++) {
        int verdict = deed(set, lab_url_text(url, settings, run, i));
        if (verdict < 0)
            return verdict;
        seen += verdict == VIDI_SEEN;
    }
    return seen;
}

int lab_set_run(const lab_config *config, const lab_settings *settings, uint64_t run, uint64_t *count)
{
    uint64_t n = settings->urls, extra = config->deletes ? n / 2 : 0;
    char params[256];
    const char *kind = lab_config_set(config, params, sizeof params);
    vidi_set *set;
    LAB_TRY(lab_set_make(&set, settings, run, kind, params, n));
    int64_t seen = each(set, settings, run, 2 * n, 2 * n + extra, vidi_add);
    if (seen >= 0)
        seen = each(set, settings, run, 0, n, vidi_add);
    if (seen >= 0)
        seen = each(set, settings, run, 2 * n, 2 * n + extra, vidi_remove);
    if (seen >= 0)
        seen = each(set, settings, run, n, 2 * n, ask);
    vidi_close(set);
    *count = seen < 0 ? 0 : (uint64_t)seen;
    return seen < 0 ? (int)seen : VIDI_OK;
}
