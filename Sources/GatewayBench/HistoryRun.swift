import CommandSupport
import Foundation
import Gateway
import Model
import PostgresClient

/// The medians of one call, in milliseconds.
struct HistorySample {
    var name: String
    var first: Double
    var far: Double
}

/// Creates a long history and requests pages of it.
struct HistoryRun {
    let stage: BenchStage
    let messages: Int
    let weeks: Int
    let back: Int
    let pages: Int

    private static let application = "bench.mobile"
    /// The page size of iPNS.
    private static let pageSize = 50
    /// Messages per statement while the history is created.
    private static let step = 50_000

    /// - Throws: `StageFailure` when a page is wrong.
    func measure() async throws -> [HistorySample] {
        try await stage.bind("ipns: { appId: \(Self.application) }") { _ in
            try await call("getConfig", ["DEVICE_ID": "nobody"])["RT"] == "2003"
        }
        try await stage.bind("upmc: { applicationId: \(Self.application), version: \"5.1\" }") { _ in
            try await ask("gw_get_unread_count", "nobody", Self.token("f")).code == "4400"
        }
        // Set the retention before old rows exist: maintenance drops the partitions of expired weeks.
        try await stage.psql(
            "UPDATE gateway.tenant SET retention = '{\"deliveries\": 34560000, \"messages\": 34560000}'"
        )
        for (device, user) in [("A", "U"), ("B", "U"), ("C", "V")] { try await register(device, user) }
        for (device, user) in [("D", "W"), ("E", "X")] { try await enlist(device, user) }
        let written = messages - messages / 10
        try await make(written)
        let far = try await number(back * Self.pageSize)
        let writer = try startWriter(messages - written)
        var samples: [HistorySample] = []
        do {
            for (name, device, type) in [("@00 of the device", "A", "@00"), ("@01 of the user", "B", "@01")] {
                samples.append(try await compare(name, far) { try await page(device, type, $0) })
            }
            let number = try await sequence(far)
            for filter in ["", "&READ_YN=N"] {
                let name = "gw_get_message_list" + filter
                samples.append(try await compare(name, number) { try await list("D", "W", filter, $0) })
            }
            samples.append(try await compareCounts())
            samples.append(try await comparePolls())
            guard writer.isRunning else {
                throw StageFailure("the writer had ended before the last page was requested")
            }
        } catch {
            _ = await writer.stop()
            throw error
        }
        writer.kill()
        return samples
    }

    // MARK: Calls

    private typealias Page = (milliseconds: Double, last: String)

    private func compare(_ name: String, _ far: String, _ page: (String?) async throws -> Page) async throws
        -> HistorySample
    {
        var (near, back): ([Double], [Double]) = ([], [])
        var cursor = far
        for _ in 0..<pages {
            near.append(try await page(nil).milliseconds)
            let later = try await page(cursor)
            back.append(later.milliseconds)
            // The next far page is a different one, so that it is not in a cache.
            cursor = later.last
        }
        return HistorySample(name: name, first: BenchReport.median(near), far: BenchReport.median(back))
    }

    private func page(_ device: String, _ type: String, _ before: String?) async throws -> Page {
        var fields: JSONObject = [
            "DEVICE_ID": .string(device), "PUSH_ID_TYPE": .string(type), "USER_CN": "U",
            "REQ_TYPE": before == nil ? "N" : "O",
            "COUNT": .int(Self.pageSize),
        ]
        if let before { fields["REQ_ID"] = .string(before) }
        let start = ContinuousClock.now
        let answer = try await call("getMsgs", fields)
        let took = (.now - start) / .milliseconds(1)
        let list = answer["LIST"]?.array ?? []
        guard list.count == Self.pageSize, let last = list.last?["REQ_ID"]?.string else {
            throw StageFailure("a page has \(list.count) messages: \(JSONWriter.text(answer).prefix(300))")
        }
        return (took, last)
    }

    /// Compares a poll with the whole history unreceived and a poll after the first `back` pages were received.
    private func comparePolls() async throws -> HistorySample {
        var (near, far): ([Double], [Double]) = ([], [])
        for _ in 0..<pages { near.append(try await poll()) }
        try await stage.psql(
            """
            DELETE FROM gateway.inbox_open WHERE (tenant_id, identity_id, message_id) IN (
                SELECT tenant_id, identity_id, message_id FROM gateway.inbox_open ORDER BY message_id LIMIT \((back - pages) * Self.pageSize));
            """
        )
        for _ in 0..<pages { far.append(try await poll()) }
        return HistorySample(name: "polling", first: BenchReport.median(near), far: BenchReport.median(far))
    }

    private func poll() async throws -> Double {
        let start = ContinuousClock.now
        let answer = try await call("polling", ["DEVICE_ID": "C", "COUNT": .int(Self.pageSize)])
        let took = (.now - start) / .milliseconds(1)
        guard answer["LIST"]?.array?.count == Self.pageSize else {
            throw StageFailure("a poll has the wrong count: \(JSONWriter.text(answer).prefix(300))")
        }
        return took
    }

    /// Compares the unread counts of a user with few messages and of a user with all messages.
    private func compareCounts() async throws -> HistorySample {
        var (short, long): ([Double], [Double]) = ([], [])
        for _ in 0..<pages {
            short.append(try await count("E", "X"))
            long.append(try await count("D", "W"))
        }
        return HistorySample(
            name: "gw_get_unread_count, short and long",
            first: BenchReport.median(short),
            far: BenchReport.median(long)
        )
    }

    private func count(_ device: String, _ user: String) async throws -> Double {
        let answer = try await ask("gw_get_unread_count", user, Self.token(device))
        guard answer.code == "0000", let text = answer.list.first?["UNREAD"]?.string, let count = Int(text), count > 0
        else { throw StageFailure("nothing is unread: \(answer.code)") }
        return answer.milliseconds
    }

    private func list(_ device: String, _ user: String, _ filter: String, _ before: String?) async throws -> Page {
        let last = before.map { "&LASTSEQNO=\($0)" } ?? ""
        let answer = try await ask(
            "gw_get_message_list",
            user,
            Self.token(device) + "&COUNT=\(Self.pageSize)\(filter)\(last)"
        )
        guard answer.list.count == Self.pageSize, let number = answer.list.last?["SEQNO"]?.string else {
            throw StageFailure("a page has \(answer.list.count) messages: \(answer.code)")
        }
        return (answer.milliseconds, number)
    }

    private func register(_ device: String, _ user: String) async throws {
        let answer = try await call(
            "appRegist",
            [
                "USER_CN": .string(user), "DEVICE_ID": .string(device), "PUSH_TYPE": "ios", "PUSH_YN": "Y",
                "PUSH_TOKEN": .string(String(repeating: device.lowercased(), count: 64)),
            ]
        )
        guard answer["RT"] == "0000" else { throw StageFailure("registration answered \(JSONWriter.text(answer))") }
    }

    private func call(_ operation: String, _ fields: JSONObject) async throws -> JSON {
        var body = fields
        body["APP_ID"] = .string(Self.application)
        let answer = try await stage.gateway.call("POST", "/ipns/\(operation)", .object(body))
        guard answer.status == 200, let json = answer.json else {
            throw StageFailure("\(operation) answered \(answer.status) \(answer.text)")
        }
        return json
    }

    private func enlist(_ device: String, _ user: String) async throws {
        let more = Self.token(device) + "&DEVICE_ID=\(device)&CNAME=\(user)"
        let answer = try await ask("new_rcv_register_service_and_user", user, more)
        guard answer.code == "0000" else { throw StageFailure("registration answered \(answer.code)") }
    }

    private static func token(_ device: String) -> String { String(repeating: device.lowercased(), count: 64) }

    /// A UPMC call: `more` starts with the token, followed by further parameters.
    private func ask(_ name: String, _ user: String, _ more: String) async throws -> (
        milliseconds: Double, code: String, list: [JSON]
    ) {
        let start = ContinuousClock.now
        let answer = try await stage.gateway.call(
            "POST",
            "/upmc/\(name).ctl?APP_ID=\(Self.application)&PNSID=APNS&CUID=\(user)&PSID=\(more)"
        )
        let took = (.now - start) / .milliseconds(1)
        guard answer.status == 200, let json = answer.json else {
            throw StageFailure("\(name) answered \(answer.status) \(answer.text)")
        }
        return (took, json["HEADER"]?["RESULT_CODE"]?.string ?? "", json["BODY"]?.array ?? [])
    }

    // MARK: Rows

    /// Creates the messages, evenly distributed over the weeks. The newest tenth is created within the last minutes.
    private func make(_ count: Int) async throws {
        try await stage.psql(
            """
            SELECT gateway.make_delivery_partitions((extract(epoch FROM now()) / 86400)::integer - \(weeks * 7), \(weeks + 2));
            UPDATE gateway.identity SET created_at = now() - interval '\(weeks + 1) weeks';
            UPDATE gateway.app SET created_at = now() - interval '\(weeks + 1) weeks';
            \(Self.functions)
            """
        )
        var bar = ProgressBar()
        for first in stride(from: 0, to: count, by: Self.step) {
            bar.show(done: first, of: count, rows: first)
            let last = min(first + Self.step, count)
            try await stage.psql(
                "SELECT bench_messages(\(first), \(last), \(count), now() - interval '1 hour' - interval '\(weeks) weeks', interval '\(weeks) weeks')"
            )
        }
        bar.show(done: count, of: count, rows: count, isLast: true)
        try await stage.psql("VACUUM ANALYZE")
    }

    /// Writes the remaining messages in small transactions until it is stopped.
    private func startWriter(_ count: Int) throws -> ChildProcess {
        let file = stage.material.path("writer.sql")
        try Data(
            """
            DO $$ BEGIN
                FOR n IN 0 .. \(count / 20) LOOP
                    PERFORM bench_messages(\(messages) + n * 20, \(messages) + n * 20 + 20, 1, clock_timestamp(), interval '0');
                    COMMIT;
                    PERFORM pg_sleep(0.02);
                END LOOP;
            END $$;
            """.utf8
        ).write(to: URL(fileURLWithPath: file))
        return try ChildProcess(
            "psql",
            program: "/usr/bin/psql",
            arguments: ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", stage.database.adminConnectionString, "-f", file],
            logFile: stage.material.path("writer.log")
        )
    }

    /// The number of the device's message at `rank`, counted from the newest.
    private func number(_ rank: Int) async throws -> String {
        try await stage.database.engine.run(
            Statement(
                """
                SELECT r.ref FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.vendor = 'ipns'
                ORDER BY r.ref DESC OFFSET $2::bigint LIMIT 1
                """,
                [.text(BenchStage.tenant.rawValue), .int64(Int64(rank))]
            ),
            tenant: nil,
            timeout: .seconds(60)
        ).only().text("ref")
    }

    /// UPMC's number of a message with the given iPNS number.
    private func sequence(_ number: String) async throws -> String {
        try await stage.database.engine.run(
            Statement(
                """
                SELECT u.ref FROM gateway.message_ref r
                JOIN gateway.message_ref u ON u.tenant_id = $1 AND u.message_id = r.message_id AND u.vendor = 'upmc'
                WHERE r.tenant_id = $1 AND r.vendor = 'ipns' AND r.ref = $2 LIMIT 1
                """,
                [.text(BenchStage.tenant.rawValue), .text(number)]
            ),
            tenant: nil,
            timeout: .seconds(60)
        ).only().text("ref")
    }

    /// Creates rows as a submission, an expansion and a flush of outcomes leave them. A has received all messages, B of the same user every tenth, and C, which
    /// polls, none. D of UPMC has all messages and E every five hundredth; both have read nine of ten.
    private static let functions = """
        CREATE FUNCTION bench_messages(p_from bigint, p_to bigint, p_of bigint, p_start timestamptz, p_span interval) RETURNS void
        LANGUAGE plpgsql AS $$
        DECLARE
            a gateway.identity;
            b gateway.identity;
            c gateway.identity;
            d gateway.identity;
            e gateway.identity;
        BEGIN
            SELECT * INTO a FROM gateway.identity WHERE key = 'A';
            SELECT * INTO b FROM gateway.identity WHERE key = 'B';
            SELECT * INTO c FROM gateway.identity WHERE key = 'C';
            SELECT * INTO d FROM gateway.identity WHERE key = 'APNS:D';
            SELECT * INTO e FROM gateway.identity WHERE key = 'APNS:E';
            CREATE TEMPORARY TABLE IF NOT EXISTS made (n bigint, at timestamptz, id uuid, day integer) ON COMMIT DELETE ROWS;
            DELETE FROM made;
            INSERT INTO made
                SELECT n, t.at, (lpad(to_hex((extract(epoch FROM t.at) * 1000)::bigint), 12, '0') || '7' || left(md5(n::text), 3) || '8'
                    || right(md5(n::text), 15))::uuid, floor(extract(epoch FROM t.at) / 86400)::integer
                FROM generate_series(p_from, p_to - 1) AS n
                CROSS JOIN LATERAL (SELECT p_start + p_span * (n::float8 / p_of) + interval '1 microsecond' * (n - p_from) AS at) t;
            INSERT INTO gateway.message (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at, recipients)
                SELECT a.tenant_id, id, a.app_id, 'ipns', 'done', 1, json_build_object('body', 'message ' || n), at, at, day, at + interval '3 days', 1
                FROM made;
            INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id)
                SELECT a.tenant_id, a.app_id, 'ipns', to_char(at AT TIME ZONE 'Asia/Seoul', 'YYYYMMDDHH24MISS') || lpad((n % 10000)::text, 4, '0'), id
                FROM made ON CONFLICT DO NOTHING;
            INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id)
                SELECT a.tenant_id, a.app_id, 'upmc', n::text, id FROM made ON CONFLICT DO NOTHING;
            INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, state,
                    transport, sent_at, received_at, read_at)
                SELECT a.tenant_id, made.day, made.id, i.id, a.app_id, 'ipns', i.id, i.device, i.who, i.state, 'apns', at,
                    CASE i.state WHEN 'received' THEN at END, CASE WHEN i.who IN ('W', 'X') AND n / i.nth % 10 <> 0 THEN at END
                FROM made CROSS JOIN (VALUES (a.identity_id, a.device_id, 'U', 'received', 1), (b.identity_id, b.device_id, 'U', 'received', 10),
                    (c.identity_id, c.device_id, 'V', 'sent', 1), (d.identity_id, d.device_id, 'W', 'received', 1),
                    (e.identity_id, e.device_id, 'X', 'received', 500)) AS i(id, device, who, state, nth)
                WHERE n % i.nth = 0;
            INSERT INTO gateway.inbox_open (tenant_id, identity_id, message_id, due_day) SELECT a.tenant_id, c.identity_id, id, day FROM made;
        END $$;
        """
}
