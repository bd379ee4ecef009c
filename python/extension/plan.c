/*
 * vidi.plan and vidi.kinds: what to use, and what it costs.
 */
#include <stdlib.h>

#include "arguments.h"
#include "records.h"

enum { PLANS = 64 }; /* room for more than there are kinds */

static PyObject *plan_object(const vidi_plan_entry *plan)
{
    return vp_record("vidi._plan", "Plan", "{s:d,s:s,s:s,s:K,s:K,s:d,s:d,s:d,s:s,s:N}", //
                     "expected_lost", plan->expected_lost,                              //
                     "kind", plan->kind,                                                //
                     "params", plan->params,                                            //
                     "urls", (unsigned long long)plan->urls,                            //
                     "bytes", (unsigned long long)plan->bytes,                          //
                     "bytes_per_url", plan->bytes_per_url,                              //
                     "error", plan->error,                                              //
                     "lines_per_url", plan->lines_per_url,                              //
                     "fp_meaning", vp_meaning(plan->fp_meaning),                        //
                     "can", vp_can(plan->can));
}

static PyObject *plan_list(const vidi_plan_entry *plans, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *plan = plan_object(&plans[i]);
        if (!plan)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, plan);
    }
    return list;
}

static PyObject *ask(const vidi_plan_request *want)
{
    vidi_plan_entry *plans = calloc(PLANS, sizeof *plans);
    if (!plans)
        return PyErr_NoMemory();
    size_t n = PLANS;
    int error;
    VP_RELEASED(error = vidi_plan(want, plans, &n));
    PyObject *result = error < 0 ? vp_raise(error) : plan_list(plans, n);
    free(plans);
    return result;
}

static const char plan_doc[] =
    "plan(*, urls=0, memory=0, error=0.0, lost=None, kind=None, params=None, exact=False, url_bytes=0.0)\n--\n\n"
    "Return the kinds that fit a number of URLs, an amount of memory (bytes) or of pages lost: a list of Plan, the\n"
    "best first.\n\n"
    "Say two or three of urls, memory, error and lost; the rest is computed. `lost` is how many pages may be lost\n"
    "from the first URL to the last; 0, or exact=True, means none at all. URLs alone are planned with lost=1.\n\n"
    "    >>> best = vidi.plan(urls=1e9, lost=1)[0]\n"
    "    >>> best.kind, best.expected_lost <= 1, best.bytes_per_url < 10\n"
    "    ('fingerprint', True, True)\n"
    "    >>> small = vidi.plan(urls=1000, lost=0)[0]\n"
    "    >>> s = vidi.Set(kind=small.kind, params=small.params)\n\n"
    "`kind` and `params` ask about one kind; url_bytes is the average length of a URL, for kinds that keep URLs\n"
    "(0: 80). Raises OptionError, a ValueError, if the request contradicts itself or nothing can serve.\n";

static PyObject *plan(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"urls",   "memory", "error",     "lost", "kind",
                                        "params", "exact",  "url_bytes", NULL};
    static const vp_signature signature = {"plan", names, 0, 0};
    PyObject *values[VP_ARGUMENTS_MAX];
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    double lost = -1;
    bool exact = false;
    if (!vp_arguments(&signature, args, count, keywords, values) || !vp_to_count(values[0], "urls", &want.urls) ||
        !vp_to_count(values[1], "memory", &want.memory) || !vp_to_real(values[2], "error", &want.error) ||
        !vp_to_real(values[3] == Py_None ? NULL : values[3], "lost", &lost) ||
        !vp_to_words(values[4], "kind", &want.kind) || !vp_to_words(values[5], "params", &want.params) ||
        !vp_to_bool(values[6], &exact) || !vp_to_real(values[7], "url_bytes", &want.url_bytes))
        return NULL;
    want.lost = lost > 0 ? lost : 0;
    want.exact = exact || lost == 0;
    return ask(&want);
}

/* ---- vidi.kinds ---- */

static const char kinds_doc[] = "kinds()\n--\n\n"
                                "Return the kinds of sets, the default one first: a list of Kind.\n\n"
                                "    >>> [kind.name for kind in vidi.kinds()][:3]\n"
                                "    ['fingerprint', 'blocked', 'scalable']\n"
                                "    >>> sorted(vidi.kinds()[0].can)\n"
                                "    ['concurrent', 'count', 'delete', 'grow', 'iterate', 'merge']\n";

static PyObject *kind_object(const vidi_kind_info *info)
{
    return vp_record("vidi._plan", "Kind", "{s:s,s:s,s:N}", "name", info->name, "summary", info->summary, "can",
                     vp_can(info->can));
}

static PyObject *kinds(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    vidi_kind_info info = {.size = sizeof info};
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && vidi_kind(i, &info) == VIDI_OK; i++) {
        PyObject *kind = kind_object(&info);
        if (!kind || PyList_Append(list, kind) < 0)
            Py_CLEAR(list);
        Py_XDECREF(kind);
    }
    return list;
}

const PyMethodDef vp_plan_functions[] = {
    {"plan", VP_NAMED(plan), METH_FASTCALL | METH_KEYWORDS, plan_doc},
    {"kinds", kinds, METH_NOARGS, kinds_doc},
    {0},
};
