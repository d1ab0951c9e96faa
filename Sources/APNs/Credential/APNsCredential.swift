package import HTTP2
package import Model

/// What a tenant provisioned to reach Apple: a team's signing key or an app's certificate, and for a simulator where it is and whom to trust.
///
/// Made by the gateway from an unsealed credential row; given to `APNsTransport.open`. Prints nothing of the key (I7).
package struct APNsCredential: Sendable, Hashable {
    /// A team's key for provider tokens.
    package struct SigningKey: Sendable, Hashable {
        /// The Team ID, ten capitals and digits at Apple.
        package var teamID: String
        /// The Key ID, ten capitals and digits at Apple.
        package var keyID: String
        /// The bytes of the .p8 file: PEM, PKCS#8, EC P-256.
        package var privateKeyPEM: [UInt8]
        /// What the key may push to, if it is a topic-specific one and its owner says so; nil for every topic of the team. At most 400 at Apple
        /// (docs/contracts/apns.md#3). Only `preflight` reads it: Apple judges by its own list.
        package var topics: [String]?

        package init(teamID: String, keyID: String, privateKeyPEM: [UInt8], topics: [String]? = nil) {
            self.teamID = teamID
            self.keyID = keyID
            self.privateKeyPEM = privateKeyPEM
            self.topics = topics
        }
    }

    /// What proves to Apple who is speaking.
    package enum Proof: Sendable, Hashable {
        /// A provider token on every request.
        case token(SigningKey)
        /// A certificate in the handshake; made by `TLSIdentity(pem:…)` or `TLSIdentity(pkcs12:…)`.
        case certificate(TLSIdentity)
    }

    package var proof: Proof
    /// Instead of Apple's hosts, for both environments.
    package var endpoint: APNsEndpoint?
    /// Instead of Apple's hosts for channel management, for both environments.
    package var channelEndpoint: APNsEndpoint?
    /// Instead of the system's trust roots: certificates in PEM.
    package var trustRootsPEM: [UInt8]?

    /// A credential of either kind.
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

    /// A team's key.
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

    /// Whether it may push to an environment: a certificate may name only one of them, a key says nothing of itself.
    ///
    /// With the wrong one TLS succeeds and then everything ends in GOAWAY `BadCertificateEnvironment` (docs/contracts/apns.md#4), so it is not even dialled.
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
