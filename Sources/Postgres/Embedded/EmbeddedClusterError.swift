/// Why the private PostgreSQL cluster could not be had. The text says what to do about it.
package struct EmbeddedClusterError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What stands in the way.
    package enum Code: Sendable, Equatable {
        /// No usable PostgreSQL programs on this machine.
        case noBinaries
        /// The directory holds something that is not a cluster of ours.
        case foreignDirectory
        /// The cluster was made by a PostgreSQL whose programs are not here.
        case wrongVersion
        /// Another gateway has the directory.
        case inUse
        /// The account that must run PostgreSQL cannot reach the directory, or there is no such account.
        case noAccess
        /// initdb, start or stop failed.
        case failed
    }

    package var code: Code
    package var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
