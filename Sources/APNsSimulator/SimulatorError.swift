/// Why a simulator could not be created or started, or why it refused an order.
package struct SimulatorError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of errors.
    package enum Code: Sendable, Equatable {
        /// The keys file or one of its public keys is unusable.
        case keys
        /// The CA could not be created, read or written.
        case certificateAuthority
        /// A listener could not be bound.
        case listen
        /// A script is malformed, too large, or does not fit the mode.
        case script
    }

    /// The kind of error.
    package var code: Code

    /// One sentence for the person who started the simulator; it contains no key material.
    package var description: String

    /// Creates an error of this kind with its sentence.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
