/* What the experiments on the further work share: their sizes, and theory. See further.h. */
#include "lab/further.h"

enum { FEW = 4000 };

uint64_t lab_further_urls(const lab_settings *settings, uint64_t part)
{
    uint64_t least = settings->urls < FEW ? settings->urls : FEW;
    return settings->urls / part < least ? least : settings->urls / part;
}

static lab_theory theory_of(uint64_t urls, double m, unsigned k, unsigned filters, bool incremental)
{
    lab_config config = {.functions = "",
                         .k = k,
                         .multiplier = m / ((double)urls * k),
                         .members = filters,
                         .epochs = 1,
                         .incremental = incremental,
                         .tenths = LAB_TENTHS};
    return lab_theory_of(&config, urls);
}

lab_theory lab_filter_theory(uint64_t urls, double m, unsigned k, unsigned filters)
{
    return theory_of(urls, m, k, filters, false);
}

lab_theory lab_filling_theory(uint64_t urls, double m, unsigned k, unsigned filters)
{
    return theory_of(urls, m, k, filters, true);
}

/* Given the sizes the law is hypergeometric; the sizes vary, too. */
lab_theory lab_meeting_theory(lab_theory a, lab_theory b, double of)
{
    double share_a = a.mean / of, share_b = b.mean / of;
    return (lab_theory){
        .mean = a.mean * share_b,
        .variance = a.mean * share_b * (1 - share_a) * (1 - share_b) * of / (of - 1) + share_b * share_b * a.variance +
                    share_a * share_a * b.variance,
        .asked = a.asked,
    };
}
