package import Model

/// Decides which traces are recorded. Pure: times are seconds from any fixed moment.
///
/// A caller that has sampled its trace is followed, within a limit: anybody who reaches the listener could ask for it. Other calls are chosen by the ratio and the
/// trace id, so that all nodes and all systems with the same rule choose the same traces.
package struct TraceSampler: Sendable {
    /// 100 traces per second of callers' own choice. Above it, the ratio decides for them too.
    package static let callersPerSecond = 100.0

    /// 0...1.
    private let ratio: Double
    private var tokens = callersPerSecond
    private var at = 0.0

    package init(ratio: Double) { self.ratio = min(max(ratio, 0), 1) }

    /// - Parameters:
    ///   - trace: the id of the trace.
    ///   - parent: whether the caller has sampled it; nil: the caller sent no trace.
    ///   - now: seconds.
    /// - Returns: whether the trace is recorded.
    package mutating func samples(_ trace: TraceContext.TraceID, parent: Bool?, at now: Double) -> Bool {
        guard let parent else { return isChosen(trace) }
        guard parent else { return false }
        tokens = min(Self.callersPerSecond, tokens + max(0, now - at) * Self.callersPerSecond)
        at = now
        guard tokens >= 1 else { return isChosen(trace) }
        tokens -= 1
        return true
    }

    /// The lower 63 bits of the id, as in OpenTelemetry's `TraceIdRatioBased`.
    private func isChosen(_ trace: TraceContext.TraceID) -> Bool {
        ratio >= 1 || Double(trace.low >> 1) < ratio * 0x1p63
    }
}
