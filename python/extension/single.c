/*
 * Calls for one URL: add, in, discard, remove and count. They keep the GIL, because giving it away and taking it back
 * takes as long as the call itself. They release it where they may have to wait: for the disk, for a server, or for
 * another thread that works on this set without the GIL and may have it locked.
 */
#include "extension.h"

/* What a call asks of either sort of set. */
typedef struct question {
    int (*of_set)(vidi_set *set, vidi_str url);
    int (*of_cluster)(vidi_cluster *cluster, vidi_str url);
} question;

static int has(vidi_set *set, vidi_str url)
{
    return vidi_has(set, url);
}

static const question adding = {vidi_add, vidi_cluster_add};
static const question having = {has, vidi_cluster_has};
static const question removing = {vidi_remove, vidi_cluster_remove};

static int ask_released(set_object *self, const question *call, vidi_str url)
{
    int verdict;
    VP_EITHER(self, verdict, call->of_set(set, url), call->of_cluster(cluster, url));
    return verdict;
}

static inline int ask(set_object *self, const question *call, vidi_str url)
{
    if (self->may_sleep || self->users)
        return ask_released(self, call, url);
    vidi_set *set = vp_opened(self);
    return set ? call->of_set(set, url) : VP_RAISED;
}

int vp_add(set_object *self, vidi_str url)
{
    return ask(self, &adding, url);
}

static int ask_about_any(PyObject *self, const question *call, PyObject *object)
{
    PyObject *plain = vp_plain(object);
    vidi_str url;
    int verdict = plain && vp_text(plain, &url) ? ask((set_object *)self, call, url) : VP_RAISED;
    Py_XDECREF(plain);
    return verdict;
}

static inline int ask_about(PyObject *self, const question *call, PyObject *object)
{
    vidi_str url;
    if (!PyUnicode_CheckExact(object))
        return ask_about_any(self, call, object);
    return vp_text(object, &url) ? ask((set_object *)self, call, url) : VP_RAISED;
}

/* True if the verdict only means "no", because the set drops what is not a URL. */
static bool is_dropped(PyObject *self, int verdict)
{
    return verdict == VIDI_INVALID && ((set_object *)self)->access.invalid == VIDI_DROP_INVALID;
}

static PyObject *add(PyObject *self, PyObject *url)
{
    int verdict = ask_about(self, &adding, url);
    if (verdict == VIDI_NEW) {
        vp_hint_if_due((set_object *)self, ++((set_object *)self)->added);
        Py_RETURN_TRUE;
    }
    if (verdict == VIDI_SEEN || is_dropped(self, verdict))
        Py_RETURN_FALSE;
    return vp_fail((set_object *)self, verdict);
}

int vp_set_contains(PyObject *self, PyObject *url)
{
    int verdict = ask_about(self, &having, url);
    if (verdict == VIDI_SEEN)
        return 1;
    if (verdict == VIDI_NEW || is_dropped(self, verdict))
        return 0;
    vp_fail((set_object *)self, verdict);
    return -1;
}

static PyObject *discard(PyObject *self, PyObject *url)
{
    int verdict = ask_about(self, &removing, url);
    if (verdict == VIDI_OK)
        Py_RETURN_TRUE;
    if (verdict == VIDI_EABSENT || is_dropped(self, verdict))
        Py_RETURN_FALSE;
    return vp_fail((set_object *)self, verdict);
}

static PyObject *remove_url(PyObject *self, PyObject *url)
{
    int verdict = ask_about(self, &removing, url);
    if (verdict == VIDI_OK)
        Py_RETURN_NONE;
    if (verdict == VIDI_EABSENT || is_dropped(self, verdict))
        return vp_raise_absent((set_object *)self);
    return vp_fail((set_object *)self, verdict);
}

static PyObject *count(PyObject *self, PyObject *object)
{
    PyObject *plain = vp_plain(object);
    uint64_t times = 0;
    vidi_str url;
    int verdict = VP_RAISED;
    if (plain && vp_text(plain, &url))
        VP_EITHER(self, verdict, vidi_count(set, url, &times), vidi_cluster_count(cluster, url, &times));
    Py_XDECREF(plain);
    if (verdict == VIDI_OK || is_dropped(self, verdict))
        return PyLong_FromUnsignedLongLong(times);
    return vp_fail((set_object *)self, verdict);
}

static const char add_doc[] = "add($self, url, /)\n--\n\n"
                              "Add a URL; return True if it is new, False if it was seen before.\n\n"
                              "    >>> s = vidi.Set()\n"
                              "    >>> s.add('http://example.org/')\n"
                              "    True\n"
                              "    >>> s.add('HTTP://EXAMPLE.ORG')     # another spelling of the same page\n"
                              "    False\n\n"
                              "A set made with invalid='drop' answers False for text that is not a URL; one made with\n"
                              "invalid='fail' raises InvalidURL.\n";

static const char discard_doc[] =
    "discard($self, url, /)\n--\n\n"
    "Remove a URL if it is in the set; return True if it was.\n\n"
    "    >>> s = vidi.Set(kind='hashset')\n"
    "    >>> s.add('http://example.org/')\n"
    "    True\n"
    "    >>> s.discard('http://example.org/')\n"
    "    True\n"
    "    >>> s.discard('http://example.org/')\n"
    "    False\n\n"
    "Remove only URLs for which add() returned True. Kinds that cannot remove raise CannotError,\n"
    "which is a TypeError.\n";

static const char remove_doc[] = "remove($self, url, /)\n--\n\n"
                                 "Remove a URL; raise AbsentError, which is a KeyError, if it is not in the set.\n\n"
                                 "    >>> s = vidi.Set(kind='hashset')\n"
                                 "    >>> s.remove('http://example.org/')\n"
                                 "    Traceback (most recent call last):\n"
                                 "        ...\n"
                                 "    vidi.AbsentError: the URL is not in the set, so it cannot be removed\n";

static const char count_doc[] = "count($self, url, /)\n--\n\n"
                                "Return how often a URL was added and not removed, for kinds that count.\n\n"
                                "    >>> s = vidi.Set(kind='hashset', params='multiset=on')\n"
                                "    >>> s.add_many(['http://example.org/'] * 3)\n"
                                "    [True, False, False]\n"
                                "    >>> s.count('http://example.org/')\n"
                                "    3\n";

const PyMethodDef vp_single_methods[] = {
    {"add", add, METH_O, add_doc},
    {"discard", discard, METH_O, discard_doc},
    {"remove", remove_url, METH_O, remove_doc},
    {"count", count, METH_O, count_doc},
    {0},
};
