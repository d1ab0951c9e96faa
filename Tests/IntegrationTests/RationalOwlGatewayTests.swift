import CommandSupport
import Coverage
import Foundation
import Model
import Testing

/// RationalOwl's device calls, the calls of the SDK shim, and the unsupported paths, over real HTTP, PostgreSQL and
/// the simulator.
///
/// All tests share one service. Each test has its own phones, devices and tokens.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.giveTestCodes(to: "01022221111") })
struct RationalOwlGatewayTests {
    /// The first bytes of a JPEG, in base64.
    private static let image = "/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAMCAgMC"

    private var world: World { get throws { try SharedWorld.current } }

    private func post(
        _ path: String,
        _ body: JSON,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let answer = try await world.http.call("POST", path, body)
        #expect(
            answer.status == 200,
            "\(path): \(answer.status) \(answer.text)",
            sourceLocation: sourceLocation
        )
        return try #require(answer.json, "\(path): \(answer.text)", sourceLocation: sourceLocation)
    }

    private func app(
        _ call: String,
        _ fields: JSON,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        var body: JSONObject = ["aId": .string(try world.account)]
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        return try await post("/pushApp/\(call)", .object(body), sourceLocation: sourceLocation)
    }

    private func shim(
        _ call: String,
        _ fields: JSON,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        var body: JSONObject = ["sId": .string(try world.service)]
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        return try await post("/ro/v1/\(call)", .object(body), sourceLocation: sourceLocation)
    }

    /// A back end that may send.
    private func sender(sourceLocation: SourceLocation) async throws -> String {
        let world = try world
        let server: JSON = ["serviceId": .string(world.service), "registerName": "shop", "privateNetwork": 1]
        let registered = try await post("/server/register/", server, sourceLocation: sourceLocation)
        let sender = try #require(registered["serverRegId"]?.string, sourceLocation: sourceLocation)
        let client: JSON = [
            "cId": 1, "r": 1, "t": 12, "sId": .string(world.service), "mcn": "shop", "rId": .string(sender),
            "aId": .string(world.account), "ip": "203.0.113.10",
        ]
        _ = try await post("/msgClient/register", client, sourceLocation: sourceLocation)
        return sender
    }

    /// Sends to one target and returns the message's id.
    private func send(
        _ call: String,
        to target: JSON,
        _ more: JSON = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        var body: JSONObject = [
            "rId": .string(try await sender(sourceLocation: sourceLocation)), "aId": .string(try world.account),
            "ip": "203.0.113.10", "msg": ["title": "공지", "body": "공지사항입니다~"], "dest": ["t": 2, "tg": [target]],
        ]
        for (key, value) in more.object?.pairs ?? [] { body[key] = value }
        let sent = try await post("/msgClient/\(call)", .object(body), sourceLocation: sourceLocation)
        return try #require(sent["mId"]?.string, "\(JSONWriter.text(sent))", sourceLocation: sourceLocation)
    }

    /// Waits until the only delivery of a message is in this state.
    private func state(
        of message: String,
        is wanted: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let statement =
            "SELECT coalesce(string_agg(d.state, ','), '') AS value FROM gateway.delivery d WHERE d.message_id = '\(message)'"
        try await eventually("\(message) is \(wanted)", sourceLocation: sourceLocation) {
            try await world.value(statement) == wanted
        }
    }

    private func registration(of key: String) async throws -> String {
        try await world.value("SELECT state AS value FROM gateway.identity WHERE key = '\(key)'")
    }

    // MARK: The app's calls

    private struct Phone {
        let number: String
        let device: String
        let token: String

        init(_ index: Int) {
            number = "0103333000\(index)"
            device = String(repeating: "d\(index)", count: 16)
            token = String(repeating: "a\(index)", count: 32)
        }
    }

    private func install(_ phone: Phone, sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSON {
        let fields: JSON = [
            "cId": 303, "dt": 2, "dRId": .string(phone.device), "pn": .string(phone.number), "auId": "gildong",
            "n": "홍길동", "tk": .string(phone.token), "env": "prod",
        ]
        return try await app("installApp", fields, sourceLocation: sourceLocation)
    }

    /// Sends a message with a picture to an installed phone and waits until it is sent.
    private func sendPicture(
        to phone: Phone,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (message: String, push: JSON) {
        let picture: JSON = ["img": ["imgN": "a.jpg", "imgD": .string(Self.image), "imgS": 30]]
        let message = try await send(
            "msgClientSendMsgByPhoneNum",
            to: ["pn": .string(phone.number)],
            picture,
            sourceLocation: sourceLocation
        )
        let push = try await world.payload(of: phone.token, sourceLocation: sourceLocation)
        try await state(of: message, is: "sent", sourceLocation: sourceLocation)
        return (message, push)
    }

    // cId 301 and 302.
    @Test(
        .covers(
            "rationalowl",
            "/pushApp/reqAuthNumber",
            "/pushApp/verifyAuthNumber",
            partial: "no text message is sent: only phones with a code in `auth.testCodes` can be verified"
        )
    )
    func aPhoneWithATestCodeIsVerifiedWithThisCodeOnly() async throws {
        let phone = JSON.string("01022221111")
        let sent = try await app("reqAuthNumber", ["cId": 301, "cc": "82", "pn": phone])
        #expect(sent["cId"] == 301 && sent["rc"] == 1, "\(JSONWriter.text(sent))")
        let other = try await app("reqAuthNumber", ["cId": 301, "cc": "82", "pn": "01099998888"])
        #expect(other["rc"] == -1 && other["cmt"]?.string?.isEmpty == false)
        func verify(_ code: JSON) async throws -> JSON {
            try await app("verifyAuthNumber", ["cId": 302, "dt": 2, "pn": phone, "an": code])
        }
        let wrong = try await verify("2222")
        #expect(wrong["cId"] == 302 && wrong["rc"] == -1)
        #expect(try await verify("1111")["rc"] == 1)
    }

    // cId 303.
    @Test(.covers("rationalowl", "/pushApp/installApp", "/msgClient/msgClientSendMsgByPhoneNum"))
    func anInstalledPhoneGetsTheMessagesToItsNumber() async throws {
        let phone = Phone(1)
        let installed = try await install(phone)
        #expect(installed["cId"] == 303 && installed["rc"] == 1 && installed["usRid"]?.string != nil)
        let (message, push) = try await sendPicture(to: phone)
        #expect(push["mId"]?.string == message && push["type"] == "1")
    }

    // cId 312.
    @Test(
        .covers(
            "rationalowl",
            "/pushApp/msgInfo",
            partial: "the states of the fallback are always 0, because the gateway has no fallback engine"
        )
    )
    func aPhoneReadsTheStateOfItsMessage() async throws {
        let phone = Phone(2)
        _ = try await install(phone)
        let (message, _) = try await sendPicture(to: phone)
        let asked: JSON = [
            "cId": 312, "pn": .string(phone.number), "dRId": .string(phone.device), "mId": .string(message),
        ]
        let info = try await app("msgInfo", asked)
        let wanted: JSON = [
            "cId": 312, "aId": .string(try world.account), "rc": 1, "cmt": "정상처리", "mId": .string(message), "ast": 0,
            "as": 0, "ase": 0, "mst": 0, "mt": 0, "ms": 0,
        ]
        #expect(info == wanted, "\(JSONWriter.text(info))")
        let unknown = "11111111-2222-3333-4444-555555555555"
        let nothing = try await app(
            "msgInfo",
            ["cId": 312, "dRId": .string(phone.device), "mId": .string(unknown)]
        )
        #expect(nothing["rc"] == -1 && nothing["mId"]?.string == unknown && nothing["ms"] == 0)
    }

    // cId 313.
    @Test(.covers("rationalowl", "/pushApp/imgData"))
    func aPhoneReadsThePictureOfItsMessage() async throws {
        let phone = Phone(3)
        _ = try await install(phone)
        let (message, push) = try await sendPicture(to: phone)
        let media = try #require(push["ii"]?.string)
        let image = try await app("imgData", ["cId": 313, "iId": .string(media), "mId": .string(message)])
        let wanted: JSON = [
            "cId": 313, "aId": .string(try world.account), "rc": 1, "cmt": "정상처리", "imgD": .string(Self.image),
        ]
        #expect(image == wanted)
        let none = try await app("imgData", ["cId": 313, "iId": "x", "mId": .string(message)])
        #expect(none["rc"] == -1 && none["imgD"] == "")
    }

    // cId 311.
    @Test(.covers("rationalowl", "/pushApp/notiRead"))
    func aMessageReportedByThePhoneIsRead() async throws {
        let phone = Phone(4)
        _ = try await install(phone)
        let (message, _) = try await sendPicture(to: phone)
        let world = try world
        let read: JSON = [
            "cId": 311, "r": 1, "aId": .string(world.account), "dRId": .string(phone.device),
            "pn": .string(phone.number), "mId": .string(message),
        ]
        let answer = try await world.http.call("POST", "/pushApp/notiRead", read)
        #expect(answer.status == 200 && answer.text == "ok")
        try await state(of: message, is: "read")
    }

    // cId 305.
    @Test(.covers("rationalowl", "/pushApp/unregUser"))
    func aPhoneThatLeavesIsUnregistered() async throws {
        let phone = Phone(5)
        _ = try await install(phone)
        let fields: JSON = ["cId": 305, "pn": .string(phone.number), "dRId": .string(phone.device)]
        let gone = try await app("unregUser", fields)
        #expect(gone["cId"] == 305 && gone["rc"] == 1 && gone["dRId"]?.string == phone.device)
        #expect(try await registration(of: phone.device) == "unregistered")
    }

    // MARK: The SDK shim

    /// The fields with which the device of a token registers.
    private func facts(_ token: String) -> JSON {
        [
            "name": "홍길동", "dt": 2, "tk": .string(token), "env": "prod", "bundleId": "com.example.umsdemo",
            "model": "iPhone15,2", "osVer": "18.1",
        ]
    }

    private func registerShim(_ token: String, sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> String
    {
        let made = try await shim("device/register", facts(token), sourceLocation: sourceLocation)
        #expect(made["rc"] == 1, "\(JSONWriter.text(made))", sourceLocation: sourceLocation)
        return try #require(made["dRId"]?.string, sourceLocation: sourceLocation)
    }

    @Test(.covers("rationalowl", "/ro/v1/device/register"))
    func aDeviceThatRegistersAgainGetsTheSameID() async throws {
        let token = String(repeating: "b1", count: 32)
        let device = try await registerShim(token)
        #expect(try await shim("device/register", facts(token)) == ["rc": -122, "dRId": .string(device)])
    }

    @Test(.covers("rationalowl", "/ro/v1/device/token", "/msgClient/msgClientSendMsgByDeviceId"))
    func aMessageReachesADeviceWithItsNewToken() async throws {
        let (first, second) = (String(repeating: "b2", count: 32), String(repeating: "b3", count: 32))
        let device = JSON.string(try await registerShim(first))
        #expect(try await shim("device/token", ["dRId": device, "tk": .string(second), "env": "prod"]) == ["rc": 1])
        let message = try await send("msgClientSendMsgByDeviceId", to: ["dId": device])
        #expect(try await world.payload(of: second)["mId"]?.string == message)
        try await state(of: message, is: "sent")
    }

    @Test(.covers("rationalowl", "/ro/v1/device/state", "/ro/v1/noti/delivered"))
    func anActiveDeviceGetsMessagesItHasNotReportedAsDelivered() async throws {
        let device = JSON.string(try await registerShim(String(repeating: "b4", count: 32)))
        let message = try await send("msgClientSendMsgByDeviceId", to: ["dId": device])
        try await state(of: message, is: "sent")
        let waiting = try await shim("device/state", ["dRId": device, "state": "active"])
        let entry = try #require(waiting["undelivered"]?.array?.first, "\(JSONWriter.text(waiting))")
        #expect(waiting["rc"] == 1 && entry["sender"]?.string != nil && entry["serverTime"]?.int != nil)
        let data = try JSONParser.parse(try #require(entry["data"]?.string))
        #expect(data["mId"]?.string == message && data["body"] == "공지사항입니다~")
        #expect(try await shim("device/state", ["dRId": device, "state": "background"]) == ["rc": 1])
        let delivered: JSON = ["dRId": device, "mId": .string(message), "t": 1_731_999_999_123]
        for _ in 0..<2 { #expect(try await shim("noti/delivered", delivered) == ["rc": 1]) }
        try await state(of: message, is: "received")
        let none = try await shim("device/state", ["dRId": device, "state": "active"])
        #expect(none == ["rc": 1, "undelivered": []])
    }

    @Test(.covers("rationalowl", "/ro/v1/noti/opened"))
    func anOpenedMessageIsRead() async throws {
        let device = JSON.string(try await registerShim(String(repeating: "b5", count: 32)))
        let message = try await send("msgClientSendMsgByDeviceId", to: ["dId": device])
        try await state(of: message, is: "sent")
        for _ in 0..<2 {
            #expect(try await shim("noti/opened", ["dRId": device, "mId": .string(message)]) == ["rc": 1])
        }
        try await state(of: message, is: "read")
    }

    @Test(.covers("rationalowl", "/ro/v1/device/unregister"))
    func aDeviceMayUnregisterTwice() async throws {
        let device = try await registerShim(String(repeating: "b6", count: 32))
        for _ in 0..<2 { #expect(try await shim("device/unregister", ["dRId": .string(device)]) == ["rc": 1]) }
        #expect(try await registration(of: device) == "unregistered")
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
        let world = try world
        let known = RationalOwlPaths.unanswered
        let others =
            known.map { String($0.dropLast()) } + ["/tracking", "/sync/x/y", "/custompush/unicast/", "/server/x"]
        for path in known + others {
            // The paths are refused for a bound service, for an unknown service, and without a body.
            for service in [world.service, String(repeating: "0", count: 32)] {
                let body: JSON = ["serviceId": .string(service), "serverRegId": "SVR1"]
                let answer = try await world.http.call("POST", path, body)
                #expect(answer.status == 404 && answer.json == ["error": "no such path"], "\(path): \(answer.text)")
            }
            let unread = try await world.http.call("GET", path)
            #expect(unread.status == 404 && unread.json == ["error": "no such path"], "\(path): \(unread.text)")
        }
    }

    @Test(arguments: ["/pushApp/x", "/msgClient/x", "/ro/v1/x"])
    func anUnknownCallOfAKnownInterfaceIsRefusedInItsShape(path: String) async throws {
        let world = try world
        let answer = try await world.http.call("POST", path, ["aId": .string(world.account)])
        #expect(answer.status == 404 && answer.json?["rc"] == -1 && answer.json?["cmt"]?.string != nil)
    }
}

extension World {
    /// Allows the test code `1111` for a phone, and waits until the gateway applies it. It waits with another phone,
    /// because each phone may request its code only once in a while.
    func giveTestCodes(to phone: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let file = try String(contentsOfFile: material.path("tenants.yaml"), encoding: .utf8)
        let settings = "settings: { "
        try #require(file.contains(settings), sourceLocation: sourceLocation)
        let other = "01022220000"
        let codes = #"auth.testCodes: { "\#(phone)": "1111", "\#(other)": "2222" }, "#
        try file.replacingOccurrences(of: settings, with: settings + codes)
            .write(toFile: material.path("codes.yaml"), atomically: true, encoding: .utf8)
        let applied = try await apply("codes.yaml")
        try #require(applied.status == 0, "\(applied.log)", sourceLocation: sourceLocation)
        let asked: JSON = ["aId": .string(account), "cId": 301, "cc": "82", "pn": .string(other)]
        try await eventually("the codes are served", sourceLocation: sourceLocation) {
            try await http.call("POST", "/pushApp/reqAuthNumber", asked).json?["rc"] == 1
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
