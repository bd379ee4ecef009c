/* Parsing of "name=value,name=value", and of numbers independently of the locale. */
#include "base/params.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static bool starts_with(vidi_str str, const char *text)
{
    size_t len = strlen(text);
    return str.len >= len && memcmp(str.ptr, text, len) == 0;
}

static vidi__param *find(const vidi__params *params, const char *name)
{
    for (size_t i = 0; i < params->count; i++)
        if (vidi__str_is(params->list[i].name, name))
            return (vidi__param *)&params->list[i];
    return NULL;
}

void vidi__params_know(vidi__params *params, const char *name)
{
    size_t known = 0;
    while (known < params->asked_count && strcmp(params->asked[known], name) != 0)
        known++;
    if (known == params->asked_count && known < VIDI__PARAMS_MAX)
        params->asked[params->asked_count++] = name;
}

/* Finds a parameter and counts it as used. */
static vidi__param *ask(vidi__params *params, const char *name)
{
    vidi__params_know(params, name);
    vidi__param *param = find(params, name);
    if (param)
        param->used = true;
    return param;
}

static int add_one(vidi__params *params, vidi_str item)
{
    const char *equal = memchr(item.ptr, '=', item.len);
    if (!equal || equal == item.ptr)
        return vidi__fail(VIDI_EOPTION, "'%.*s' is not written as name=value", VIDI__QUOTE(item));
    vidi__param param = {.name = {item.ptr, (size_t)(equal - item.ptr)}};
    param.value = (vidi_str){equal + 1, item.len - param.name.len - 1};
    for (size_t i = 0; i < params->count; i++)
        if (params->list[i].name.len == param.name.len &&
            memcmp(params->list[i].name.ptr, param.name.ptr, param.name.len) == 0)
            return vidi__fail(VIDI_EOPTION, "parameter '%.*s' is given twice", VIDI__QUOTE(param.name));
    if (params->count == VIDI__PARAMS_MAX)
        return vidi__fail(VIDI_EOPTION, "more than %d parameters", VIDI__PARAMS_MAX);
    params->list[params->count++] = param;
    return VIDI_OK;
}

int vidi__params_parse(vidi__params *params, const char *text)
{
    params->count = params->asked_count = 0;
    if (!text)
        return VIDI_OK;
    while (*text) {
        size_t len = strcspn(text, ",");
        if (len)
            VIDI__TRY(add_one(params, (vidi_str){text, len}));
        text += len + (text[len] == ',');
    }
    return VIDI_OK;
}

bool vidi__parse_double(vidi_str text, double *value)
{
    char buffer[64];
    if (text.len == 0 || text.len >= sizeof buffer)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("0123456789.eE+-", text.ptr[i]) || !text.ptr[i])
            return false;
    memcpy(buffer, text.ptr, text.len);
    buffer[text.len] = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    char *end;
    double parsed = strtod_l(buffer, &end, plain);
    freelocale(plain);
    if (end != buffer + text.len || !isfinite(parsed))
        return false;
    *value = parsed;
    return true;
}

/* Accepts digits, and notations such as 1e9 and 2.5e6 if the number is whole and exact. */
bool vidi__parse_u64(vidi_str text, uint64_t *value)
{
    uint64_t sum = 0;
    size_t i = 0;
    for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, (uint64_t)(text.ptr[i] - '0'), &sum))
            return false;
    if (i && i == text.len) {
        *value = sum;
        return true;
    }
    double parsed;
    if (!vidi__parse_double(text, &parsed) || parsed < 0 || parsed > 9007199254740992.0 || parsed != floor(parsed))
        return false;
    *value = (uint64_t)parsed;
    return true;
}

int vidi__params_u64(vidi__params *params, const char *name, uint64_t min, uint64_t max, uint64_t *value)
{
    vidi__param *param = ask(params, name);
    if (!param)
        return 0;
    uint64_t parsed;
    if (!vidi__parse_u64(param->value, &parsed) || parsed < min || parsed > max)
        return vidi__fail(VIDI_EOPTION, "%s must be a whole number from %llu to %llu, not '%.*s'", name,
                          (unsigned long long)min, (unsigned long long)max, VIDI__QUOTE(param->value));
    *value = parsed;
    return 1;
}

int vidi__params_double(vidi__params *params, const char *name, double min, double max, double *value)
{
    vidi__param *param = ask(params, name);
    if (!param)
        return 0;
    double parsed;
    if (!vidi__parse_double(param->value, &parsed) || parsed < min || parsed > max)
        return vidi__fail(VIDI_EOPTION, "%s must be a number from %g to %g, not '%.*s'", name, min, max,
                          VIDI__QUOTE(param->value));
    *value = parsed;
    return 1;
}

int vidi__params_choice(vidi__params *params, const char *name, const char *choices, unsigned *value)
{
    vidi__param *param = ask(params, name);
    if (!param)
        return 0;
    const char *at = choices;
    for (unsigned index = 0;; index++) {
        size_t len = strcspn(at, "|");
        if (len == param->value.len && memcmp(at, param->value.ptr, len) == 0) {
            *value = index;
            return 1;
        }
        if (!at[len])
            break;
        at += len + 1;
    }
    return vidi__fail(VIDI_EOPTION, "%s must be one of %s, not '%.*s'", name, choices, VIDI__QUOTE(param->value));
}

int vidi__params_str(vidi__params *params, const char *name, vidi_str *value)
{
    vidi__param *param = ask(params, name);
    if (!param)
        return 0;
    *value = param->value;
    return 1;
}

bool vidi__params_has(const vidi__params *params, const char *name)
{
    return find(params, name) != NULL;
}

void vidi__params_left(const vidi__params *params, vidi__params *left)
{
    left->count = left->asked_count = 0;
    for (size_t i = 0; i < params->count; i++)
        if (!params->list[i].used)
            left->list[left->count++] = params->list[i];
}

void vidi__params_rest(vidi__params *params, vidi__params *inner)
{
    vidi__params_left(params, inner);
    for (size_t i = 0; i < params->count; i++)
        params->list[i].used = true;
    for (size_t i = 0; i < inner->count; i++) {
        vidi_str *name = &inner->list[i].name;
        if (starts_with(*name, "inner."))
            *name = (vidi_str){name->ptr + strlen("inner."), name->len - strlen("inner.")};
    }
}

void vidi__params_format(const vidi__params *params, vidi__text *text)
{
    vidi__params_hand_on(params, "", text);
}

/* Is the name in a list such as "F|eager|inner"? */
static bool among(vidi_str name, const char *names)
{
    while (*names) {
        size_t len = strcspn(names, "|");
        if (len == name.len && memcmp(names, name.ptr, len) == 0)
            return true;
        names += len + (names[len] == '|');
    }
    return false;
}

void vidi__params_hand_on(const vidi__params *params, const char *taken, vidi__text *text)
{
    for (size_t i = 0; i < params->count; i++) {
        vidi_str name = params->list[i].name, value = params->list[i].value;
        bool prefix = *taken && (among(name, taken) || starts_with(name, "inner."));
        vidi__text_add(text, "%s%s%.*s=%.*s", text->len ? "," : "", prefix ? "inner." : "", (int)name.len, name.ptr,
                       (int)value.len, value.ptr);
    }
}

static int unknown(const vidi__params *params, vidi_str name)
{
    char list[256];
    vidi__text text = vidi__text_in(list, sizeof list);
    for (size_t i = 0; i < params->asked_count; i++)
        vidi__text_add(&text, "%s%s", i ? ", " : "", params->asked[i]);
    return vidi__fail(VIDI_EOPTION, "there is no parameter '%.*s'; the parameters are %s", VIDI__QUOTE(name), list);
}

int vidi__params_done(const vidi__params *params)
{
    for (size_t i = 0; i < params->count; i++)
        if (!params->list[i].used)
            return unknown(params, params->list[i].name);
    return VIDI_OK;
}
