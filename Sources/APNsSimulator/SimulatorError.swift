/// Why a simulator could not be made, started or told something.
package struct SimulatorError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of trouble it is.
    package enum Code: Sendable, Equatable {
        /// The keys file or one of its public keys is unusable.
        case keys
        /// The CA could not be made, read or written.
        case certificateAuthority
        /// A listener could not be bound.
        case listen
        /// A script is malformed, too large, or does not fit the mode.
        case script
    }

    /// What kind of trouble it is.
    package var code: Code

    /// One sentence for the person who started the simulator; holds no key material.
    package var description: String

    /// An error of this kind with its sentence.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
