/// Why a store operation failed. It contains no statement, parameter or row, so that it may be logged.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The database cannot be reached, or too many calls wait for it already. Retry later.
        case unavailable
        /// A concurrent transaction won. The same call may succeed now.
        case conflict
        /// A deadline of the gateway passed. The operation may or may not be committed.
        case timedOut
        /// A row to which the new row belongs does not exist: the app of a registration.
        case missing
        /// The data on which the call is based has changed since it was read. It must be read again.
        case outdated
        /// The key of a registration belongs to another caller (`DeviceRegistration.keepsOwner`).
        case taken
        /// A quota is used up.
        case exhausted(Quota)
        /// A bug, or a schema that does not match the program.
        case failed
    }

    package var code: Code
    /// A fixed sentence and a SQLSTATE, without data.
    package var detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var isRetriable: Bool {
        switch code {
        case .unavailable, .conflict, .timedOut: true
        case .missing, .outdated, .taken, .exhausted, .failed: false
        }
    }
    package var description: String { "\(code): \(detail)" }
}
