package import Model

/// The state of the engine at one moment, for status, readiness and the console.
package struct EngineStatistics: Sendable {
    /// Counts since the process started.
    package struct Totals: Sendable, Hashable {
        /// Outcomes written; only rows that were new.
        package var recorded = 0
        package var settled: [DeliveryState: Int] = [:]
        package var accepted = 0
        package var rejected = 0
        package var deferred = 0
        package var unsent = 0
        package var indeterminate = 0
        /// Slices that another node took over while this node had them.
        package var fenced = 0
        /// Slices that gave up.
        package var dead = 0
        package var storeFailures = 0
        /// Leases from acceptance that exceeded the bound.
        package var offersRefused = 0
    }

    /// Running slices, and leases from acceptance that wait for a slot.
    package var running: Int
    package var offered: Int
    package var isDraining: Bool
    /// Credentials that the peer refused, with the rejection.
    package var refusedCredentials: [CredentialKey: Rejection]
    /// Topics that the peer refused, with the rejection.
    package var refusedTopics: [PushRoute: Rejection]
    /// Apps with so many doubtful tokens that most are kept (`TokenQuality`).
    package var doubtfulApps: Set<TokenQuality.Key>
    package var totals: Totals
}
