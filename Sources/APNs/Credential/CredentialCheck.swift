internal import HTTP2
internal import Model

/// What is wrong, or odd, with a credential, found without asking Apple. For `doctor`, `apply` and `readyz`.
package struct CredentialFinding: Sendable, Hashable, CustomStringConvertible {
    /// What was found.
    package enum Kind: String, Sendable, Hashable {
        /// The .p8 does not parse as a P-256 private key, or does not sign.
        case unusableKey
        /// An id could not stand in a provider token.
        case unusableIdentifier
        /// The trust roots are not certificates in PEM.
        case unusableTrustRoots
        /// The Team ID does not look like one of Apple's; right for a simulator.
        case unusualTeamID
        /// The Key ID does not look like one of Apple's; right for a simulator.
        case unusualKeyID
    }

    package let kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    /// Whether nothing can be sent with it. Otherwise it is a warning.
    package var isFatal: Bool {
        switch kind {
        case .unusableKey, .unusableIdentifier, .unusableTrustRoots: true
        case .unusualTeamID, .unusualKeyID: false
        }
    }

    /// A fixed sentence, without anything of the key.
    package var description: String {
        switch kind {
        case .unusableKey: "the private key is not a P-256 key in PEM (.p8)"
        case .unusableIdentifier: "the team id or key id has characters that no such id has"
        case .unusableTrustRoots: "the trust roots are not certificates in PEM"
        case .unusualTeamID: "the team id is not ten capital letters and digits"
        case .unusualKeyID: "the key id is not ten capital letters and digits"
        }
    }
}

extension APNsCredential {
    /// Everything that can be found without asking Apple; empty is good. Signs once, in well under a millisecond.
    package func credentialCheck() -> [CredentialFinding] {
        var findings: [CredentialFinding] = []
        do throws(APNsError) {
            let signer = try ProviderTokenSigner(teamID: teamID, keyID: keyID, privateKeyPEM: privateKeyPEM)
            _ = try signer.sign(issuedAt: Timestamp(milliseconds: 0))
        } catch {
            findings.append(CredentialFinding(error.code == .badIdentifier ? .unusableIdentifier : .unusableKey))
        }
        if (try? makeTLSContext()) == nil { findings.append(CredentialFinding(.unusableTrustRoots)) }
        if !Self.looksLikeApples(teamID) { findings.append(CredentialFinding(.unusualTeamID)) }
        if !Self.looksLikeApples(keyID) { findings.append(CredentialFinding(.unusualKeyID)) }
        return findings
    }

    /// The TLS settings of this credential's connections.
    ///
    /// APNs need not select a protocol by ALPN; HTTP/2 is spoken all the same (apns.md §2).
    ///
    /// - Throws: `badTrustRoots` if the roots are not certificates in PEM.
    func makeTLSContext() throws(APNsError) -> TLSContext {
        do {
            return try TLSContext(trustRoots: trustRootsPEM.map { .pem($0) } ?? .system, requiresALPN: false)
        } catch {
            throw APNsError(.badTrustRoots, underlying: error.debugDescription)
        }
    }

    private static func looksLikeApples(_ id: String) -> Bool {
        id.utf8.count == 10
            && id.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
            }
    }
}
