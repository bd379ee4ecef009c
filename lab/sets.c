/*
 * Configurations that name a kind: measured as any user would, with a set of the public interface.
 *
 * n URLs go in. If the configuration deletes, n/2 others went in before them and are taken out afterwards: what is left
 * must be the filter of the n alone.
 */
#include "lab/bench.h"

static int make_set(const lab_config *config, const lab_settings *settings, uint64_t run, vidi_set **set)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    char params[256];
    lab_key(key, settings->seed, run);
    options.kind = lab_config_set(config, params, sizeof params);
    options.params = params;
    options.capacity = settings->urls;
    options.key = key;
    options.canon = "none";
    return vidi_create(set, &options);
}

typedef int lab_deed(vidi_set *set, vidi_str url);

static int ask(vidi_set *set, vidi_str url)
{
    return vidi_has(set, url);
}

/* Does it with the URLs first to last - 1 of the run: how many gave VIDI_SEEN, or an error. */
static int64_t each(vidi_set *set, const lab_settings *settings, uint64_t run, uint64_t first, uint64_t last,
                    lab_deed *deed)
{
    char url[LAB_URL_ROOM];
    int64_t seen = 0;
    for (uint64_t i = first; i < last; i++) {
        size_t length = lab_url(url, settings, run, i);
        int verdict = deed(set, (vidi_str){url, length});
        if (verdict < 0)
            return verdict;
        seen += verdict == VIDI_SEEN;
    }
    return seen;
}

int lab_set_run(const lab_config *config, const lab_settings *settings, uint64_t run, uint64_t *count)
{
    uint64_t n = settings->urls, extra = config->deletes ? n / 2 : 0;
    vidi_set *set;
    int code = make_set(config, settings, run, &set);
    if (code < 0)
        return code;
    int64_t seen = each(set, settings, run, 2 * n, 2 * n + extra, vidi_add);
    if (seen >= 0)
        seen = each(set, settings, run, 0, n, vidi_add);
    if (seen >= 0)
        seen = each(set, settings, run, 2 * n, 2 * n + extra, vidi_remove);
    if (seen >= 0)
        seen = each(set, settings, run, n, 2 * n, ask);
    vidi_close(set);
    *count = seen < 0 ? 0 : (uint64_t)seen;
    return seen < 0 ? (int)seen : 0;
}
