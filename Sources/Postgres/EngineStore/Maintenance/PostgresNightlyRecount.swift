package import Model
package import PostgresClient
import Store

/// Recounts one random day of each tenant each night, on one node, so that an error in the counts is found although nobody looks for it.
package struct PostgresNightlyRecount: Sendable {
    /// 17:00 to 20:00 UTC, the hours after 2 in the morning in Korea and Japan.
    package static let hours: Range<Int64> = 17..<20
    /// 20 hours: longer than a night, and shorter than the time to the next.
    private static let lease = Duration.seconds(20 * 3600)

    private let engine: PostgresPool
    private let node: NodeID

    /// - Parameters:
    ///   - engine: the pool of `gateway_engine`.
    ///   - node: the node that does it.
    package init(engine: PostgresPool, node: NodeID) {
        self.engine = engine
        self.node = node
    }

    /// The result for one tenant.
    package struct Finding: Sendable, Hashable {
        package var tenant: TenantID
        /// UTC, since 1970.
        package var day: Int32
        /// They are corrected.
        package var differences: [CountDifference]
        /// Nil: the day was recounted.
        package var error: StoreError?
    }

    /// The result of a look.
    package enum Night: Sendable, Hashable {
        /// It is not night.
        case notNow
        /// Another node does it, or has done it.
        case anotherNode
        /// One finding per tenant with a day to recount.
        case recounted([Finding])

        /// Nil: this node has not recounted.
        package var findings: [Finding]? { if case .recounted(let findings) = self { findings } else { nil } }

        /// The differences that the last recount has found, as this node must report them; nil: as before. When another node recounts, the
        /// findings of this one in an earlier night are superseded.
        package var drift: Int? {
            switch self {
            case .notNow: nil
            case .anotherNode: 0
            case .recounted(let findings): findings.reduce(0) { $0 + $1.differences.count }
            }
        }
    }

    /// Recounts and corrects, if it is night and no node has done so in this one.
    ///
    /// - Parameters:
    ///   - now: the database's time.
    ///   - policy: the retention of tenants that have none of their own.
    ///   - pick: selects a day among those of which nothing has been removed, without today.
    /// - Returns: one finding per tenant with a day to recount, or why there are none.
    /// - Throws: `StoreError` when it could not begin. Findings contain failures of single tenants.
    package func run(
        at now: Timestamp,
        _ policy: RetentionPolicy = RetentionPolicy(),
        pick: @Sendable (ClosedRange<Int32>) -> Int32 = { .random(in: $0) }
    ) async throws(StoreError) -> Night {
        guard Self.hours.contains(now.seconds / 3600 % 24) else { return .notNow }
        guard try await isFirst() else { return .anotherNode }
        let recount = PostgresRecount(engine: engine)
        var findings: [Finding] = []
        for tenant in try await recount.tenants(nil, at: now, policy) where tenant.firstDay < now.day {
            var finding = Finding(tenant: tenant.id, day: pick(tenant.firstDay...now.day - 1), differences: [])
            do throws(StoreError) {
                guard
                    let differences = try await recount.correct(day: finding.day, of: tenant.id, by: .gateway, policy)
                else { continue }
                finding.differences = differences
            } catch {
                finding.error = error
            }
            findings.append(finding)
        }
        return .recounted(findings)
    }

    /// Whether this node is the first of the night. The same node may repeat: the caller asks again only after the night.
    private func isFirst() async throws(StoreError) -> Bool {
        try await asStore { () throws(PostgresError) in
            let lead = MaintenanceSQL.lead(.text("recount"), .id(node), .interval(Self.lease))
            return try await engine.run(lead, tenant: nil).first != nil
        }
    }
}
