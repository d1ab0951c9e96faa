import AsyncHTTPClient
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing

@testable import CommandSupport

/// Calls Braze's interface of the running suite's world, and reads the pushes that the push service received.
///
/// All suites of the vendor share one app. Each test has its own users, devices and tokens.
struct BrazeCaller {
    static let key = "00000000-aaaa-4bbb-8ccc-dddddddddddd"
    /// A key with the permission for `POST /users/track` only.
    static let trackKey = "00000000-aaaa-4bbb-8ccc-eeeeeeeeeeee"
    static let sdkKey = "11111111-2222-4333-8444-555555555555"

    /// The caller of the running suite.
    static var current: BrazeCaller { get throws { BrazeCaller(world: try SharedWorld.current) } }

    let world: World

    typealias Answer = HTTPCaller.Answer

    // MARK: Calls

    func send(_ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders, _ body: [UInt8]) async throws -> Answer {
        var request = HTTPClientRequest(url: "\(world.http.base)\(path)")
        request.method = method
        request.headers = headers
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        let answer = Answer(response, Array(buffer.readableBytesView))
        DeclaredAnswers.check(method.rawValue, path, answer)
        return answer
    }

    /// A call of the REST interface.
    func call(
        _ path: String,
        _ body: String = "",
        method: HTTPMethod = .POST,
        key: String? = BrazeCaller.key,
        type: String = "application/json"
    ) async throws -> Answer {
        var headers: HTTPHeaders = ["content-type": type]
        if let key { headers.add(name: "authorization", value: "Bearer \(key)") }
        return try await send(method, path, headers, Array(body.utf8))
    }

    /// A call of the native API, for the vendor's users and campaigns.
    func native(_ method: HTTPMethod, _ path: String, _ body: String = "") async throws -> Answer {
        let vendor = path.contains("vendor=") ? "" : "?vendor=braze"
        return try await call("/v1/apps/shop\(path)\(vendor)", body, method: method, key: world.apiKey)
    }

    /// A call of the app's SDK.
    func sdk(_ body: String, path: String = "/api/v3/data", _ more: HTTPHeaders = [:]) async throws -> Answer {
        var headers: HTTPHeaders = ["x-braze-api-key": Self.sdkKey, "content-type": "application/json"]
        headers.add(contentsOf: more)
        return try await send(.POST, path, headers, Array(body.utf8))
    }

    // MARK: Devices, users and campaigns

    static func token(_ number: Int) -> String { String(format: "%064x", 0xBA0000 + number) }

    /// Imports devices as an operator does: each has the token of its number and belongs to its user.
    func importDevices(
        _ devices: [(token: Int, user: String)],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let lines = devices.map { device in
            JSONWriter.text([
                "key": .string("d-\(device.token)"), "platform": "ios", "token": .string(Self.token(device.token)),
                "user": .string(device.user),
            ])
        }
        let answer = try await call(
            "/v1/apps/shop/imports?vendor=braze",
            lines.joined(separator: "\n") + "\n",
            key: world.apiKey,
            type: "application/x-ndjson"
        )
        try #require((200...202).contains(answer.status), "\(answer.text)", sourceLocation: sourceLocation)
    }

    /// Stores a campaign with one Apple push.
    func keepCampaign(
        _ id: String,
        name: String = "Winter",
        alert: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let body =
            #"{"name":"\#(name)","variations":[{"message_variation_id":"v-1","apple_push":{"alert":"\#(alert)"}}]}"#
        let answer = try await native(.PUT, "/campaigns/\(id)", body)
        try #require(answer.status == 201, "\(answer.text)", sourceLocation: sourceLocation)
    }

    /// The export of one user.
    func user(_ id: String) async throws -> JSON? {
        try await call("/users/export/ids", #"{"external_ids":["\#(id)"]}"#).json?["users"]?.array?.first
    }

    // MARK: Results

    /// The pushes that the simulator received for a token, as headers and body, oldest first.
    func pushes(_ number: Int) async throws -> [JSON] {
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(Self.token(number))&limit=50")
        return answer.json?["requests"]?.array ?? []
    }

    /// The alerts of those pushes.
    func alerts(_ number: Int) async throws -> [JSON] {
        try await pushes(number).compactMap { $0["payload"]?["aps"]?["alert"] }
    }

    /// Waits for exactly `count` pushes to a device and returns the newest.
    func push(_ number: Int, count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSON {
        let found = try await first("push \(count) to device \(number)", sourceLocation: sourceLocation) {
            let found = try await pushes(number)
            return found.count >= count ? found : nil
        }
        #expect(found.count == count, "pushes to device \(number)", sourceLocation: sourceLocation)
        return try #require(found.last, sourceLocation: sourceLocation)
    }

    /// The states of a message's deliveries with their reasons, if any, in order of the state.
    func deliveries(of answer: Answer, to users: String...) async throws -> String {
        let only = users.isEmpty ? "" : "AND d.user_id IN (\(users.map { "'\($0)'" }.joined(separator: ",")))"
        return try await world.value(
            """
            SELECT coalesce(string_agg(d.state || coalesce(' ' || d.reason, ''), ',' ORDER BY d.state), '') AS value
            FROM gateway.delivery d WHERE replace(d.message_id::text, '-', '') = '\(answer.json?["dispatch_id"]?.string ?? "")' \(only)
            """
        )
    }

    /// The state of a message.
    func state(_ dispatch: JSON?) async throws -> String {
        try await world.value(
            "SELECT state AS value FROM gateway.message WHERE message_id = '\(dispatch?.string ?? "")'::uuid"
        )
    }

    /// A time in ISO 8601, the given number of seconds from now by the database's clock, or up to a second less: whole seconds. A schedule needs two.
    func time(in seconds: Int) async throws -> String {
        try await world.value(
            """
            SELECT to_char(now() AT TIME ZONE 'UTC' + interval '\(seconds) seconds', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS value
            """
        )
    }
}

extension World {
    /// Replaces the vendor's binding of the demo's app with one that has these settings and an origin, and waits until the gateway serves it. nil: no settings,
    /// so that the SDK is off.
    func bindBraze(
        settings: String? = "sdkEnabled: true",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let path = material.path("tenants.yaml")
        let file = try String(contentsOfFile: path, encoding: .utf8)
        let mark = "\n          braze:\n"
        let before = file.range(of: mark).map { String(file[..<$0.lowerBound]) } ?? file
        let binding = """
            \(mark)            sdkKey: \(BrazeCaller.sdkKey)
                        restKeyEnv: BRAZE_REST_KEY
                        restKeys:
                          - { name: crm, valueEnv: BRAZE_TRACK_KEY, permissions: [users.track] }

            """
        // Each binding has an origin of its own. An answer that allows it shows that these settings are served, and not those of the binding before.
        let origin = "https://\(UUID().uuidString.lowercased()).example"
        let set =
            settings.map { "            settings: { \($0), origins: ['https://shop.example', '\(origin)'] }\n" } ?? ""
        try (before + binding + set).write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await apply(
            environment: ["BRAZE_REST_KEY": BrazeCaller.key, "BRAZE_TRACK_KEY": BrazeCaller.trackKey]
        )
        try #require(applied.status == 0, "\(applied.log)", sourceLocation: sourceLocation)
        let braze = BrazeCaller(world: self)
        // When the binding is served, the key is valid and the body is not.
        try await eventually("the binding is served", sourceLocation: sourceLocation) {
            try await braze.call("/messages/send", "{}").status == 400
        }
        try await eventually("the settings are served", sourceLocation: sourceLocation) {
            let answer = try await braze.sdk(#"{"device_id":"d"}"#, ["origin": origin])
            guard settings != nil else { return answer.status == 401 }
            return answer.status == 201 && answer.headers.first(name: "access-control-allow-origin") == origin
        }
    }
}
