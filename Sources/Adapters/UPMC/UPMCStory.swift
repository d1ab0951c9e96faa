import ApplePayload
package import Model

extension UPMCAdapter: StoryVendor {
    package func story(_ identifiers: any IdentifierSource) -> any VendorStory { UPMCStory(identifiers) }
}

/// The self-test of UPMC apps, one for each generation of versions with different calls or payloads: register, push, receipt, reading, badge, history.
struct UPMCStory: VendorStory {
    let title = "UPMC, each generation of its versions"
    private let identifiers: any IdentifierSource
    /// The key of the back end of every app.
    private let sendKey: String
    private static let sendKeyVariable = "DEMO_UPMC_SEND_KEY"

    init(_ identifiers: any IdentifierSource) {
        self.identifiers = identifiers
        sendKey = identifiers.randomHex(byteCount: 16)
    }

    var secrets: [String: String] { [Self.sendKeyVariable: sendKey] }

    var binding: JSON? { nil }

    var apps: [StoryApp] {
        Self.generations.map { generation in
            var binding: JSONObject = [
                "applicationId": .string(generation.applicationID), "version": .string(generation.version),
                "sendKeyEnv": .string(Self.sendKeyVariable),
            ]
            if generation.isOldest { binding["bundleId"] = .string(generation.applicationID) }
            return StoryApp(id: generation.app, binding: .object(binding))
        }
    }

    func play(_ stage: any StoryStage) async throws {
        for generation in Self.generations {
            stage.say("An app of version \(generation.version) registers")
            let phone = Phone(identifiers)
            try await register(stage, phone, generation)
            let payload = try await push(stage, phone, generation)
            try await report(stage, phone, generation, payload)
            try await history(stage, phone, generation)
            let left = try await code(stage, generation, "rcv_delete_service", phone.fields)
            let standing = try await standing(stage, phone, generation)
            try stage.expect(
                left == "0000" && standing["ISREGISTERED"] == "N",
                "rcv_delete_service: the device is gone"
            )
        }
    }

    /// One app for each generation.
    private struct Generation {
        let version: String
        /// How its library registers a device and its user.
        let registration: Registration
        /// The keys of `mps` in its payload.
        let keys: Set<String>
        /// From 4.0EE on the server counts badges.
        var countsBadges = false

        enum Registration { case userFirst, serviceFirst, both }

        var app: String { "upmc-" + version.lowercased().filter { $0 != "." } }
        var applicationID: String { "com.example.\(app)" }
        /// Libraries of 3.0 have other names for their parameters, and send the bundle instead of the application.
        var isOldest: Bool { version == "3.0" }
    }

    private static let generations: [Generation] = {
        let common: Set = ["appid", "seqno", "sender", "ext"]
        let first = common.union(["messageuniquekey"])
        let dated = common.union(["senddate", "db_in"])
        let keyed = dated.union(["pushkey"])
        return [
            Generation(version: "3.0", registration: .userFirst, keys: first),
            Generation(version: "3.5", registration: .userFirst, keys: first),
            Generation(version: "3.6", registration: .serviceFirst, keys: first.union(["senddate"])),
            Generation(version: "3.8", registration: .serviceFirst, keys: dated),
            Generation(version: "4.0", registration: .both, keys: dated),
            Generation(version: "4.0EE", registration: .both, keys: keyed, countsBadges: true),
            Generation(version: "5.1", registration: .both, keys: keyed, countsBadges: true),
        ]
    }()

    // MARK: Steps

    private func register(_ stage: any StoryStage, _ phone: Phone, _ generation: Generation) async throws {
        _ = try await stage.call(Self.call(generation, "rcv_appAlive", phone.fields)) { Self.code($0.json) != "0000" }
        let user = phone.fields.merging(["CNAME": "홍길동", "APNS_MODE": "REAL"]) { $1 }
        let guest = user.merging(["CUID": "GUEST", "CNAME": "GUEST"]) { $1 }
        let steps: [(String, [String: String])] =
            switch generation.registration {
            case .userFirst: [("rcv_register_user", user), ("rcv_register_service", guest)]
            case .serviceFirst: [("rcv_register_service", guest), ("rcv_register_user", user)]
            case .both: [("new_rcv_register_service_and_user", user)]
            }
        for (name, fields) in steps {
            try stage.expect(try await code(stage, generation, name, fields) == "0000", "\(name) answers 0000")
        }
        let standing = try await standing(stage, phone, generation)
        try stage.expect(
            standing["ISREGISTERED"] == "Y" && standing["CUID"]?.string == phone.user,
            "rcv_get_service: the device is that user's"
        )
    }

    /// Returns `mps` of the payload that the simulator received.
    private func push(_ stage: any StoryStage, _ phone: Phone, _ generation: Generation) async throws -> JSON {
        let answer = try await upmc(
            stage,
            generation,
            "rcv_register_message",
            [
                "TYPE": "E", "CUID": JSONWriter.text([.string(phone.user), "nobody"]), "MESSAGE": "Hello",
                "SENDERCODE": "admin", "BADGENO": "3", "EXT": "x",
            ],
            key: sendKey
        )
        let sent = answer["BODY"] ?? .null
        try stage.expect(
            sent["REG_SUCCESS_CNT"] == "1" && sent["NOTEXISTCUIDS"] == ["nobody"],
            "the back end sends to two users; the unknown one is named"
        )
        let payload = try await stage.payload(to: phone.token)
        stage.show(payload)
        let mps = payload["mps"] ?? .null
        try stage.expect(
            mps["seqno"] == sent["SENDMSG_SEQNO"] && Set(mps.object?.keys ?? []) == generation.keys,
            "the payload has the number and the keys of \(generation.version)"
        )
        try stage.expect(payload[AppleKey.aps]?["badge"] == 3, "the badge is 3")
        return mps
    }

    private func report(_ stage: any StoryStage, _ phone: Phone, _ generation: Generation, _ payload: JSON) async throws
    {
        var receipt = phone.fields
        for (field, key) in [("SEQNO", "seqno"), ("MESSAGEUNIQUEKEY", "messageuniquekey"), ("SENDDATE", "senddate")] {
            receipt[field] = payload[key]?.string
        }
        let received = try await code(stage, generation, "rcv_register_sent_ack", receipt)
        try stage.expect(received == "0000", "rcv_register_sent_ack answers 0000")
        if generation.countsBadges { receipt["BADGENO"] = "-1" }
        let read = try await upmc(stage, generation, "rcv_register_send_result", receipt)
        let left: JSON = generation.countsBadges ? "2" : "0"
        try stage.expect(
            read["BODY"]?.array?.first?["BADGENO"] == left,
            "rcv_register_send_result reports the badge: \(left.string ?? "")"
        )
        let badge = try await code(
            stage,
            generation,
            "rcv_init_badgeNo",
            phone.fields.merging(["BADGENO": "10"]) { $1 }
        )
        try stage.expect(badge == "0000", "rcv_init_badgeNo answers 0000")
    }

    private func history(_ stage: any StoryStage, _ phone: Phone, _ generation: Generation) async throws {
        // A message is in its histories only after its delivery is settled.
        var list: [JSON] = []
        for _ in 0..<400 where list.isEmpty {
            list = try await upmc(stage, generation, "gw_get_message_list", phone.fields)["BODY"]?.array ?? []
            if list.isEmpty { try await stage.pause() }
        }
        try stage.expect(
            list.count == 1 && list[0]["STATUS"] == "READ" && list[0]["MESSAGE"] == "Hello",
            "gw_get_message_list returns the message as read"
        )
        let unread = try await upmc(stage, generation, "gw_get_unread_count", phone.fields)["BODY"]?.array?.first
        try stage.expect(unread?["UNREAD"] == "0", "gw_get_unread_count: nothing is unread")
        if generation.countsBadges { try stage.expect(unread?["BADGENO"] == "10", "and the badge is the app's value") }
        let devices = try await stage.native("GET", "/v1/devices?app=\(generation.app)")
        guard let device = devices["devices"]?.array?.first?["id"]?.string else {
            throw stage.failure("/v1/devices lists no device of \(generation.app)")
        }
        let inbox = try await stage.native("GET", "/v1/devices/\(device)/inbox")
        let funnel = try await stage.settled(stage.text(inbox["messages"]?.array?.first ?? .null, "message"))["funnel"]
        try stage.expect(
            funnel?["sent"] == 1 && funnel?["received"] == 1 && funnel?["read"] == 1,
            "the native funnel counts it sent, received and read"
        )
    }

    // MARK: Helpers

    /// One installation and its user.
    private struct Phone {
        let device: String
        let token: String
        let user = "hong"

        init(_ identifiers: any IdentifierSource) {
            device = identifiers.randomHex(byteCount: 8)
            token = identifiers.randomHex(byteCount: 32)
        }

        var fields: [String: String] {
            ["PNSID": "APNS", "DEVICE_ID": device, "DEVICE_TYPE": "I", "PSID": token, "CUID": user]
        }
    }

    /// Parameter names of version 3.0 (docs/contracts/upmc.md#1.7).
    private static let oldest = [
        "PNSID": "PNS_ID", "DEVICE_ID": "DVC_ID", "DEVICE_TYPE": "DVC_TYP", "CNAME": "USER_NM", "APP_ID": "CBS_ID",
    ]

    private func standing(_ stage: any StoryStage, _ phone: Phone, _ generation: Generation) async throws -> JSON {
        try await upmc(stage, generation, "rcv_get_service", phone.fields)["BODY"]?.array?.first ?? .null
    }

    private func code(
        _ stage: any StoryStage,
        _ generation: Generation,
        _ name: String,
        _ fields: [String: String]
    ) async throws -> String? {
        Self.code(try await upmc(stage, generation, name, fields))
    }

    private static func code(_ answer: JSON?) -> String? { answer?["HEADER"]?["RESULT_CODE"]?.string }

    private func upmc(
        _ stage: any StoryStage,
        _ generation: Generation,
        _ name: String,
        _ fields: [String: String],
        key: String? = nil
    ) async throws -> JSON {
        var call = Self.call(generation, name, fields)
        if let key { call.headers["X-Gateway-Key"] = key }
        return try await stage.json(call)
    }

    private static func call(_ generation: Generation, _ name: String, _ fields: [String: String]) -> StoryCall {
        var form = fields.merging(["APP_ID": generation.applicationID]) { $1 }
        if generation.isOldest {
            form = Dictionary(form.map { (oldest[$0.key] ?? $0.key, $0.value) }) { first, _ in first }
        }
        return StoryCall("POST", "/upmc/\(name).ctl", .form(form))
    }
}
