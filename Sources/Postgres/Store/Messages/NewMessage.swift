package import Model
import PostgresClient

/// A message to be stored, with everything that its acceptance requires.
package struct NewMessage: Sendable, Hashable {
    package var id: MessageID
    package var scope: AppScope
    package var sender: SenderID?
    package var content: Content
    package var collapseID: String?
    package var lane: Lane
    package var times: Times
    package var fallback: JSON?
    package var targets: Targets
    package var idempotency: IdempotencyKey?
    /// Set when this node passes the slices on in memory: they are inserted as already leased by it.
    package var claim: Claim?
    /// The sender's API key, as the audit names it. Nil: a vendor's call without a key of the gateway.
    package var submitter: String?
    /// Whether it is paused until someone else approves it.
    package var awaitsApproval = false
    /// The recipients that it takes from those that the submitter's key has per day. Nil: the key has no limit.
    package var share: Share?
    /// The place of its call in a sampled trace. Nil: it is not traced.
    package var trace: TraceContext?
    /// How it is compared with messages of other entry points. Nil: it is not.
    package var duplicateGuard: DuplicateGuard?

    package init(
        id: MessageID,
        scope: AppScope,
        sender: SenderID? = nil,
        content: Content,
        collapseID: String? = nil,
        lane: Lane,
        times: Times,
        fallback: JSON? = nil,
        targets: Targets,
        idempotency: IdempotencyKey? = nil,
        claim: Claim? = nil
    ) {
        self.id = id
        self.scope = scope
        self.sender = sender
        self.content = content
        self.collapseID = collapseID
        self.lane = lane
        self.times = times
        self.fallback = fallback
        self.targets = targets
        self.idempotency = idempotency
        self.claim = claim
    }

    /// The recipients of a message, and how many those of all messages of its key may be on one UTC day.
    package struct Share: Sendable, Hashable {
        package var recipients: Int
        package var limit: Int

        package init(recipients: Int, limit: Int) {
            self.recipients = recipients
            self.limit = limit
        }
    }

    /// The digest by which a message is compared with those of other entry points, and how far before it they may be due.
    package struct DuplicateGuard: Sendable, Hashable {
        package var fingerprint: MessageFingerprint
        package var window: Duration

        package init(fingerprint: MessageFingerprint, window: Duration) {
            self.fingerprint = fingerprint
            self.window = window
        }
    }

    /// The times at which a message is accepted, due and expired.
    package struct Times: Sendable, Hashable {
        package var acceptedAt: Timestamp
        /// When the first target is due. For a local schedule, when the first zone reaches the time.
        package var dueAt: Timestamp
        package var localDue: LocalTime?
        /// When the last target expires.
        package var expiresAt: Timestamp

        package init(acceptedAt: Timestamp, dueAt: Timestamp, localDue: LocalTime? = nil, expiresAt: Timestamp) {
            self.acceptedAt = acceptedAt
            self.dueAt = dueAt
            self.localDue = localDue
            self.expiresAt = expiresAt
        }
    }

    /// The targets of a message.
    package struct Targets: Sendable, Hashable {
        /// Nil: not known yet, because the audience is expanded later.
        package var recipients: Int?
        /// The audience of an `expand` slice. Nil: everyone, or the message has no such slice.
        package var audience: Audience?
        package var slices: [NewSlice]
        /// Targets that are settled at once. Their delivery rows are written in the same transaction.
        package var suppressed: [SuppressedTarget]

        package init(
            recipients: Int?,
            audience: Audience? = nil,
            slices: [NewSlice] = [],
            suppressed: [SuppressedTarget] = []
        ) {
            self.recipients = recipients
            self.audience = audience
            self.slices = slices
            self.suppressed = suppressed
        }
    }

    /// The node that leases the new slices, and for how long.
    package struct Claim: Sendable, Hashable {
        package var node: NodeID
        package var lease: Duration

        package init(node: NodeID, lease: Duration) {
            self.node = node
            self.lease = lease
        }
    }
}

/// A slice to be stored.
package struct NewSlice: Sendable, Hashable {
    package var number: Int32
    package var work: SliceLease.Work
    package var targets: [TargetID]
    package var addresses: [Address?]
    /// The slice's own due time, if it is later than the message's. Nil: due with the message. A slice with its own time is not passed on in memory.
    package var dueAt: Timestamp?

    package init(
        number: Int32,
        work: SliceLease.Work,
        targets: [TargetID] = [],
        addresses: [Address?] = [],
        dueAt: Timestamp? = nil
    ) {
        self.number = number
        self.work = work
        self.targets = targets
        self.addresses = addresses
        self.dueAt = dueAt
    }
}

/// A target that gets no push. Its delivery row contains the reason.
package struct SuppressedTarget: Sendable, Hashable {
    package var target: TargetID
    package var identity: IdentityID?
    package var device: DeviceID?
    package var address: Address?
    package var reason: SuppressionReason

    package init(
        target: TargetID,
        identity: IdentityID?,
        device: DeviceID?,
        address: Address?,
        reason: SuppressionReason
    ) {
        self.target = target
        self.identity = identity
        self.device = device
        self.address = address
        self.reason = reason
    }
}
