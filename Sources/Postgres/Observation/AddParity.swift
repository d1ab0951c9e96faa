package import Model
package import PostgresClient
package import Store

/// Adds observations about an upstream to their hours. Returns the number of rows.
package struct AddParity: StoreWrite {
    /// The observations of one hour, app, metric and dialect.
    package struct Row: Sendable, Hashable {
        package var app: AppID
        package var metric: ParityMetric
        /// Hours since 1970.
        package var hour: Int32
        package var dialect: Vendor
        package var samples: Int
        package var differences: Int
        /// Masked differences, at most `ParitySample.limit`.
        package var shown: [JSONObject]

        package init(
            app: AppID,
            metric: ParityMetric,
            hour: Int32,
            dialect: Vendor,
            samples: Int,
            differences: Int,
            shown: [JSONObject] = []
        ) {
            self.app = app
            self.metric = metric
            self.hour = hour
            self.dialect = dialect
            self.samples = samples
            self.differences = differences
            self.shown = shown
        }
    }

    let rows: [Row]

    /// - Parameter rows: no two with the same app, metric, hour and dialect.
    package init(_ rows: [Row]) {
        self.rows = rows
    }

    private static let sql = StoreSQL.function("add_parity", 8, columns: "add_parity AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .strings(rows.map(\.app.rawValue)),
            .strings(rows.map(\.metric.rawValue)),
            .int32s(rows.map(\.hour)),
            .strings(rows.map(\.dialect.rawValue)),
            .ints(rows.map(\.samples)),
            .ints(rows.map(\.differences)),
            .strings(rows.map(Self.text))
        )
    }

    private static func text(_ row: Row) -> String {
        let shown = row.shown.map { JSON.object($0) }
        return JSONWriter.text(.array(shown))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.only().int("count") }
}
