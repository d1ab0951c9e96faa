internal import HTTP2
package import Model

/// What is wrong, or odd, with a credential, found without asking Apple. For `doctor`, `apply` and `readyz`.
package struct CredentialFinding: Sendable, Hashable, CustomStringConvertible {
    /// What was found.
    package enum Kind: Sendable, Hashable {
        /// The .p8 does not parse as a P-256 private key, or does not sign.
        case unusableKey
        /// An id could not stand in a provider token.
        case unusableIdentifier
        /// The trust roots are not certificates in PEM.
        case unusableTrustRoots
        /// OpenSSL does not take the certificate and its key, such as for a key that is too short.
        case unusableCertificate
        /// The Team ID does not look like one of Apple's; right for a simulator.
        case unusualTeamID
        /// The Key ID does not look like one of Apple's; right for a simulator.
        case unusualKeyID
        /// The certificate is not valid yet.
        case notYetValid
        /// The certificate has ended.
        case expired
        /// The certificate ends soon, in so many whole days.
        case expiresSoon(days: Int64)
        /// The certificate is for the other environment than a platform wants it for.
        case wrongEnvironment(PushEnvironment)
        /// The certificate, or a topic-specific key, does not name a topic that a platform wants it for.
        case topicNotServed(String)
        /// The certificate names no topic, so that nobody can say what it may push to.
        case unnamedTopics
    }

    package let kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    /// Whether nothing can be sent with it, as it is wanted. Otherwise it is a warning.
    package var isFatal: Bool {
        switch kind {
        case .unusableKey, .unusableIdentifier, .unusableTrustRoots, .unusableCertificate, .expired, .wrongEnvironment,
            .topicNotServed:
            true
        case .unusualTeamID, .unusualKeyID, .notYetValid, .expiresSoon, .unnamedTopics: false
        }
    }

    /// A fixed sentence, without anything of the key.
    package var description: String {
        switch kind {
        case .unusableKey: "the private key is not a P-256 key in PEM (.p8)"
        case .unusableIdentifier: "the team id or key id has characters that no such id has"
        case .unusableTrustRoots: "the trust roots are not certificates in PEM"
        case .unusableCertificate: "the certificate and its key cannot be used for TLS"
        case .unusualTeamID: "the team id is not ten capital letters and digits"
        case .unusualKeyID: "the key id is not ten capital letters and digits"
        case .notYetValid: "the certificate is not valid yet"
        case .expired: "the certificate has expired"
        case .expiresSoon(let days): "the certificate expires in \(days) days"
        case .wrongEnvironment(let environment): "the certificate is not for \(environment.rawValue)"
        case .topicNotServed(let topic): "the credential does not serve the topic \(topic)"
        case .unnamedTopics: "the certificate names no topic"
        }
    }
}

extension APNsCredential {
    /// A month: time enough to renew a certificate before it ends (Apple's last a year).
    package static let expiryWarningDays: Int64 = 30

    /// Everything that is wrong with the credential by itself; empty is good. Signs once, in well under a millisecond.
    package func credentialCheck() -> [CredentialFinding] {
        var findings: [CredentialFinding.Kind] = []
        switch proof {
        case .token(let key): findings += key.check()
        case .certificate(let identity): if identity.certificate.topics.isEmpty { findings.append(.unnamedTopics) }
        }
        do throws(APNsError) {
            _ = try makeTLSContext()
        } catch {
            findings.append(error.code == .badCertificate ? .unusableCertificate : .unusableTrustRoots)
        }
        if case .token(let key) = proof { findings += key.oddities() }
        return findings.map(CredentialFinding.init)
    }

    /// The TLS settings of this credential's connections.
    ///
    /// APNs need not select a protocol by ALPN; HTTP/2 is spoken all the same (docs/contracts/apns.md#2).
    ///
    /// - Throws: `badTrustRoots` if the roots are not certificates in PEM, `badCertificate` if OpenSSL does not take the certificate.
    func makeTLSContext() throws(APNsError) -> TLSContext {
        var identity: TLSIdentity?
        if case .certificate(let shown) = proof { identity = shown }
        let roots: TrustRoots = trustRootsPEM.map { .pem($0) } ?? .system
        do {
            // The roots by themselves first, to know which of the two is to blame.
            if identity != nil { _ = try TLSContext(trustRoots: roots, requiresALPN: false) }
        } catch {
            throw APNsError(.badTrustRoots, underlying: error.debugDescription)
        }
        do {
            return try TLSContext(trustRoots: roots, identity: identity, requiresALPN: false)
        } catch {
            throw APNsError(identity == nil ? .badTrustRoots : .badCertificate, underlying: error.debugDescription)
        }
    }
}

extension APNsCredential.SigningKey {
    fileprivate func check() -> [CredentialFinding.Kind] {
        do throws(APNsError) {
            let signer = try ProviderTokenSigner(teamID: teamID, keyID: keyID, privateKeyPEM: privateKeyPEM)
            _ = try signer.sign(issuedAt: Timestamp(milliseconds: 0))
            return []
        } catch {
            return [error.code == .badIdentifier ? .unusableIdentifier : .unusableKey]
        }
    }

    fileprivate func oddities() -> [CredentialFinding.Kind] {
        var oddities: [CredentialFinding.Kind] = []
        if !Self.looksLikeApples(teamID) { oddities.append(.unusualTeamID) }
        if !Self.looksLikeApples(keyID) { oddities.append(.unusualKeyID) }
        return oddities
    }

    private static func looksLikeApples(_ id: String) -> Bool {
        id.utf8.count == 10
            && id.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
            }
    }
}
