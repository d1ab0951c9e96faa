/// One push with everything that a transport needs, so that it need not look up anything.
package struct Push: Sendable {
    /// The caller's own index, which the completion contains. Unique within one `send`.
    package var slot: Int
    package var token: DeviceToken
    package var environment: PushEnvironment
    /// The bundle id without the suffix of the push type.
    package var topic: String
    /// UUIDv5(message, target): the same on every retry, so that a repeated push can be recognised.
    package var id: PushID
    package var payload: PushPayload
    /// Nil: stored by the service according to its own policy. Zero: a single attempt.
    package var expiresAt: Timestamp?

    @inlinable
    package init(
        slot: Int,
        token: DeviceToken,
        environment: PushEnvironment,
        topic: String,
        id: PushID,
        payload: PushPayload,
        expiresAt: Timestamp?
    ) {
        self.slot = slot
        self.token = token
        self.environment = environment
        self.topic = topic
        self.id = id
        self.payload = payload
        self.expiresAt = expiresAt
    }
}

/// The payload that a vendor's app receives, with its delivery options.
///
/// A class, because the pushes of a campaign share it, and each push is copied several times.
package final class PushPayload: Sendable, Hashable {
    /// Encoded JSON, at most the transport's limit.
    package let bytes: [UInt8]
    package let type: PushType
    /// For APNs: 10 immediately, 5 power-aware, 1 never wakes the device.
    package let priority: Int
    /// At most 64 bytes.
    package let collapseID: String?
    /// When the push expires for this target, if it differs from the message's expiration. Zero: a single attempt.
    package let expiresAt: Timestamp?
    /// The names of the fields that were shortened to fit, and of the parts that the target's dialect cannot show (`NormalizedContent`); empty when nothing was
    /// lost.
    package let reduced: [String]

    package init(
        bytes: [UInt8],
        type: PushType = .alert,
        priority: Int = 10,
        collapseID: String? = nil,
        expiresAt: Timestamp? = nil,
        reduced: [String] = []
    ) {
        self.bytes = bytes
        self.type = type
        self.priority = priority
        self.collapseID = collapseID
        self.expiresAt = expiresAt
        self.reduced = reduced
    }

    /// The same payload with further names in `reduced`.
    package func losing(_ names: [String]) -> PushPayload {
        guard !names.isEmpty else { return self }
        return PushPayload(
            bytes: bytes,
            type: type,
            priority: priority,
            collapseID: collapseID,
            expiresAt: expiresAt,
            reduced: reduced + names
        )
    }

    package static func == (left: PushPayload, right: PushPayload) -> Bool {
        left === right
            || left.bytes == right.bytes && left.type == right.type && left.priority == right.priority
                && left.collapseID == right.collapseID && left.expiresAt == right.expiresAt
                && left.reduced == right.reduced
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytes)
        hasher.combine(type)
    }
}

/// The kind of push. Open, because Apple adds kinds: `unknown` is passed on unchanged, with the caller's own topic.
package enum PushType: Sendable, Hashable {
    case alert, background, voip, complication, fileProvider, mdm, location, liveActivity, pushToTalk, widgets, controls
    case unknown(String)
}

/// The result of one push of a batch.
package struct PushCompletion: Sendable, Hashable {
    /// The `slot` of the push.
    package var slot: Int
    package var outcome: Outcome

    @inlinable
    package init(slot: Int, outcome: Outcome) {
        self.slot = slot
        self.outcome = outcome
    }
}

/// Sends pushes. An implementation must follow these rules:
///
/// - every push of a batch completes exactly once, also on cancellation, shutdown and a broken peer;
/// - completions come in batches, as they happen, and the stream ends after the last of them;
/// - a push that may have been processed is not retried: the caller decides about `indeterminate`. An `unsent` push may be retried on another connection;
/// - the transport accepts as many pushes as its credits permit and delays the rest (the caller limits how many are in flight);
/// - a credential that is slow, stopped or unknown does not slow down another.
package protocol PushTransport: Sendable {
    /// The name in rows, logs and metrics: `apns`, `fcm`, `null`.
    var name: String { get }

    /// Sends `batch` through one credential of one tenant.
    ///
    /// - Parameters:
    ///   - batch: pushes with distinct slots, each within the transport's size limit.
    ///   - credential: the credential whose connections and keys are used.
    ///   - deadline: how long one push may wait for its answer, from now. A push that is not sent within half of this time completes as `unsent`.
    /// - Returns: completions in batches. The stream ends after the last one.
    func send(_ batch: [Push], through credential: CredentialKey, deadline: Duration) -> AsyncStream<[PushCompletion]>

    /// Called when the node stops: pushes that were not started complete at once as `unsent`, and started pushes may finish. Nothing is sent afterwards.
    func drain()
}

/// Identifies a credential over all tenants: its name is unique only within its tenant.
package struct CredentialKey: Sendable, Hashable {
    package var tenant: TenantID
    package var credential: CredentialID

    package init(tenant: TenantID, credential: CredentialID) {
        self.tenant = tenant
        self.credential = credential
    }
}
