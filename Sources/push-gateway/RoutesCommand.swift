import ArgumentParser
import CommandSupport
import Model
import Provisioning
import Routing

/// The rules of an app: which side answers calls, and by which paths pushes leave.
struct RoutesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "Try the routes of a provisioning file.",
        subcommands: [Test.self]
    )

    /// `routes test`: needs neither a database nor the secrets of the file.
    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the decisions of an app's routes about a call and about deliveries.",
            discussion: """
                Nothing is applied. Faults of the rules are listed first; the status is then 1. With several --user or --device, the call names all of them; without one, \
                it is about an audience. See docs/routing.md.
                """
        )
        @Option(help: "The provisioning file.") var file: String
        @Option(help: "The tenant. Default: the only one of the file.") var tenant: String?
        @Option(help: "The app. Default: the only one of the tenant.") var app: String?
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
        @Flag(help: "Print JSON.") var json = false

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

        func run() throws {
            let routes: RouteFile
            do throws(ProvisioningProblem) { routes = try RouteFile(at: file, tenant: tenant, app: app) } catch {
                throw CommandFailure("routes test: \(error)")
            }
            let table = RouteTable(routes.rules, upstreams: routes.upstreams)
            let targets = user.map { RolloutFacts(user: $0) } + device.map { RolloutFacts(device: $0) }
            let call = RouteTable.Call(
                vendor: Vendor(vendor),
                kind: CallKind(rawValue: kind) ?? .send,
                name: name,
                appVersion: appVersion,
                named: targets.isEmpty ? .audience : .targets(targets)
            )
            let deliveries = targets.map { ($0, table.decide(delivery(of: $0))) }
            show(routes, table.decide(call), deliveries)
            guard routes.faults.isEmpty else { throw ExitCode(1) }
        }

        private func delivery(of target: RolloutFacts) -> RouteTable.Delivery {
            RouteTable.Delivery(
                vendor: Vendor(vendor),
                platform: Platform(rawValue: platform) ?? .ios,
                lane: Lane.allCases.first { "\($0)" == lane } ?? .transactional,
                tags: Set(tag),
                rollout: target
            )
        }

        private func show(
            _ routes: RouteFile,
            _ call: RouteTable.CallDecision,
            _ deliveries: [(RolloutFacts, RouteTable.DeliveryDecision)]
        ) {
            if json {
                Console.print(
                    [
                        "rules": routes.rules.json,
                        "faults": .array(
                            routes.faults.map { ["rule": .string($0.place), "problem": .string("\($0)")] }
                        ),
                        "unsupported": routes.unsupported.map { .string("\($0.place): \($0.what)") } ?? .null,
                        "call": Self.json(call), "deliveries": .array(deliveries.map(Self.json)),
                    ]
                )
                return
            }
            for fault in routes.faults { Console.print("fault: \(fault.place): \(fault)") }
            if let (place, what) = routes.unsupported {
                Console.print("not carried out by this version: \(place): \(what)")
            }
            Console.print("call: \(Self.text(call))")
            for (target, decision) in deliveries { Console.print(Self.text(target, decision)) }
        }

        // MARK: Output

        private static func text(_ call: RouteTable.CallDecision) -> String {
            let rule = call.rule.map { "calls[\($0)]" } ?? "no rule"
            let upstream = call.upstream.map { " \($0)" } ?? ""
            return "\(call.action.rawValue)\(upstream)\(call.isSplit ? ", split by the delivery rules" : "") (\(rule))"
        }

        private static func text(_ target: RolloutFacts, _ decision: RouteTable.DeliveryDecision) -> String {
            let rule = decision.rule.map { "deliveries[\($0)]" } ?? "no rule"
            let paths = decision.paths.map(\.name).joined(separator: ", then ")
            let bucket = decision.bucket.map { ", bucket \($0) = \(percent($0)) %" } ?? ""
            return "\(target.user ?? target.device ?? ""): \(paths) (\(rule)\(bucket))"
        }

        /// A bucket as a percentage with four decimals, rounded.
        private static func percent(_ bucket: UInt32) -> String {
            let parts = (UInt64(bucket) * 1_000_000 + (1 << 31)) >> 32
            let (whole, rest) = parts.quotientAndRemainder(dividingBy: 10_000)
            let digits = String(rest)
            return "\(whole)." + String(repeating: "0", count: 4 - digits.count) + digits
        }

        private static func json(_ call: RouteTable.CallDecision) -> JSON {
            [
                "rule": call.rule.map { .int($0) } ?? .null, "action": .string(call.action.rawValue),
                "upstream": call.upstream.map { .string($0.rawValue) } ?? .null, "split": .bool(call.isSplit),
                "onMiss": call.proxiesMisses ? "proxy" : .null, "onOutage": call.servesInOutage ? "serve" : .null,
            ]
        }

        private static func json(_ delivery: (RolloutFacts, RouteTable.DeliveryDecision)) -> JSON {
            let (target, decision) = delivery
            return [
                "target": (target.user ?? target.device).map { .string($0) } ?? .null,
                "rule": decision.rule.map { .int($0) } ?? .null,
                "bucket": decision.bucket.map { .int($0) } ?? .null,
                "paths": .array(decision.paths.map { .string($0.name) }),
            ]
        }
    }
}
