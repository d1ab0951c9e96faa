import Foundation

/// A measured figure: its median over the pairs, and its limit.
struct BenchFigure: Sendable, Equatable {
    let name: String
    /// One of each pair.
    let values: [Double]
    let limit: Double
    /// Whether the limit is the largest permitted value; otherwise it is the smallest.
    let isCeiling: Bool

    static func least(_ name: String, _ values: [Double], _ limit: Double) -> BenchFigure {
        BenchFigure(name: name, values: values, limit: limit, isCeiling: false)
    }

    static func most(_ name: String, _ values: [Double], _ limit: Double) -> BenchFigure {
        BenchFigure(name: name, values: values, limit: limit, isCeiling: true)
    }

    var median: Double { BenchReport.median(values) }

    /// False if nothing was measured.
    var passes: Bool {
        guard !values.isEmpty else { return false }
        return isCeiling ? median <= limit : median >= limit
    }

    /// The sentence about a figure beyond its limit; nil if it keeps it.
    var excess: String? {
        if passes { return nil }
        guard !values.isEmpty else { return "\(name): nothing was measured" }
        return "\(name): \(Self.text(median)) is \(isCeiling ? "more" : "less") than \(Self.text(limit))"
    }

    /// The cells of a table with the columns `columns`.
    var row: [String] {
        [
            name, Self.text(median), "\(Self.text(values.min() ?? 0)) to \(Self.text(values.max() ?? 0))",
            (isCeiling ? "<= " : ">= ") + Self.text(limit), passes ? "yes" : "NO",
        ]
    }

    static let columns = ["figure", "median", "pairs", "bar", "reached"]

    static func text(_ value: Double) -> String { String(format: "%.3f", value) }
}
