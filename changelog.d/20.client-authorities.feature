The authorities of client certificates (`tls.client.ca`) are replaced without a restart, like the certificate.
