import Foundation
import Model
import TestKit
import Testing

@testable import CommandSupport

/// `devices import` as a process that is killed at random moments and restarted. This run is short; `scripts/soak
/// import` sets the size of a long run.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct ImportKillTests {
    static let rows = Soak.size("SOAK_IMPORT_ROWS") ?? 24_000
    static let kills = Soak.size("SOAK_IMPORT_KILLS") ?? 4

    /// Every hundredth row is invalid.
    private static func isBad(_ number: Int) -> Bool { number % 100 == 99 }
    private static var good: Int { (0..<rows).count { !isBad($0) } }

    /// Writes a list. `more`: the headings of further columns, and their values of a row.
    private func write(
        _ path: String,
        _ numbers: Range<Int>,
        more: (heading: String, value: (Int) -> String) = ("", { _ in "" })
    ) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Data("key,token,user,tags\(more.heading)\n".utf8))
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 5000) {
            let lines = (first..<min(first + 5000, numbers.upperBound)).map { number in
                let token = Self.isBad(number) ? "nohex" : String(format: "%016x", number &* 0x9E37_79B1)
                return "k\(number),\(token),u\(number),all t\(number % 7)\(more.value(number))\n"
            }
            try handle.write(contentsOf: Data(lines.joined().utf8))
        }
        try handle.close()
    }

    private func start(
        _ cluster: Cluster,
        _ path: String,
        _ round: Int,
        _ options: [String] = []
    ) throws -> ChildProcess {
        try ChildProcess(
            "push-gateway devices import",
            program: World.programs + "/push-gateway",
            arguments: [
                "devices", "import", path, "--tenant", "acme", "--app", "shop", "--data-dir",
                cluster.world.material.path("data"),
            ] + options,
            logFile: log(cluster, round)
        )
    }

    private func log(_ cluster: Cluster, _ round: Int) -> String { cluster.world.material.path("import-\(round).log") }

    private func imported(_ cluster: Cluster) async throws -> Int {
        try await cluster.number("SELECT count(*) AS number FROM gateway.identity WHERE tenant_id = 'acme'")
    }

    /// Waits until the given number of rows is imported. Returns false if the process has ended.
    private func reach(
        _ count: Int,
        _ cluster: Cluster,
        _ process: ChildProcess,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Bool {
        try await first(
            "\(count) rows are imported",
            within: .seconds(600),
            every: .milliseconds(50),
            sourceLocation: sourceLocation
        ) {
            guard process.isRunning else { return false }
            return try await imported(cluster) >= count ? true : nil
        }
    }

    // The import continues after the committed rows: no row is lost or imported twice, and each invalid row is
    // reported once.
    @Test func aKilledImportGoesOnUntilEveryRowIsInOnce() async throws {
        try await Soak.with(Cluster(nodes: 1)) { cluster in
            let path = cluster.world.material.path("devices.csv")
            try write(path, 0..<Self.rows)
            var wentOn = 0
            for round in 0..<Self.kills {
                let process = try start(cluster, path, round)
                // Anywhere in its part of the file, the very start included.
                let share = Double(round) + Double.random(in: 0..<1)
                let isRunning = try await reach(
                    Int(share / Double(Self.kills + 1) * Double(Self.good)),
                    cluster,
                    process
                )
                try await Task.sleep(for: .milliseconds(Int.random(in: 0..<50)))
                process.kill()
                try await process.ended()
                #expect(isRunning, "\(text(log(cluster, round)))")
                if text(log(cluster, round)).contains("Continuing at line") { wentOn += 1 }
                let count = try await imported(cluster)
                print("kill \(round + 1): \(count) of \(Self.good) rows are in")
            }
            let last = try start(cluster, path, Self.kills)
            try await last.ended(within: .seconds(600))
            #expect(await last.stop() == 0, "\(text(log(cluster, Self.kills)))")
            if text(log(cluster, Self.kills)).contains("Continuing at line") { wentOn += 1 }
            #expect(wentOn > 0, "each began anew")
            try await expectAll(cluster)
            try expectRejects(path + ".rejects")
            #expect(!FileManager.default.fileExists(atPath: path + ".checkpoint"))
        }
    }

    // MARK: Old lists

    /// The devices of an old list, of which 20,000 at most; each is imported one by one.
    private static let oldRows = min(Soak.size("SOAK_IMPORT_ROWS") ?? 20_000, 20_000)
    /// Fewer of the control, which writes each of them again.
    private static let controlRows = min(oldRows, 5000)

    // Devices get other tokens and users and opt out while an hour-old list of them is imported, killed and continued: none goes back to the list.
    @Test func aKilledImportOfAnOldListOverwritesNothing() async throws {
        try await Soak.with(Cluster(nodes: 1)) { cluster in
            let imports = try await importOld(cluster, Self.oldRows, isTimed: true)
            // Otherwise each import may have started at the first line, or have stored its rows only while no device registered.
            #expect(imports.continued > 0, "no import was continued, seed \(Self.seed)")
            #expect(imports.met > 0, "none stored rows while devices registered, seed \(Self.seed)")
            for (what, sql) in Self.losses {
                #expect(try await cluster.number(sql) == 0, "\(what), seed \(Self.seed)")
            }
            let active = try await cluster.number(
                "SELECT count(*) AS number FROM gateway.identity WHERE tenant_id = 'acme' AND state = 'active'"
            )
            #expect(active == (0..<Self.oldRows).count { !Self.isBad($0) && Decision($0) != .logOut })
        }
    }

    // The control: killed in the same way and without its time, the list overwrites what was decided before. Only consents have times of their own.
    @Test func withoutItsTimeAKilledImportOfAnOldListOverwrites() async throws {
        try await Soak.with(Cluster(nodes: 1)) { cluster in
            try await importOld(cluster, Self.controlRows, isTimed: false)
            for (what, sql) in Self.losses {
                let count = try await cluster.number(sql)
                print("without its time, the old list overwrites \(count) \(what)")
                #expect(count > 0 || what == "consents", "\(what), seed \(Self.seed)")
            }
            #expect(try await cluster.number(Self.losses["consents"] ?? "") == 0)
        }
    }

    /// A change of a device of the list, before the list is imported again.
    private enum Decision {
        /// It installs the app again, which then has another key and the same token, and its user opts out there.
        case reinstall
        case logOut
        /// It gets another token and user, and its former user leaves the group.
        case leaveGroup
        /// Its user withdraws a consent.
        case withdraw

        init?(_ number: Int) {
            switch number % 10 {
            case 1: self = .reinstall
            case 2: self = .logOut
            case 3: self = .leaveGroup
            case 4: self = .withdraw
            default: return nil
            }
        }

        /// Whether the device registers with its key while the list is imported.
        static func staysRegistered(_ number: Int) -> Bool {
            switch Decision(number) {
            case .reinstall, .logOut: false
            case .leaveGroup, .withdraw, nil: true
            }
        }
    }

    /// Changes that an old list may overwrite, each with the statement that counts it.
    private static let losses: [String: String] = {
        func active(_ condition: String) -> String {
            """
            SELECT count(*) AS number FROM gateway.identity i
            JOIN gateway.device d ON d.tenant_id = i.tenant_id AND d.device_id = i.device_id
            WHERE i.tenant_id = 'acme' AND i.state = 'active' AND (\(condition))
            """
        }
        return [
            "tokens": active("left(i.key, 1) = 'k' AND coalesce(d.token, '') NOT LIKE 'bb%'"),
            "users": active("i.user_id IS DISTINCT FROM 'new'"),
            "opt-outs": active("i.accepts_push"),
            "ended registrations": active("left(i.key, 1) = 'k' AND substr(i.key, 2)::integer % 10 IN (1, 2)"),
            "groups": "SELECT count(*) AS number FROM gateway.group_member m WHERE m.tenant_id = 'acme'",
            "consents": """
            SELECT count(*) AS number FROM gateway.user_profile p
            WHERE p.tenant_id = 'acme' AND p.consents->>'news' IS DISTINCT FROM 'unsubscribed'
            """,
        ]
    }()

    /// The list was made an hour ago, and its consents are older.
    private func writeOld(_ path: String, _ numbers: Range<Int>, consentAt: Timestamp) throws {
        try write(
            path,
            numbers,
            more: (
                heading: ",acceptsPush,groups,consents",
                value: { number in
                    switch Decision(number) {
                    case .leaveGroup: #",true,"[""g""]","#
                    case .withdraw:
                        #",true,,"{""news"":{""state"":""subscribed"",""at"":""\#(consentAt.rfc3339)""}}""#
                    case .reinstall, .logOut, nil: ",true,,"
                    }
                }
            )
        )
    }

    /// Selects the order of the parts, and the moments of the kills. `SOAK_IMPORT_SEED` repeats those of a failure.
    private static let seed = Soak.size("SOAK_IMPORT_SEED") ?? Int.random(in: 1...999_999)

    /// The devices of a part that register with their keys while the list is imported.
    private static func registered(_ part: Range<Int>) -> [Int] {
        part.filter { !isBad($0) && Decision.staysRegistered($0) }
    }

    /// Imports an old list, and imports it again while its devices register: one in ten before, the others meanwhile. The second import is killed and continued
    /// until the last device has registered.
    @discardableResult
    private func importOld(_ cluster: Cluster, _ rows: Int, isTimed: Bool) async throws -> RepeatedImport {
        try await cluster.world.bindIPNS()
        let path = cluster.world.material.path("old.csv")
        let now = Int64(Date().timeIntervalSince1970)
        try writeOld(path, 0..<rows, consentAt: Timestamp(seconds: now - 7200))
        let options = ["--vendor", "ipns"] + (isTimed ? ["--as-of", Timestamp(seconds: now - 3600).rfc3339] : [])
        let first = try start(cluster, path, 100, options)
        try await first.ended(within: .seconds(600))
        #expect(await first.stop() == 0, "\(text(log(cluster, 100)))")

        var random = SplitMix(state: UInt64(bitPattern: Int64(Self.seed)))
        let parts = stride(from: 0, to: rows, by: 100).shuffled(using: &random).map { $0..<min($0 + 100, rows) }
        for part in parts { try await decide(cluster, part) }
        let early = parts.count / 10
        for part in parts.prefix(early) { try await refresh(cluster, Self.registered(part)) }
        let rest = parts.dropFirst(early).map { Self.registered($0) }
        let list = OldList(path: path, options: options)
        let imports = try await importAgain(cluster, list, rest, killedAt: Self.moments(in: rest.count, &random))
        let keys = (0..<rows).count { !Self.isBad($0) } + (0..<rows).count { Decision($0) == .reinstall }
        #expect(try await imported(cluster) == keys, "seed \(Self.seed)")
        return imports
    }

    private struct OldList {
        var path: String
        /// Those of its import.
        var options: [String]

        /// The line at which an import would continue; 1: without a checkpoint.
        var line: Int {
            guard let data = FileManager.default.contents(atPath: path + ".checkpoint"),
                let json = try? JSONParser.parse(Array(data)), let line = json["line"]?.int
            else { return 1 }
            return Int(line)
        }
    }

    /// Imports of one list, each of which begins where the one before has ended.
    private struct RepeatedImport {
        /// The present one.
        var process: ChildProcess
        var round: Int
        /// The line at which it began.
        var line = 1
        var killed = 0
        /// Imports that continued at the next line after the rows of the one before, which was killed.
        var continued = 0
        /// Registrations of a part during which rows of the list were stored.
        var met = 0
    }

    /// A kill of the import while the devices of a part register.
    private struct Kill {
        /// From the beginning of the part.
        var delay: Duration
        /// Whether the devices register by calls at the gateway.
        var isByCalls: Bool
        /// Whether the import has stored rows since it began. Otherwise it is killed at any moment, its start included.
        var isInside: Bool
    }

    /// Kills by the places of their parts: one in twenty parts, and at least three. Every second of them finds an import that has stored rows.
    private static func moments(in count: Int, _ random: inout SplitMix) -> [Int: Kill] {
        let places = (0..<count).shuffled(using: &random).prefix(max(3, count / 20)).sorted()
        var moments: [Int: Kill] = [:]
        for (number, place) in places.enumerated() {
            let delay = Int.random(in: 0..<150, using: &random)
            moments[place] = Kill(
                delay: .milliseconds(delay),
                isByCalls: number % 4 < 2,
                isInside: number.isMultiple(of: 2)
            )
        }
        return moments
    }

    /// Imports the list while the devices of each part register, and kills and continues the import.
    private func importAgain(
        _ cluster: Cluster,
        _ list: OldList,
        _ parts: [[Int]],
        killedAt moments: [Int: Kill]
    ) async throws -> RepeatedImport {
        var now = RepeatedImport(process: try start(cluster, list.path, 101, list.options), round: 101)
        for (place, part) in parts.enumerated() {
            guard let kill = moments[place] else {
                try await refresh(cluster, part)
                // One that has ended by itself is followed by another one, so that devices register while one runs.
                if !now.process.isRunning { try await goOn(cluster, list, &now, isKilled: false) }
                continue
            }
            if kill.isInside { try await meet(cluster, list, part, &now) }
            async let registered: Void = register(cluster, part, isByCalls: kill.isByCalls)
            try await Task.sleep(for: kill.delay)
            let isKilled = now.process.isRunning
            if isKilled {
                now.process.kill()
                now.killed += 1
            }
            try await registered
            try await goOn(cluster, list, &now, isKilled: isKilled)
        }
        try await end(cluster, &now, isKilled: false)
        print(
            """
            the import of the old list began \(now.round - 100) times, was killed \(now.killed) times, was continued \(now.continued) times and stored rows \
            during \(now.met) registrations, seed \(Self.seed)
            """
        )
        #expect(now.killed > 0, "seed \(Self.seed): each import had ended before it could be killed")
        return now
    }

    /// Registers the devices of a part again and again until the import has stored rows meanwhile: they register before, during and after the commit of a batch.
    private func meet(_ cluster: Cluster, _ list: OldList, _ part: [Int], _ now: inout RepeatedImport) async throws {
        let limit = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < limit {
            let before = list.line
            try await refresh(cluster, part)
            if list.line > before {
                now.met += 1
                return
            }
            if !now.process.isRunning { try await goOn(cluster, list, &now, isKilled: false) }
        }
        Issue.record("no import stored rows within 300 s, seed \(Self.seed)")
    }

    /// Starts the next import when the present one has ended.
    private func goOn(
        _ cluster: Cluster,
        _ list: OldList,
        _ now: inout RepeatedImport,
        isKilled: Bool
    ) async throws {
        try await end(cluster, &now, isKilled: isKilled)
        now.round += 1
        now.line = list.line
        now.process = try start(cluster, list.path, now.round, list.options)
    }

    /// Waits for the end of the present import. One that says where it continues must continue at the line of the checkpoint.
    private func end(_ cluster: Cluster, _ now: inout RepeatedImport, isKilled: Bool) async throws {
        try await now.process.ended(within: .seconds(600))
        let said = text(log(cluster, now.round))
        if !isKilled { #expect(await now.process.stop() == 0, "seed \(Self.seed): \(said)") }
        guard said.contains("Continuing at line") else { return }
        #expect(now.line > 1 && said.contains("Continuing at line \(now.line);"), "line \(now.line): \(said)")
        now.continued += 1
    }

    /// Does what was decided about the devices of a part. No import runs then.
    private func decide(_ cluster: Cluster, _ part: Range<Int>) async throws {
        func expect(_ decision: Decision, _ sql: String) async throws {
            let some = part.filter { Decision($0) == decision }
            let count = try await cluster.number(sql.replacing("{numbers}", with: Self.series(some)))
            #expect(count == some.count, "\(decision)")
        }
        try await expect(
            .reinstall,
            """
            SELECT count(*) FILTER (WHERE p > 0) AS number FROM gateway.identity i
            JOIN gateway.device d ON d.tenant_id = i.tenant_id AND d.device_id = i.device_id
            CROSS JOIN LATERAL gateway.register_identity(
                'acme', 'shop', 'ipns', 'n' || substr(i.key, 2), gen_random_uuid(), gen_random_uuid(), 'ios', NULL,
                d.token, 'new', NULL, NULL, NULL, false, NULL, now()) AS r
            CROSS JOIN LATERAL gateway.set_preferences(
                'acme', 'shop', 'ipns', 'n' || substr(i.key, 2) || left(r::text, 0), NULL, false,
                NULL, NULL, NULL, NULL) AS p
            WHERE i.tenant_id = 'acme' AND i.key = ANY (ARRAY(SELECT 'k' || n FROM {numbers}))
            """
        )
        try await expect(
            .logOut,
            """
            SELECT sum(gateway.unregister_identities('acme', 'shop', 'ipns', 'k' || n, NULL))::bigint AS number
            FROM {numbers}
            """
        )
        try await refresh(cluster, part.filter { Decision($0) == .leaveGroup })
        try await expect(
            .leaveGroup,
            """
            SELECT c.removed AS number FROM gateway.change_members(
                'acme', 'shop', 'ipns', 'g', '{}', ARRAY(SELECT 'u' || n FROM {numbers})) AS c
            """
        )
        try await expect(
            .withdraw,
            """
            SELECT count(*) AS number FROM {numbers} CROSS JOIN LATERAL gateway.import_consents(
                'acme', 'shop', 'ipns', 'u' || n,
                json_build_object('news', json_build_object('state', 'unsubscribed', 'at', now())), 'test') AS r
            WHERE r = 'changed'
            """
        )
    }

    /// Numbers as rows with the column `n`, in their order.
    private static func series(_ numbers: [Int]) -> String {
        "unnest('{\(numbers.map { "\($0)" }.joined(separator: ","))}'::integer[]) AS n"
    }

    /// Registers devices of the list with other tokens and another user, who wants no pushes.
    private func refresh(_ cluster: Cluster, _ numbers: [Int]) async throws {
        let count = try await cluster.number(
            """
            SELECT count(*) FILTER (WHERE p > 0) AS number FROM \(Self.series(numbers))
            CROSS JOIN LATERAL gateway.register_identity(
                'acme', 'shop', 'ipns', 'k' || n, gen_random_uuid(), gen_random_uuid(), 'ios', NULL,
                'bb' || lpad(to_hex(n), 14, '0'), 'new', NULL, NULL, NULL, false, NULL, now()) AS r
            CROSS JOIN LATERAL gateway.set_preferences(
                'acme', 'shop', 'ipns', 'k' || n || left(r::text, 0), NULL, false, NULL, NULL, NULL, NULL) AS p
            """
        )
        #expect(count == numbers.count)
    }

    private func register(_ cluster: Cluster, _ numbers: [Int], isByCalls: Bool) async throws {
        if isByCalls { try await call(cluster, numbers) } else { try await refresh(cluster, numbers) }
    }

    /// The same registrations as `refresh`, made as the vendor's app makes them: calls at the running gateway, 16 at a time, so that registrations share statements.
    private func call(_ cluster: Cluster, _ numbers: [Int]) async throws {
        let http = cluster.world.http
        let codes = try await concurrently(numbers.count, tasks: 16) { place -> String in
            let number = numbers[place]
            let device: JSON = [
                "APP_ID": "hr.mobile", "USER_CN": "new", "DEVICE_ID": .string("k\(number)"),
                "PUSH_TOKEN": .string("bb" + String(format: "%062x", number)), "PUSH_YN": "N",
            ]
            let answer = try await http.call("POST", "/ipns/appRegist", device)
            return answer.json?["RT"]?.string ?? answer.text
        }
        #expect(codes.allSatisfy { $0 == "0000" }, "seed \(Self.seed): \(Set(codes))")
    }

    private func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    private func expectAll(_ cluster: Cluster) async throws {
        for (what, wanted) in [
            ("count(*) AS number FROM gateway.identity WHERE state = 'active'", Self.good),
            ("count(DISTINCT key) AS number FROM gateway.identity", Self.good),
            ("count(DISTINCT device_id) AS number FROM gateway.identity", Self.good),
            ("count(*) AS number FROM gateway.device WHERE token_state = 'active'", Self.good),
            ("count(DISTINCT token) AS number FROM gateway.device", Self.good),
            ("count(*) AS number FROM gateway.identity_tag", Self.good * 2),
            ("sum(active)::bigint AS number FROM gateway.identity_count", Self.good),
        ] {
            let number = try await cluster.number("SELECT " + what)
            #expect(number == wanted, "\(what)")
        }
    }

    /// Each invalid row once, in order, by its line number; line 1 contains the headings.
    private func expectRejects(_ path: String) throws {
        let lines = text(path).split(separator: "\n")
        let rejected = try lines.map { try JSONParser.parse(String($0))["line"]?.int }
        #expect(rejected == (0..<Self.rows).filter(Self.isBad).map { Int64($0 + 2) })
    }
}
