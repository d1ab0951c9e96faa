package import HTTP2
package import Model

/// The credential of a tenant for Apple: a team's signing key or an app's certificate. For a simulator it also contains the address and the trust roots.
///
/// The gateway creates it from an unsealed credential row and gives it to `APNsTransport.open`. Its descriptions contain nothing of the key (I7).
package struct APNsCredential: Sendable, Hashable {
    /// A team's key for provider tokens.
    package struct SigningKey: Sendable, Hashable {
        /// The Team ID; at Apple ten capital letters and digits.
        package var teamID: String
        /// The Key ID; at Apple ten capital letters and digits.
        package var keyID: String
        /// The bytes of the .p8 file: PEM, PKCS#8, EC P-256.
        package var privateKeyPEM: [UInt8]
        /// The topics of a topic-specific key, if its owner stated them; nil for every topic of the team. Apple allows at most 400 (docs/contracts/apns.md#3).
        /// Only `preflight` reads it: Apple decides by its own list.
        package var topics: [String]?

        package init(teamID: String, keyID: String, privateKeyPEM: [UInt8], topics: [String]? = nil) {
            self.teamID = teamID
            self.keyID = keyID
            self.privateKeyPEM = privateKeyPEM
            self.topics = topics
        }
    }

    /// How the client authenticates to Apple.
    package enum Proof: Sendable, Hashable {
        /// A provider token on every request.
        case token(SigningKey)
        /// A certificate in the handshake; created by `TLSIdentity(pem:…)` or `TLSIdentity(pkcs12:…)`.
        case certificate(TLSIdentity)
    }

    package var proof: Proof
    /// Replaces Apple's hosts, for both environments.
    package var endpoint: APNsEndpoint?
    /// Replaces Apple's hosts for channel management, for both environments.
    package var channelEndpoint: APNsEndpoint?
    /// Replaces the system's trust roots: certificates in PEM.
    package var trustRootsPEM: [UInt8]?

    /// Creates a credential of either kind.
    package init(
        _ proof: Proof,
        endpoint: APNsEndpoint? = nil,
        channelEndpoint: APNsEndpoint? = nil,
        trustRootsPEM: [UInt8]? = nil
    ) {
        self.proof = proof
        self.endpoint = endpoint
        self.channelEndpoint = channelEndpoint
        self.trustRootsPEM = trustRootsPEM
    }

    /// Creates a credential from a team's key.
    package init(
        teamID: String,
        keyID: String,
        privateKeyPEM: [UInt8],
        endpoint: APNsEndpoint? = nil,
        trustRootsPEM: [UInt8]? = nil
    ) {
        self.init(
            .token(SigningKey(teamID: teamID, keyID: keyID, privateKeyPEM: privateKeyPEM)),
            endpoint: endpoint,
            trustRootsPEM: trustRootsPEM
        )
    }

    /// Whether it may push to an environment: a certificate may name only one of them, a key states none.
    ///
    /// In the wrong environment TLS succeeds and then every connection ends in GOAWAY `BadCertificateEnvironment` (docs/contracts/apns.md#4), so it is not even
    /// dialled.
    package func fits(_ environment: PushEnvironment) -> Bool {
        guard case .certificate(let identity) = proof else { return true }
        let named = identity.certificate.pushScope.environments
        return named.isEmpty || named.contains(environment == .production ? .production : .sandbox)
    }
}

extension APNsCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String {
        let place = endpoint.map { ", \($0)" } ?? ""
        switch proof {
        case .token(let key): return "APNsCredential(team \(key.teamID), key \(key.keyID)\(place))"
        case .certificate(let identity): return "APNsCredential(\(identity.certificate)\(place))"
        }
    }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(reflecting: description) }
}

extension APNsCredential.SigningKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "SigningKey(team \(teamID), key \(keyID))" }
    package var customMirror: Mirror { Mirror(reflecting: description) }
}
