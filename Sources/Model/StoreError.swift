/// Why the store did not do what it was asked. Holds no statement, parameter or row, so that it may be logged.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The database cannot be reached, or too many already wait for it. Try again later.
        case unavailable
        /// Another transaction won; the same call may succeed now.
        case conflict
        /// A deadline of ours passed. What was asked may or may not be committed.
        case timedOut
        /// A row that the new one belongs to is not there: the app of a registration.
        case missing
        /// What the call builds on has changed since it was read: it must be read again.
        case outdated
        /// A bug or a schema that does not fit.
        case failed
    }

    package var code: Code
    /// A fixed sentence and a SQLSTATE, nothing of the data.
    package var detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var isRetriable: Bool { code != .failed && code != .missing && code != .outdated }
    package var description: String { "\(code): \(detail)" }
}
