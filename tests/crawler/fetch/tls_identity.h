/* Certificates that sign themselves, for servers of the tests. */
#ifndef TESTS_CRAWLER_FETCH_TLS_IDENTITY_H
#define TESTS_CRAWLER_FETCH_TLS_IDENTITY_H

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "support/check.h"

typedef struct identity {
    EVP_PKEY *key;
    X509 *certificate;
} identity;

/* A certificate that signs itself. `name` is its subject, `alternative` its DNS name, if any. */
static inline identity make_identity(const char *name, const char *alternative, long seconds)
{
    identity made = {EVP_EC_gen("P-256"), X509_new()};
    X509 *x = made.certificate;
    assert_non_null(made.key);
    assert_non_null(x);
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -7200);
    X509_gmtime_adj(X509_getm_notAfter(x), seconds);
    X509_set_pubkey(x, made.key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    if (alternative) {
        char value[100];
        snprintf(value, sizeof value, "DNS:%s", alternative);
        X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, value);
        assert_non_null(extension);
        X509_add_ext(x, extension, -1);
        X509_EXTENSION_free(extension);
    }
    assert_true(X509_sign(x, made.key, EVP_sha256()) > 0);
    return made;
}

static inline void free_identity(identity *identity)
{
    EVP_PKEY_free(identity->key);
    X509_free(identity->certificate);
}

static inline void write_certificate(const identity *identity, const char *path)
{
    BIO *file = BIO_new_file(path, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_bio_X509(file, identity->certificate), 1);
    BIO_free(file);
}

#endif
