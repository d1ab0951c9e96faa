/// A sustained rate and a burst: a token bucket.
package struct CallRate: Sendable, Hashable, CustomStringConvertible {
    /// Unit: per second.
    package let perSecond: Double
    /// How many at once, after a pause.
    package let burst: Double

    package init(perSecond: Double, burst: Double) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// Parses `10/600`: ten per second, six hundred at once. Nil for any other text; rates are above 0 and at most 1,000,000, bursts 1 to 1,000,000.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let perSecond = Double(parts[0]), let burst = Double(parts[1]),
            perSecond > 0, perSecond <= Self.maximum, (1...Self.maximum).contains(burst)
        else { return nil }
        self.init(perSecond: perSecond, burst: burst)
    }

    private static let maximum = 1_000_000.0

    package var description: String { "\(perSecond)/\(burst)" }

    /// The time in which one token returns. Unit: seconds.
    var interval: Double { 1 / perSecond }

    /// The time in which an empty bucket becomes full. Unit: seconds.
    var span: Double { burst / perSecond }
}
