/* Recipes: what the user asked for, from which the filter of each epoch is made. */
#include "set/set.h"

const char *vidi__recipe_params(const vidi__recipe *recipe)
{
    return recipe->params ? recipe->params : "";
}

void vidi__recipe_free(vidi__recipe *recipe, vidi__memory *memory)
{
    if (recipe->params)
        vidi__release(memory, recipe->params, strlen(recipe->params) + 1, 1);
    recipe->params = NULL;
}

int vidi__recipe_set_params(vidi__recipe *recipe, vidi__memory *memory, const char *params)
{
    char *own = NULL;
    size_t bytes = *params ? strlen(params) + 1 : 0;
    VIDI__TRY(vidi__alloc(memory, &own, bytes, 1));
    if (own)
        memcpy(own, params, bytes);
    vidi__recipe_free(recipe, memory);
    recipe->params = own;
    return VIDI_OK;
}

int vidi__recipe_copy(vidi__recipe *to, vidi__memory *memory, const vidi__recipe *from)
{
    *to = *from;
    to->params = NULL;
    return vidi__recipe_set_params(to, memory, vidi__recipe_params(from));
}

/*
 * capacity and error may also be given as parameters, as vidi_plan does. Then they override the options of that name.
 */
static int take_params(vidi__recipe *recipe, vidi__memory *memory, const char *user)
{
    char own[VIDI__USER_PARAMS_MAX];
    vidi__params params, rest;
    VIDI__TRY(vidi__params_parse(&params, user));
    VIDI__TRY(vidi__params_u64(&params, "capacity", 1, VIDI__CAPACITY_MAX, &recipe->capacity));
    VIDI__TRY(vidi__params_double(&params, "error", 1e-300, 1, &recipe->error));
    vidi__params_left(&params, &rest);
    vidi__text text = vidi__text_in(own, sizeof own);
    vidi__params_format(&rest, &text);
    if (text.cut)
        return vidi__fail(VIDI_EOPTION, "the parameters are longer than %zu characters", sizeof own - 1);
    return vidi__recipe_set_params(recipe, memory, own);
}

int vidi__recipe_take(vidi__recipe *recipe, vidi__memory *memory, const vidi_options *options)
{
    const vidi__kind *before = recipe->kind;
    if (options->kind) {
        vidi_str name = {options->kind, strlen(options->kind)};
        recipe->kind = vidi__kind_find(name);
        if (!recipe->kind)
            return vidi__kind_unknown(name);
        if (recipe->kind != before)
            vidi__recipe_free(recipe, memory); /* the parameters were for another kind */
    }
    if (options->capacity)
        recipe->capacity = options->capacity;
    if (options->error != 0)
        recipe->error = options->error;
    if (options->params)
        VIDI__TRY(take_params(recipe, memory, options->params));
    if (options->headroom != 0)
        recipe->headroom = options->headroom;
    recipe->flags |= options->flags;
    if (!(recipe->error >= 0 && recipe->error < 1))
        return vidi__fail(VIDI_EOPTION, "the error rate must be between 0 and 1, not %g", recipe->error);
    if (!(recipe->headroom >= 1 && recipe->headroom <= 1000))
        return vidi__fail(VIDI_EOPTION, "headroom must be a factor from 1 to 1000, not %g", recipe->headroom);
    if (recipe->flags & ~(uint32_t)VIDI_KEEP_PREVIOUS)
        return vidi__fail(VIDI_EOPTION, "flags 0x%x are not known", recipe->flags);
    return VIDI_OK;
}

int vidi__recipe_of_filter(vidi__recipe *recipe, const vidi__filter *filter, char params[VIDI__DESCRIPTION])
{
    vidi__text text = vidi__text_in(params, VIDI__DESCRIPTION);
    filter->kind->describe(filter, &text);
    *recipe = (vidi__recipe){.kind = filter->kind,
                             .params = params,
                             .capacity = filter->capacity,
                             .error = filter->error,
                             .headroom = VIDI__HEADROOM};
    return text.cut ? vidi__fail(VIDI_ECANNOT, "the parameters of %s are too long to be kept", filter->kind->name)
                    : VIDI_OK;
}
