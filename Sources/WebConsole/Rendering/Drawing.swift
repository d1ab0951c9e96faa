/// The geometry of charts.
enum Drawing {
    /// A share between 0 and 1 of a length. Anything else is clamped; no number is 0.
    static func share(_ share: Double, of length: Double) -> Double {
        share.isFinite ? min(max(share, 0), 1) * length : 0
    }

    /// A coordinate with at most one digit after the point.
    static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "0" }
        let tenths = Int((value * 10).rounded())
        let whole = tenths / 10
        let sign = tenths < 0 && whole == 0 ? "-" : ""
        return tenths % 10 == 0 ? "\(whole)" : "\(sign)\(whole).\(abs(tenths % 10))"
    }

    /// A position along the width, in percent with two digits.
    static func percent(_ index: Int, of last: Int) -> String {
        guard last > 0 else { return "50%" }
        let hundredths = min(max(0, index), last) * 10_000 / last
        let rest = hundredths % 100
        return rest == 0 ? "\(hundredths / 100)%" : "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)%"
    }

    /// The end of a scale that begins at 0 and has two equal steps: 2, 5 or 10 times a power of ten.
    static func top(of value: Double) -> Double {
        guard value.isFinite, value > 0 else { return 1 }
        var unit = 1.0
        while unit * 10 < value, unit < 1e15 { unit *= 10 }
        while unit >= value, unit > 1e-6 { unit /= 10 }
        for factor in [2.0, 4.0, 6.0, 8.0] where unit * factor >= value { return unit * factor }
        return unit * 10
    }

    /// Moves labels apart so that they have a distance of `gap`, and keeps their order.
    static func spread(_ positions: [Double], gap: Double, within range: ClosedRange<Double>) -> [Double] {
        let order = positions.indices.sorted { positions[$0] < positions[$1] }
        var out = positions
        var least = range.lowerBound
        for index in order {
            out[index] = max(positions[index], least)
            least = out[index] + gap
        }
        var most = range.upperBound
        for index in order.reversed() {
            out[index] = min(out[index], most)
            most = out[index] - gap
        }
        return out
    }
}
