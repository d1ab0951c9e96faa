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
@Suite(.serialized, .timeLimit(.minutes(5)))
struct NotificationHubsTests {
    static let fullKey = "ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc="
    static let listenKey = "bGlzdGVuLW9ubHkta2V5LWZvci10ZXN0cw=="

    @Test(
        .covers(
            "notificationhubs",
            "PUT /{hub}/installations/{id}",
            "GET /{hub}/installations/{id}",
            "PATCH /{hub}/installations/{id}",
            "DELETE /{hub}/installations/{id}",
            "POST /{hub}/messages",
            "POST /{hub}/messages?direct",
            "POST /{hub}/messages/$batch",
            "GET /{hub}/messages/{id}",
            "POST /{hub}/schedulednotifications",
            "POST /{hub}/messages by template",
            "POST /{hub}/registrationids",
            "POST /{hub}/registrations",
            "PUT /{hub}/registrations/{id}",
            "DELETE /{hub}/registrations/{id}",
            "GET /{hub}/registrations",
            "GET /{hub}/tags/{tag}/registrations",
            "POST /api/register",
            "PUT /api/register/{id}",
            "DELETE /api/register/{id}",
            "GET /api/notifications",
            "POST /api/notifications"
        )
    ) func anInstallationsLifeAndItsSends() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await bind(world)
            try await access(world)
            try await installations(world)
            try await patchesAtOnce(world)
            try await sends(world)
            try await directSends(world)
            try await expressions(world)
            try await telemetry(world)
            try await nativeTags(world)
            try await schedules(world)
            try await templates(world)
            try await registrations(world)
            try await batches(world)
            try await appBackend(world)
            try await ends(world)
            try await refusals(world)
        }
    }

    // MARK: Calls

    struct Answer {
        var status: Int
        var headers: HTTPHeaders
        var text: String

        var json: JSON? { try? JSONParser.parse(text) }
        func header(_ name: String) -> String? { headers.first(name: name) }
    }

    /// A signature by the vendor's published algorithm (docs/contracts/notificationhubs.md#3.2).
    func token(_ world: World, _ name: String = "DefaultFullSharedAccessSignature", key: String = fullKey)
        -> String
    {
        let host = world.http.base.replacing("http://", with: "")
        let resource = "http%3a%2f%2f\(host.replacing(":", with: "%3a"))%2fshop-hub"
        let expiry = Int(Date().timeIntervalSince1970) + 1200
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(resource)\n\(expiry)".utf8),
            using: SymmetricKey(data: Data(key.utf8))
        )
        let signature = Data(code).base64EncodedString().replacing("+", with: "%2B").replacing("=", with: "%3D")
        return "SharedAccessSignature sr=\(resource)&sig=\(signature)&se=\(expiry)&skn=\(name)"
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

    func send(_ world: World, _ body: String, tags: String?, _ headers: [String: String] = [:]) async throws
        -> Answer
    {
        var all = headers.merging(["ServiceBusNotification-Format": "apple"]) { first, _ in first }
        all["ServiceBusNotification-Tags"] = tags
        return try await call(world, .POST, "/messages", body, headers: all)
    }

    func install(_ world: World, _ id: String, _ token: String, user: String, tags: [String]) async throws {
        let body: JSON = [
            "installationId": .string(id), "platform": "apns", "pushChannel": .string(token), "userId": .string(user),
            "tags": .array(tags.map { .string($0) }),
        ]
        let answer = try await call(world, .PUT, "/installations/\(id)", JSONWriter.text(body))
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.text.isEmpty)
    }

    static func token(_ number: Int) -> String { String(format: "%064X", 0xAB00 + number) }

    /// The pushes that the simulator received for a token, as headers and body.
    func pushes(_ world: World, _ number: Int) async throws -> [JSON] {
        let token = Self.token(number).lowercased()
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(token)&limit=50")
        return answer.json?["requests"]?.array ?? []
    }

    /// Waits for the given number of pushes to a device and returns the newest.
    func push(_ world: World, _ number: Int, count: Int) async throws -> JSON? {
        try await eventually("\(count) pushes to \(number)") { try await pushes(world, number).count >= count }
        let found = try await pushes(world, number)
        #expect(found.count == count, "of device \(number)")
        return found.last
    }

    // MARK: Steps

    func bind(_ world: World) async throws {
        let path = world.material.path("tenants.yaml")
        let file = try String(contentsOfFile: path, encoding: .utf8)
        let binding = """

                      notificationhubs:
                        hub: Shop-Hub
                        keys:
                          - { name: DefaultFullSharedAccessSignature, valueEnv: NH_FULL, rights: [listen, send, manage] }
                          - { name: DefaultListenSharedAccessSignature, valueEnv: NH_LISTEN, rights: [listen] }
                        appBackend:
                          prefix: Site
                          users: [{ name: mina, passwordEnv: NH_MINA }, { name: hong, passwordEnv: NH_HONG }]
                          image: \(Self.imageHash)

            """
        try (file + binding).write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await world.apply(environment: [
            "NH_FULL": Self.fullKey, "NH_LISTEN": Self.listenKey, "NH_MINA": "a secret of mina's", "NH_HONG": "gildong",
        ])
        try #require(applied.status == 0, "\(applied.log)")
        // docs/contracts/notificationhubs.md#7.7: an unknown hub is 404 in the vendor's shape; a running gateway follows within a second.
        try await eventually("the binding is served") {
            try await call(world, .GET, "/installations/x").text.contains("Installation not found")
        }
        let stored = try await world.value(
            "SELECT string_agg(settings::text, ',') AS value FROM gateway.binding WHERE vendor = 'notificationhubs'"
        )
        #expect(!stored.contains(Self.fullKey), "keys are sealed")
    }

    // docs/contracts/notificationhubs.md#3
    private func access(_ world: World) async throws {
        let bad = try await call(world, .GET, "/installations/x", token: token(world, key: "another key altogether"))
        #expect(bad.status == 401)
        #expect(bad.text.contains("InvalidSignature: The token has an invalid signature..TrackingId:"))
        #expect(bad.header("content-type") == "application/xml; charset=utf-8")
        let listener = token(world, "DefaultListenSharedAccessSignature", key: Self.listenKey)
        let refused = try await call(
            world,
            .POST,
            "/messages",
            "{}",
            headers: ["ServiceBusNotification-Format": "apple"],
            token: listener
        )
        #expect(refused.status == 403)
        #expect(refused.text.isEmpty)
        #expect(try await call(world, .GET, "/installations/x", token: listener).status == 404)
    }

    // docs/contracts/notificationhubs.md#4
    private func installations(_ world: World) async throws {
        for (number, user) in [(1, "mina"), (2, "mina"), (3, "juho")] {
            try await install(world, "i\(number)", Self.token(number), user: user, tags: ["seoul", "n\(number)"])
        }
        let read = try await call(world, .GET, "/installations/i1")
        #expect(read.header("content-type") == "application/xml; charset=utf-8")
        let wanted: JSON = [
            "installationId": "i1", "pushChannel": .string(Self.token(1)), "pushChannelExpired": false,
            "platform": "apns", "userId": "mina", "expirationTime": "9999-12-31T23:59:59.9999999Z",
            "tags": ["seoul", "n1"],
        ]
        #expect(read.json == wanted)
        let patch =
            #"[{"op":"add","path":"/tags","value":"busan"},{"op":"remove","path":"/tags/SEOUL"},{"op":"replace","path":"/userId","value":"moon"}]"#
        #expect(try await call(world, .PATCH, "/installations/i3", patch).status == 200)
        let patched = try await call(world, .GET, "/Installations/i3/").json
        #expect(patched?["tags"] == ["n3", "busan"])
        #expect(patched?["userId"] == "moon")
        let bad = #"[{"op":"add","path":"/tags","value":"x"},{"op":"add","path":"/colour","value":"red"}]"#
        let refused = try await call(world, .PATCH, "/installations/i3", bad)
        #expect(refused.status == 400)
        #expect(refused.text.contains("The patch path '/colour' is not supported.TrackingId:"))
        #expect(try await call(world, .GET, "/installations/i3").json?["tags"] == ["n3", "busan"], "all or nothing")
        #expect(try await call(world, .PATCH, "/installations/none", patch).status == 404)
        try await install(world, "i4", Self.token(4), user: "gone", tags: [])
        for _ in 0..<2 { #expect(try await call(world, .DELETE, "/installations/i4").status == 204) }
        #expect(try await call(world, .GET, "/installations/i4").status == 404)
    }

    /// Concurrent patches add a tag each. No tag is lost, although some patches have to be retried.
    private func patchesAtOnce(_ world: World) async throws {
        try await install(world, "i5", Self.token(5), user: "many", tags: ["start"])
        let count = 12
        let done = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for index in 0..<count {
                group.addTask {
                    let patch = #"[{"op":"add","path":"/tags","value":"p\#(index)"}]"#
                    // 503 is what the vendor's SDKs try again.
                    for _ in 0..<50 {
                        let status = try await call(world, .PATCH, "/installations/i5", patch).status
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
        let tags = try await call(world, .GET, "/installations/i5").json?["tags"]?.array?.compactMap(\.string)
        #expect(Set(tags ?? []) == Set(["start"] + (0..<count).map { "p\($0)" }))
    }

    // docs/contracts/notificationhubs.md#7, docs/contracts/notificationhubs.md#7.1
    private func sends(_ world: World) async throws {
        let body = #"{"aps":{"alert":"Sale today","sound":"default"}}"#
        let answer = try await send(world, body, tags: "seoul")
        #expect(answer.status == 201, "\(answer.text)")
        #expect(answer.text.isEmpty)
        let host = world.http.base.replacing("http://", with: "")
        #expect(answer.header("location")?.hasPrefix("https://\(host)/shop-hub/messages/") == true)
        #expect(answer.header("location")?.hasSuffix("-1-1?api-version=2020-06") == true)
        for number in [1, 2] {
            let push = try await push(world, number, count: 1)
            #expect(push?["payload"] == (try JSONParser.parse(body)))
            #expect(push?["headers"]?["apns-push-type"] == "alert")
            #expect(push?["headers"]?["apns-priority"] == "10")
        }
        // The tutorial's first leg: a background push although its sound is there, and empty.
        let rich =
            #"{"aps": {"content-available": 1, "sound":""}, "richId": "0", "richMessage": "Check this image out!", "richType": "img"}"#
        #expect(try await send(world, rich, tags: "$UserId:{moon}").status == 201)
        let push = try await push(world, 3, count: 1)
        let expiration = push?["headers"]?["apns-expiration"]?.string.flatMap { Double($0) } ?? 0
        #expect(abs(expiration - Date().timeIntervalSince1970 - 1800) < 120)
        #expect(push?["headers"]?["apns-push-type"] == "background")
        #expect(push?["headers"]?["apns-priority"] == "5")
        #expect(push?["payload"]?["richId"] == "0")
    }

    // docs/contracts/notificationhubs.md#7.2
    private func directSends(_ world: World) async throws {
        let headers = [
            "ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": Self.token(2),
        ]
        let body = #"{"aps":{"alert":"only you"}}"#
        let answer = try await call(world, .POST, "/messages/?direct", body, headers: headers)
        #expect(answer.status == 201, "\(answer.text)")
        _ = try await push(world, 2, count: 2)
        // Whom nobody has installed, too; nothing but a handle finds him.
        let unknown = headers.merging(["ServiceBusNotification-DeviceHandle": Self.token(99)]) { $1 }
        for count in 1...2 {
            let answer = try await call(world, .POST, "/messages?direct=true", body, headers: unknown)
            #expect(answer.status == 201, "\(answer.text)")
            _ = try await push(world, 99, count: count)
        }
        #expect(
            !(try await call(world, .GET, "/registrations").text.uppercased().contains(Self.token(99).uppercased()))
        )
    }

    // docs/contracts/notificationhubs.md#6
    private func expressions(_ world: World) async throws {
        // The devices that receive the push: 1 and 2 have seoul, 3 has busan; each has the tag of its number.
        let cases: [(String?, [Int])] = [
            ("n1 || BUSAN", [1, 3]), ("seoul && !n2", [1]), ("$InstallationId:{i2} && seoul", [2]),
            ("$UserId:mina", [1, 2]),
            ("!(seoul || start)", [3]), (nil, [1, 2, 3]), ("nobody", []),
        ]
        var counts = [1: 1, 2: 2, 3: 1]
        for (tags, reached) in cases {
            let answer = try await send(world, #"{"aps":{"alert":"tags"}}"#, tags: tags)
            #expect(answer.status == 201)
            for number in reached {
                counts[number, default: 0] += 1
                _ = try await push(world, number, count: counts[number] ?? 0)
            }
        }
        for (number, count) in counts { _ = try await push(world, number, count: count) }
    }

    /// The native API sets the tags of a device. The tags that address an installation stay.
    private func nativeTags(_ world: World) async throws {
        let device = try await world.value("SELECT device_id::text AS value FROM gateway.identity WHERE key = 'i3'")
        let answer = try await world.native("PATCH", "/v1/devices/\(device)", ["tags": ["native"]])
        #expect(answer.status == 200, "\(answer.text)")
        let before = try await pushes(world, 3).count
        for (index, tags) in ["native", "$InstallationId:{i3}", "native && $UserId:{moon}"].enumerated() {
            #expect(try await send(world, #"{"aps":{"alert":"native"}}"#, tags: tags).status == 201)
            _ = try await push(world, 3, count: before + index + 1)
        }
    }

    // docs/contracts/notificationhubs.md#7.8
    private func telemetry(_ world: World) async throws {
        let answer = try await send(world, #"{"aps":{"alert":"count me"}}"#, tags: "seoul")
        let location = try #require(answer.header("location"))
        let id = try #require(location.split(separator: "/").last?.split(separator: "?").first)
        try await eventually("telemetry") {
            try await call(world, .GET, "/messages/\(id)").text.contains("<State>Completed</State>")
        }
        let found = try await call(world, .GET, "/messages/\(id)")
        #expect(found.status == 200)
        #expect(found.text.contains("<NotificationId>\(id)</NotificationId>"))
        #expect(found.text.contains("<Outcome><Name>Success</Name><Count>2</Count></Outcome>"))
        #expect(found.text.contains(#"<NotificationBody>{"aps":{"alert":"count me"}}</NotificationBody>"#))
        let nobody = try await send(world, #"{"aps":{"alert":"x"}}"#, tags: "nobody-at-all")
        let other = try #require(nobody.header("location")?.split(separator: "/").last?.split(separator: "?").first)
        try await eventually("no target") {
            try await call(world, .GET, "/messages/\(other)").text.contains("<State>NoTargetFound</State>")
        }
        #expect(
            try await call(world, .GET, "/messages/73622a22797441e4b434e8c2c14112ce-20260101000000-1-1").status == 404
        )
    }

    // docs/contracts/notificationhubs.md#7.5
    private func schedules(_ world: World) async throws {
        func schedule(_ delay: TimeInterval) async throws -> Answer {
            let headers = [
                "ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "seoul",
                "ServiceBusNotification-ScheduleTime": (Date() + delay).formatted(.iso8601),
            ]
            return try await call(
                world,
                .POST,
                "/schedulednotifications",
                #"{"aps":{"alert":"later"}}"#,
                headers: headers
            )
        }
        #expect(try await schedule(240).status == 400)
        #expect(try await schedule(8 * 86_400).status == 400)
        let before = try await pushes(world, 1).count
        let answer = try await schedule(600)
        #expect(answer.status == 201, "\(answer.text)")
        let location = try #require(answer.header("location"))
        #expect(location.contains("/shop-hub/schedulednotifications/"))
        let id = try #require(location.split(separator: "/").last?.split(separator: "?").first)
        #expect(try await call(world, .DELETE, "/schedulednotifications/\(id)").status == 200)
        #expect(try await call(world, .DELETE, "/schedulednotifications/\(id)").status == 404)
        try await eventually("it is canceled") {
            try await call(world, .GET, "/messages/\(id)").text.contains("<State>Cancelled</State>")
        }
        #expect(try await pushes(world, 1).count == before)
    }

    // docs/contracts/notificationhubs.md#8, docs/contracts/notificationhubs.md#6.2: each template of an installation is a target of its own.
    private func templates(_ world: World) async throws {
        let body = """
            {"installationId":"t-1","platform":"apns","pushChannel":"\(Self.token(71))","tags":["tseoul"],
            "pushVariables":{"nick":"Mi"},"templates":{
            "news":{"body":"{\\"aps\\":{\\"alert\\":\\"{ 'News: ' + $(title) }\\"}}","tags":["tnews"]},
            "greeting":{"body":"{\\"aps\\":{\\"alert\\":\\"$(nick)\\",\\"badge\\":\\"#(count)\\"}}",
            "headers":{"apns-priority":"5"},"expiry":"$(end:{0})","tags":["thello"]}}}
            """
        #expect(try await call(world, .PUT, "/installations/t-1", body).status == 200)
        func fill(_ tags: String?) async throws -> Answer {
            var headers = ["ServiceBusNotification-Format": "template"]
            headers["ServiceBusNotification-Tags"] = tags
            return try await call(world, .POST, "/messages", #"{"title":"Sale","count":"3"}"#, headers: headers)
        }
        let both = try await fill("tseoul")
        #expect(both.status == 201, "\(both.text)")
        _ = try await push(world, 71, count: 2)
        let pushes = try await pushes(world, 71)
        let alerts = pushes.compactMap { $0["payload"]?["aps"]?["alert"]?.string }
        #expect(Set(alerts) == ["News: Sale", "Mi"], "\(pushes)")
        let ids = Set(pushes.compactMap { $0["headers"]?["apns-id"]?.string })
        #expect(ids.count == 2, "each has its own apns-id: \(pushes)")
        // Telemetry counts both.
        let id = both.header("location")?.split(separator: "/").last?.split(separator: "?").first ?? ""
        try await eventually("two outcomes") {
            try await call(world, .GET, "/messages/\(id)").text.contains("<Name>Success</Name><Count>2</Count>")
        }
        // A template's own tag, its name, and none of them for a native send, which rings the device once.
        #expect(try await fill("tseoul && tnews").status == 201)
        _ = try await push(world, 71, count: 3)
        #expect(try await fill("$InstallationId:{t-1} && greeting").status == 201)
        _ = try await push(world, 71, count: 4)
        let nobody = try await send(world, #"{"aps":{"alert":"native"}}"#, tags: "tnews")
        #expect(nobody.status == 201)
        #expect(try await send(world, #"{"aps":{"alert":"native"}}"#, tags: "tseoul").status == 201)
        _ = try await push(world, 71, count: 5)
        // A removed template stops being a target, and a send that matches no device has no target.
        #expect(
            try await call(world, .PATCH, "/installations/t-1", #"[{"op":"remove","path":"/templates/news"}]"#).status
                == 200
        )
        #expect(try await fill("tnews").status == 201)
        #expect(try await fill(nil).status == 201)
        let last = try await push(world, 71, count: 6)
        #expect(last?["payload"]?["aps"]?["badge"] == 3, "\(last ?? .null)")
        #expect(last?["headers"]?["apns-expiration"] == "0", "its own expiry")
    }

    // docs/contracts/notificationhubs.md#7.7, docs/contracts/notificationhubs.md#9
    private func refusals(_ world: World) async throws {
        let broken = try await send(world, #"{"aps":{"alert":"x"}}"#, tags: "seoul && && vip")
        #expect(broken.status == 400)
        #expect(broken.text.contains("The supplied tag expression is not valid at position 9.TrackingId:"))
        let large = try await send(world, String(repeating: "x", count: 70_000), tags: nil)
        #expect(large.status == 413)
        #expect(large.text.hasPrefix("<Error><Code>413</Code>"))
        for path in ["/registrations/1/2", "/registrationids/1", "/messages/1/2"] {
            let answer = try await call(world, .POST, path, "{}")
            #expect(answer.status == 404, "\(path)")
            #expect(answer.text.hasPrefix("<Error><Code>404</Code>"), "\(path)")
        }
    }
}
