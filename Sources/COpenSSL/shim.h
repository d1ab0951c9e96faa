#pragma once
// OpenSSL's calls that are macros, which Swift cannot see: one line each, no logic.
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static inline long gateway_SSL_CTX_set_min_proto_version(SSL_CTX *c, int v) { return SSL_CTX_set_min_proto_version(c, v); }
static inline long gateway_SSL_CTX_set_mode(SSL_CTX *c, long m) { return SSL_CTX_set_mode(c, m); }
static inline void gateway_SSL_CTX_set_read_ahead(SSL_CTX *c, int on) { SSL_CTX_set_read_ahead(c, on); }
static inline long gateway_SSL_set_tlsext_host_name(SSL *s, const char *n) { return SSL_set_tlsext_host_name(s, n); }
static inline long gateway_SSL_CTX_add1_chain_cert(SSL_CTX *c, X509 *x) { return SSL_CTX_add1_chain_cert(c, x); }
static inline uint64_t gateway_http2_options(void) { return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION; }
