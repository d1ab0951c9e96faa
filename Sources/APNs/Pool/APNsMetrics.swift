internal import Model

/// What the transport has done and holds, as plain numbers for the gateway to export. Counters only grow.
package struct APNsMetrics: Sendable, Equatable {
    /// Pushes on their way, now.
    package var inFlightCount = 0
    /// Pushes that wait for a stream, now.
    package var queuedCount = 0
    /// How long the push that has waited longest has waited, now; over several pools the longest.
    package var oldestWait = Duration.zero
    /// Connections that are being made, now.
    package var dialingConnectionCount = 0
    /// Connections that take pushes, now.
    package var openConnectionCount = 0
    /// Connections that finish what they have, now.
    package var drainingConnectionCount = 0
    /// Streams that may be in use on the open connections, now: 1 on one that has not seen a good provider token.
    package var allowedStreamCount = 0

    /// Pushes that APNs took.
    package var acceptedCount = 0
    /// Pushes that APNs (or `PushGuard` before it) refused for good, by reason; beyond `APNsLimits.maxCountedReasons` under `other`.
    package var rejectedCounts: [String: Int] = [:]
    /// Pushes that are to be sent later, by reason, bounded in the same way.
    package var deferredCounts: [String: Int] = [:]
    /// Pushes given back as surely not processed.
    package var unsentCount = 0
    /// Pushes given back without an answer.
    package var indeterminateCount = 0
    /// Pushes sent again on another connection: unsent ones, and those after a refused provider token.
    package var resentCount = 0
    /// Connections dialled.
    package var connectCount = 0
    /// Connections dialled after the first of their pool.
    package var reconnectCount = 0
    /// Connections that could not be made.
    package var connectFailureCount = 0
    /// The same by reason: `HTTP2Error`'s names, a closed set.
    package var connectFailureCounts: [String: Int] = [:]
    /// TLS handshakes that took up an earlier session.
    package var resumedHandshakeCount = 0
    /// TLS handshakes from the beginning.
    package var fullHandshakeCount = 0
    /// GOAWAYs by Apple's reason, `none` for those without, bounded like `rejectedCounts`.
    package var goAwayCounts: [String: Int] = [:]
    /// Provider tokens taken into use.
    package var tokenCount = 0

    package init() {}

    /// The sum over pools.
    package static func += (left: inout APNsMetrics, right: APNsMetrics) {
        left.inFlightCount += right.inFlightCount
        left.queuedCount += right.queuedCount
        left.oldestWait = max(left.oldestWait, right.oldestWait)
        left.dialingConnectionCount += right.dialingConnectionCount
        left.openConnectionCount += right.openConnectionCount
        left.drainingConnectionCount += right.drainingConnectionCount
        left.allowedStreamCount += right.allowedStreamCount
        left.acceptedCount += right.acceptedCount
        left.rejectedCounts.merge(right.rejectedCounts, uniquingKeysWith: +)
        left.deferredCounts.merge(right.deferredCounts, uniquingKeysWith: +)
        left.unsentCount += right.unsentCount
        left.indeterminateCount += right.indeterminateCount
        left.resentCount += right.resentCount
        left.connectCount += right.connectCount
        left.reconnectCount += right.reconnectCount
        left.connectFailureCount += right.connectFailureCount
        left.connectFailureCounts.merge(right.connectFailureCounts, uniquingKeysWith: +)
        left.resumedHandshakeCount += right.resumedHandshakeCount
        left.fullHandshakeCount += right.fullHandshakeCount
        left.goAwayCounts.merge(right.goAwayCounts, uniquingKeysWith: +)
        left.tokenCount += right.tokenCount
    }

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

/// What one credential's way to Apple looks like now, for `readyz` and `doctor`.
package struct APNsStatus: Sendable, Equatable {
    /// Whether the last connection could be made, or none was needed yet.
    package var isReachable: Bool
    /// Why the last try to connect failed; nil after the next success. Safe to show.
    package var lastError: String?

    package init(isReachable: Bool, lastError: String? = nil) {
        self.isReachable = isReachable
        self.lastError = lastError
    }
}
