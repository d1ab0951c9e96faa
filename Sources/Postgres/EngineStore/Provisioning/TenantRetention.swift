import Model
import PostgresClient
import Store

/// What one tenant keeps longer or shorter than the others, as its provisioning file says.
package struct TenantRetention: Sendable, Hashable {
    /// What can be named in the file.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case deliveries, messages, events, audit, idempotency

        /// A day at least, because idempotency keys are promised for one, and everything is swept by whole rounds; of the audit what the database keeps
        /// anyway. Ten years at most: each week kept is a partition, which costs planning time in every statement that cannot prune.
        package var range: ClosedRange<Duration> {
            switch self {
            case .deliveries, .messages, .events, .idempotency: .seconds(86_400) ... .seconds(3650 * 86_400)
            case .audit: .seconds(30 * 86_400) ... .seconds(3650 * 86_400)
            }
        }
    }

    package var durations: [Name: Duration]

    package init(_ durations: [Name: Duration] = [:]) { self.durations = durations }

    /// As the tenant's row holds it: seconds by name.
    var json: JSONObject {
        JSONObject(
            durations.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                ($0.key.rawValue, .int($0.value.milliseconds / 1000))
            }
        )
    }

    /// What a row holds; names of a newer program are passed over.
    init(json: JSONObject) {
        var durations: [Name: Duration] = [:]
        for (key, value) in json.pairs {
            guard let name = Name(rawValue: key), let seconds = value.int, seconds > 0 else { continue }
            durations[name] = .seconds(seconds)
        }
        self.init(durations)
    }
}
