import ArgumentParser
import CommandSupport
import Foundation
import Model
import Provisioning
import Routing

/// The rules of an app: which side answers calls, and by which paths pushes leave.
struct RoutesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "Show, change, try and roll back the rules of an app.",
        discussion: """
            Uses /v1/apps/{app}/routes of a running gateway, with the API key from the environment variable PUSH_GATEWAY_KEY. The provisioning \
            file owns the base of the rules; 'set' changes the overlay in front of it. Each change is a new version. See docs/routing.md.
            """,
        subcommands: [Show.self, Set.self, Test.self, History.self, Rollback.self, Parity.self]
    )

    /// The app, and the gateway that is called.
    struct Place: ParsableArguments {
        @Option(help: "The app.") var app: String
        @OptionGroup var api: APIOptions

        func path(_ segment: String = "", query: [(String, String?)] = []) -> String {
            HTTPCaller.path(RoutesCommand.path(app, segment), query)
        }
    }

    private static func path(_ app: String, _ segment: String = "") -> String {
        "/v1/apps/\(HTTPCaller.encode(app))/routes\(segment)"
    }

    private static func tag(_ version: Int64) -> [String: String] { ["If-Match": "\"\(version)\""] }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the rules in force, or those of a version.")
        @Option(help: "An earlier version.") var version: Int?
        @OptionGroup var place: Place

        func run() async throws {
            let query = [("version", version.map { "\($0)" })]
            place.api.show(
                try await place.api.call("routes show", "GET", place.path(query: query)),
                RoutesCommand.text
            )
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the overlay: the rules in front of those of the provisioning file.",
            discussion: """
                Without --if-version, the rules in force are read first; a change in between is refused. Running gateways apply the new version \
                to pushes at once, and to calls within a second.
                """
        )
        @Option(help: "A file (YAML or JSON) with the members of 'routes': calls, deliveries, duplicateGuard.")
        var file: String?
        @Flag(help: "Remove the overlay.") var none = false
        @Option(help: "The version that is replaced; 0: the app has no rules.") var ifVersion: Int64?
        @OptionGroup var place: Place

        func validate() throws {
            guard (file != nil) != none else { throw ValidationError("give either --file or --none") }
        }

        func run() async throws {
            let overlay = try file.map(RoutesCommand.rules(of:)) ?? [:]
            var version = ifVersion
            if version == nil {
                version = try await place.api.call("routes set", "GET", place.path())["version"]?.int ?? 0
            }
            let headers = RoutesCommand.tag(version ?? 0)
            place.api.show(
                try await place.api.call("routes set", "PUT", place.path(), .object(overlay), headers: headers),
                RoutesCommand.text
            )
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the versions, newest first.")
        @Option(help: "Number of versions to show.") var limit = 100
        @Option(help: "Show only the versions before this one.") var before: Int?
        @OptionGroup var place: Place

        func run() async throws {
            let query = [("limit", "\(limit)"), ("after", before.map { "\($0)" })] as [(String, String?)]
            let answer = try await place.api.call("routes history", "GET", place.path("/versions", query: query))
            place.api.show(answer) { answer in
                let rows = (answer["versions"]?.array ?? []).map { version in
                    [
                        version["version"]?.int.map { "\($0)" } ?? "?", version["madeAt"]?.string ?? "?",
                        version["origin"]?.string ?? "?", version["actor"]?.string ?? "?",
                    ]
                }
                return Console.table(["version", "made at", "origin", "by"], rows)
            }
        }
    }

    struct Rollback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new version with the rules of an earlier one.",
            discussion:
                "The next 'push-gateway apply' gives the app the base of its file again, behind the same overlay."
        )
        @Option(help: "The version to return to.") var to: Int
        @Option(help: "The version that is replaced. Default: whichever is in force.") var ifVersion: Int64?
        @OptionGroup var place: Place

        func run() async throws {
            let headers = ifVersion.map(RoutesCommand.tag) ?? [:]
            let body: JSON = ["version": .int(to)]
            place.api.show(
                try await place.api.call("routes rollback", "POST", place.path("/rollback"), body, headers: headers),
                RoutesCommand.text
            )
        }
    }

    /// `routes test`: with a file it needs neither a database nor the secrets of the file.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the decisions of an app's rules about a call and about deliveries.",
            discussion: """
                With --file, the rules are those of a provisioning file, and nothing else is needed; otherwise those of a running gateway, or with --overlay \
                those that it would have with another overlay. Nothing is applied. Faults of the rules are listed first; the status is then 1. With several \
                --user or --device, the call names all of them; without one, it is about an audience. See docs/routing.md.
                """
        )
        @Option(help: "The provisioning file.") var file: String?
        @Option(help: "With --file: the tenant. Default: the only one of the file.") var tenant: String?
        @Option(help: "The app. Default, with --file: the only one of the tenant.") var app: String?
        @Option(help: "Without --file: a file with rules that take the place of the overlay.") var overlay: String?
        @OptionGroup var call: TrialOptions
        @OptionGroup var api: APIOptions

        func validate() throws {
            guard file != nil || app != nil else { throw ValidationError("give --file, or --app of a running gateway") }
            guard file == nil || overlay == nil else { throw ValidationError("--overlay is for a running gateway") }
        }

        func run() async throws {
            let answer = try await answer()
            api.show(answer, RoutesCommand.decisions)
            guard answer["faults"]?.array?.isEmpty ?? true else { throw ExitCode(1) }
        }

        private func answer() async throws -> JSON {
            guard let file else {
                var body = call.json
                body["overlay"] = try overlay.map { .object(try RoutesCommand.rules(of: $0)) }
                return try await api.call("routes test", "POST", RoutesCommand.path(app ?? "", "/test"), .object(body))
            }
            do {
                return .object(try RouteFile(at: file, tenant: tenant, app: app).answer(call.trial).json)
            } catch { throw CommandFailure("routes test: \(error)") }
        }
    }

    // MARK: Files and output

    /// The rules of a file.
    fileprivate static func rules(of path: String) throws -> JSONObject {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("routes: cannot read \(path)")
        }
        do {
            let tree = try YAMLTree.parse(String(decoding: data, as: UTF8.self))
            guard let rules = tree.object else { throw ProvisioningProblem(path: "", problem: "must be a mapping") }
            return rules
        } catch { throw CommandFailure("routes: \(path): \(error)") }
    }

    /// A version: one line for it, and one for each rule in the order in which they are compared.
    private static func text(_ answer: JSON) -> String {
        guard let version = answer["version"]?.int else { return "no rules: the gateway serves every call" }
        let origin = answer["origin"]?.string ?? "?"
        let inForce = answer["inForce"]?.bool == true ? "in force" : "not in force"
        var lines = [
            "version \(version), \(inForce): \(origin), \(answer["actor"]?.string ?? "?"), \(answer["madeAt"]?.string ?? "?")"
        ]
        for part in ["overlay", "base"] {
            if let window = answer[part]?["duplicateGuard"] {
                lines.append("\(part).duplicateGuard: \(JSONWriter.text(window))")
            }
        }
        for list in ["calls", "deliveries"] {
            for part in ["overlay", "base"] {
                for (index, rule) in (answer[part]?[list]?.array ?? []).enumerated() {
                    lines.append("\(part).\(list)[\(index)]: \(JSONWriter.text(rule))")
                }
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The decisions of `routes test`.
    private static func decisions(_ answer: JSON) -> String {
        var lines = (answer["faults"]?.array ?? []).map { fault in
            "fault: \(fault["rule"]?.string ?? ""): \(fault["problem"]?.string ?? "")"
        }
        if let unsupported = answer["unsupported"]?.string {
            lines.append("not carried out by this version: \(unsupported)")
        }
        let call = answer["call"]
        let rule = call?["rule"]?.int.map { "calls[\($0)]" } ?? "no rule"
        let upstream = call?["upstream"]?.string.map { " \($0)" } ?? ""
        let split = call?["split"]?.bool == true ? ", split by the delivery rules" : ""
        lines.append("call: \(call?["action"]?.string ?? "?")\(upstream)\(split) (\(rule))")
        for delivery in answer["deliveries"]?.array ?? [] {
            let rule = delivery["rule"]?.int.map { "deliveries[\($0)]" } ?? "no rule"
            let paths = (delivery["paths"]?.array ?? []).compactMap(\.string).joined(separator: ", then ")
            let bucket = delivery["bucket"]?.int.map { ", bucket \($0) = \(percent($0)) %" } ?? ""
            lines.append("\(delivery["target"]?.string ?? ""): \(paths) (\(rule)\(bucket))")
        }
        return lines.joined(separator: "\n")
    }

    /// A bucket as a percentage with four decimals, rounded.
    private static func percent(_ bucket: Int64) -> String {
        let parts = (UInt64(clamping: min(bucket, Int64(UInt32.max))) * 1_000_000 + (1 << 31)) >> 32
        let (whole, rest) = parts.quotientAndRemainder(dividingBy: 10_000)
        let digits = String(rest)
        return "\(whole)." + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

/// The call that `routes test` tries.
struct TrialOptions: ParsableArguments {
    @Option(help: "The dialect of the call and of the registrations.") var vendor: String
    @Option(help: "The kind of the call: \(CallKind.allCases.map(\.rawValue).joined(separator: ", ")).") var kind =
        "send"
    @Option(help: "The name of the call in the vendor's compatibility table.") var name = ""
    @Option(help: "The app version that the call states.") var appVersion: String?
    @Option(help: "A user that the call names; may be repeated.") var user: [String] = []
    @Option(help: "A vendor's key of a device without a user; may be repeated.") var device: [String] = []
    @Option(help: "The platform of the devices: ios or android.") var platform = "ios"
    @Option(help: "The lane of the message: \(lanes.joined(separator: ", ")).") var lane = "transactional"
    @Option(help: "A tag of the devices; may be repeated.") var tag: [String] = []

    private static let lanes = Lane.allCases.map { "\($0)" }

    func validate() throws {
        guard CallKind(rawValue: kind) != nil else { throw ValidationError("--kind: unknown kind '\(kind)'") }
        guard Platform(rawValue: platform) != nil else {
            throw ValidationError("--platform must be ios or android")
        }
        guard Self.lanes.contains(lane) else {
            throw ValidationError("--lane must be one of \(Self.lanes.joined(separator: ", "))")
        }
    }

    var trial: RouteTrial {
        RouteTrial(
            vendor: Vendor(vendor),
            kind: CallKind(rawValue: kind) ?? .send,
            name: name,
            appVersion: appVersion,
            targets: user.map { RolloutFacts(user: $0) } + device.map { RolloutFacts(device: $0) },
            platform: Platform(rawValue: platform) ?? .ios,
            lane: Lane.allCases.first { "\($0)" == lane } ?? .transactional,
            tags: Set(tag)
        )
    }

    /// The body of the operation.
    var json: JSONObject {
        func list(_ values: [String]) -> JSON { .array(values.map { .string($0) }) }
        var object: JSONObject = [
            "vendor": .string(vendor), "kind": .string(kind), "name": .string(name), "users": list(user),
            "devices": list(device), "platform": .string(platform), "lane": .string(lane), "tags": list(tag),
        ]
        object["appVersion"] = appVersion.map { .string($0) }
        return object
    }
}
