#pragma once
// OpenSSL macros as functions, because Swift cannot import macros. Each is one line without logic.
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

static inline long gateway_SSL_CTX_set_min_proto_version(SSL_CTX *c, int v) { return SSL_CTX_set_min_proto_version(c, v); }
static inline long gateway_SSL_CTX_set_mode(SSL_CTX *c, long m) { return SSL_CTX_set_mode(c, m); }
static inline void gateway_SSL_CTX_set_read_ahead(SSL_CTX *c, int on) { SSL_CTX_set_read_ahead(c, on); }
static inline long gateway_SSL_set_tlsext_host_name(SSL *s, const char *n) { return SSL_set_tlsext_host_name(s, n); }
static inline long gateway_SSL_CTX_add1_chain_cert(SSL_CTX *c, X509 *x) { return SSL_CTX_add1_chain_cert(c, x); }
static inline uint64_t gateway_http2_options(void) { return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION; }
static inline long gateway_SSL_CTX_set_session_cache_mode(SSL_CTX *c, long m) { return SSL_CTX_set_session_cache_mode(c, m); }
static inline void gateway_OPENSSL_clear_free(void *p, size_t n) { OPENSSL_clear_free(p, n); }
static inline void gateway_OPENSSL_free(void *p) { OPENSSL_free(p); }
static inline int gateway_sk_X509_num(const STACK_OF(X509) *s) { return sk_X509_num(s); }
static inline X509 *gateway_sk_X509_value(const STACK_OF(X509) *s, int i) { return sk_X509_value(s, i); }
static inline void gateway_sk_X509_pop_free(STACK_OF(X509) *s) { sk_X509_pop_free(s, X509_free); }
