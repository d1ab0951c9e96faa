import CommandSupport
import Foundation
import Model
import Testing

@testable import Gateway

/// An app that leaves its vendor: a world, and the vendor's stub as the upstream `old` of the app `shop`.
struct LeavingStage {
    let world: World
    let vendor: VendorStub
    let caller: LeavingApp

    /// Starts the processes, runs `body` and ends them.
    static func with(_ body: (LeavingStage) async throws -> Void) async throws {
        let arguments = ["--upstream-allow", "127.0.0.0/8", "--migration-interval", "1"]
        try await World.with(serveArguments: arguments) { world in
            try #require(try await world.apply().status == 0)
            let vendor = try await VendorStub.start(
                ["rationalowl", "--set", "account=\(world.account)", "--set", "service=\(world.service)"],
                world
            )
            try await closing(vendor.stop) {
                try await world.administer()
                let credential: JSON = ["kind": "upstream-rationalowl", "url": .string(vendor.url)]
                try await eventually("the upstream is stored") {
                    try await world.native("PUT", "/v1/credentials/old", credential).status == 201
                }
                try await eventually("the upstream is opened") { try world.gatewayLog().contains("upstream opened") }
                let caller = LeavingApp(http: world.http, account: world.account, service: world.service)
                try await body(LeavingStage(world: world, vendor: vendor, caller: caller))
            }
        }
    }

    // MARK: Commands

    /// Plans the migration of a file, and returns the output.
    @discardableResult
    func plan(_ file: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let path = world.material.path("migration.yaml")
        try file.write(toFile: path, atomically: true, encoding: .utf8)
        return try await migration("plan", path, sourceLocation: sourceLocation)
    }

    @discardableResult
    func migration(
        _ arguments: String...,
        fails: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let result = try await world.apiCommand(["migration"] + arguments)
        #expect((result.status != 0) == fails, "\(arguments): \(result.log)", sourceLocation: sourceLocation)
        return result.log
    }

    func status(of id: String = "leave") async throws -> JSON {
        try #require(try await world.native("GET", "/v1/migrations/\(id)").json)
    }

    /// Advances as soon as the gates permit it.
    func advance(_ id: String = "leave", sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let step = try await status(of: id)["step"]?.int ?? -1
        var last = ""
        try await eventually("step \(step) ends", sourceLocation: sourceLocation) {
            let result = try await world.apiCommand(["migration", "advance", id])
            last = result.log
            return result.status == 0
        }
        #expect(try await status(of: id)["step"]?.int != step, "\(last)", sourceLocation: sourceLocation)
    }

    // MARK: Waiting

    /// Waits until calls follow the rules in force: within a second, by the documentation.
    func follows(_ what: String, _ condition: () async throws -> Bool) async throws {
        try await eventually(what, within: .seconds(30), condition)
    }

    /// Waits until calls count for the step: they are counted in intervals of a second, and one that began before the step does not. Between three
    /// evaluations are two seconds.
    func counts(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await evaluations(3, sourceLocation: sourceLocation)
    }

    /// Waits until so many evaluations of the migration in force have ended. Each sets the time of the next one, a second later.
    func evaluations(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        var times: Set<String> = []
        try await eventually("\(count) evaluations", every: .milliseconds(100), sourceLocation: sourceLocation) {
            let next = try await world.value(
                """
                SELECT coalesce(max(m.next_at)::text, '') AS value FROM gateway.migration m
                WHERE m.is_active AND m.owner IS NULL
                """
            )
            if !next.isEmpty { times.insert(next) }
            // The first time is that of an earlier evaluation.
            return times.count > count
        }
    }

    /// Waits until the vendor receives registrations.
    func proxies() async throws {
        try await follows("calls are proxied") {
            try await caller.install(LeavingApp.devices[0])
            return try await vendor.count(to: "/pushApp/installApp") > 0
        }
    }

    // MARK: Messages

    /// Sends to the first devices, and returns how many of the sends the vendor receives.
    func proxied(_ count: Int, from sender: String) async throws -> Int {
        let caller = caller
        let before = try await vendor.count(to: "/msgClient/msgClientSend")
        _ = try await LeavingApp.each(count) { try await caller.send(to: $0, from: sender, "probe") }
        return try await vendor.count(to: "/msgClient/msgClientSend") - before
    }

    /// Sends to each device, and waits until every message has its delivery. Returns the messages by the keys of their devices.
    func send(
        from sender: String,
        _ text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String: String] {
        let caller = caller
        let sent = try await LeavingApp.each { try await caller.send(to: $0, from: sender, text) }
        let messages = Dictionary(uniqueKeysWithValues: sent.map { ($0.device.key, $0.value) })
        try await eventually("every message has a delivery", sourceLocation: sourceLocation) {
            let names = messages.values.map { "'\($0.lowercased())'" }.joined(separator: ",")
            let sent = try await world.value(
                """
                SELECT count(DISTINCT d.message_id)::text AS value FROM gateway.delivery d
                LEFT JOIN gateway.message_ref r ON r.tenant_id = d.tenant_id AND r.message_id = d.message_id
                WHERE d.state = 'sent' AND (d.message_id::text IN (\(names)) OR lower(r.ref) IN (\(names)))
                """
            )
            return Int(sent) == messages.count
        }
        return messages
    }

    /// Each device reads its message.
    func read(_ messages: [String: String]) async throws {
        let caller = caller
        _ = try await LeavingApp.each { device in
            if let message = messages[device.key] { try await caller.read(message, on: device) }
        }
    }

    /// Sends to each device, which then reads its message.
    func sendAndRead(from sender: String, _ text: String) async throws {
        try await counts()
        try await read(try await send(from: sender, text))
    }
}
