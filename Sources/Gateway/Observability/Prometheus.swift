package import CoreMetrics
import Metrics
import NIOConcurrencyHelpers

/// A swift-metrics backend that writes Prometheus text exposition 0.0.4.
///
/// Metric handles should be kept: looking up a handle by its labels takes the registry's lock, counting does not.
package final class PrometheusRegistry: MetricsFactory, Sendable {
    /// 10,000 series. Above this number new series are dropped and counted: a label whose values grow with traffic must not exhaust the memory.
    package static let seriesLimit = 10_000

    package struct Series: Hashable {
        package var name: String
        package var labels: String
    }

    private struct State {
        var counters: [Series: PrometheusCounter] = [:]
        var gauges: [Series: PrometheusGauge] = [:]
        var histograms: [Series: PrometheusHistogram] = [:]
        var dropped = 0

        var count: Int { counters.count + gauges.count + histograms.count }
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let series = Self.series(label, dimensions)
        return state.withLockedValue { state in
            if let known = state.counters[series] { return known }
            let made = PrometheusCounter()
            if state.count < Self.seriesLimit { state.counters[series] = made } else { state.dropped += 1 }
            return made
        }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate ? histogram(label, dimensions, scale: 1) : gauge(label, dimensions)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label + "_seconds", dimensions, scale: 1e-9)
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> PrometheusGauge {
        let series = Self.series(label, dimensions)
        return state.withLockedValue { state in
            if let known = state.gauges[series] { return known }
            let made = PrometheusGauge()
            if state.count < Self.seriesLimit { state.gauges[series] = made } else { state.dropped += 1 }
            return made
        }
    }

    private func histogram(_ label: String, _ dimensions: [(String, String)], scale: Double) -> PrometheusHistogram {
        let series = Self.series(label, dimensions)
        return state.withLockedValue { state in
            if let known = state.histograms[series] { return known }
            let made = PrometheusHistogram(scale: scale)
            if state.count < Self.seriesLimit { state.histograms[series] = made } else { state.dropped += 1 }
            return made
        }
    }

    private static func series(_ label: String, _ dimensions: [(String, String)]) -> Series {
        let name = String(
            label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") ? $0 : "_" }
        )
        let labels = dimensions.map { key, value in
            let escaped = value.map { character -> String in
                switch character {
                case "\\": "\\\\"
                case "\"": "\\\""
                case "\n": "\\n"
                default: String(character)
                }
            }
            return "\(key)=\"\(escaped.joined())\""
        }
        return Series(name: name, labels: labels.joined(separator: ","))
    }

    /// The whole registry as sorted text, so that two scrapes can be compared.
    package func exposition() -> String {
        let (counters, gauges, histograms, dropped) = state.withLockedValue {
            ($0.counters, $0.gauges, $0.histograms, $0.dropped)
        }
        var lines: [String] = []
        for (name, group) in Self.grouped(counters) {
            lines.append("# TYPE \(name) counter")
            for (series, counter) in group { lines.append("\(name)\(Self.braces(series.labels)) \(counter.value)") }
        }
        for (name, group) in Self.grouped(gauges) {
            lines.append("# TYPE \(name) gauge")
            for (series, gauge) in group { lines.append("\(name)\(Self.braces(series.labels)) \(gauge.value)") }
        }
        for (name, group) in Self.grouped(histograms) {
            lines.append("# TYPE \(name) histogram")
            for (series, histogram) in group { lines += histogram.lines(name: name, labels: series.labels) }
        }
        lines.append("# TYPE metrics_series_dropped counter")
        lines.append("metrics_series_dropped \(dropped)")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func grouped<Handler>(
        _ all: [Series: Handler]
    ) -> [(key: String, value: [(key: Series, value: Handler)])] {
        Dictionary(grouping: all, by: \.key.name)
            .mapValues { $0.sorted { $0.key.labels < $1.key.labels } }
            .sorted { $0.key < $1.key }
    }

    package static func braces(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }
}

/// A monotonic counter.
final class PrometheusCounter: CounterHandler, Sendable {
    private let box = NIOLockedValueBox(Int64(0))
    var value: Int64 { box.withLockedValue { $0 } }

    func increment(by amount: Int64) {
        box.withLockedValue { $0 = $0.addingReportingOverflow(max(0, amount)).partialValue }
    }

    func reset() { box.withLockedValue { $0 = 0 } }
}

/// A value that goes up and down.
final class PrometheusGauge: MeterHandler, RecorderHandler, Sendable {
    private let box = NIOLockedValueBox(0.0)
    var value: Double { box.withLockedValue { $0 } }

    func set(_ value: Int64) { box.withLockedValue { $0 = Double(value) } }
    func set(_ value: Double) { box.withLockedValue { $0 = value } }
    func increment(by amount: Double) { box.withLockedValue { $0 += amount } }
    func decrement(by amount: Double) { box.withLockedValue { $0 -= amount } }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }
}

/// Durations in fixed buckets, so that the histograms of several nodes can be added.
final class PrometheusHistogram: TimerHandler, RecorderHandler, Sendable {
    /// Unit: seconds. The range extends from a database round trip to the time limit of a webhook.
    static let bounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    private struct State {
        var counts = [Int64](repeating: 0, count: PrometheusHistogram.bounds.count + 1)
        var sum = 0.0
    }

    private let scale: Double
    private let state = NIOLockedValueBox(State())

    init(scale: Double) { self.scale = scale }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration)) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let scaled = value * scale
        let index = Self.bounds.firstIndex { scaled <= $0 } ?? Self.bounds.count
        state.withLockedValue {
            $0.counts[index] += 1
            $0.sum += scaled
        }
    }

    func lines(name: String, labels: String) -> [String] {
        let (counts, sum) = state.withLockedValue { ($0.counts, $0.sum) }
        let prefix = labels.isEmpty ? "" : labels + ","
        var total: Int64 = 0
        var lines: [String] = []
        for (bound, count) in zip(Self.bounds.map { "\($0)" } + ["+Inf"], counts) {
            total += count
            lines.append("\(name)_bucket{\(prefix)le=\"\(bound)\"} \(total)")
        }
        lines.append("\(name)_sum\(PrometheusRegistry.braces(labels)) \(sum)")
        lines.append("\(name)_count\(PrometheusRegistry.braces(labels)) \(total)")
        return lines
    }
}
