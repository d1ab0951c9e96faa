A client certificate can prove a sender: `senderCertificates` of a binding, `--tls-client-ca`, and `--no-tls-client-required` for listeners that apps use too.
