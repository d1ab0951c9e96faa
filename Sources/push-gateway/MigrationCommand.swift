import ArgumentParser
import CommandSupport
import Foundation
import Model
import Provisioning

/// Migrations of apps from their vendors.
struct MigrationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migration",
        abstract: "Plan, start, watch and steer the migration of an app from its vendor.",
        discussion: """
            Uses /v1/migrations of a running gateway, with the API key from the environment variable PUSH_GATEWAY_KEY. A migration is a list of steps \
            with gates; the gateway evaluates the gates and stops when one fails. See docs/migrating.md, and docs/migration.md for a plan of each vendor.
            """,
        subcommands: [
            Plan.self, Start.self, Status.self, Advance.self, Pause.self, Resume.self, Rollback.self, Complete.self,
        ]
    )

    private static func path(_ id: String, _ act: String = "") -> String {
        "/v1/migrations/\(HTTPCaller.encode(id))\(act)"
    }

    /// The migration, and the gateway that is called.
    struct Place: ParsableArguments {
        @Argument(help: "The migration's name.") var id: String
        @OptionGroup var api: APIOptions

        /// Makes a decision, and prints the state after it.
        fileprivate func decide(_ act: String, query: [(String, String?)] = []) async throws {
            let path = HTTPCaller.path(MigrationCommand.path(id, "/\(act)"), query)
            api.show(try await api.call("migration \(act)", "POST", path), MigrationText.text)
        }
    }

    struct Plan: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the file of a migration, and store it.",
            discussion: """
                The file (YAML or JSON) has the members 'migration' and 'steps'. A plan with faults is not stored, and the status is then 1. A plan replaces one \
                of the same name that has not been started.
                """
        )
        @Argument(help: "The file.") var file: String
        @Flag(help: "Only check the file.") var dryRun = false
        @OptionGroup var api: APIOptions

        func run() async throws {
            let plan = try MigrationCommand.read(file)
            // The check lists every fault; a write names the first one.
            let checked = try await api.call("migration plan", "POST", "/v1/migrations?dryRun=true", plan)
            let faults = checked["faults"]?.array ?? []
            guard faults.isEmpty, !dryRun else {
                api.show(checked, MigrationText.planned)
                if !faults.isEmpty { throw ExitCode(1) }
                return
            }
            api.show(try await api.call("migration plan", "POST", "/v1/migrations", plan), MigrationText.planned)
        }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Put the first step in force.")
        @OptionGroup var place: Place

        func run() async throws { try await place.decide("start") }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Show a migration: its step, the time that is left, its gates, and what a rollback would cost now.",
            discussion: "Without a name, all migrations are listed."
        )
        @Argument(help: "The migration's name.") var id: String?
        /// With every gate that there is, the status is one screen of 24 lines.
        static let standardChanges = 5
        @Option(help: "Number of the last changes to show.") var changes = Self.standardChanges
        @OptionGroup var api: APIOptions

        func run() async throws {
            guard let id else {
                return api.show(try await api.call("migration status", "GET", "/v1/migrations"), MigrationText.list)
            }
            let answer = try await api.call("migration status", "GET", MigrationCommand.path(id))
            api.show(answer) { MigrationText.text($0, changes: changes) }
        }
    }

    struct Advance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put the next step in force.",
            discussion:
                "It is refused until the present step has lasted its time and each of its gates passes with enough samples."
        )
        @OptionGroup var place: Place

        func run() async throws { try await place.decide("advance") }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop the clock and the gates. The rules of the step stay in force."
        )
        @OptionGroup var place: Place

        func run() async throws { try await place.decide("pause") }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Continue a paused or halted migration, or the step that a rollback left.",
            discussion: "The clock of the step begins anew."
        )
        @OptionGroup var place: Place

        func run() async throws { try await place.decide("resume") }
    }

    struct Rollback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send through the vendor again.",
            discussion:
                "Devices and reads are still served, because both sides know them. With --full everything is proxied."
        )
        @Flag(help: "Proxy everything.") var full = false
        @OptionGroup var place: Place

        func run() async throws { try await place.decide("rollback", query: [("full", full ? "true" : nil)]) }
    }

    struct Complete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End the migration: the upstream is not used any longer, and no rollback is possible."
        )
        @OptionGroup var place: Place

        func run() async throws { try await place.decide("complete") }
    }

    private static func read(_ path: String) throws -> JSON {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("migration plan: cannot read \(path)")
        }
        do {
            let tree = try YAMLTree.parse(String(decoding: data, as: UTF8.self))
            guard tree.object != nil else { throw ProvisioningProblem(path: "", problem: "must be a mapping") }
            return tree
        } catch { throw CommandFailure("migration plan: \(path): \(error)") }
    }
}

/// The output of the commands. One screen: the step, the time that is left, the gates, and the cost of a rollback.
enum MigrationText {
    static func planned(_ answer: JSON) -> String {
        let id = answer["id"]?.string ?? "?"
        let faults = (answer["faults"]?.array ?? []).compactMap(\.string).map { "fault: \($0)" }
        let warnings = (answer["warnings"]?.array ?? []).compactMap(\.string).map { "warning: \($0)" }
        let end =
            answer["stored"]?.bool == true
            ? "\(id) is planned; start it with 'push-gateway migration start \(id)'"
            : faults.isEmpty ? "\(id) may start; nothing was stored" : "\(id) may not start; nothing was stored"
        return (faults + warnings + [end]).joined(separator: "\n")
    }

    static func list(_ answer: JSON) -> String {
        let rows = (answer["migrations"]?.array ?? []).map { one in
            [
                one["id"]?.string ?? "?", one["app"]?.string ?? "?", one["from"]?.string ?? "?",
                one["status"]?.string ?? "?", one["stage"]?.string ?? "?", one["since"]?.string ?? "-",
            ]
        }
        return Console.table(["migration", "app", "from", "status", "stage", "since"], rows)
    }

    static func text(_ answer: JSON) -> String { text(answer, changes: 1) }

    static func text(_ answer: JSON, changes: Int) -> String {
        let step = (answer["step"]?.int ?? 0) + 1
        var lines = [
            "\(answer["id"]?.string ?? "?"): \(answer["app"]?.string ?? "?") leaves \(answer["from"]?.string ?? "?")",
            "\(answer["status"]?.string ?? "?"): step \(step) of \(answer["steps"]?.int ?? 0), \(answer["stage"]?.string ?? "?")"
                + (answer["since"]?.string.map { ", since \($0)" } ?? "") + left(answer),
        ]
        if let reason = answer["reason"]?.string { lines.append("reason: \(reason)") }
        let gates = (answer["gates"]?.array ?? []).map(gate)
        if !gates.isEmpty { lines.append(Console.table(["gate", "value", "limit", "samples", "result"], gates)) }
        lines.append(cost(answer["rollback"]))
        for note in (answer["history"]?.array ?? []).prefix(max(0, changes)) {
            let version = note["routeVersion"]?.int.map { ", rules \($0)" } ?? ""
            lines.append(
                "\(note["at"]?.string ?? "?") \(note["actor"]?.string ?? "?"): \(note["status"]?.string ?? "?"): \(note["note"]?.string ?? "?")\(version)"
            )
        }
        return lines.joined(separator: "\n")
    }

    private static func left(_ answer: JSON) -> String {
        guard let seconds = answer["remainingSeconds"]?.int else { return "" }
        if seconds > 0 { return ", \(duration(seconds)) left" }
        return answer["ready"]?.bool == true ? ", complete" : ", its time is over"
    }

    /// Two units: `2d 3h`, `5m 0s`.
    static func duration(_ seconds: Int64) -> String {
        let units: [(String, Int64)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]
        guard let first = units.firstIndex(where: { seconds >= $0.1 }) else { return "0s" }
        let (large, rest) = seconds.quotientAndRemainder(dividingBy: units[first].1)
        guard first + 1 < units.count else { return "\(large)s" }
        return "\(large)\(units[first].0) \(rest / units[first + 1].1)\(units[first + 1].0)"
    }

    private static func gate(_ gate: JSON) -> [String] {
        let missing = gate["missing"]?.int ?? 0
        var verdict = gate["verdict"]?.string ?? "?"
        if verdict == "missing" { verdict = "\(missing) samples are missing" }
        if gate["recent"]?.bool == true { verdict += " in the last quarter hours" }
        return [
            gate["metric"]?.string ?? "?", number(gate["value"]),
            "\(gate["atLeast"]?.bool == true ? ">=" : "<=") \(number(gate["limit"]))",
            "\(gate["samples"]?.int.map { "\($0)" } ?? "-") of \(gate["needed"]?.int ?? 0)",
            verdict,
        ]
    }

    /// At most four decimals.
    private static func number(_ value: JSON?) -> String {
        guard let value = value?.double else { return "-" }
        let rounded = (value * 10_000).rounded() / 10_000
        return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int64(rounded))" : "\(rounded)"
    }

    private static func cost(_ rollback: JSON?) -> String {
        let count = rollback?["waitingCalls"]?.int ?? 0
        let oldest = rollback?["oldestSeconds"]?.int ?? 0
        if rollback?["missesCalls"]?.bool == true {
            return "a rollback now: the upstream misses calls, because \(count) wait; import the devices there first"
        }
        return count == 0
            ? "a rollback now: the upstream has received every call"
            : "a rollback now: \(count) calls wait for the upstream, the oldest for \(duration(oldest))"
    }
}
