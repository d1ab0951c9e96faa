import ApplePayload
import Foundation
import Model

/// The sequence of UPMC apps, once for each generation of versions whose calls or payload differ: register, push, receipt, reading, badge, history.
extension DemoStory {
    /// One app of the demo's tenant for each generation.
    private struct UPMCGeneration {
        let version: String
        /// How its library registers a device and its user.
        let registration: Registration
        /// What `mps` of its payload holds.
        let keys: Set<String>
        /// From 4.0EE on the server counts badges.
        var countsBadges = false

        enum Registration { case userFirst, serviceFirst, both }

        var app: String { "upmc-" + version.lowercased().filter { $0 != "." } }
        var applicationID: String { "com.example.\(app)" }
        /// Libraries of 3.0 have other names for their parameters, and name their bundle where later ones name the application.
        var isOldest: Bool { version == "3.0" }
    }

    private static let generations: [UPMCGeneration] = {
        let common: Set = ["appid", "seqno", "sender", "ext"]
        let first = common.union(["messageuniquekey"])
        let dated = common.union(["senddate", "db_in"])
        let keyed = dated.union(["pushkey"])
        return [
            UPMCGeneration(version: "3.0", registration: .userFirst, keys: first),
            UPMCGeneration(version: "3.5", registration: .userFirst, keys: first),
            UPMCGeneration(version: "3.6", registration: .serviceFirst, keys: first.union(["senddate"])),
            UPMCGeneration(version: "3.8", registration: .serviceFirst, keys: dated),
            UPMCGeneration(version: "4.0", registration: .both, keys: dated),
            UPMCGeneration(version: "4.0EE", registration: .both, keys: keyed, countsBadges: true),
            UPMCGeneration(version: "5.1", registration: .both, keys: keyed, countsBadges: true),
        ]
    }()

    /// Apps that are reached by this vendor's name: lines of the tenants file.
    static var upmcApps: [String] {
        generations.flatMap { generation in
            let bundle = generation.isOldest ? ", bundleId: \(generation.applicationID)" : ""
            return [
                "      - id: \(generation.app)",
                "        platforms:",
                "          ios: { topic: \(DemoMaterial.topic), production: apple }",
                "        bindings:",
                "          upmc: { applicationId: \(generation.applicationID), version: \"\(generation.version)\"\(bundle) }",
            ]
        }
    }

    /// - Throws: `DemoFailure` at the first step that does not hold.
    func playUPMC() async throws {
        Console.print("\nThe same gateway, a third vendor: UPMC, each generation of its versions.\n")
        for generation in Self.generations {
            say("An app of version \(generation.version) registers")
            let phone = UPMCPhone()
            try await register(phone, generation)
            let payload = try await push(phone, generation)
            try await report(phone, generation, payload)
            try await history(phone, generation)
            let left = try await code(generation, "rcv_delete_service", phone.fields)
            let standing = try await standing(phone, generation)
            try expect(left == "0000" && standing["ISREGISTERED"] == "N", "rcv_delete_service: the device is gone")
        }
    }

    // MARK: Steps

    private func register(_ phone: UPMCPhone, _ generation: UPMCGeneration) async throws {
        // A running gateway follows what was applied within a second.
        for _ in 0..<100 where try await code(generation, "rcv_appAlive", phone.fields) != "0000" {
            try await Task.sleep(for: .milliseconds(50))
        }
        let user = phone.fields.merging(["CNAME": "홍길동", "APNS_MODE": "REAL"]) { $1 }
        let guest = user.merging(["CUID": "GUEST", "CNAME": "GUEST"]) { $1 }
        let steps: [(String, [String: String])] =
            switch generation.registration {
            case .userFirst: [("rcv_register_user", user), ("rcv_register_service", guest)]
            case .serviceFirst: [("rcv_register_service", guest), ("rcv_register_user", user)]
            case .both: [("new_rcv_register_service_and_user", user)]
            }
        for (name, fields) in steps {
            try expect(try await code(generation, name, fields) == "0000", "\(name) answers 0000")
        }
        let standing = try await standing(phone, generation)
        try expect(
            standing["ISREGISTERED"] == "Y" && standing["CUID"]?.string == phone.user,
            "rcv_get_service: the device is that user's"
        )
    }

    /// Gives `mps` of what the simulator received.
    private func push(_ phone: UPMCPhone, _ generation: UPMCGeneration) async throws -> JSON {
        let answer = try await upmc(
            generation,
            "rcv_register_message",
            [
                "TYPE": "E", "CUID": JSONWriter.text([.string(phone.user), "nobody"]), "MESSAGE": "Hello",
                "SENDERCODE": "admin", "BADGENO": "3", "EXT": "x",
            ]
        )
        let sent = answer["BODY"] ?? .null
        try expect(
            sent["REG_SUCCESS_CNT"] == "1" && sent["NOTEXISTCUIDS"] == ["nobody"],
            "the back end sends to two users; who is not known is named"
        )
        let payload = try await upmcPayload(phone.token)
        Console.print("    \(JSONWriter.text(payload))")
        let mps = payload["mps"] ?? .null
        try expect(
            mps["seqno"] == sent["SENDMSG_SEQNO"] && Set(mps.object?.keys ?? []) == generation.keys,
            "the payload has the number and the keys of \(generation.version)"
        )
        try expect(payload[AppleKey.aps]?["badge"] == 3, "the badge is 3")
        return mps
    }

    private func report(_ phone: UPMCPhone, _ generation: UPMCGeneration, _ payload: JSON) async throws {
        var receipt = phone.fields
        for (field, key) in [("SEQNO", "seqno"), ("MESSAGEUNIQUEKEY", "messageuniquekey"), ("SENDDATE", "senddate")] {
            receipt[field] = payload[key]?.string
        }
        let received = try await code(generation, "rcv_register_sent_ack", receipt)
        try expect(received == "0000", "rcv_register_sent_ack answers 0000")
        if generation.countsBadges { receipt["BADGENO"] = "-1" }
        let read = try await upmc(generation, "rcv_register_send_result", receipt)
        let left: JSON = generation.countsBadges ? "2" : "0"
        try expect(
            read["BODY"]?.array?.first?["BADGENO"] == left,
            "rcv_register_send_result says the badge: \(left.string ?? "")"
        )
        let badge = try await code(
            generation,
            "rcv_init_badgeNo",
            phone.fields.merging(["BADGENO": "10"]) { $1 }
        )
        try expect(badge == "0000", "rcv_init_badgeNo answers 0000")
    }

    private func history(_ phone: UPMCPhone, _ generation: UPMCGeneration) async throws {
        // A message is in its histories when its delivery is settled.
        var list: [JSON] = []
        for _ in 0..<400 where list.isEmpty {
            list = try await upmc(generation, "gw_get_message_list", phone.fields)["BODY"]?.array ?? []
            if list.isEmpty { try await Task.sleep(for: .milliseconds(50)) }
        }
        try expect(
            list.count == 1 && list[0]["STATUS"] == "READ" && list[0]["MESSAGE"] == "Hello",
            "gw_get_message_list gives the message, read"
        )
        let unread = try await upmc(generation, "gw_get_unread_count", phone.fields)["BODY"]?.array?.first
        try expect(unread?["UNREAD"] == "0", "gw_get_unread_count: nothing is unread")
        if generation.countsBadges { try expect(unread?["BADGENO"] == "10", "and the badge is what the app set") }
        let devices = try await native("GET", "/v1/devices?app=\(generation.app)")
        guard let device = devices["devices"]?.array?.first?["id"]?.string else {
            throw DemoFailure("/v1/devices lists no device of \(generation.app)")
        }
        let inbox = try await native("GET", "/v1/devices/\(device)/inbox")
        let funnel = try await settled(text(inbox["messages"]?.array?.first ?? .null, "message"))["funnel"]
        try expect(
            funnel?["sent"] == 1 && funnel?["received"] == 1 && funnel?["read"] == 1,
            "the native funnel counts it sent, received and read"
        )
    }

    // MARK: Helpers

    /// One installation and its user.
    private struct UPMCPhone {
        let device = SystemIdentifiers().randomHex(byteCount: 8)
        let token = SystemIdentifiers().randomHex(byteCount: 32)
        let user = "hong"

        var fields: [String: String] {
            ["PNSID": "APNS", "DEVICE_ID": device, "DEVICE_TYPE": "I", "PSID": token, "CUID": user]
        }
    }

    /// Parameter names of version 3.0 (docs/contracts/upmc.md#1.7).
    private static let oldest = [
        "PNSID": "PNS_ID", "DEVICE_ID": "DVC_ID", "DEVICE_TYPE": "DVC_TYP", "CNAME": "USER_NM", "APP_ID": "CBS_ID",
    ]

    private func standing(_ phone: UPMCPhone, _ generation: UPMCGeneration) async throws -> JSON {
        try await upmc(generation, "rcv_get_service", phone.fields)["BODY"]?.array?.first ?? .null
    }

    private func code(_ generation: UPMCGeneration, _ name: String, _ fields: [String: String]) async throws -> String?
    {
        try await upmc(generation, name, fields)["HEADER"]?["RESULT_CODE"]?.string
    }

    private func upmc(_ generation: UPMCGeneration, _ name: String, _ fields: [String: String]) async throws -> JSON {
        var form = fields.merging(["APP_ID": generation.applicationID]) { $1 }
        if generation.isOldest {
            form = Dictionary(form.map { (Self.oldest[$0.key] ?? $0.key, $0.value) }) { first, _ in first }
        }
        return try await vendor(stage.gateway, "/upmc/\(name).ctl", form: form)
    }

    private func upmcPayload(_ token: String) async throws -> JSON {
        for _ in 0..<400 {
            let seen = try await stage.control.call("GET", "/_simulator/requests?token=\(token)")
            if let payload = seen.json?["requests"]?.array?.last?["payload"] { return payload }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw DemoFailure("the simulator got no push to that token within 20 s")
    }
}
