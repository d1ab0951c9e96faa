/// One push, ready to leave: everything a transport needs and nothing it must look up.
package struct Push: Sendable {
    /// The caller's own index, given back with the outcome. Unique within one `send`.
    package var slot: Int
    package var token: DeviceToken
    package var environment: PushEnvironment
    /// Bundle id without the push type's suffix.
    package var topic: String
    /// UUIDv5(message, target): the same on every retry, so that a repeat can be recognised.
    package var id: PushID
    package var payload: PushPayload
    /// Nil: not stored by the service beyond its own policy. Zero: one try.
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

/// What a vendor's app expects to receive: the bytes and how they travel.
///
/// By reference, because the pushes of a campaign share it, and each is copied several times on its way.
package final class PushPayload: Sendable, Hashable {
    /// Encoded JSON, at most the transport's limit.
    package let bytes: [UInt8]
    package let type: PushType
    /// APNs: 10 now, 5 power-aware, 1 never wakes.
    package let priority: Int
    /// At most 64 bytes.
    package let collapseID: String?
    /// When it ends for this target, where that is another time than the message's. Zero: one try, now or never.
    package let expiresAt: Timestamp?
    /// Fields that were cut to fit, by name; empty when nothing was lost.
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

/// What kind of push it is. Open, because Apple adds kinds: `unknown` passes through with the caller's own topic.
package enum PushType: Sendable, Hashable {
    case alert, background, voip, complication, fileProvider, mdm, location, liveActivity, pushToTalk, widgets, controls
    case unknown(String)
}

/// How one push of a batch ended.
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

/// How deliveries leave. What the implementer owes:
///
/// - every push of a batch completes exactly once, also on cancellation, shutdown and a broken peer;
/// - completions come in batches, as they happen, and the stream ends after the last of them;
/// - it never retries what may have been processed: `indeterminate` is the caller's to judge. `unsent` it may retry on another connection;
/// - it takes what its credits allow and holds the rest back (the caller bounds how many it has in flight);
/// - a credential that is slow, stopped or unknown does not slow another.
package protocol PushTransport: Sendable {
    /// The name in rows, logs and metrics: `apns`, `fcm`, `null`.
    var name: String { get }

    /// Sends `batch` through one credential of one tenant.
    ///
    /// - Parameters:
    ///   - batch: pushes with distinct slots, each within the transport's size limit.
    ///   - credential: whose connections and keys are used.
    ///   - deadline: how long one push may wait for its answer, from now. What has not left by half of it comes back as `unsent`.
    /// - Returns: completions in batches; it ends after the last one.
    func send(_ batch: [Push], through credential: CredentialKey, deadline: Duration) -> AsyncStream<[PushCompletion]>

    /// The node stops: what was not begun comes back at once as `unsent`, what is on its way may end. Nothing is sent afterwards.
    func drain()
}

extension PushTransport {
    package func drain() {}
}

/// A credential over all tenants: its name is unique only within its tenant.
package struct CredentialKey: Sendable, Hashable {
    package var tenant: TenantID
    package var credential: CredentialID

    package init(tenant: TenantID, credential: CredentialID) {
        self.tenant = tenant
        self.credential = credential
    }
}
