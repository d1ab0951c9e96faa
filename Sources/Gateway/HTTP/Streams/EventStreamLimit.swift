package import Model
import NIOConcurrencyHelpers

/// Limits the event streams of this node, because each stream queries the store four times a second.
package final class EventStreamLimit: Sendable {
    /// 64 streams on one node and 8 of one tenant: the streams of one tenant must not exclude other tenants.
    package static let perNode = 64
    package static let perTenant = 8

    /// Permits one stream. The permit is released when the stream ends, and also when the stream never started.
    package final class Permit: Sendable {
        private let onRelease: NIOLockedValueBox<(@Sendable () -> Void)?>

        package init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = NIOLockedValueBox(onRelease) }

        package func release() {
            let onRelease = onRelease.withLockedValue { box in
                defer { box = nil }
                return box
            }
            onRelease?()
        }

        deinit { release() }
    }

    private let counts = NIOLockedValueBox<[TenantID: Int]>([:])

    package init() {}

    /// Returns nil when the limit is reached.
    package func acquire(_ tenant: TenantID) -> Permit? {
        let isFree = counts.withLockedValue { counts in
            guard counts[tenant, default: 0] < Self.perTenant, counts.values.reduce(0, +) < Self.perNode else {
                return false
            }
            counts[tenant, default: 0] += 1
            return true
        }
        guard isFree else { return nil }
        return Permit { [counts] in
            counts.withLockedValue { counts in
                let left = counts[tenant, default: 1] - 1
                counts[tenant] = left > 0 ? left : nil
            }
        }
    }
}
