import Metrics
package import Model
import NIOConcurrencyHelpers

/// Counts calls by route and status. The handles are kept, because looking up a counter by its labels costs more than reading a receipt.
///
/// The number of handles is bounded: the adapters define the routes and the statuses.
package final class VendorCallCounts: Sendable {
    private struct Key: Hashable {
        var vendor: Vendor
        var route: String
        var status: Int
    }

    private let counters = NIOLockedValueBox<[Key: Counter]>([:])

    package init() {}

    package func count(_ vendor: Vendor, _ route: String, _ status: Int) {
        let key = Key(vendor: vendor, route: route, status: status)
        let counter = counters.withLockedValue { counters in
            if let known = counters[key] { return known }
            let labels = [("vendor", vendor.rawValue), ("route", route), ("status", "\(status)")]
            let made = MetricName.vendorCalls.counter(labels)
            counters[key] = made
            return made
        }
        counter.increment()
    }
}
