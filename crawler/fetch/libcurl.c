/*
 * Loading libcurl: see libcurl.h. The functions of libcurl that this folder calls are defined here, under their own
 * names; each passes its arguments on to the library. So the callers, and the compiler that checks their arguments,
 * see libcurl's own header.
 */
#include "crawler/fetch/libcurl.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "vidi/vidi.h"

/* The header has macros of these names, which check types and then call the functions. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define LIBRARY "libcurl.so.4"

#define FUNCTIONS(X)                                                                                                   \
    X(curl_global_init)                                                                                                \
    X(curl_easy_init)                                                                                                  \
    X(curl_easy_cleanup)                                                                                               \
    X(curl_easy_setopt)                                                                                                \
    X(curl_easy_getinfo)                                                                                               \
    X(curl_easy_pause)                                                                                                 \
    X(curl_easy_strerror)                                                                                              \
    X(curl_multi_init)                                                                                                 \
    X(curl_multi_cleanup)                                                                                              \
    X(curl_multi_setopt)                                                                                               \
    X(curl_multi_add_handle)                                                                                           \
    X(curl_multi_remove_handle)                                                                                        \
    X(curl_multi_socket_action)                                                                                        \
    X(curl_multi_info_read)

#define FIELD(name) __typeof__(name) *(name);
static struct {
    FUNCTIONS(FIELD)
} loaded;

static bool is_loaded;

/* OpenSSL's, which libcurl brings along. NULL: this libcurl uses another library for TLS. */
static void (*set_msg_callback)(void *ssl_ctx, libcurl_on_record *call);
static long (*ssl_ctx_ctrl)(void *ssl_ctx, int what, long number, void *value);

/* POSIX lets a pointer that dlsym returns be used as a function, and C lets it be copied as bytes. */
#define FIND(name)                                                                                                     \
    *(void **)&loaded.name = dlsym(library, #name);                                                                    \
    complete = complete && loaded.name;

static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool complete = library != NULL;

    if (library) {
        FUNCTIONS(FIND)
        *(void **)&set_msg_callback = dlsym(library, "SSL_CTX_set_msg_callback"); /* looks in what libcurl needs, too */
        *(void **)&ssl_ctx_ctrl = dlsym(library, "SSL_CTX_ctrl");
    }
    is_loaded = complete && loaded.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

int libcurl_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return is_loaded ? VIDI_OK : VIDI_ECANNOT;
}

bool libcurl_watches_records(void)
{
    return set_msg_callback && ssl_ctx_ctrl;
}

void libcurl_watch_records(void *ssl_ctx, libcurl_on_record *call, void *context)
{
    enum { SET_ARGUMENT = 16 }; /* SSL_CTRL_SET_MSG_CALLBACK_ARG */

    set_msg_callback(ssl_ctx, call);
    ssl_ctx_ctrl(ssl_ctx, SET_ARGUMENT, 0, context);
}

/* ---- the functions, with the parameters' names of libcurl's header ---- */

/*
 * An option's value is a long, a pointer or a curl_off_t. On the systems that vidi is made for (64 bits), all of them
 * are passed in the same way, so it can be passed on without knowing which it is.
 */
_Static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *), "values of one size");

#define VALUE_AFTER(last)                                                                                              \
    va_list rest;                                                                                                      \
    va_start(rest, last);                                                                                              \
    void *value = va_arg(rest, void *);                                                                                \
    va_end(rest)

CURLcode curl_easy_setopt(CURL *curl, CURLoption option, ...)
{
    VALUE_AFTER(option);
    return loaded.curl_easy_setopt(curl, option, value);
}

CURLcode curl_easy_getinfo(CURL *curl, CURLINFO info, ...)
{
    VALUE_AFTER(info);
    return loaded.curl_easy_getinfo(curl, info, value);
}

CURLMcode curl_multi_setopt(CURLM *multi_handle, CURLMoption option, ...)
{
    VALUE_AFTER(option);
    return loaded.curl_multi_setopt(multi_handle, option, value);
}

CURL *curl_easy_init(void)
{
    return loaded.curl_easy_init();
}

void curl_easy_cleanup(CURL *curl)
{
    if (curl)
        loaded.curl_easy_cleanup(curl);
}

CURLcode curl_easy_pause(CURL *handle, int bitmask)
{
    return loaded.curl_easy_pause(handle, bitmask);
}

const char *curl_easy_strerror(CURLcode code)
{
    return loaded.curl_easy_strerror(code);
}

CURLM *curl_multi_init(void)
{
    return loaded.curl_multi_init();
}

CURLMcode curl_multi_cleanup(CURLM *multi_handle)
{
    return multi_handle ? loaded.curl_multi_cleanup(multi_handle) : CURLM_OK;
}

CURLMcode curl_multi_add_handle(CURLM *multi_handle, CURL *curl_handle)
{
    return loaded.curl_multi_add_handle(multi_handle, curl_handle);
}

CURLMcode curl_multi_remove_handle(CURLM *multi_handle, CURL *curl_handle)
{
    return loaded.curl_multi_remove_handle(multi_handle, curl_handle);
}

CURLMcode curl_multi_socket_action(CURLM *multi_handle, curl_socket_t s, int ev_bitmask, int *running_handles)
{
    return loaded.curl_multi_socket_action(multi_handle, s, ev_bitmask, running_handles);
}

CURLMsg *curl_multi_info_read(CURLM *multi_handle, int *msgs_in_queue)
{
    return loaded.curl_multi_info_read(multi_handle, msgs_in_queue);
}
