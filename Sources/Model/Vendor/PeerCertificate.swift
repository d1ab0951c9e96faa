/// The certificate that the client of a connection showed, and that the listener verified.
package struct PeerCertificate: Sendable, Hashable {
    /// The SHA-256 of the certificate (DER), 64 lower-case hex digits.
    package var fingerprint: String
    /// The host names and URIs that the certificate is valid for; without any, the common name of its subject. Lower-case.
    package var names: Set<String>

    package init(fingerprint: String, names: some Sequence<String>) {
        self.fingerprint = fingerprint
        self.names = Set(names.map { $0.lowercased() })
    }

    /// One certificate, or all of one name, as a setting lists it: `sha256:…` with 64 hex digits, also in pairs with colons as `openssl x509 -fingerprint`
    /// prints them; or a name.
    package enum Pattern: Sendable, Hashable {
        case fingerprint(String)
        case name(String)

        /// 253 bytes, the longest host name.
        package static let nameBytes = 253
        private static let prefix = "sha256:"

        /// Nil: the text is neither.
        package init?(_ text: String) {
            let text = text.lowercased()
            if text.hasPrefix(Self.prefix) {
                let digits = text.dropFirst(Self.prefix.count).filter { $0 != ":" }
                guard digits.utf8.count == 64, HexCoding.decode(digits) != nil else { return nil }
                self = .fingerprint(digits)
            } else {
                guard (1...Self.nameBytes).contains(text.utf8.count), text.allSatisfy({ !$0.isWhitespace }) else {
                    return nil
                }
                self = .name(text)
            }
        }
    }

    package func matches(_ pattern: Pattern) -> Bool {
        switch pattern {
        case .fingerprint(let digits): digits == fingerprint
        case .name(let name): names.contains(name)
        }
    }
}
