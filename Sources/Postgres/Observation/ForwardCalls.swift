package import Model
package import PostgresClient
package import Store

/// Adds a call to the queue of its upstream, in the transaction that carries the call out. Calls of one group are added as a set, except for those whose registration
/// was left out of its set (`register_many`).
package struct ForwardCalls: StoreWrite {
    package enum Outcome: String, Sendable, Hashable {
        case waiting
        /// The newest waiting call of the queue is the same registration.
        case merged
        /// Too many calls wait for the upstream: this one is not forwarded.
        case full
    }

    let call: ForwardedCall
    let subject: ForwardedSubject
    private let onFull: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - call: the call.
    ///   - subject: whom it is about.
    ///   - onFull: called if the call is not forwarded because too many wait.
    package init(
        _ call: ForwardedCall,
        about subject: ForwardedSubject,
        onFull: (@Sendable () -> Void)? = nil
    ) {
        self.call = call
        self.subject = subject
        self.onFull = onFull
    }

    package var sharesCommit: Bool { true }

    private static let one = Routine<StoreCall, Self>("forward_calls") { p in
        p["p_tenant"] = { call, _ in .id(call.tenant) }
        declare(&p, { .strings([$0]) }, { .byteArrays([$0]) })
    }

    private static let set = Routine<StoreCall, Self>("forward_calls") { p in
        p["p_tenant"] = { call, _ in .id(call.tenant) }
        p.beginRow()
        declare(&p, { .string($0) }, { .bytes($0) })
    }

    private static func declare(
        _ p: inout RoutineParameters<StoreCall, Self>,
        _ text: @escaping @Sendable (String?) -> PostgresValue,
        _ bytes: @escaping @Sendable ([UInt8]) -> PostgresValue
    ) {
        p["p_apps"] = { text($1.call.app.rawValue) }
        p["p_vendors"] = { text($1.call.vendor.rawValue) }
        p["p_upstreams"] = { text($1.call.upstream.rawValue) }
        p["p_users"] = { text($1.subject.user?.rawValue) }
        p["p_keys"] = { text($1.subject.device?.rawValue) }
        p["p_others"] = { text($1.subject.other) }
        p["p_kinds"] = { text($1.call.kind.rawValue) }
        p["p_calls"] = { text($1.call.name) }
        p["p_methods"] = { text($1.call.method) }
        p["p_paths"] = { text($1.call.path) }
        p["p_queries"] = { text($1.call.query) }
        p["p_content_types"] = { text($1.call.contentType) }
        p["p_vias"] = { text($1.call.via) }
        p["p_bodies"] = { bytes($1.call.body) }
        p["p_outlives"] = { text($1.subject.outlivesErasure ? "true" : nil) }
    }

    package func statement(_ call: StoreCall) -> Statement { Self.one(call, self) }

    package func batch(_ call: StoreCall) -> StatementBatch? { Self.set.row(call, self) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Outcome { try result.only().word("outcome") }

    package func committed(_ result: ResultSet) {
        guard let onFull, (try? read(result)) == .full else { return }
        onFull()
    }
}
