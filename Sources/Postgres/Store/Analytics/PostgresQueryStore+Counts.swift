package import Model
import PostgresClient

/// The property by which deliveries are counted.
package enum CountedQuestion: Sendable, Hashable {
    /// The facts that SDKs had reported, by these fields.
    case versions([ClientFacts.Field])
    /// App, campaign and variant.
    case campaigns
    /// The hour of the week.
    case hours

    /// The number of values of a group.
    package var valueCount: Int {
        switch self {
        case .versions(let fields): fields.count
        case .campaigns: 3
        case .hours: 1
        }
    }
}

extension PostgresQueryStore {
    /// 200,000 rows of one question, about a second: 500 values a day of 400 days of one app.
    package static let countRowLimit = 200_000
    /// 1,000 groups of an answer.
    package static let countGroupLimit = 1000

    /// The deliveries reached, received and read of some days of the app's time zone, by a property, the largest groups first.
    ///
    /// - Parameters:
    ///   - question: the property.
    ///   - days: days since 1970.
    ///   - apps: empty: all.
    ///   - tenant: whose deliveries.
    /// - Returns: at most one group more than `countGroupLimit`; nil if they are in more than `countRowLimit` rows.
    /// - Throws: `StoreError`.
    package func counts(
        _ question: CountedQuestion,
        of days: ClosedRange<Int32>,
        apps: [AppID],
        in tenant: TenantID
    ) async throws(StoreError) -> [CountedGroup]? {
        let sql =
            switch question {
            case .versions(let fields): ReadingSQL.versions(fields)
            case .campaigns: ReadingSQL.campaigns
            case .hours: ReadingSQL.hours
            }
        let statement = sql.with([
            .id(tenant), .int32(days.lowerBound), .int32(days.upperBound),
            apps.isEmpty ? .null : .strings(apps.map(\.rawValue)), .int(Self.countRowLimit + 1),
            .int(Self.countGroupLimit + 1),
        ])
        return try await asStore { () throws(PostgresError) -> [CountedGroup]? in
            var groups: [CountedGroup] = []
            for row in try await call.run(statement, tenant: tenant.rawValue) {
                guard try row.int("scanned") <= Self.countRowLimit else { return nil }
                var values: [String?] = []
                for place in 0..<question.valueCount { values.append(try row.optionalText(.name("v\(place)"))) }
                let counts = ReachCounts(
                    reached: try row.int64("reached"),
                    received: try row.int64("received"),
                    read: try row.int64("read")
                )
                groups.append(CountedGroup(values: values, counts: counts))
            }
            return groups
        }
    }
}
