extension HTTP2Error {
    /// Instructions for an operator whose identity file was refused; nil for other errors. The texts are fixed and contain no secrets.
    package var advice: String? {
        switch code {
        case .legacyEncryption:
            """
            The file is encrypted with an old cipher (such as RC2-40) that this OpenSSL does not offer. Convert it where OpenSSL's \
            legacy provider is installed: openssl pkcs12 -legacy -in old.p12 -nodes -out identity.pem && \
            openssl pkcs12 -export -in identity.pem -out new.p12. Or install the provider (the module legacy.so) here.
            """
        case .badPassphrase:
            "The passphrase is missing or wrong. Test it with openssl pkcs12 -in identity.p12 -noout, or openssl pkey -in key.pem -noout."
        case .badKey:
            "The file contains no usable private key. Export the certificate and the key together."
        case .badCertificate:
            "The file contains no usable certificate for the private key. Export the certificate and the key together, as .p12 or PEM."
        default: nil
        }
    }
}
