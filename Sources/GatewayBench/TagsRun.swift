import CommandSupport
import DeliveryEngine
import Foundation
import Gateway
import Model
import PostgresClient

/// The results of one expression: medians of its turns.
struct TagsSample {
    var name: String
    var count: Int
    /// The number of index rows to read: those of the expression's tags, or of all identities where it tests only for absence.
    var rows: Int
    /// The time from the first page to the last.
    var seconds: Double
    /// The ratios of the expansion's rate to those of two plain scans of the same rows: in pages of a slice, and as a whole.
    var pagedRatio: Double
    var scanRatio: Double

    var perSecond: Double { Double(count) / max(seconds, 1e-9) }
}

/// The turns of `bench tags`.
struct TagsRun {
    let stage: BenchStage
    let identities: Int
    let turns: Int

    /// The condition on an identity's number `n` for each tag.
    private static let tags: [(name: String, condition: String)] =
        [
            ("rare", "n % 1000 = 7"), ("tenth", "n % 10 = 3"), ("most", "n % 10 <> 1"), ("half", "n * 7919 % 100 < 50"),
            ("third", "n * 104729 % 99 < 33"), ("some", "n * 31337 % 100 < 20"), ("few", "n * 49999 % 1000 < 15"),
        ] + (1...20).map { ("u\($0)", "n % 200 = \($0)") }

    /// The measured expressions, each with an equivalent condition without tags.
    private static let expressions: [(text: String, condition: String)] = [
        ("rare", condition("rare")), ("tenth", condition("tenth")), ("most", condition("most")),
        ("half && third", "\(condition("half")) AND \(condition("third"))"),
        (
            "(half && third) || (tenth && !rare) || (some && !few)",
            "\(condition("half")) AND \(condition("third")) OR \(condition("tenth")) AND NOT \(condition("rare")) "
                + "OR \(condition("some")) AND NOT \(condition("few"))"
        ),
        ((1...20).map { "u\($0)" }.joined(separator: " || "), "n % 200 BETWEEN 1 AND 20"),
        ("!half", "NOT \(condition("half"))"),
    ]

    private static func condition(_ tag: String) -> String {
        "(\(tags.first { $0.name == tag }?.condition ?? "false"))"
    }

    /// The page size of the comparison scan, which equals the size of a slice.
    private static let pageSize = Int64(SliceLease.targetLimit)

    private var tenant: PostgresValue { .text(BenchStage.tenant.rawValue) }
    private var app: PostgresValue { .text(BenchStage.app.rawValue) }
    private var vendor: PostgresValue { .text(Vendor.native.rawValue) }

    /// - Throws: `StageFailure` when an expression selects the wrong set; the error of the database.
    func measure() async throws -> [TagsSample] {
        try await stage.makeAudience(identities)
        for (name, condition) in Self.tags { try await tag(name, condition) }
        for (place, expression) in Self.expressions.enumerated() {
            try await tag("answer\(place)", expression.condition)
        }
        try await stage.psql("VACUUM (ANALYZE) gateway.identity_tag")
        try await stage.psql("VACUUM (ANALYZE) gateway.identity")
        var samples: [TagsSample] = []
        for (place, expression) in Self.expressions.enumerated() {
            let sources = Self.sources(of: expression.text)
            var turns: [(expansion: Double, paged: Double, scan: Double)] = []
            var (count, rows) = (0, 0)
            for _ in 0..<self.turns {
                let scan = try await timed { try await sum(sources, self.scan) }
                let paged = try await timed { try await sum(sources, pagedScan) }
                let expansion = try await expand(expression.text, like: "answer\(place)")
                guard scan.value == paged.value else {
                    throw StageFailure("\(expression.text): \(paged.value) rows in pages, not \(scan.value)")
                }
                (count, rows) = (expansion.count, scan.value)
                turns.append((expansion.seconds, paged.seconds, scan.seconds))
            }
            let sample = TagsSample(
                name: expression.text,
                count: count,
                rows: rows,
                seconds: BenchReport.median(turns.map(\.expansion)),
                pagedRatio: BenchReport.median(turns.map { $0.paged / $0.expansion }),
                scanRatio: BenchReport.median(turns.map { $0.scan / $0.expansion })
            )
            samples.append(sample)
            Console.error(String(format: "%@: %d in %.3f s", sample.name, sample.count, sample.seconds))
        }
        return samples
    }

    private func timed<Value>(_ body: () async throws -> Value) async throws -> (value: Value, seconds: Double) {
        let start = ContinuousClock.now
        let value = try await body()
        return (value, (ContinuousClock.now - start) / .seconds(1))
    }

    private func run(_ text: String, _ parameters: [PostgresValue]) async throws -> ResultSet {
        try await stage.database.engine.run(Statement(text, parameters), tenant: nil, timeout: .seconds(300))
    }

    private func tag(_ name: String, _ condition: String) async throws {
        _ = try await run(
            """
            INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
            SELECT $1, $2, $3, $4, i.identity_id FROM (
                SELECT x.identity_id, substr(x.key, 7)::bigint AS n FROM gateway.identity x
                WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND starts_with(x.key, 'bench-')) i
            WHERE \(condition) ORDER BY i.identity_id
            """,
            [tenant, app, vendor, .text(name)]
        )
    }

    // MARK: Scans

    /// An index of candidates: the identities with a tag, or all identities.
    private enum Source {
        case tag(String)
        case everybody
    }

    /// The rows that an evaluation must read: those of each named tag, or all identities where only absence is tested.
    private static func sources(of expression: String) -> [Source] {
        let names = expression.split { !$0.isLetter && !$0.isNumber }
        return names.map { .tag(String($0)) } + (expression.hasPrefix("!") ? [.everybody] : [])
    }

    private func sum(_ sources: [Source], _ count: (Source) async throws -> Int) async throws -> Int {
        var sum = 0
        for source in sources { sum += try await count(source) }
        return sum
    }

    /// The rows of a source, and the parameters of the query.
    private func rows(of source: Source) -> (text: String, parameters: [PostgresValue]) {
        switch source {
        case .tag(let tag):
            (
                "gateway.identity_tag t WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = $3 AND t.tag = $4",
                [tenant, app, vendor, .text(tag)]
            )
        case .everybody:
            (
                "gateway.identity t WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = $3 AND $4 = ''",
                [tenant, app, vendor, .text("")]
            )
        }
    }

    private func scan(_ source: Source) async throws -> Int {
        let (text, parameters) = rows(of: source)
        return try await run(
            "SELECT count(*) AS number FROM (SELECT t.identity_id FROM \(text) ORDER BY t.identity_id OFFSET 0) x",
            parameters
        ).only().int("number")
    }

    private func pagedScan(_ source: Source) async throws -> Int {
        let (text, parameters) = rows(of: source)
        var count = 0
        var after = "00000000-0000-0000-0000-000000000000"
        while true {
            let page = try await run(
                """
                SELECT t.identity_id::text AS id FROM \(text) AND t.identity_id > $5::text::uuid
                ORDER BY t.identity_id LIMIT $6
                """,
                parameters + [.text(after), .int64(Self.pageSize)]
            )
            var last: String?
            for row in page {
                count += 1
                last = try row.text("id")
            }
            guard let last else { return count }
            after = last
        }
    }

    // MARK: The expansion

    /// Expands a message for `text` in place of an engine. The message is due in an hour, so that no engine processes it.
    private func expand(_ text: String, like answer: String) async throws -> (count: Int, seconds: Double) {
        let due = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 3600))
        let message = try await stage.send(
            [
                "app": .string(BenchStage.app.rawValue), "to": ["tags": .string(text)], "body": "hello",
                "sendAt": .string(due),
            ],
            as: stage.apiKey
        )
        let slice = try await run(
            """
            UPDATE gateway.slice SET state = 'leased', owner = 'bench', epoch = epoch + 1, next_at = now() + interval '10 minutes'
            WHERE tenant_id = $1 AND message_id = $2::text::uuid AND kind = 'expand' RETURNING no, epoch
            """,
            [tenant, .text(message)]
        ).only()
        let arguments: [PostgresValue] = [
            tenant, .text(message), .int64(Int64(try slice.int("no"))), .int64(try slice.int64("epoch")),
            .int64(Int64(EnginePolicy().expansionPageSize)), .int64(Self.pageSize),
        ]
        let expansion = try await timed {
            while true {
                let page = try await run(
                    "SELECT outcome FROM gateway.expand_variants($1, $2::text::uuid, $3::int, $4, 'bench', $5::int, $6::int)",
                    arguments
                ).only()
                let outcome = try page.text("outcome")
                if outcome == "finished" { return }
                guard outcome == "page" else { throw StageFailure("the expansion answered \(outcome)") }
            }
        }
        // Checks that the targets are the expected identities, each once, and deletes the slices, so that the next turn starts from the same state.
        let odd = try await run(
            """
            SELECT count(*) AS number FROM (
                SELECT unnest(s.targets) AS id FROM gateway.slice s WHERE s.tenant_id = $1 AND s.message_id = $2::text::uuid) x
            FULL JOIN (
                SELECT t.identity_id AS id FROM gateway.identity_tag t
                WHERE t.tenant_id = $1 AND t.app_id = $3 AND t.vendor = $4 AND t.tag = $5) y ON x.id = y.id
            WHERE x.id IS NULL OR y.id IS NULL
            """,
            [tenant, .text(message), app, vendor, .text(answer)]
        ).only().int("number")
        guard odd == 0 else { throw StageFailure("\(text) selects or misses \(odd) identities wrongly") }
        let count = try await run(
            "SELECT coalesce(sum(cardinality(targets)), 0)::bigint AS number FROM gateway.slice WHERE tenant_id = $1 AND message_id = $2::text::uuid",
            [tenant, .text(message)]
        ).only().int("number")
        let canceled = try await stage.gateway.call("DELETE", "/v1/messages/\(message)", bearer: stage.apiKey)
        guard canceled.status == 200 else { throw StageFailure("canceling answered \(canceled.status)") }
        try await stage.psql("DELETE FROM gateway.slice WHERE message_id = '\(message)'")
        return (count, expansion.seconds)
    }
}
