import Model
import PostgresClient
import Store

/// The retention of one tenant where its provisioning file differs from the defaults.
package struct TenantRetention: Sendable, Hashable {
    /// The names that the file can contain.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case deliveries, messages, events, audit, analytics, idempotency

        /// At least one day, because idempotency keys are guaranteed for one day and sweeps run in whole rounds. For the audit, at least the time that the
        /// database enforces. At most ten years: each week is a partition, which costs planning time in every statement that cannot prune.
        package var range: ClosedRange<Duration> {
            switch self {
            case .deliveries, .messages, .events, .analytics, .idempotency: .seconds(86_400) ... .seconds(3650 * 86_400)
            case .audit: .seconds(30 * 86_400) ... .seconds(3650 * 86_400)
            }
        }
    }

    package var durations: [Name: Duration]

    package init(_ durations: [Name: Duration] = [:]) { self.durations = durations }

    /// The JSON of the tenant's row: seconds by name.
    var json: JSONObject {
        JSONObject(
            durations.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                ($0.key.rawValue, .int($0.value.milliseconds / 1000))
            }
        )
    }

    /// Reads the JSON of a row. Unknown names of a newer program are ignored.
    init(json: JSONObject) {
        var durations: [Name: Duration] = [:]
        for (key, value) in json.pairs {
            guard let name = Name(rawValue: key), let seconds = value.int, seconds > 0 else { continue }
            durations[name] = .seconds(seconds)
        }
        self.init(durations)
    }
}
