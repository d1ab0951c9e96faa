import Foundation

/// The natural logarithm. It is in this file because `Latency` needs nothing else from Foundation.
func naturalLogarithm(_ number: Double) -> Double { log(number) }

/// The text and JSON forms of a latency: `fixed:50`, `uniform:10-90`, `exponential:50`, `percentiles:50=20,99=400` (as a flag, and in JSON), or a JSON object
/// of the same name with numbers. All numbers are milliseconds.
extension Latency {
    /// Reads the text form; nil if it is invalid, or longer than an hour.
    package init?(_ text: String) {
        if let milliseconds = Double(text), let length = Self.length(milliseconds) {
            self = .fixed(length)
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let value = parts[1]
        switch parts[0] {
        case "fixed": self.init(name: "fixed", numbers: [Double(value)])
        case "exponential": self.init(name: "exponential", numbers: [Double(value)])
        case "uniform":
            self.init(
                name: "uniform",
                numbers: value.split(separator: "-", omittingEmptySubsequences: false).map { Double($0) }
            )
        case "percentiles":
            var points: [(Double, Double)] = []
            for pair in value.split(separator: ",", omittingEmptySubsequences: false) {
                let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
                guard sides.count == 2, let percent = Double(sides[0]), let milliseconds = Double(sides[1]) else {
                    return nil
                }
                points.append((percent, milliseconds))
            }
            self.init(points: points)
        default: return nil
        }
    }

    fileprivate init?(name: String, numbers: [Double?]) {
        let lengths = numbers.compactMap { $0.flatMap(Self.length) }
        guard lengths.count == numbers.count else { return nil }
        switch (name, lengths.count) {
        case ("fixed", 1): self = .fixed(lengths[0])
        case ("exponential", 1): self = .exponential(mean: lengths[0])
        case ("uniform", 2) where lengths[0] <= lengths[1]: self = .uniform(lengths[0], lengths[1])
        default: return nil
        }
    }

    fileprivate init?(points: [(Double, Double)]) {
        guard (1...Self.largestPointCount).contains(points.count) else { return nil }
        var percentiles: [Percentile] = []
        for (percent, milliseconds) in points.sorted(by: { $0.0 < $1.0 }) {
            guard (0...100).contains(percent), let latency = Self.length(milliseconds),
                latency >= percentiles.last?.latency ?? .zero
            else { return nil }
            percentiles.append(Percentile(percent: percent, latency: latency))
        }
        self = .percentiles(percentiles)
    }

    private static func length(_ milliseconds: Double) -> Duration? {
        guard milliseconds >= 0, milliseconds <= 3_600_000 else { return nil }
        return .microseconds(Int64(milliseconds * 1000))
    }
}

extension Latency: Decodable {
    private enum Form: String, CodingKey, CaseIterable { case fixed, uniform, exponential, percentiles }

    package init(from decoder: any Decoder) throws {
        var latency: Latency?
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            latency = Latency(text)
        } else if let number = try? decoder.singleValueContainer().decode(Double.self) {
            latency = Latency(name: "fixed", numbers: [number])
        } else {
            try refuseUnknownFields(in: decoder, known: Form.allCases.map(\.rawValue))
            let forms = try decoder.container(keyedBy: Form.self)
            if let numbers = try? forms.decode([Double].self, forKey: .uniform) {
                latency = Latency(name: "uniform", numbers: numbers)
            } else if let number = try? forms.decode(Double.self, forKey: .fixed) {
                latency = Latency(name: "fixed", numbers: [number])
            } else if let number = try? forms.decode(Double.self, forKey: .exponential) {
                latency = Latency(name: "exponential", numbers: [number])
            } else if let points = try? forms.decode([String: Double].self, forKey: .percentiles) {
                let numbers = points.compactMap { percent, value in Double(percent).map { ($0, value) } }
                latency = numbers.count == points.count ? Latency(points: numbers) : nil
            }
        }
        guard let latency else {
            let sentence = "must be fixed, uniform, exponential or percentiles, in milliseconds up to an hour"
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: sentence))
        }
        self = latency
    }
}
