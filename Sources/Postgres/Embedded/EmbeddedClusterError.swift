/// Why the private PostgreSQL cluster cannot be used. The text suggests a remedy.
package struct EmbeddedClusterError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of obstacle.
    package enum Code: Sendable, Equatable {
        /// This machine has no usable PostgreSQL programs.
        case noBinaries
        /// The directory contains files that are not a cluster of the gateway.
        case foreignDirectory
        /// The cluster was created by a PostgreSQL version whose programs are not installed.
        case wrongVersion
        /// Another gateway uses the directory.
        case inUse
        /// The account that must run PostgreSQL cannot reach the directory, or does not exist.
        case noAccess
        /// initdb, a start or a stop failed.
        case failed
    }

    package var code: Code
    package var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
