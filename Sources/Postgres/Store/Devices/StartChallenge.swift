package import Model
package import PostgresClient

/// Stores a challenge for the identities of a device, in place of an earlier one. Nil when the device does not exist. Nothing is stored when it has no token.
package struct StartChallenge: StoreWrite {
    let device: DeviceID
    let digest: [UInt8]
    let at: Timestamp
    let endsAt: Timestamp

    /// - Parameters:
    ///   - device: the device that is to answer.
    ///   - digest: SHA-256 of the nonce.
    ///   - at: now, on the clock of registrations.
    ///   - endsAt: an answer after this is refused.
    package init(_ device: DeviceID, digest: [UInt8], at: Timestamp, endsAt: Timestamp) {
        self.device = device
        self.digest = digest
        self.at = at
        self.endsAt = endsAt
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("start_challenge", 5)

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(device), .bytes(digest), .time(at), .time(endsAt))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> ChallengedDevice? {
        guard let row = result.first else { return nil }
        return ChallengedDevice(
            app: try row.id("app_id"),
            platform: Platform(rawValue: try row.text("platform")),
            environment: PushEnvironment(rawValue: try row.text("environment")) ?? .production,
            token: try row.optionalText("token").map { DeviceToken(stored: $0) },
            waitSeconds: try row.optionalInt("wait")
        )
    }
}

/// The place to which the nonce of a challenge is sent.
package struct ChallengedDevice: Sendable, Hashable {
    package var app: AppID
    /// Nil for a platform that this program does not know.
    package var platform: Platform?
    package var environment: PushEnvironment
    /// Nil: the device has no token that works, so that nothing was stored.
    package var token: DeviceToken?
    /// The seconds until the device may be challenged again; nothing was stored. Nil: the challenge is stored.
    package var waitSeconds: Int?
}
