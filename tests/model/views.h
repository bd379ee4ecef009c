/*
 * Comparisons of a set with a view of the model. They run without faults; `how` says in messages what set it is.
 */
#ifndef TESTS_MODEL_VIEWS_H
#define TESTS_MODEL_VIEWS_H

#include "model/world.h"

vidi_stats model_stat(const model_world *world, const vidi_set *set, const char *how);

/* The answers for all URLs. `found` (may be NULL) becomes how often each is there, as far as that is known. */
void model_check_view(model_world *world, const vidi_set *set, const model_view *view, const char *how,
                      uint8_t found[MODEL_URLS]);
void model_check_previous(const model_world *world, const vidi_set *set, model_presence presence,
                          const model_view *view, bool one_sided, const char *how);
/* What it lists. `may_refuse`: it is mapped, and its log may remove something. */
void model_check_listing(const model_world *world, const vidi_set *set, const model_view *view, const char *how,
                         bool may_refuse);
/* The note of the open set. */
void model_check_note(const model_world *world);

/* The open set, what it writes, and what it lists. The last two may change it: they finish what a commit has begun. */
void model_compare_live(model_world *world);
void model_compare_listed(model_world *world);
void model_compare_written(model_world *world);

#endif
