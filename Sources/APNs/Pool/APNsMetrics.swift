internal import Model

/// The counters and the current state of the transport, as plain numbers for the gateway to export. Counters never decrease.
package struct APNsMetrics: Sendable, Equatable {
    /// Pushes in flight at this moment.
    package var inFlightCount = 0
    /// Pushes that wait for a stream at this moment.
    package var queuedCount = 0
    /// How long the oldest waiting push has waited; over several pools the longest of these times.
    package var oldestWait = Duration.zero
    /// Connections that are being dialled at this moment.
    package var dialingConnectionCount = 0
    /// Connections that accept pushes at this moment.
    package var openConnectionCount = 0
    /// Connections that are finishing their requests at this moment.
    package var drainingConnectionCount = 0
    /// Streams that may be in use on the open connections at this moment: 1 on a connection that has not seen a valid provider token.
    package var allowedStreamCount = 0

    /// Pushes that APNs accepted.
    package var acceptedCount = 0
    /// Pushes that APNs (or `PushGuard` before it) refused permanently, by reason; above `APNsLimits.maxCountedReasons` under `other`.
    package var rejectedCounts: [String: Int] = [:]
    /// Pushes that must be sent later, by reason, limited in the same way.
    package var deferredCounts: [String: Int] = [:]
    /// Pushes given back that were certainly not processed.
    package var unsentCount = 0
    /// Pushes given back without an answer.
    package var indeterminateCount = 0
    /// Pushes sent again on another connection: unsent ones, and those after a refused provider token.
    package var resentCount = 0
    /// Times that a connection was dialled.
    package var connectCount = 0
    /// Times that a connection other than the first of its pool was dialled.
    package var reconnectCount = 0
    /// Connections that could not be established.
    package var connectFailureCount = 0
    /// Connections that could not be established, by reason: the names of `HTTP2Error`'s codes, a closed set.
    package var connectFailureCounts: [String: Int] = [:]
    /// TLS handshakes that resumed an earlier session.
    package var resumedHandshakeCount = 0
    /// Full TLS handshakes.
    package var fullHandshakeCount = 0
    /// GOAWAYs by Apple's reason, `none` for those without, limited like `rejectedCounts`.
    package var goAwayCounts: [String: Int] = [:]
    /// Provider tokens that were taken into use.
    package var tokenCount = 0

    package init() {}

    /// Counts one outcome.
    mutating func count(_ outcome: Outcome, reasonLimit: Int) {
        switch outcome {
        case .accepted: acceptedCount += 1
        case .rejected(let rejection): Self.count(rejection.reason, in: &rejectedCounts, limit: reasonLimit)
        case .deferred(let rejection, _): Self.count(rejection.reason, in: &deferredCounts, limit: reasonLimit)
        case .unsent: unsentCount += 1
        case .indeterminate: indeterminateCount += 1
        }
    }

    /// Counts one GOAWAY.
    mutating func countGoAway(_ reason: APNsReason?, limit: Int) {
        let name = reason?.wireName ?? ""
        Self.count(name.isEmpty ? "none" : name, in: &goAwayCounts, limit: limit)
    }

    static func count(_ reason: String, in counts: inout [String: Int], limit: Int) {
        let isKnown = counts[reason] != nil || counts.count < limit
        counts[isKnown ? reason : "other", default: 0] += 1
    }
}

/// The current state of one credential's connection to Apple, for `readyz` and `doctor`.
package struct APNsStatus: Sendable, Equatable {
    /// Whether the last connection could be established, or none was needed yet.
    package var isReachable: Bool
    /// Why the last attempt to connect failed; nil after the next success. It contains no secrets.
    package var lastError: String?

    package init(isReachable: Bool, lastError: String? = nil) {
        self.isReachable = isReachable
        self.lastError = lastError
    }
}
