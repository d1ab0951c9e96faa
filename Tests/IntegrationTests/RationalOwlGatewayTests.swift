import CommandSupport
import Coverage
import Foundation
import Model
import Testing

/// RationalOwl's device calls, the calls of the SDK shim, and the unsupported paths, over real HTTP, PostgreSQL and
/// the simulator.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RationalOwlGatewayTests {
    private static let phone = "01022221111"
    private static let device = String(repeating: "d1", count: 16)
    private static let token = String(repeating: "a1", count: 32)
    /// The first bytes of a JPEG, in base64.
    private static let image = "/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAMCAgMC"

    private func withGateway(_ body: (World) async throws -> Void) async throws {
        let world = try World()
        do {
            try await world.startSimulator()
            try await world.startGateway()
            try #require(try await world.apply().status == 0)
            let path = world.material.path("tenants.yaml")
            let file = try String(contentsOfFile: path, encoding: .utf8)
            let binding = "serviceId: \(world.service)"
            try #require(file.contains(binding))
            let codes = #"settings: { auth.testCodes: { "\#(Self.phone)": "1111" } }"#
            try file.replacingOccurrences(of: binding, with: "\(binding), \(codes)")
                .write(toFile: world.material.path("codes.yaml"), atomically: true, encoding: .utf8)
            let applied = try await world.apply("codes.yaml")
            try #require(applied.status == 0, "\(applied.log)")
            try await body(world)
        } catch {
            Issue.record(error)
        }
        await world.close()
    }

    private func post(_ world: World, _ path: String, _ body: JSON) async throws -> JSON {
        let answer = try await world.http.call("POST", path, body)
        #expect(answer.status == 200, "\(path): \(answer.status) \(answer.text)")
        return try #require(answer.json, "\(path): \(answer.text)")
    }

    private func app(_ world: World, _ call: String, _ fields: JSON) async throws -> JSON {
        var body: JSONObject = ["aId": .string(world.account)]
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        return try await post(world, "/pushApp/\(call)", .object(body))
    }

    private func shim(_ world: World, _ call: String, _ fields: JSON) async throws -> JSON {
        var body: JSONObject = ["sId": .string(world.service)]
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        return try await post(world, "/ro/v1/\(call)", .object(body))
    }

    /// A back end that may send.
    private func sender(_ world: World) async throws -> String {
        let server: JSON = ["serviceId": .string(world.service), "registerName": "shop", "privateNetwork": 1]
        let sender = try #require(try await post(world, "/server/register/", server)["serverRegId"]?.string)
        let client: JSON = [
            "cId": 1, "r": 1, "t": 12, "sId": .string(world.service), "mcn": "shop", "rId": .string(sender),
            "aId": .string(world.account), "ip": "203.0.113.10",
        ]
        _ = try await post(world, "/msgClient/register", client)
        return sender
    }

    private func send(_ world: World, _ call: String, to target: JSON, _ more: JSON = [:]) async throws -> String {
        var body: JSONObject = [
            "rId": .string(try await sender(world)), "aId": .string(world.account), "ip": "203.0.113.10",
            "msg": ["title": "공지", "body": "공지사항입니다~"], "dest": ["t": 2, "tg": [target]],
        ]
        for (key, value) in more.object?.pairs ?? [] { body[key] = value }
        return try #require(try await post(world, "/msgClient/\(call)", .object(body))["mId"]?.string)
    }

    private func state(of message: String, is wanted: String, _ world: World) async throws {
        let statement =
            "SELECT coalesce(string_agg(d.state, ','), '') AS value FROM gateway.delivery d WHERE d.message_id = '\(message)'"
        for _ in 0..<400 {
            if try await world.value(statement) == wanted { return }
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("\(message) is not \(wanted) within ten seconds")
    }

    // MARK: The app's calls

    @Test(
        .covers(
            "rationalowl",
            "/pushApp/installApp",
            "/pushApp/unregUser",
            "/pushApp/notiRead",
            "/pushApp/imgData",
            "/msgClient/msgClientSendMsgByPhoneNum"
        ),
        .covers(
            "rationalowl",
            "/pushApp/reqAuthNumber",
            "/pushApp/verifyAuthNumber",
            partial: "no text message is sent: only phones with a code in `auth.testCodes` can be verified"
        ),
        .covers(
            "rationalowl",
            "/pushApp/msgInfo",
            partial: "the states of the fallback are always 0, because the gateway has no fallback engine"
        )
    )
    func aPhoneIsVerifiedAndReadsItsMessage() async throws {
        try await withGateway { world in
            try await verifies(world)
            let installed = try await app(
                world,
                "installApp",
                [
                    "cId": 303, "dt": 2, "dRId": .string(Self.device), "pn": .string(Self.phone), "auId": "gildong",
                    "n": "홍길동", "tk": .string(Self.token), "env": "prod",
                ]
            )
            #expect(installed["cId"] == 303 && installed["rc"] == 1 && installed["usRid"]?.string != nil)
            let picture: JSON = ["img": ["imgN": "a.jpg", "imgD": .string(Self.image), "imgS": 30]]
            let target: JSON = ["pn": .string(Self.phone)]
            let message = try await send(world, "msgClientSendMsgByPhoneNum", to: target, picture)
            let push = try await world.payload(of: Self.token)
            #expect(push["mId"]?.string == message && push["type"] == "1")
            let media = try #require(push["ii"]?.string)
            try await state(of: message, is: "sent", world)
            try await asksForItsMessage(world, message, media)
            try await leaves(world)
        }
    }

    // cId 301 and 302.
    private func verifies(_ world: World) async throws {
        let asked: JSON = ["cId": 301, "cc": "82", "pn": .string(Self.phone)]
        var sent = try await app(world, "reqAuthNumber", asked)
        // A running gateway follows a change of its settings within a second.
        for _ in 0..<200 where sent["rc"] != 1 {
            try await Task.sleep(for: .milliseconds(50))
            sent = try await app(world, "reqAuthNumber", asked)
        }
        #expect(sent["cId"] == 301 && sent["rc"] == 1, "\(JSONWriter.text(sent))")
        let other = try await app(world, "reqAuthNumber", ["cId": 301, "cc": "82", "pn": "01099998888"])
        #expect(other["rc"] == -1 && other["cmt"]?.string?.isEmpty == false)
        func code(_ text: JSON) async throws -> JSON {
            try await app(world, "verifyAuthNumber", ["cId": 302, "dt": 2, "pn": .string(Self.phone), "an": text])
        }
        let wrong = try await code("2222")
        #expect(wrong["cId"] == 302 && wrong["rc"] == -1)
        #expect(try await code("1111")["rc"] == 1)
    }

    // cId 311, 312 and 313.
    private func asksForItsMessage(_ world: World, _ message: String, _ media: String) async throws {
        let found: JSON = [
            "cId": 312, "pn": .string(Self.phone), "dRId": .string(Self.device), "mId": .string(message),
        ]
        let info = try await app(world, "msgInfo", found)
        #expect(
            info == [
                "cId": 312, "aId": .string(world.account), "rc": 1, "cmt": "정상처리", "mId": .string(message), "ast": 0,
                "as": 0, "ase": 0, "mst": 0, "mt": 0, "ms": 0,
            ],
            "\(JSONWriter.text(info))"
        )
        let unknown = "11111111-2222-3333-4444-555555555555"
        let nothing = try await app(
            world,
            "msgInfo",
            ["cId": 312, "dRId": .string(Self.device), "mId": .string(unknown)]
        )
        #expect(nothing["rc"] == -1 && nothing["mId"]?.string == unknown && nothing["ms"] == 0)

        let picture: JSON = ["cId": 313, "iId": .string(media), "mId": .string(message)]
        let image = try await app(world, "imgData", picture)
        #expect(
            image == [
                "cId": 313, "aId": .string(world.account), "rc": 1, "cmt": "정상처리", "imgD": .string(Self.image),
            ]
        )
        let none = try await app(world, "imgData", ["cId": 313, "iId": "x", "mId": .string(message)])
        #expect(none["rc"] == -1 && none["imgD"] == "")

        let read: JSON = [
            "cId": 311, "r": 1, "aId": .string(world.account), "dRId": .string(Self.device), "pn": .string(Self.phone),
            "mId": .string(message),
        ]
        let answer = try await world.http.call("POST", "/pushApp/notiRead", read)
        #expect(answer.status == 200 && answer.text == "ok")
        try await state(of: message, is: "read", world)
    }

    // cId 305.
    private func leaves(_ world: World) async throws {
        let gone = try await app(
            world,
            "unregUser",
            ["cId": 305, "pn": .string(Self.phone), "dRId": .string(Self.device)]
        )
        #expect(gone["cId"] == 305 && gone["rc"] == 1 && gone["dRId"]?.string == Self.device)
        let state = "SELECT state AS value FROM gateway.identity WHERE key = '\(Self.device)'"
        #expect(try await world.value(state) == "unregistered")
    }

    // MARK: The SDK shim

    @Test(
        .covers(
            "rationalowl",
            "/ro/v1/device/register",
            "/ro/v1/device/token",
            "/ro/v1/device/unregister",
            "/ro/v1/device/state",
            "/ro/v1/noti/delivered",
            "/ro/v1/noti/opened",
            "/msgClient/msgClientSendMsgByDeviceId"
        )
    )
    func aDeviceOfTheShimIsRungAndReports() async throws {
        try await withGateway { world in
            let (first, second) = (String(repeating: "b1", count: 32), String(repeating: "b2", count: 32))
            let facts: JSON = [
                "name": "홍길동", "dt": 2, "tk": .string(first), "env": "prod", "bundleId": "com.example.umsdemo",
                "model": "iPhone15,2", "osVer": "18.1",
            ]
            let made = try await shim(world, "device/register", facts)
            let device = try #require(made["dRId"])
            #expect(made == ["rc": 1, "dRId": device])
            #expect(
                try await shim(world, "device/register", facts) == ["rc": -122, "dRId": device],
                "the same device again"
            )

            let renewed: JSON = ["dRId": device, "tk": .string(second), "env": "prod"]
            #expect(try await shim(world, "device/token", renewed) == ["rc": 1])
            let text = try #require(device.string)
            let message = try await send(world, "msgClientSendMsgByDeviceId", to: ["dId": device])
            #expect(try await world.payload(of: second)["mId"]?.string == message, "by the new token")
            try await state(of: message, is: "sent", world)

            let waiting = try await shim(world, "device/state", ["dRId": device, "state": "active"])
            let entry = try #require(waiting["undelivered"]?.array?.first, "\(JSONWriter.text(waiting))")
            #expect(waiting["rc"] == 1 && entry["sender"]?.string != nil && entry["serverTime"]?.int != nil)
            let data = try JSONParser.parse(try #require(entry["data"]?.string))
            #expect(data["mId"]?.string == message && data["body"] == "공지사항입니다~")
            #expect(try await shim(world, "device/state", ["dRId": device, "state": "background"]) == ["rc": 1])

            let report: JSON = ["dRId": device, "mId": .string(message), "t": 1_731_999_999_123]
            for _ in 0..<2 { #expect(try await shim(world, "noti/delivered", report) == ["rc": 1]) }
            try await state(of: message, is: "received", world)
            let none = try await shim(world, "device/state", ["dRId": device, "state": "active"])
            #expect(none == ["rc": 1, "undelivered": []])
            let opened: JSON = ["dRId": device, "mId": .string(message)]
            for _ in 0..<2 { #expect(try await shim(world, "noti/opened", opened) == ["rc": 1]) }
            try await state(of: message, is: "read", world)

            for _ in 0..<2 { #expect(try await shim(world, "device/unregister", ["dRId": device]) == ["rc": 1]) }
            let state = "SELECT state AS value FROM gateway.identity WHERE key = '\(text)'"
            #expect(try await world.value(state) == "unregistered")
        }
    }

    // MARK: Paths without a call

    @Test(
        .covers(
            "rationalowl",
            "/server/unregister/",
            "/deviceGroup/create/",
            "/deviceGroup/add/",
            "/deviceGroup/subtract/",
            "/deviceGroup/remove/",
            "/downstream/multicast/",
            "/downstream/broadcast/",
            "/downstream/group/",
            "/custompush/multicast/",
            "/custompush/broadcast/",
            "/custompush/group/",
            "/custompush/retry/",
            "/tracking/msgStats/",
            "/tracking/msgDevices/",
            "/tracking/msgDeviceDetail/",
            "/tracking/msgDetail/",
            "/tracking/batchMsgDevices/",
            "/tracking/batchMsgDeviceDetail/",
            "/sync/deviceIds/",
            "/sync/groupDeviceIds/",
            "/sync/deleteDevices/",
            refused: #"404 `{"error":"no such path"}`"#
        )
    )
    func pathsWithoutACallAreRefusedInTheVendorsShape() async throws {
        try await withGateway { world in
            let known = RationalOwlPaths.unanswered
            let others =
                known.map { String($0.dropLast()) } + ["/tracking", "/sync/x/y", "/custompush/unicast/", "/server/x"]
            for path in known + others {
                // Whoever asks: with a service that is bound, with one that nobody has, and with nothing that can be read.
                for service in [world.service, String(repeating: "0", count: 32)] {
                    let body: JSON = ["serviceId": .string(service), "serverRegId": "SVR1"]
                    let answer = try await world.http.call("POST", path, body)
                    #expect(answer.status == 404 && answer.json == ["error": "no such path"], "\(path): \(answer.text)")
                }
                let unread = try await world.http.call("GET", path)
                #expect(unread.status == 404 && unread.json == ["error": "no such path"], "\(path): \(unread.text)")
            }
            for path in ["/pushApp/x", "/msgClient/x", "/ro/v1/x"] {
                let answer = try await world.http.call("POST", path, ["aId": .string(world.account)])
                #expect(
                    answer.status == 404 && answer.json?["rc"] == -1 && answer.json?["cmt"]?.string != nil,
                    "\(path)"
                )
            }
        }
    }
}

/// The core's calls that are in the vendor's contract and that the gateway does not support.
enum RationalOwlPaths {
    static let unanswered =
        ["/server/unregister/"] + ["create", "add", "subtract", "remove"].map { "/deviceGroup/\($0)/" }
        + ["multicast", "broadcast", "group"].flatMap { ["/downstream/\($0)/", "/custompush/\($0)/"] }
        + ["/custompush/retry/"]
        + ["msgStats", "msgDevices", "msgDeviceDetail", "msgDetail", "batchMsgDevices", "batchMsgDeviceDetail"]
        .map { "/tracking/\($0)/" }
        + ["deviceIds", "groupDeviceIds", "deleteDevices"].map { "/sync/\($0)/" }
}
