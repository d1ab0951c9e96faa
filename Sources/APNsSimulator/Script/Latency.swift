/// The delay of answers: the same for all, or drawn from a distribution.
package enum Latency: Sendable, Equatable {
    /// The same delay for every answer.
    case fixed(Duration)
    /// Uniformly distributed between the two.
    case uniform(Duration, Duration)
    /// Exponentially distributed with this mean, limited to ten times the mean: one draw in 22,000 would be longer and could delay a test for minutes.
    case exponential(mean: Duration)
    /// Points of the distribution, ascending in both values; values between two points are interpolated.
    case percentiles([Percentile])

    /// One point: this share of answers takes at most this time.
    package struct Percentile: Sendable, Equatable {
        /// 0...100.
        package var percent: Double
        /// The longest delay among them.
        package var latency: Duration

        /// Creates a point of a distribution.
        package init(percent: Double, latency: Duration) {
            self.percent = percent
            self.latency = latency
        }
    }

    /// No delay.
    package static let zero = Latency.fixed(.zero)

    /// At most 64 points, which is enough for any measured curve.
    static let largestPointCount = 64

    /// The same delay for every answer, in milliseconds.
    package static func milliseconds(_ count: Int) -> Latency {
        .fixed(.milliseconds(min(max(count, 0), 3_600_000)))
    }

    /// The delay if it is the same for all answers, which then share one timer.
    var constant: Duration? {
        if case .fixed(let length) = self { length } else { nil }
    }

    /// Draws one delay.
    func draw(using random: inout SplitMix64) -> Duration {
        switch self {
        case .fixed(let length): length
        case .uniform(let low, let high): low + (high - low) * random.unit()
        // 1e-9 keeps the logarithm finite.
        case .exponential(let mean): min(mean * -naturalLogarithm(max(random.unit(), 1e-9)), mean * 10)
        case .percentiles(let points): Self.interpolate(points, at: random.unit() * 100)
        }
    }

    private static func interpolate(_ points: [Percentile], at percent: Double) -> Duration {
        var below = Percentile(percent: 0, latency: .zero)
        for point in points {
            if percent <= point.percent {
                let width = point.percent - below.percent
                guard width > 0 else { return point.latency }
                return below.latency + (point.latency - below.latency) * ((percent - below.percent) / width)
            }
            below = point
        }
        return below.latency
    }
}

/// A small generator with a seed (SplitMix64, Steele and others 2014): the same seed gives the same run.
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number in 0..<1.
    mutating func unit() -> Double {
        Double(next() >> 11) / 9_007_199_254_740_992
    }
}
