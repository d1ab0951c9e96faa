internal import HTTP2
package import Model

/// A problem or oddity of a credential, found without a request to Apple. For `doctor`, `apply` and `readyz`.
package struct CredentialFinding: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of findings.
    package enum Kind: Sendable, Hashable {
        /// The .p8 is not a P-256 private key, or cannot sign.
        case unusableKey
        /// An id is not allowed in a provider token.
        case unusableIdentifier
        /// The trust roots are not certificates in PEM.
        case unusableTrustRoots
        /// OpenSSL does not accept the certificate and its key, for example because the key is too short.
        case unusableCertificate
        /// The Team ID does not have the form of Apple's ids; this is normal for a simulator.
        case unusualTeamID
        /// The Key ID does not have the form of Apple's ids; this is normal for a simulator.
        case unusualKeyID
        /// The certificate is not valid yet.
        case notYetValid
        /// The certificate has expired.
        case expired
        /// The certificate expires in this number of whole days.
        case expiresSoon(days: Int64)
        /// The certificate is not valid for the environment of a platform that uses it.
        case wrongEnvironment(PushEnvironment)
        /// The certificate, or a topic-specific key, does not contain the topic of a platform that uses it.
        case topicNotServed(String)
        /// The certificate names no topic, so its permitted topics are unknown.
        case unnamedTopics
    }

    package let kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    /// Whether the credential cannot send what it is used for. Otherwise the finding is a warning.
    package var isFatal: Bool {
        switch kind {
        case .unusableKey, .unusableIdentifier, .unusableTrustRoots, .unusableCertificate, .expired, .wrongEnvironment,
            .topicNotServed:
            true
        case .unusualTeamID, .unusualKeyID, .notYetValid, .expiresSoon, .unnamedTopics: false
        }
    }

    /// A fixed sentence that contains nothing of the key.
    package var description: String {
        switch kind {
        case .unusableKey: "the private key is not a P-256 key in PEM (.p8)"
        case .unusableIdentifier: "the team id or key id contains characters that are not allowed"
        case .unusableTrustRoots: "the trust roots are not certificates in PEM"
        case .unusableCertificate: "the certificate and its key cannot be used for TLS"
        case .unusualTeamID: "the team id is not ten capital letters and digits"
        case .unusualKeyID: "the key id is not ten capital letters and digits"
        case .notYetValid: "the certificate is not valid yet"
        case .expired: "the certificate has expired"
        case .expiresSoon(let days): "the certificate expires in \(days) days"
        case .wrongEnvironment(let environment): "the certificate is not for \(environment.rawValue)"
        case .topicNotServed(let topic): "the credential does not serve the topic \(topic)"
        case .unnamedTopics: "the certificate does not name a topic"
        }
    }
}

extension APNsCredential {
    /// 30 days: enough time to renew a certificate before it expires (Apple's are valid for a year).
    package static let expiryWarningDays: Int64 = 30

    /// All problems of the credential itself; empty if it is good. It signs once, which takes well under a millisecond.
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
    /// APNs need not select a protocol by ALPN; HTTP/2 is used anyway (docs/contracts/apns.md#2).
    ///
    /// - Throws: `badTrustRoots` if the roots are not certificates in PEM, `badCertificate` if OpenSSL does not accept the certificate.
    func makeTLSContext() throws(APNsError) -> TLSContext {
        var identity: TLSIdentity?
        if case .certificate(let shown) = proof { identity = shown }
        let roots: TrustRoots = trustRootsPEM.map { .pem($0) } ?? .system
        do {
            // Load the roots alone first, to find out which of the two is invalid.
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
