package import Model

/// The engine at one moment: what status, readiness and the console show.
package struct EngineStatistics: Sendable {
    /// Counts since the process started.
    package struct Totals: Sendable, Hashable {
        /// Outcomes written, by state: only rows that were new.
        package var recorded = 0
        package var settled: [DeliveryState: Int] = [:]
        package var accepted = 0
        package var rejected = 0
        package var deferred = 0
        package var unsent = 0
        package var indeterminate = 0
        /// Slices that went to somebody else while this node had them.
        package var fenced = 0
        /// Slices that gave up.
        package var dead = 0
        package var storeFailures = 0
        /// Handed-over leases for which there was no room.
        package var offersRefused = 0
    }

    /// Slices at work, and handed-over ones that wait for a slot.
    package var running: Int
    package var offered: Int
    package var isDraining: Bool
    /// Credentials that the peer refused, with its words.
    package var refusedCredentials: [CredentialKey: Rejection]
    /// Apps with so many doubtful tokens that none is set aside.
    package var doubtfulApps: Set<TokenQuality.Key>
    package var totals: Totals
}
