/* The claims of all papers and studies in one list. See study.h. */
#include <stdio.h>
#include <string.h>

#include "lab/engine/study.h"
#include "lab/judge/claim_rules.h"

static const lab_claim *const lists[] = {lab_thesis_claims,  lab_multilayer_claims, lab_counting_claims,
                                         lab_eigen_claims,   lab_kinds_claims,      lab_revisits_claims,
                                         lab_streams_claims, lab_peers_claims,      lab_graph_claims};

const lab_claim *lab_claim_at(size_t index)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const lab_claim *claim = lists[i]; claim->id; claim++)
            if (index-- == 0)
                return claim;
    return NULL;
}

const lab_claim *lab_claim_find(const char *id)
{
    const lab_claim *claim;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        if (strcmp(claim->id, id) == 0)
            return claim;
    return NULL;
}

bool lab_evidence_next(const char **list, char id[LAB_ID_ROOM])
{
    *list += strspn(*list, " ");
    size_t length = strcspn(*list, " ");
    snprintf(id, LAB_ID_ROOM, "%.*s", (int)length, *list);
    *list += length;
    return length > 0;
}

const char *lab_holding_name(lab_holding holding)
{
    static const char *const names[] = {"too little was measured", "holds", "holds with conditions", "does not hold"};
    return names[holding];
}

lab_holding lab_claim_judged(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    if (room > 0)
        sentence[0] = 0;
    return (claim->judge ? claim->judge : lab_rule_judge)(claim, book, sentence, room);
}
