import Observability

/// Reads the metrics of a node.
enum NodeMetrics {
    /// The sum of the series of `name` that have all `labels`, such as `kind="other"`; 0 before the first one.
    static func sum(_ name: MetricName, _ labels: [String] = [], in metrics: String) -> Int {
        var sum = 0.0
        for line in metrics.split(separator: "\n") {
            guard line.hasPrefix("\(name.rawValue){") || line.hasPrefix("\(name.rawValue) "),
                labels.allSatisfy({ line.contains($0) })
            else { continue }
            sum += line.split(separator: " ").last.flatMap { Double($0) } ?? 0
        }
        return Int(sum)
    }
}
