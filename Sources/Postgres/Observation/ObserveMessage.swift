package import Model
package import PostgresClient
package import Store

/// Stores a message that an upstream sent, with a delivery for each target that its call names.
package struct ObserveMessage: StoreWrite {
    package enum Outcome: String, Sendable, Hashable {
        case new
        /// The upstream's name of the message belongs to a message already.
        case known
        case unknownApp
    }

    /// A target that the upstream pushed to.
    package struct Target: Sendable, Hashable {
        package var target: TargetID
        /// Nil: no identity here has the address.
        package var identity: IdentityID?
        package var address: Address?

        package init(target: TargetID, identity: IdentityID?, address: Address?) {
            self.target = target
            self.identity = identity
            self.address = address
        }
    }

    /// The upstream's names of a message.
    package struct Names: Sendable, Hashable {
        package var references: [String]
        /// The number, if the upstream counts its messages.
        package var number: Int64?
        /// Whether the upstream sends a paid message to a device that does not report this one.
        package var hasPaidFallback: Bool

        package init(references: [String], number: Int64? = nil, hasPaidFallback: Bool = false) {
            self.references = references
            self.number = number
            self.hasPaidFallback = hasPaidFallback
        }
    }

    /// The message to be stored.
    package struct Message: Sendable, Hashable {
        package var id: MessageID
        package var scope: AppScope
        package var upstream: CredentialID
        package var names: Names
        package var content: Content
        package var collapseID: String?
        package var lane: Lane
        package var times: NewMessage.Times
        package var fallback: JSON?
        /// Nil: the call names no targets.
        package var recipients: Int?
        package var targets: [Target]
        /// How it is compared with messages of other entry points. Nil: it is not.
        package var duplicateGuard: NewMessage.DuplicateGuard?

        package init(
            id: MessageID,
            scope: AppScope,
            upstream: CredentialID,
            names: Names,
            content: Content,
            collapseID: String? = nil,
            lane: Lane,
            times: NewMessage.Times,
            fallback: JSON? = nil,
            recipients: Int? = nil,
            targets: [Target] = []
        ) {
            self.id = id
            self.scope = scope
            self.upstream = upstream
            self.names = names
            self.content = content
            self.collapseID = collapseID
            self.lane = lane
            self.times = times
            self.fallback = fallback
            self.recipients = recipients
            self.targets = targets
        }
    }

    let message: Message

    package init(_ message: Message) {
        self.message = message
    }

    /// As many targets as one slice has are written in about the time of a flush.
    package var sharesCommit: Bool { message.targets.count <= SliceLease.targetLimit }

    private static let routine = Routine<StoreCall, Message>(
        "observe_message",
        select: { "SELECT \($0) AS outcome" },
        { p in
            p.own { $0.scope }
            p["p_id"] = { .id($1.id) }
            p["p_upstream"] = { .id($1.upstream) }
            p["p_refs"] = { .strings($1.names.references) }
            p["p_number"] = { .int64($1.names.number) }
            p["p_paid"] = { .bool($1.names.hasPaidFallback) }
            p["p_content"] = { .document(ContentCoding.encode($1.content, trace: nil)) }
            p["p_collapse"] = { .string($1.collapseID) }
            p["p_lane"] = { .int16($1.lane.rawValue) }
            p["p_accepted"] = { .time($1.times.acceptedAt) }
            p["p_due"] = { .time($1.times.dueAt) }
            p["p_due_day"] = { .int32($1.times.dueAt.day) }
            p["p_due_local"] = { .int64($1.times.localDue?.seconds) }
            p["p_expires"] = { .time($1.times.expiresAt) }
            p["p_fallback"] = { .document($1.fallback) }
            p["p_recipients"] = { .int($1.recipients) }
            p["p_targets"] = { .ids($1.targets.map(\.target)) }
            p["p_identities"] = { .ids($1.targets.map(\.identity)) }
            p["p_addresses"] = { .strings($1.targets.map { $0.address?.canonical }) }
            p["p_fingerprint"] = { .bytes($1.duplicateGuard?.fingerprint.bytes) }
            p["p_window"] = { .interval($1.duplicateGuard?.window) }
        }
    )

    package func statement(_ call: StoreCall) -> Statement { Self.routine(call, message) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Outcome { try result.only().word("outcome") }
}
