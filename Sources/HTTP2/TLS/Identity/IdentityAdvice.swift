extension HTTP2Error {
    /// What an operator can do about an identity file that was refused; nil for other errors. Fixed sentences, fit for anyone's
    /// eyes.
    package var advice: String? {
        switch code {
        case .legacyEncryption:
            """
            The file is encrypted with an old cipher (such as RC2-40) that this OpenSSL does not offer. Convert it where OpenSSL's \
            legacy provider is installed: openssl pkcs12 -legacy -in old.p12 -nodes -out identity.pem && \
            openssl pkcs12 -export -in identity.pem -out new.p12. Or install the provider (the module legacy.so) here.
            """
        case .badPassphrase:
            "The passphrase is missing or wrong: try it with openssl pkcs12 -in identity.p12 -noout, or openssl pkey -in key.pem -noout."
        case .badKey:
            "There is no usable private key in the file: export certificate and key together."
        case .badCertificate:
            "There is no usable certificate that fits the private key: export certificate and key together, as .p12 or PEM."
        default: nil
        }
    }
}
