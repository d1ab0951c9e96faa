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

    /// Writes a list. `more`: a column that is the same in each row, with its heading.
    private func write(
        _ path: String,
        _ numbers: Range<Int>,
        more: (heading: String, value: String) = ("", "")
    ) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Data("key,token,user,tags\(more.heading)\n".utf8))
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 5000) {
            let lines = (first..<min(first + 5000, numbers.upperBound)).map { number in
                let token = Self.isBad(number) ? "nohex" : String(format: "%016x", number &* 0x9E37_79B1)
                return "k\(number),\(token),u\(number),all t\(number % 7)\(more.value)\n"
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
            every: .milliseconds(10),
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

    /// The devices of an old list, of which 20,000 at most; each is imported one by one.
    private static let oldRows = min(Soak.size("SOAK_IMPORT_ROWS") ?? 20_000, 20_000)
    /// Those of the control.
    private static let controlRows = oldRows..<(oldRows + 1000)

    private func writeOld(_ path: String, _ numbers: Range<Int>) throws {
        try write(path, numbers, more: (heading: ",acceptsPush", value: ",true"))
    }

    // Devices get other tokens and users and opt out while an hour-old list of them is imported, killed and continued: none goes back to the list.
    @Test func aKilledImportOfAnOldListOverwritesNothing() async throws {
        try await Soak.with(Cluster(nodes: 1)) { cluster in
            let path = cluster.world.material.path("old.csv")
            try writeOld(path, 0..<Self.oldRows)
            let asOf = ["--as-of", Timestamp(seconds: Int64(Date().timeIntervalSince1970) - 3600).rfc3339]
            let first = try start(cluster, path, 100, asOf)
            try await first.ended(within: .seconds(600))
            #expect(await first.stop() == 0, "\(text(log(cluster, 100)))")

            var random = SplitMix(state: 23)
            let parts = stride(from: 0, to: Self.oldRows, by: 100).shuffled(using: &random)
            func refresh(_ from: Int) async throws {
                try await self.refresh(cluster, from..<min(from + 100, Self.oldRows))
            }
            for from in parts.prefix(parts.count / 2) { try await refresh(from) }
            var round = 101
            var kills = 0
            var process = try start(cluster, path, round, asOf)
            for (place, from) in parts.dropFirst(parts.count / 2).enumerated() {
                try await refresh(from)
                guard place % 8 == 7 else { continue }
                // One that has ended already is started again, so that a later one is killed.
                if process.isRunning {
                    process.kill()
                    kills += 1
                }
                try await process.ended()
                round += 1
                process = try start(cluster, path, round, asOf)
            }
            try await process.ended(within: .seconds(600))
            #expect(await process.stop() == 0, "\(text(log(cluster, round)))")
            print("the import of the old list began \(round - 100) times and was killed \(kills) times")
            #expect(kills > 0, "each import had ended before it could be killed")
            #expect(try await imported(cluster) == Self.oldRows)
            for condition in Self.losses + ["i.accepts_push", "i.state <> 'active'"] {
                #expect(try await lost(cluster, condition) == 0, "\(condition)")
            }
            try await overwriteWithoutATime(cluster)
        }
    }

    /// Conditions that no refreshed device meets.
    private static let losses = ["d.token NOT LIKE 'bb%'", "i.user_id <> 'new'"]

    private func lost(_ cluster: Cluster, _ condition: String) async throws -> Int {
        try await cluster.number(
            """
            SELECT count(*) AS number FROM gateway.identity i
            JOIN gateway.device d ON d.tenant_id = i.tenant_id AND d.device_id = i.device_id
            WHERE i.tenant_id = 'acme' AND (\(condition))
            """
        )
    }

    /// The control: without its time, a list overwrites the devices that were refreshed after it was made.
    private func overwriteWithoutATime(_ cluster: Cluster) async throws {
        let path = cluster.world.material.path("control.csv")
        try writeOld(path, Self.controlRows)
        for round in 900...901 {
            let process = try start(cluster, path, round)
            try await process.ended(within: .seconds(600))
            #expect(await process.stop() == 0, "\(text(log(cluster, round)))")
            if round == 900 { try await refresh(cluster, Self.controlRows) }
        }
        let listed = Self.controlRows.count { !Self.isBad($0) }
        for condition in Self.losses { #expect(try await lost(cluster, condition) == listed, "\(condition)") }
    }

    /// Registers devices of the list with other tokens and another user, who wants no pushes.
    private func refresh(_ cluster: Cluster, _ numbers: Range<Int>) async throws {
        let count = try await cluster.number(
            """
            SELECT count(*) FILTER (WHERE p > 0) AS number FROM generate_series(\(numbers.lowerBound), \(numbers.upperBound - 1)) AS n
            CROSS JOIN LATERAL gateway.register_identity(
                'acme', 'shop', 'native', 'k' || n, gen_random_uuid(), gen_random_uuid(), 'ios', NULL,
                'bb' || lpad(to_hex(n), 14, '0'), 'new', NULL, NULL, NULL, false, NULL, now()) AS r
            CROSS JOIN LATERAL gateway.set_preferences(
                'acme', 'shop', 'native', 'k' || n || left(r::text, 0), NULL, false, NULL, NULL, NULL, NULL) AS p
            """
        )
        #expect(count == numbers.count)
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
