import Foundation
import Model

/// The vendor document's own sequence, step by step; each step checks what came back.
final class DemoStory {
    let stage: DemoStage
    private let isVerbose: Bool
    private var step = 0
    /// Accepted and refused pushes expected at the simulator.
    private var messages: [(name: String, id: String)] = []

    /// Four phones with the app; the fifth number has none.
    private let phones = ["01011111111", "01022222222", "01033333333", "01044444444"]
    private let strangerPhone = "01099999999"

    init(stage: DemoStage, isVerbose: Bool) {
        self.stage = stage
        self.isVerbose = isVerbose
    }

    /// - Throws: `DemoFailure` at the first step that does not hold.
    func play() async throws {
        Console.print("One gateway, one PostgreSQL, one APNs simulator. First vendor: RationalOwl UMS.\n")
        let sender = try await enrol()
        let devices = try await install()
        let first = try await sendByPhone(sender)
        try await receipts(first, devices)
        try await history(first, devices)
        try await sendNatively(devices)
        try await deadToken(devices)
        try await compareFunnels()
        // After the counts above, which are of everything the simulator got.
        try await playIPNS()
        try await playUPMC()
        try await playBraze()
        try await playHubs()
    }

    // MARK: Steps

    private func enrol() async throws -> String {
        say("The shop's back end registers, as the vendor documents it")
        let server = try await vendor(
            stage.gateway,
            "/server/register/",
            ["serviceId": .string(stage.service), "registerName": "shop backend 1", "privateNetwork": 1]
        )
        let sender = try text(server, "serverRegId")
        let enrolled = try await vendor(
            stage.gateway,
            "/msgClient/register",
            [
                "cId": 1, "r": 1, "t": 12, "sId": .string(stage.service), "rId": .string(sender),
                "aId": .string(stage.account),
                "ip": "203.0.113.10", "mcn": "shop backend 1",
            ]
        )
        try expect(enrolled["rc"]?.int == 1, "msgClient/register answers rc 1")
        return sender
    }

    private func install() async throws -> [(key: String, token: String, phone: String)] {
        say("Four iPhones install the app: POST /pushApp/installApp over TLS")
        var devices: [(key: String, token: String, phone: String)] = []
        for phone in phones {
            let token = SystemIdentifiers().randomHex(byteCount: 32)
            let key = SystemIdentifiers().randomHex(byteCount: 16)
            let answer = try await vendor(
                stage.ums,
                "/pushApp/installApp",
                [
                    "cId": 303, "aId": .string(stage.account), "dt": 2, "dRId": .string(key), "pn": .string(phone),
                    "n": "홍길동", "tk": .string(token), "env": "prod",
                ]
            )
            try expect(answer["rc"]?.int == 1, "installApp answers rc 1")
            devices.append((key, token, phone))
        }
        return devices
    }

    private func sendByPhone(_ sender: String) async throws -> String {
        say("The back end sends to five phone numbers with an image; one has no app")
        let answer = try await vendor(
            stage.gateway,
            "/msgClient/msgClientSendMsgByPhoneNum",
            [
                "rId": .string(sender), "aId": .string(stage.account), "ip": "203.0.113.10",
                "msg": ["title": "공지", "body": "공지사항입니다~"],
                "dest": ["t": 2, "tg": .array((phones + [strangerPhone]).map { ["pn": .string($0)] })],
                "img": ["imgN": "dot.png", "imgD": .string(Self.dot), "imgS": 70],
            ]
        )
        let id = try text(answer, "mId")
        messages.append(("by phone number", id))
        let message = try await settled(id)
        try expect(message["funnel"]?["sent"]?.int == 4, "four pushes were accepted")
        try expect(message["funnel"]?["suppressed"]?.int == 1, "the number without app is suppressed")
        return id
    }

    private func receipts(_ message: String, _ devices: [(key: String, token: String, phone: String)]) async throws {
        say("What the simulator, standing for Apple, received for the first phone")
        let seen = try await stage.control.call("GET", "/_simulator/requests?token=\(devices[0].token)")
        guard let push = seen.json?["requests"]?.array?.last, let payload = push["payload"] else {
            throw DemoFailure("the simulator knows no push to that token")
        }
        Console.print("    \(JSONWriter.text(payload))")
        try expect(payload["mId"]?.string == message, "the payload carries the message id")
        try expect(push["headers"]?["apns-collapse-id"]?.string == message, "the collapse id is the message id")

        say("Two phones report delivery, one opens it and fetches the image")
        for device in devices.prefix(2) {
            let answer = try await vendor(
                stage.ums,
                "/ro/v1/noti/delivered",
                ["sId": .string(stage.service), "dRId": .string(device.key), "mId": .string(message)]
            )
            try expect(answer["rc"]?.int == 1, "noti/delivered answers rc 1")
        }
        let read = try await stage.ums.call(
            "POST",
            "/pushApp/notiRead",
            ["cId": 311, "aId": .string(stage.account), "dRId": .string(devices[0].key), "mId": .string(message)]
        )
        try expect(read.text == "ok", "notiRead answers ok")
        let image = try await vendor(
            stage.ums,
            "/pushApp/imgData",
            ["cId": 313, "aId": .string(stage.account), "iId": payload["ii"] ?? "", "mId": .string(message)]
        )
        try expect(image["imgD"]?.string == Self.dot, "imgData gives the image back")
        let info = try await vendor(
            stage.ums,
            "/pushApp/msgInfo",
            ["cId": 312, "aId": .string(stage.account), "dRId": .string(devices[0].key), "mId": .string(message)]
        )
        try expect(info["rc"]?.int == 1 && info["ms"]?.int == 0, "msgInfo: no fallback was sent")
    }

    private func history(_ message: String, _ devices: [(key: String, token: String, phone: String)]) async throws {
        say("A phone that reported nothing opens the app: what it missed, by the SDK shim")
        let answer = try await vendor(
            stage.ums,
            "/ro/v1/device/state",
            ["sId": .string(stage.service), "dRId": .string(devices[2].key), "state": "active"]
        )
        try expect(answer["undelivered"]?.array?.count == 1, "one undelivered message")
        say("The same history by the native API")
        let list = try await native("GET", "/v1/devices?app=shop")
        guard let id = list["devices"]?.array?.first?["id"]?.string else {
            throw DemoFailure("/v1/devices lists no device")
        }
        let inbox = try await native("GET", "/v1/devices/\(id)/inbox")
        try expect(inbox["messages"]?.array?.first?["message"]?.string == message, "the inbox holds the message")
    }

    private func sendNatively(_ devices: [(key: String, token: String, phone: String)]) async throws {
        say("The same phones by the gateway's own API: POST /v1/messages")
        let answer = try await native(
            "POST",
            "/v1/messages",
            [
                "app": "shop", "to": ["phones": .array(phones.map { .string($0) })], "title": "Sale",
                "body": "Everything must go",
            ]
        )
        let id = try text(answer, "id")
        messages.append(("native", id))
        let message = try await settled(id)
        try expect(message["funnel"]?["sent"]?.int == 4, "four pushes were accepted")
    }

    private func deadToken(_ devices: [(key: String, token: String, phone: String)]) async throws {
        say("One phone deletes the app: Apple answers 410 Unregistered, and the token is not used again")
        let now = Int64(Date().timeIntervalSince1970 * 1000) + 1000
        let scripted = try await stage.control.call(
            "POST",
            "/_simulator/script",
            [
                [
                    "token": .string(devices[3].token), "status": 410, "reason": "Unregistered", "timestamp": .int(now),
                    "times": 1,
                ]
            ]
        )
        try expect(scripted.status == 200, "the simulator takes the script")
        for expected in ["failed", "suppressed"] {
            let answer = try await native(
                "POST",
                "/v1/messages",
                ["app": "shop", "to": ["phones": [.string(phones[3])]], "title": "Are you there?", "body": "Hello"]
            )
            let id = try text(answer, "id")
            messages.append(("to a dead token", id))
            let message = try await settled(id)
            try expect(message["funnel"]?[expected]?.int == 1, "the delivery is \(expected)")
        }
    }

    private func compareFunnels() async throws {
        say("The funnel, read from /v1, against the simulator's own counts")
        var rows: [[String]] = []
        var sent: Int64 = 0
        var failed: Int64 = 0
        for (name, id) in messages {
            let funnel = try await native("GET", "/v1/messages/\(id)")["funnel"] ?? .null
            rows.append(
                [name]
                    + ["recipients", "sent", "received", "read", "failed", "suppressed"].map {
                        "\(funnel[$0]?.int ?? -1)"
                    }
            )
            sent += funnel["sent"]?.int ?? 0
            failed += funnel["failed"]?.int ?? 0
        }
        Console.print(
            Console.table(["message", "recipients", "sent", "received", "read", "failed", "suppressed"], rows)
        )
        let stats = try await stage.control.call("GET", "/_simulator/stats").json ?? .null
        let accepted = stats["accepted"]?.int ?? -1
        let refused = stats["rejected"]?["Unregistered"]?.int ?? 0
        Console.print(
            "    simulator: \(accepted) accepted, \(refused) Unregistered, \(stats["repeats"]?.int ?? -1) repeats"
        )
        try expect(accepted == sent, "accepted at the simulator (\(accepted)) = sent in the funnel (\(sent))")
        try expect(refused == failed, "refused at the simulator (\(refused)) = failed in the funnel (\(failed))")
        try expect(stats["repeats"]?.int == 0, "no push went out twice")
    }

    // MARK: Helpers

    /// A PNG of one transparent pixel, 70 bytes.
    static let dot =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

    func say(_ text: String) {
        step += 1
        Console.print("\(step). \(text)")
    }

    func expect(_ holds: Bool, _ what: String) throws {
        guard holds else { throw DemoFailure("step \(step) did not hold: \(what)") }
        Console.print("    ok: \(what)")
    }

    func text(_ json: JSON, _ key: String) throws -> String {
        guard let text = json[key]?.string, !text.isEmpty else {
            throw DemoFailure("step \(step): the answer has no \(key): \(JSONWriter.text(json))")
        }
        return text
    }

    /// A call and its answer, for who asked to see them.
    func show(_ call: String, _ answer: HTTPCaller.Answer) {
        if isVerbose { Console.print("    \(call)\n    \(answer.status) \(answer.text)") }
    }

    func vendor(_ caller: HTTPCaller, _ path: String, _ body: JSON, bearer: String? = nil) async throws -> JSON {
        let answer = try await caller.call("POST", path, body, bearer: bearer)
        show("POST \(path) \(JSONWriter.text(body))", answer)
        guard answer.status == 200, let json = answer.json else {
            throw DemoFailure("step \(step): \(path) answered \(answer.status) \(answer.text)")
        }
        return json
    }

    func vendor(_ caller: HTTPCaller, _ path: String, form: [String: String]) async throws -> JSON {
        let answer = try await caller.post(path, form: form)
        show("POST \(path) \(form)", answer)
        guard answer.status == 200, let json = answer.json else {
            throw DemoFailure("step \(step): \(path) answered \(answer.status) \(answer.text)")
        }
        return json
    }

    func native(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        let answer = try await stage.gateway.call(method, path, body, bearer: stage.apiKey)
        show("\(method) \(path) \(body.map(JSONWriter.text) ?? "")", answer)
        guard (200..<300).contains(answer.status), let json = answer.json else {
            throw DemoFailure("step \(step): \(method) \(path) answered \(answer.status) \(answer.text)")
        }
        return json
    }

    /// The message once nothing of it is queued any more; at most 20 s.
    func settled(_ id: String) async throws -> JSON {
        for _ in 0..<400 {
            let message = try await native("GET", "/v1/messages/\(id)")
            if message["state"]?.string == "done" { return message }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw DemoFailure("step \(step): message \(id) was not done within 20 s")
    }
}
