/// What a tenant provisioned to reach Apple: a team's signing key, and for a simulator where it is and whom to trust.
///
/// Made by the gateway from an unsealed credential row; given to `APNsTransport.open`. Prints nothing of the key (I7).
package struct APNsCredential: Sendable, Hashable {
    /// The Team ID, ten capitals and digits at Apple.
    package var teamID: String
    /// The Key ID, ten capitals and digits at Apple.
    package var keyID: String
    /// The bytes of the .p8 file: PEM, PKCS#8, EC P-256.
    package var privateKeyPEM: [UInt8]
    /// Instead of Apple's hosts, for both environments.
    package var endpoint: APNsEndpoint?
    /// Instead of the system's trust roots: certificates in PEM.
    package var trustRootsPEM: [UInt8]?

    package init(
        teamID: String,
        keyID: String,
        privateKeyPEM: [UInt8],
        endpoint: APNsEndpoint? = nil,
        trustRootsPEM: [UInt8]? = nil
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKeyPEM = privateKeyPEM
        self.endpoint = endpoint
        self.trustRootsPEM = trustRootsPEM
    }
}

extension APNsCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String {
        "APNsCredential(team \(teamID), key \(keyID)\(endpoint.map { ", \($0)" } ?? ""))"
    }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(reflecting: description) }
}
