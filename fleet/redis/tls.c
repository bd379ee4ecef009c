/*
 * TLS through libssl, which is loaded: see tls.h. Only functions are used that OpenSSL has had since version 1.1.0; they
 * are declared here, so that neither headers nor library are needed to build this. libssl works on two memory buffers
 * (BIOs), because on a socket of its own it writes without MSG_NOSIGNAL.
 */
#include "fleet/redis/tls.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct bio_st BIO;

/* Numbers of OpenSSL's headers, which are part of its binary interface. */
enum {
    VERIFY_PEER = 1,
    FILE_IS_PEM = 1,
    FAILED = 1, /* SSL_ERROR_SSL */
    WANT_READ = 2,
    WANT_WRITE = 3,
    SET_SERVER_NAME = 55,
    SET_LEAST_VERSION = 123,
    SET_MODE = 33,
    MODE_PARTIAL_MOVING = 1 | 2, /* a write may take a part, and go on from a buffer elsewhere */
    VERSION_1_2 = 0x0303,
    PENDING = 10
};

#define FUNCTIONS(X)                                                                                                   \
    X(void *, TLS_client_method, (void))                                                                               \
    X(SSL_CTX *, SSL_CTX_new, (void *method))                                                                          \
    X(void, SSL_CTX_free, (SSL_CTX * context))                                                                         \
    X(long, SSL_CTX_ctrl, (SSL_CTX * context, int what, long number, void *value))                                     \
    X(void, SSL_CTX_set_verify, (SSL_CTX * context, int mode, void *callback))                                         \
    X(int, SSL_CTX_set_default_verify_paths, (SSL_CTX * context))                                                      \
    X(int, SSL_CTX_load_verify_locations, (SSL_CTX * context, const char *file, const char *folder))                   \
    X(int, SSL_CTX_use_certificate_chain_file, (SSL_CTX * context, const char *file))                                  \
    X(int, SSL_CTX_use_PrivateKey_file, (SSL_CTX * context, const char *file, int type))                               \
    X(int, SSL_CTX_check_private_key, (const SSL_CTX *context))                                                        \
    X(SSL *, SSL_new, (SSL_CTX * context))                                                                             \
    X(void, SSL_free, (SSL * ssl))                                                                                     \
    X(long, SSL_ctrl, (SSL * ssl, int what, long number, void *value))                                                 \
    X(void, SSL_set_bio, (SSL * ssl, BIO * in, BIO * out))                                                             \
    X(int, SSL_set1_host, (SSL * ssl, const char *host))                                                               \
    X(void *, SSL_get0_param, (SSL * ssl))                                                                             \
    X(int, SSL_connect, (SSL * ssl))                                                                                   \
    X(int, SSL_read, (SSL * ssl, void *to, int room))                                                                  \
    X(int, SSL_write, (SSL * ssl, const void *from, int n))                                                            \
    X(int, SSL_get_error, (const SSL *ssl, int result))                                                                \
    X(long, SSL_get_verify_result, (const SSL *ssl))                                                                   \
    X(int, X509_VERIFY_PARAM_set1_ip_asc, (void *parameters, const char *address))                                     \
    X(const char *, X509_verify_cert_error_string, (long result))                                                      \
    X(BIO *, BIO_new, (const void *type))                                                                              \
    X(const void *, BIO_s_mem, (void))                                                                                 \
    X(int, BIO_free, (BIO * bio))                                                                                      \
    X(int, BIO_read, (BIO * bio, void *to, int room))                                                                  \
    X(int, BIO_write, (BIO * bio, const void *from, int n))                                                            \
    X(long, BIO_ctrl, (BIO * bio, int what, long number, void *value))                                                 \
    X(unsigned long, ERR_get_error, (void))                                                                            \
    X(void, ERR_clear_error, (void))                                                                                   \
    X(void, ERR_error_string_n, (unsigned long error, char *to, size_t room))

#define FIELD(result, name, arguments) result(*(name)) arguments; /* NOLINT(bugprone-macro-parentheses) */
static struct {
    FUNCTIONS(FIELD)
} ssl;

static bool is_loaded;

/* POSIX lets a pointer that dlsym returns be used as a function, and C lets it be copied as bytes. */
#define FIND(result, name, arguments)                                                                                  \
    *(void **)&ssl.name = dlsym(library, #name);                                                                       \
    complete = complete && ssl.name;

static void load(void)
{
    static const char *const names[] = {"libssl.so.3", "libssl.so.1.1", "libssl.so"};
    void *library = NULL;
    bool complete = true;

    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library) {
        FUNCTIONS(FIND) /* dlsym looks in libcrypto, too, which libssl needs */
        is_loaded = complete;
    }
}

struct tls_context {
    SSL_CTX *ssl;
};

struct tls {
    SSL *ssl;
    BIO *in, *out; /* belong to ssl */
};

/* What libssl says about the call that has just failed. */
static void explain(char *why, const char *what)
{
    char said[256] = "no reason was given";
    unsigned long error = ssl.ERR_get_error();
    if (error)
        ssl.ERR_error_string_n(error, said, sizeof said);
    snprintf(why, REDIS_WHY, "TLS: %s: %s", what, said);
}

/* ---- contexts ---- */

static int fail_file(char *why, const char *what, const char *file)
{
    char sentence[224];
    snprintf(sentence, sizeof sentence, "%s %.150s cannot be used", what, file);
    explain(why, sentence);
    return VIDI_EIO;
}

static int load_files(SSL_CTX *context, const redis_options *options, char *why)
{
    const char *key = options->key_file ? options->key_file : options->cert_file;
    if (options->ca_file ? ssl.SSL_CTX_load_verify_locations(context, options->ca_file, NULL) != 1
                         : ssl.SSL_CTX_set_default_verify_paths(context) != 1)
        return fail_file(why, "the certificates to trust in", options->ca_file ? options->ca_file : "the system");
    if (options->cert_file && ssl.SSL_CTX_use_certificate_chain_file(context, options->cert_file) != 1)
        return fail_file(why, "the certificate in", options->cert_file);
    if (key && (ssl.SSL_CTX_use_PrivateKey_file(context, key, FILE_IS_PEM) != 1 ||
                ssl.SSL_CTX_check_private_key(context) != 1))
        return fail_file(why, "the private key in", key);
    return VIDI_OK;
}

int tls_context_make(tls_context **made, const redis_options *options, char *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    tls_context *context = NULL;

    *made = NULL;
    pthread_once(&once, load);
    if (!is_loaded) {
        snprintf(why, REDIS_WHY, "rediss:// needs OpenSSL's libssl.so.3 (Debian's package libssl3), which is not here");
        return VIDI_ECANNOT;
    }
    ssl.ERR_clear_error();
    context = calloc(1, sizeof *context);
    if (context)
        context->ssl = ssl.SSL_CTX_new(ssl.TLS_client_method());
    if (!context || !context->ssl) {
        free(context);
        snprintf(why, REDIS_WHY, "there is no memory left for TLS");
        return VIDI_EMEMORY;
    }
    ssl.SSL_CTX_ctrl(context->ssl, SET_LEAST_VERSION, VERSION_1_2, NULL);
    ssl.SSL_CTX_ctrl(context->ssl, SET_MODE, MODE_PARTIAL_MOVING, NULL);
    ssl.SSL_CTX_set_verify(context->ssl, VERIFY_PEER, NULL);
    int error = load_files(context->ssl, options, why);
    if (error) {
        tls_context_free(context);
        return error;
    }
    *made = context;
    return VIDI_OK;
}

void tls_context_free(tls_context *context)
{
    if (context)
        ssl.SSL_CTX_free(context->ssl);
    free(context);
}

/* ---- sessions ---- */

static bool is_ip_address(const char *host)
{
    char parsed[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, parsed) == 1 || inet_pton(AF_INET6, host, parsed) == 1;
}

/* The certificate must be made out to this host. False: there is no memory. */
static bool expect_host(SSL *session, const char *host)
{
    if (is_ip_address(host))
        return ssl.X509_VERIFY_PARAM_set1_ip_asc(ssl.SSL_get0_param(session), host) == 1;
    char name[256];
    snprintf(name, sizeof name, "%s", host);
    return ssl.SSL_ctrl(session, SET_SERVER_NAME, 0, name) == 1 && ssl.SSL_set1_host(session, host) == 1;
}

int tls_begin(tls **made, tls_context *context, const char *host)
{
    tls *session = calloc(1, sizeof *session);
    *made = session;
    if (!session)
        return VIDI_EMEMORY;
    ssl.ERR_clear_error();
    session->ssl = ssl.SSL_new(context->ssl);
    BIO *in = ssl.BIO_new(ssl.BIO_s_mem()), *out = ssl.BIO_new(ssl.BIO_s_mem());
    if (session->ssl && in && out && expect_host(session->ssl, host)) {
        session->in = in;
        session->out = out;
        ssl.SSL_set_bio(session->ssl, in, out);
        return VIDI_OK;
    }
    if (in)
        ssl.BIO_free(in);
    if (out)
        ssl.BIO_free(out);
    tls_end(session);
    *made = NULL;
    return VIDI_EMEMORY;
}

void tls_end(tls *session)
{
    if (session && session->ssl)
        ssl.SSL_free(session->ssl);
    free(session);
}

int tls_feed(tls *session, const char *from, size_t n)
{
    while (n > 0) {
        int part = n < INT_MAX ? (int)n : INT_MAX;
        int written = ssl.BIO_write(session->in, from, part);
        if (written <= 0)
            return VIDI_EMEMORY;
        from += written;
        n -= (size_t)written;
    }
    return VIDI_OK;
}

int tls_drain(tls *session, bytes *to)
{
    for (;;) {
        long pending = ssl.BIO_ctrl(session->out, PENDING, 0, NULL);
        if (pending <= 0)
            return VIDI_OK;
        size_t part = pending < INT_MAX ? (size_t)pending : INT_MAX;
        if (bytes_reserve(to, part))
            return VIDI_EMEMORY;
        int n = ssl.BIO_read(session->out, to->ptr + to->len, (int)part);
        if (n <= 0)
            return VIDI_OK;
        to->len += (size_t)n;
    }
}

/* 0 if libssl only needs bytes or room, VIDI_EIO otherwise. */
static int outcome(const tls *session, int result)
{
    int error = ssl.SSL_get_error(session->ssl, result);
    return error == WANT_READ || error == WANT_WRITE ? 0 : VIDI_EIO;
}

int tls_shake_hands(tls *session, char *why)
{
    ssl.ERR_clear_error();
    int result = ssl.SSL_connect(session->ssl);
    if (result == 1)
        return 1;
    if (outcome(session, result) == 0)
        return 0;
    long verified = ssl.SSL_get_verify_result(session->ssl);
    if (verified != 0)
        snprintf(why, REDIS_WHY, "TLS: the server's certificate is not accepted: %s",
                 ssl.X509_verify_cert_error_string(verified));
    else
        explain(why, "no session could be agreed on");
    return VIDI_EIO;
}

int tls_read(tls *session, char *to, size_t room, char *why)
{
    ssl.ERR_clear_error();
    int n = ssl.SSL_read(session->ssl, to, room < INT_MAX ? (int)room : INT_MAX);
    if (n > 0)
        return n;
    int error = outcome(session, n);
    why[0] = 0;
    if (error && ssl.SSL_get_error(session->ssl, n) == FAILED)
        explain(why, "the session was ended");
    return error;
}

int tls_write(tls *session, const char *from, size_t n)
{
    ssl.ERR_clear_error();
    int written = ssl.SSL_write(session->ssl, from, n < INT_MAX ? (int)n : INT_MAX);
    return written > 0 ? written : outcome(session, written);
}
