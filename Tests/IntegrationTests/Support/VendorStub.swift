import CommandSupport
import Foundation
import Model
import Testing

/// The stub of a vendor as a process, with its control calls (`Clients/vendorstubs`). It shares no code with the gateway.
struct VendorStub {
    let url: String
    let control: HTTPCaller
    private let process: ChildProcess

    /// Starts the stub of `arguments[0]` and waits until it is ready. `port`: 0 for any free one.
    static func start(_ arguments: [String], _ world: World, port: Int = 0) async throws -> VendorStub {
        let log = world.material.path("vendor-\(UUID().uuidString).log")
        let process = try PythonClient(world).start(
            script: "vendorstubs/__main__",
            arguments + ["--port", "\(port)"],
            logFile: log
        )
        var ready: JSON?
        try await eventually("the stub is ready") {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            ready = text.split(separator: "\n").lazy.compactMap { try? JSONParser.parse(String($0)) }
                .first { $0["control"] != nil }
            return ready != nil
        }
        let url = try #require(ready?["url"]?.string)
        let port = try #require(ready?["control"]?.int)
        return VendorStub(url: url, control: HTTPCaller(base: "http://127.0.0.1:\(port)"), process: process)
    }

    func stop() async {
        await control.close()
        _ = await process.stop()
    }

    /// Adds a fault, which takes effect on the calls that it matches (`Clients/vendorstubs/README.md`).
    func add(fault: JSON, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let added = try await control.call("POST", "/_stub/faults", fault)
        try #require(added.status == 200, "\(added.text)", sourceLocation: sourceLocation)
    }

    func removeFaults(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let removed = try await control.call("DELETE", "/_stub/faults")
        try #require(removed.status == 200, "\(removed.text)", sourceLocation: sourceLocation)
    }

    /// The recorded calls whose path begins so.
    func calls(to path: String) async throws -> [JSON] {
        let all = try await control.call("GET", "/_stub/calls?limit=200000").json?["calls"]?.array ?? []
        return all.filter { $0["target"]?.string?.hasPrefix(path) ?? false }
    }

    /// The number of recorded calls whose path begins so. The calls themselves, with their bodies, would be megabytes for each poll.
    func count(to path: String) async throws -> Int {
        let counts = try await control.call("GET", "/_stub/counts?target=\(path)")
        return Int(try #require(counts.json?["calls"]?.int, "\(counts.status) \(counts.text)"))
    }

    /// The tokens to which the vendor pushes.
    func pushedTokens() async throws -> [String] {
        let all = try await control.call("GET", "/_stub/pushes").json?["pushes"]?.array ?? []
        return all.compactMap { $0["token"]?.string?.lowercased() }
    }

    /// The body of a recorded call.
    static func body(of call: JSON) -> JSON? {
        call["body"]?.string.flatMap { Data(base64Encoded: $0) }.flatMap { try? JSONParser.parse(Array($0)) }
    }

    /// The text of the body of a recorded call.
    static func text(of call: JSON) -> String {
        let data = call["body"]?.string.flatMap { Data(base64Encoded: $0) } ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}

extension World {
    /// Provisions the upstream `old`, and puts the first rules of the app in force.
    func place(
        _ credential: JSON,
        _ rules: JSON,
        app: String = "shop",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await administer()
        try await eventually("the key has the scope", sourceLocation: sourceLocation) {
            try await native("PUT", "/v1/credentials/old", credential).status == 201
        }
        try await eventually("the upstream is opened", sourceLocation: sourceLocation) {
            try gatewayLog().contains("upstream opened")
        }
        try await rule(rules, app: app, after: 0, sourceLocation: sourceLocation)
    }

    /// Gives the key of the tests the scope of an administrator.
    func administer() async throws {
        _ = try await value(
            """
            WITH u AS (UPDATE gateway.api_key SET scopes = scopes || '{admin}' RETURNING 1)
            SELECT count(*)::text AS value FROM u
            """
        )
    }

    /// Puts rules of an app in force, behind the version `version`.
    func rule(
        _ rules: JSON,
        app: String = "shop",
        after version: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var put: HTTPCaller.Answer?
        try await eventually("the key has the scope", sourceLocation: sourceLocation) {
            let answer = try await http.call(
                "PUT",
                "/v1/apps/\(app)/routes",
                rules,
                headers: ["If-Match": "\"\(version)\""],
                bearer: apiKey
            )
            put = answer
            return answer.status != 403
        }
        let status = put?.status ?? 0
        try #require(status == 200 || status == 201, "\(put?.text ?? "")", sourceLocation: sourceLocation)
        try await readProvisioningAgain(sourceLocation: sourceLocation)
    }

    /// Makes the gateway read the provisioning and the rules again (SIGHUP), and returns when every further call follows them. Without it, calls follow
    /// within a second.
    func readProvisioningAgain(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let line = "provisioning read again"
        let process = try #require(gateway, sourceLocation: sourceLocation)
        let before = try gatewayLog().components(separatedBy: line).count
        Glibc.kill(process.processID, SIGHUP)
        try await eventually("the gateway has read the provisioning again", sourceLocation: sourceLocation) {
            try gatewayLog().components(separatedBy: line).count > before
        }
    }

    /// The deliveries of a message as `state transport reason`, in the order of the device keys.
    func deliveries(of message: String) async throws -> [String] {
        let text = try await value(
            """
            SELECT coalesce(string_agg(concat_ws(' ', d.state, d.transport, d.reason), ',' ORDER BY i.key), '') AS value
            FROM gateway.delivery d LEFT JOIN gateway.identity i ON i.tenant_id = d.tenant_id AND i.identity_id = d.identity_id
            WHERE d.message_id = '\(message)'::uuid
            """
        )
        return text.split(separator: ",").map(String.init)
    }

    /// Imports devices of a dialect as an operator does.
    func importDevices(
        _ vendor: String,
        _ devices: [(key: String, token: String, user: String)],
        app: String = "shop",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let lines = devices.map { device in
            JSONWriter.text([
                "key": .string(device.key), "platform": "ios", "token": .string(device.token),
                "user": .string(device.user),
            ])
        }
        let answer = try await BrazeCaller(world: self).call(
            "/v1/apps/\(app)/imports?vendor=\(vendor)",
            lines.joined(separator: "\n") + "\n",
            key: apiKey,
            type: "application/x-ndjson"
        )
        try #require((200...202).contains(answer.status), "\(answer.text)", sourceLocation: sourceLocation)
    }

    /// Sends in the native API, and returns the message's id. Without `sendAt`, it is due now.
    func send(
        _ body: String,
        to audience: JSON,
        app: String = "shop",
        sendAt: JSON? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        var message: JSONObject = ["app": .string(app), "to": audience, "body": .string(body)]
        message["sendAt"] = sendAt
        let answer = try await native("POST", "/v1/messages", .object(message))
        try #require(answer.status == 202, "\(answer.text)", sourceLocation: sourceLocation)
        return try #require(answer.json?["id"]?.string, sourceLocation: sourceLocation)
    }
}
