import NIOConcurrencyHelpers

@testable import APNs

extension APNsTransport {
    /// The metrics of all pools that have not ended.
    var metrics: APNsMetrics {
        let pools = state.withLockedValue { Array($0.pools.values) + $0.leaving.values }
        return pools.reduce(into: APNsMetrics()) { $0 += $1.metrics }
    }
}

extension APNsMetrics {
    /// Adds the metrics of another pool.
    static func += (left: inout APNsMetrics, right: APNsMetrics) {
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
}
