import AsyncHTTPClient
import CommandSupport
import Coverage
import Crypto
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing

/// Azure Notification Hubs over real HTTP, PostgreSQL and the simulator (docs/contracts/notificationhubs.md#3,
/// docs/contracts/notificationhubs.md#4, docs/contracts/notificationhubs.md#6, docs/contracts/notificationhubs.md#7).
///
/// All tests share one hub. Each test has its own installations, tags and handles.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.bindNotificationHubs() })
struct NotificationHubsTests {
    static let fullKey = "ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc="
    static let listenKey = "bGlzdGVuLW9ubHkta2V5LWZvci10ZXN0cw=="

    var world: World { get throws { try SharedWorld.current } }

    // MARK: Calls

    struct Answer {
        var status: Int
        var headers: HTTPHeaders
        var text: String

        var json: JSON? { try? JSONParser.parse(text) }
        /// The last part of the path in `Location`.
        var id: String? { header("location")?.split(separator: "?").first?.split(separator: "/").last.map(String.init) }
        func header(_ name: String) -> String? { headers.first(name: name) }
    }

    /// A signature by the vendor's published algorithm (docs/contracts/notificationhubs.md#3.2).
    func token(
        _ world: World,
        _ name: String = "DefaultFullSharedAccessSignature",
        key: String = fullKey,
        hub: String = "shop-hub",
        expiresIn seconds: Int = 1200
    ) -> String {
        let host = world.http.base.replacing("http://", with: "")
        let resource = "http%3a%2f%2f\(host.replacing(":", with: "%3a"))%2f\(hub)"
        let expiry = Int(Date().timeIntervalSince1970) + seconds
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(resource)\n\(expiry)".utf8),
            using: SymmetricKey(data: Data(key.utf8))
        )
        let signature = Data(code).base64EncodedString().replacing("+", with: "%2B").replacing("=", with: "%3D")
        return "SharedAccessSignature sr=\(resource)&sig=\(signature)&se=\(expiry)&skn=\(name)"
    }

    func call(
        _ method: HTTPMethod,
        _ path: String,
        _ body: String? = nil,
        headers: [String: String] = [:],
        token: String? = nil
    ) async throws -> Answer {
        try await call(world, method, path, body, headers: headers, token: token)
    }

    func call(
        _ world: World,
        _ method: HTTPMethod,
        _ path: String,
        _ body: String? = nil,
        headers: [String: String] = [:],
        token: String? = nil
    ) async throws -> Answer {
        let joint = path.contains("?") ? "&" : "?"
        var request = HTTPClientRequest(url: "\(world.http.base)/shop-hub\(path)\(joint)api-version=2020-06")
        request.method = method
        request.headers.add(name: "authorization", value: token ?? self.token(world))
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return Answer(status: Int(response.status.code), headers: response.headers, text: String(buffer: buffer))
    }

    func send(
        _ body: String,
        tags: String?,
        _ headers: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        var all = headers.merging(["ServiceBusNotification-Format": "apple"]) { first, _ in first }
        all["ServiceBusNotification-Tags"] = tags
        let answer = try await call(.POST, "/messages", body, headers: all)
        try #require(answer.status == 201, "\(answer.text)", sourceLocation: sourceLocation)
        return answer
    }

    func install(
        _ id: String,
        _ number: Int,
        user: String,
        tags: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let body: JSON = [
            "installationId": .string(id), "platform": "apns", "pushChannel": .string(Self.token(number)),
            "userId": .string(user), "tags": .array(tags.map { .string($0) }),
        ]
        let answer = try await call(.PUT, "/installations/\(id)", JSONWriter.text(body))
        #expect(answer.status == 200, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(answer.text.isEmpty, sourceLocation: sourceLocation)
    }

    static func token(_ number: Int) -> String { String(format: "%064X", 0xAB0000 + number) }

    /// The pushes that the simulator received for a token, as headers and body.
    func pushes(_ number: Int) async throws -> [JSON] {
        let token = Self.token(number).lowercased()
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(token)&limit=50")
        return answer.json?["requests"]?.array ?? []
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

    /// Waits until the telemetry of a send contains all these parts.
    func telemetry(
        of answer: Answer,
        has parts: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let id = try #require(answer.id, sourceLocation: sourceLocation)
        try await eventually("telemetry has \(parts)", sourceLocation: sourceLocation) {
            let text = try await call(.GET, "/messages/\(id)").text
            return parts.allSatisfy { text.contains($0) }
        }
    }

    // MARK: Access (docs/contracts/notificationhubs.md#3)

    @Test func keysAreStoredSealed() async throws {
        let stored = try await world.value(
            "SELECT string_agg(settings::text, ',') AS value FROM gateway.binding WHERE vendor = 'notificationhubs'"
        )
        #expect(!stored.isEmpty && !stored.contains(Self.fullKey))
    }

    @Test func aTokenOfAnotherKeyIs401() async throws {
        let bad = try await call(.GET, "/installations/x", token: token(world, key: "another key altogether"))
        #expect(bad.status == 401)
        #expect(bad.text.contains("InvalidSignature: The token has an invalid signature..TrackingId:"))
        #expect(bad.header("content-type") == "application/xml; charset=utf-8")
    }

    @Test func aListenKeyReadsButDoesNotSend() async throws {
        let listener = token(try world, "DefaultListenSharedAccessSignature", key: Self.listenKey)
        let format = ["ServiceBusNotification-Format": "apple"]
        let refused = try await call(.POST, "/messages", "{}", headers: format, token: listener)
        #expect(refused.status == 403)
        #expect(refused.text.isEmpty)
        #expect(try await call(.GET, "/installations/x", token: listener).status == 404)
    }

    // A back end issues a token for one installation, with an API key.
    @Test func anIssuedTokenRegistersItsInstallationOnly() async throws {
        let world = try world
        let order: JSON = ["installation": "issued-1", "user": "issued-user", "seconds": 600]
        let issued = try await world.native("POST", "/v1/apps/shop/sas", order)
        #expect(issued.status == 201, "\(issued.text)")
        let token = try #require(issued.json?["sas"]?.string)
        func body(_ user: String) -> String {
            JSONWriter.text([
                "platform": "apns", "pushChannel": .string(Self.token(880)), "userId": .string(user),
                "tags": ["issued"],
            ])
        }
        #expect(try await call(.PUT, "/installations/issued-1", body("issued-user"), token: token).status == 200)
        #expect(try await call(.GET, "/installations/issued-1").json?["userId"] == "issued-user")
        #expect(try await call(.PUT, "/installations/issued-1", body("other"), token: token).status == 401)
        #expect(try await call(.PUT, "/installations/issued-2", body("issued-user"), token: token).status == 401)
        #expect(try await world.native("POST", "/v1/apps/shop/sas", ["installation": "a#b"]).status == 422)
        #expect(try await world.native("POST", "/v1/apps/none/sas", ["installation": "a"]).status == 404)
    }

    // MARK: Installations (docs/contracts/notificationhubs.md#4)

    @Test(.covers("notificationhubs", "PUT /{hub}/installations/{id}", "GET /{hub}/installations/{id}"))
    func anInstallationIsReadAsItWasPut() async throws {
        try await install("put-1", 1, user: "mina", tags: ["put", "n1"])
        let read = try await call(.GET, "/installations/put-1")
        #expect(read.header("content-type") == "application/xml; charset=utf-8")
        let wanted: JSON = [
            "installationId": "put-1", "pushChannel": .string(Self.token(1)), "pushChannelExpired": false,
            "platform": "apns", "userId": "mina", "expirationTime": "9999-12-31T23:59:59.9999999Z",
            "tags": ["put", "n1"],
        ]
        #expect(read.json == wanted)
    }

    @Test(.covers("notificationhubs", "PATCH /{hub}/installations/{id}"))
    func aPatchIsAppliedCompletelyOrNotAtAll() async throws {
        try await install("patch-1", 2, user: "juho", tags: ["seoul", "n3"])
        let patch =
            #"[{"op":"add","path":"/tags","value":"busan"},{"op":"remove","path":"/tags/SEOUL"},{"op":"replace","path":"/userId","value":"moon"}]"#
        #expect(try await call(.PATCH, "/installations/patch-1", patch).status == 200)
        let patched = try await call(.GET, "/Installations/patch-1/").json
        #expect(patched?["tags"] == ["n3", "busan"])
        #expect(patched?["userId"] == "moon")
        let bad = #"[{"op":"add","path":"/tags","value":"x"},{"op":"add","path":"/colour","value":"red"}]"#
        let refused = try await call(.PATCH, "/installations/patch-1", bad)
        #expect(refused.status == 400)
        #expect(refused.text.contains("The patch path '/colour' is not supported.TrackingId:"))
        #expect(try await call(.GET, "/installations/patch-1").json?["tags"] == ["n3", "busan"])
        #expect(try await call(.PATCH, "/installations/none", patch).status == 404)
    }

    @Test func patchesAtTheSameTimeLoseNothing() async throws {
        try await install("many-1", 3, user: "many", tags: ["start"])
        let count = 12
        let world = try world
        let done = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for index in 0..<count {
                group.addTask {
                    let patch = #"[{"op":"add","path":"/tags","value":"p\#(index)"}]"#
                    // The vendor's SDKs repeat a call that is answered 503.
                    for _ in 0..<50 {
                        let status = try await call(world, .PATCH, "/installations/many-1", patch).status
                        if status != 503 { return (index, status) }
                    }
                    return (index, 503)
                }
            }
            var done: [Int] = []
            for try await (index, status) in group where status == 200 { done.append(index) }
            return done
        }
        #expect(done.count == count)
        let tags = try await call(.GET, "/installations/many-1").json?["tags"]?.array?.compactMap(\.string)
        #expect(Set(tags ?? []) == Set(["start"] + (0..<count).map { "p\($0)" }))
    }

    @Test(.covers("notificationhubs", "DELETE /{hub}/installations/{id}"))
    func anInstallationMayBeDeletedTwiceAndIsRemoved() async throws {
        try await install("deleted-1", 4, user: "gone", tags: [])
        for _ in 0..<2 { #expect(try await call(.DELETE, "/installations/deleted-1").status == 204) }
        #expect(try await call(.GET, "/installations/deleted-1").status == 404)
    }

    // MARK: Sends (docs/contracts/notificationhubs.md#7, docs/contracts/notificationhubs.md#7.1)

    @Test(.covers("notificationhubs", "POST /{hub}/messages"))
    func aSendReachesTheDevicesOfATagAndReturnsItsMessage() async throws {
        for number in [11, 12] { try await install("sale-\(number)", number, user: "mina", tags: ["sale"]) }
        let body = #"{"aps":{"alert":"Sale today","sound":"default"}}"#
        let answer = try await send(body, tags: "sale")
        #expect(answer.text.isEmpty)
        let host = try world.http.base.replacing("http://", with: "")
        #expect(answer.header("location")?.hasPrefix("https://\(host)/shop-hub/messages/") == true)
        #expect(answer.header("location")?.hasSuffix("-1-1?api-version=2020-06") == true)
        for number in [11, 12] {
            let push = try await push(number)
            #expect(push["payload"] == (try JSONParser.parse(body)))
            #expect(push["headers"]?["apns-push-type"] == "alert")
            #expect(push["headers"]?["apns-priority"] == "10")
        }
    }

    @Test func aPushWithAnEmptySoundAndNoAlertIsABackgroundPush() async throws {
        try await install("rich-1", 13, user: "rich", tags: [])
        // The vendor's tutorial sends this push.
        let rich =
            #"{"aps": {"content-available": 1, "sound":""}, "richId": "0", "richMessage": "Check this image out!", "richType": "img"}"#
        _ = try await send(rich, tags: "$UserId:{rich}")
        let push = try await push(13)
        let expiration = push["headers"]?["apns-expiration"]?.string.flatMap { Double($0) } ?? 0
        #expect(abs(expiration - Date().timeIntervalSince1970 - 1800) < 120)
        #expect(push["headers"]?["apns-push-type"] == "background")
        #expect(push["headers"]?["apns-priority"] == "5")
        #expect(push["payload"]?["richId"] == "0")
    }

    // docs/contracts/notificationhubs.md#7.2
    @Test(.covers("notificationhubs", "POST /{hub}/messages?direct"))
    func aDirectSendReachesItsHandleWhetherItIsInstalledOrNot() async throws {
        try await install("direct-1", 14, user: "direct", tags: [])
        let body = #"{"aps":{"alert":"only you"}}"#
        for (path, number) in [("/messages/?direct", 14), ("/messages?direct=true", 15)] {
            let headers = [
                "ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": Self.token(number),
            ]
            for count in 1...2 {
                let answer = try await call(.POST, path, body, headers: headers)
                #expect(answer.status == 201, "\(answer.text)")
                _ = try await push(number, count: count)
            }
        }
        let registrations = try await call(.GET, "/registrations").text.uppercased()
        #expect(!registrations.contains(Self.token(15).uppercased()), "the handle is not stored")
    }

    // docs/contracts/notificationhubs.md#6
    @Test func anExpressionReachesTheInstallationsItMatches() async throws {
        try await install("x-16", 16, user: "xmina", tags: ["xseoul", "x16"])
        try await install("x-17", 17, user: "xmina", tags: ["xseoul", "x17"])
        try await install("x-18", 18, user: "xmoon", tags: ["x18", "xbusan"])
        let cases: [(String?, [Int])] = [
            ("x16 || XBUSAN", [16, 18]), ("xseoul && !x17", [16]), ("$InstallationId:{x-17} && xseoul", [17]),
            ("$UserId:xmina", [16, 17]), ("!(xseoul || start)", [18]), (nil, [16, 17, 18]), ("nobody", []),
        ]
        var counts = [16: 0, 17: 0, 18: 0]
        for (tags, matched) in cases {
            _ = try await send(#"{"aps":{"alert":"tags"}}"#, tags: tags)
            for number in matched {
                counts[number, default: 0] += 1
                _ = try await push(number, count: counts[number] ?? 0)
            }
        }
        for (number, count) in counts { _ = try await push(number, count: count) }
    }

    @Test func tagsOfTheNativeAPIReachAnInstallationThatIsStillFoundByItsID() async throws {
        try await install("native-1", 19, user: "native", tags: ["nseoul"])
        let device = try await world.value(
            "SELECT device_id::text AS value FROM gateway.identity WHERE key = 'native-1'"
        )
        let answer = try await world.native("PATCH", "/v1/devices/\(device)", ["tags": ["nnative"]])
        #expect(answer.status == 200, "\(answer.text)")
        for (index, tags) in ["nnative", "$InstallationId:{native-1}", "nnative && $UserId:{native}"].enumerated() {
            _ = try await send(#"{"aps":{"alert":"native"}}"#, tags: tags)
            _ = try await push(19, count: index + 1)
        }
    }

    // MARK: Telemetry and schedules (docs/contracts/notificationhubs.md#7.8, docs/contracts/notificationhubs.md#7.5)

    @Test(.covers("notificationhubs", "GET /{hub}/messages/{id}"))
    func telemetryCountsTheOutcomesOfASend() async throws {
        for number in [21, 22] { try await install("counted-\(number)", number, user: "counted", tags: ["counted"]) }
        let answer = try await send(#"{"aps":{"alert":"count me"}}"#, tags: "counted")
        try await telemetry(
            of: answer,
            has: "<State>Completed</State>",
            "<NotificationId>\(answer.id ?? "")</NotificationId>",
            "<Outcome><Name>Success</Name><Count>2</Count></Outcome>",
            #"<NotificationBody>{"aps":{"alert":"count me"}}</NotificationBody>"#
        )
    }

    @Test func telemetryReportsASendWithoutTargetsAndIs404ForAnUnknownSend() async throws {
        let nobody = try await send(#"{"aps":{"alert":"x"}}"#, tags: "nobody-at-all")
        try await telemetry(of: nobody, has: "<State>NoTargetFound</State>")
        let unknown = "73622a22797441e4b434e8c2c14112ce-20260101000000-1-1"
        #expect(try await call(.GET, "/messages/\(unknown)").status == 404)
    }

    private func schedule(in delay: TimeInterval, tags: String) async throws -> Answer {
        let headers = [
            "ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": tags,
            "ServiceBusNotification-ScheduleTime": (Date() + delay).formatted(.iso8601),
        ]
        return try await call(.POST, "/schedulednotifications", #"{"aps":{"alert":"later"}}"#, headers: headers)
    }

    @Test(.covers("notificationhubs", "POST /{hub}/schedulednotifications"))
    func aScheduledNotificationIsCanceledOnce() async throws {
        try await install("later-1", 23, user: "later", tags: ["later"])
        let answer = try await schedule(in: 600, tags: "later")
        #expect(answer.status == 201, "\(answer.text)")
        #expect(answer.header("location")?.contains("/shop-hub/schedulednotifications/") == true)
        let id = try #require(answer.id)
        #expect(try await call(.DELETE, "/schedulednotifications/\(id)").status == 200)
        #expect(try await call(.DELETE, "/schedulednotifications/\(id)").status == 404)
        try await telemetry(of: answer, has: "<State>Cancelled</State>")
        #expect(try await pushes(23).isEmpty)
    }

    @Test(arguments: [240, 8 * 86_400] as [TimeInterval])
    func aScheduleTooSoonOrTooFarAheadIs400(delay: TimeInterval) async throws {
        #expect(try await schedule(in: delay, tags: "later").status == 400)
    }

    // MARK: Refusals (docs/contracts/notificationhubs.md#7.7, docs/contracts/notificationhubs.md#9)

    @Test func aBrokenExpressionIs400WithItsPosition() async throws {
        let headers = [
            "ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "seoul && && vip",
        ]
        let broken = try await call(.POST, "/messages", #"{"aps":{"alert":"x"}}"#, headers: headers)
        #expect(broken.status == 400)
        #expect(broken.text.contains("The supplied tag expression is not valid at position 9.TrackingId:"))
    }

    @Test func aBodyThatIsTooLargeIs413() async throws {
        let headers = ["ServiceBusNotification-Format": "apple"]
        let large = try await call(.POST, "/messages", String(repeating: "x", count: 70_000), headers: headers)
        #expect(large.status == 413)
        #expect(large.text.hasPrefix("<Error><Code>413</Code>"))
    }

    @Test(arguments: ["/registrations/1/2", "/registrationids/1", "/messages/1/2"])
    func anUnknownPathIs404(path: String) async throws {
        let answer = try await call(.POST, path, "{}")
        #expect(answer.status == 404)
        #expect(answer.text.hasPrefix("<Error><Code>404</Code>"))
    }
}

extension World {
    /// Adds the vendor's binding to the demo's app and waits until the gateway serves it.
    func bindNotificationHubs(
        settings: String = "settings: { listenMayTag: true }",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let path = material.path("tenants.yaml")
        let file = try String(contentsOfFile: path, encoding: .utf8)
        let binding = """

                      notificationhubs:
                        hub: Shop-Hub
                        keys:
                          - { name: DefaultFullSharedAccessSignature, valueEnv: NH_FULL, rights: [listen, send, manage] }
                          - { name: DefaultListenSharedAccessSignature, valueEnv: NH_LISTEN, rights: [listen] }
                        \(settings)
                        appBackend:
                          prefix: Site
                          users: [{ name: mina, passwordEnv: NH_MINA }, { name: hong, passwordEnv: NH_HONG }]
                          image: \(NotificationHubsTests.imageHash)

            """
        try (file + binding).write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await apply(environment: [
            "NH_FULL": NotificationHubsTests.fullKey, "NH_LISTEN": NotificationHubsTests.listenKey,
            "NH_MINA": "a secret of mina's", "NH_HONG": "gildong",
        ])
        try #require(applied.status == 0, "\(applied.log)", sourceLocation: sourceLocation)
        // docs/contracts/notificationhubs.md#7.7: an unknown hub is 404 in the vendor's shape.
        try await eventually("the binding is served", sourceLocation: sourceLocation) {
            try await NotificationHubsTests().call(self, .GET, "/installations/x").text.contains(
                "Installation not found"
            )
        }
    }
}
