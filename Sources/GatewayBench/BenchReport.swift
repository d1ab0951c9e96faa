import CommandSupport
import Foundation
import Model

/// The median run with its ceilings.
struct BenchReport: Sendable {
    var devices: Int
    var nodes: Int
    var sample: BenchSample
    var corePerSecond: Double
    var copyPerSecond: Double
    var settings: BenchSettings

    /// The median, the upper one of two; 0 for an empty list.
    static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

    private var ceiling: Double { min(corePerSecond, copyPerSecond) }

    var json: JSON {
        [
            "devices": .int(devices), "nodes": .int(nodes), "seconds": Self.number(sample.seconds, 3),
            "perSecond": Self.number(sample.perSecond, 0), "apnsCorePerSecond": Self.number(corePerSecond, 0),
            "copyPerSecond": Self.number(copyPerSecond, 0),
            "ratioToCeiling": Self.number(sample.perSecond / ceiling, 3),
            "gatewayCpuMicroseconds": Self.number(sample.gatewayMicroseconds, 1),
            "postgresCpuMicroseconds": Self.number(sample.postgresMicroseconds, 1),
            "rssMiB": Self.number(sample.peakMiB, 0), "rowsWritten": .int(sample.rowsWritten),
            "walBytes": .int(sample.walBytes), "queueAgeP50Ms": .int(sample.queueAgeP50),
            "queueAgeP99Ms": .int(sample.queueAgeP99),
            "settings": settings.json,
        ]
    }

    var text: String {
        let rows: [[String]] = [
            ["submit → last outcome", String(format: "%.2f s", sample.seconds)],
            ["deliveries/s", String(format: "%.0f", sample.perSecond)],
            ["ceiling: APNs core alone", String(format: "%.0f/s", corePerSecond)],
            ["ceiling: COPY of the same rows", String(format: "%.0f/s", copyPerSecond)],
            ["ratio to the lower ceiling", String(format: "%.2f", sample.perSecond / ceiling)],
            ["CPU per delivery, gateway", String(format: "%.1f µs", sample.gatewayMicroseconds)],
            ["CPU per delivery, PostgreSQL", String(format: "%.1f µs", sample.postgresMicroseconds)],
            ["peak memory of a node", String(format: "%.0f MiB", sample.peakMiB)],
            ["rows written", "\(sample.rowsWritten)"],
            ["WAL", String(format: "%.0f MiB", Double(sample.walBytes) / 1_048_576)],
            ["queue age p50, p99", "\(sample.queueAgeP50) ms, \(sample.queueAgeP99) ms"],
        ]
        return Console.table(["\(devices) devices, \(nodes) node(s)", "median run"], rows) + "\n" + settings.text
    }

    private static func number(_ value: Double, _ digits: Int) -> JSON {
        .number(String(format: "%.\(digits)f", value))
    }
}
