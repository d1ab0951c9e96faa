package import Model
import NIOConcurrencyHelpers

/// Limits the open streams of this node: of all tenants, of one tenant, and of one account of it. The default limits are those of event
/// streams of the native API, each of which queries the store four times a second. Safe to call from any task.
package final class EventStreamLimit: Sendable {
    /// 64 streams on one node and 8 of one tenant: the streams of one tenant must not exclude other tenants.
    package static let perNode = 64
    package static let perTenant = 8

    /// The open streams by tenant and account. An entry exists only while a stream is open.
    private let counts = NIOLockedValueBox<[TenantID: [String: Int]]>([:])
    private let perNode: Int
    private let perTenant: Int
    private let perAccount: Int

    /// - Parameters:
    ///   - perNode: open streams of all tenants.
    ///   - perTenant: open streams of one tenant.
    ///   - perAccount: open streams of one account; default: as many as of its tenant.
    package init(
        perNode: Int = EventStreamLimit.perNode,
        perTenant: Int = EventStreamLimit.perTenant,
        perAccount: Int? = nil
    ) {
        self.perNode = perNode
        self.perTenant = perTenant
        self.perAccount = perAccount ?? perTenant
    }

    /// Permits one stream.
    ///
    /// - Parameters:
    ///   - tenant: the tenant whose data the stream has.
    ///   - account: the account for which it is open; empty: streams do not belong to accounts.
    /// - Returns: the permit; nil: a limit is reached.
    package func acquire(_ tenant: TenantID, account: String = "") -> HeldPermit? {
        let isFree = counts.withLockedValue { counts in
            let own = counts[tenant] ?? [:]
            guard own[account, default: 0] < perAccount, own.values.reduce(0, +) < perTenant,
                counts.values.reduce(0, { $0 + $1.values.reduce(0, +) }) < perNode
            else { return false }
            counts[tenant, default: [:]][account, default: 0] += 1
            return true
        }
        guard isFree else { return nil }
        return HeldPermit { [counts] in
            counts.withLockedValue { counts in
                let left = (counts[tenant]?[account] ?? 1) - 1
                counts[tenant]?[account] = left > 0 ? left : nil
                if counts[tenant]?.isEmpty ?? false { counts[tenant] = nil }
            }
        }
    }
}
