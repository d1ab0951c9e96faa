package import Model
package import PostgresClient
package import Store

/// Sums the observations of an app about its upstreams since the beginning of an hour, over all dialects. A metric without observations has no figure.
package struct MeasureParity: StoreRead {
    let app: AppID
    let since: Timestamp

    package init(_ app: AppID, since: Timestamp) {
        self.app = app
        self.since = since
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("parity_measure", 3, columns: "metric, samples, differences")

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .id(app), .time(since)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> [ParityFigure] {
        var figures: [ParityFigure] = []
        for row in result {
            // A later version may count more.
            guard let metric = ParityMetric(rawValue: try row.text("metric")) else { continue }
            figures.append(
                ParityFigure(metric, samples: try row.int("samples"), differences: try row.int("differences"))
            )
        }
        return figures
    }
}

/// Finds masked differences of an app since the beginning of an hour: those of the newest hours, at most `ParitySample.limit` of each metric.
package struct ShowParity: StoreRead {
    let app: AppID
    let since: Timestamp

    package init(_ app: AppID, since: Timestamp) {
        self.app = app
        self.since = since
    }

    private static let sql = StoreSQL.function("parity_samples", 4, columns: "metric, hour, dialect, sample")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(app),
            .time(since),
            .strings(ParityMetric.allCases.map(\.rawValue))
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [ParitySample] {
        try result.rows { (row) throws(PostgresError) in
            ParitySample(
                try row.word("metric"),
                dialect: try row.id("dialect"),
                hour: Int32(clamping: try row.int("hour")),
                facts: try row.object("sample")
            )
        }
    }
}
