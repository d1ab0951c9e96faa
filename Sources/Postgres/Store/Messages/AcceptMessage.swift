package import Model
package import PostgresClient

/// Accepts a message: stores the message, slices, suppressed deliveries, counters, events and repeat key, in that order. Fails with
/// `StoreError.exhausted` if the recipients of the sender's key are used up.
package struct AcceptMessage: StoreWrite {
    /// The maximum number of targets of an acceptance that counts as short: one slice is inserted in about the time of a flush.
    static var shortTargetLimit: Int { 500 }

    let message: NewMessage

    package init(_ message: NewMessage) {
        self.message = message
    }

    package var sharesCommit: Bool {
        let targets = message.targets
        return targets.slices.reduce(targets.suppressed.count) { $0 + $1.targets.count } <= Self.shortTargetLimit
    }

    private static let routine = Routine<StoreCall, NewMessage>("accept_message") { p in
        declareMessage(&p)
        declareSlices(&p)
        declareSuppressed(&p)
        // A parameter with a default comes last, because the previous version of the program does not pass it.
        p["p_audience"] = { .document($1.targets.audience.flatMap(AudienceCoding.encode)) }
        p["p_due_local"] = { .int64($1.times.localDue?.seconds) }
        p["p_slice_dues"] = { .times($1.targets.slices.map(\.dueAt)) }
        p["p_awaits"] = { .bool($1.awaitsApproval) }
        p["p_by"] = { .string($1.submitter) }
        p["p_share"] = { .int($1.share?.recipients) }
        p["p_share_limit"] = { .int($1.share?.limit) }
        p["p_fingerprint"] = { .bytes($1.duplicateGuard?.fingerprint.bytes) }
        p["p_window"] = { .interval($1.duplicateGuard?.window) }
    }

    private static func declareMessage(_ p: inout RoutineParameters<StoreCall, NewMessage>) {
        p.own { $0.scope }
        p["p_id"] = { .id($1.id) }
        p["p_sender"] = { .id($1.sender) }
        p["p_content"] = { .document(ContentCoding.encode($1.content, trace: $1.trace)) }
        p["p_collapse"] = { .string($1.collapseID) }
        p["p_lane"] = { .int16($1.lane.rawValue) }
        p["p_accepted"] = { .time($1.times.acceptedAt) }
        p["p_due"] = { .time($1.times.dueAt) }
        p["p_due_day"] = { .int32($1.times.dueAt.day) }
        p["p_expires"] = { .time($1.times.expiresAt) }
        p["p_fallback"] = { .document($1.fallback) }
        p["p_recipients"] = { .int($1.targets.recipients) }
        p["p_media_id"] = { .string($1.content.media?.id) }
        p["p_media_hash"] = { .string($1.content.media?.hash) }
        p["p_key"] = { .string($1.idempotency?.key) }
        p["p_body_hash"] = { .string($1.idempotency?.bodyHash) }
        p["p_holder"] = { .id($1.claim?.node) }
        p["p_lease"] = { .interval($1.claim?.lease) }
        p["p_node"] = { call, _ in .id(call.node) }
    }

    /// The slices are flattened, with the end index of each: PostgreSQL's arrays of arrays must be rectangular.
    private static func declareSlices(_ p: inout RoutineParameters<StoreCall, NewMessage>) {
        p["p_slice_numbers"] = { .int32s($1.targets.slices.map(\.number)) }
        p["p_slice_kinds"] = { .texts($1.targets.slices.map { SliceRow.kind(of: $0.work) }) }
        p["p_slice_ends"] = { _, message in
            var end = 0
            return .int32s(
                message.targets.slices.map { slice in
                    end += slice.targets.count
                    return Int32(clamping: end)
                }
            )
        }
        p["p_targets"] = { .ids($1.targets.slices.flatMap(\.targets)) }
        p["p_addresses"] = { _, message in
            let slices = message.targets.slices
            guard slices.contains(where: { !$0.addresses.isEmpty }) else { return .strings([]) }
            return .strings(
                slices.flatMap { slice in
                    slice.targets.indices.map { index in
                        index < slice.addresses.count ? slice.addresses[index]?.canonical ?? "" : ""
                    }
                }
            )
        }
    }

    private static func declareSuppressed(_ p: inout RoutineParameters<StoreCall, NewMessage>) {
        p["p_sup_targets"] = { .ids($1.targets.suppressed.map(\.target)) }
        p["p_sup_identities"] = { .ids($1.targets.suppressed.map(\.identity)) }
        p["p_sup_devices"] = { .ids($1.targets.suppressed.map(\.device)) }
        p["p_sup_addresses"] = { .strings($1.targets.suppressed.map { $0.address?.canonical }) }
        p["p_sup_reasons"] = { .texts($1.targets.suppressed.map(\.reason.rawValue)) }
    }

    package func statement(_ call: StoreCall) -> Statement { Self.routine(call, message) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Acceptance {
        let row = try result.only()
        switch try row.text("outcome") {
        case "inserted": return .inserted
        case "repeated": return .repeated(try row.id("message_id"), recipients: try row.optionalInt("recipients"))
        default: return .mismatch
        }
    }
}

/// The result of an acceptance.
package enum Acceptance: Sendable, Hashable {
    case inserted
    /// The key was used before with the same body. Contains the first answer.
    case repeated(MessageID, recipients: Int?)
    /// The key was used before with a different body.
    case mismatch
}
