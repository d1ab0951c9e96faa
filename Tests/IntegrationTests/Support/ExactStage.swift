import CommandSupport
import Foundation
import Model
import NIOConcurrencyHelpers
import NIOHTTP1
import Testing

@testable import Gateway

/// The apps, devices and calls of `ExactCountTests`: an app with the bindings of five vendors, and one whose messages need an approval.
///
/// Devices of each dialect are imported; a few are registered by their vendor's call, and report by it.
struct ExactStage: Sendable {
    static let dialects = ["native", "upmc", "ipns", "rationalowl", "braze", "notificationhubs"]
    /// The devices of each dialect that are registered by their vendor's call.
    static let wired = 8
    static let environment = [
        "BRAZE_REST_KEY": BrazeCaller.key, "BRAZE_TRACK_KEY": BrazeCaller.trackKey,
        "NH_FULL": NotificationHubsTests.fullKey,
    ]

    let cluster: Cluster
    /// Imported devices of each dialect.
    let devices: Int
    /// The node that is not killed.
    let steady: HTTPCaller
    private let apiKey: String
    private let orphans = NIOLockedValueBox(Orphans())

    /// The receipts that changed no delivery.
    private struct Orphans {
        var repeated: Int64 = 0
        var others: Int64 = 0
        /// Reports without an answer, of which each may be one of them.
        var unanswered: Int64 = 0
    }

    init(_ cluster: Cluster, devices: Int) throws {
        self.cluster = cluster
        self.devices = devices
        steady = try cluster.http(1)
        apiKey = cluster.world.apiKey
    }

    var world: World { cluster.world }

    static func tenants(_ text: String) -> String {
        text + """

                      upmc: { applicationId: com.example.upmc, version: "4.0EE", settings: { senderNetworks: [127.0.0.1, "::1"] } }
                      ipns: { appId: hr.mobile }
                      braze:
                        sdkKey: \(BrazeCaller.sdkKey)
                        restKeyEnv: BRAZE_REST_KEY
                        settings: { sdkEnabled: true, receivedEvents: [got] }
                      notificationhubs:
                        hub: Shop-Hub
                        keys:
                          - { name: DefaultFullSharedAccessSignature, valueEnv: NH_FULL, rights: [listen, send, manage] }
                        settings: { listenMayTag: true }
                  - id: desk
                    platforms:
                      ios: { topic: \(StageMaterial.topic), production: apple }
                    approvalAbove: 10
                    timeZone: Asia/Kathmandu

            """
    }

    // MARK: Devices

    /// The token of an imported device: `dN` and its number, which scripts of the push service select by prefix.
    static func token(_ dialect: Int, _ number: Int) -> String {
        "d\(dialect)" + String(format: "%04x", number) + String(repeating: "5e", count: 29)
    }

    static func key(_ dialect: Int, _ number: Int) -> String { "\(dialects[dialect])-\(number)" }

    func importDevices() async throws {
        for app in ["shop", "desk"] {
            for (place, dialect) in Self.dialects.enumerated() where app == "shop" || dialect == "native" {
                let count = app == "shop" ? devices : 40
                let lines = (0..<count).map { number -> String in
                    var row: JSONObject = [
                        "key": .string(Self.key(place, number)), "platform": "ios", "environment": "production",
                        "token": .string(Self.token(app == "shop" ? place : 9, number)),
                        "user": .string("\(dialect)-u\(number)"),
                    ]
                    // A third reports nothing.
                    if number % 3 != 0 {
                        row["client"] = [
                            "appVersion": .string("\(number % 4).0"), "os": "iOS",
                            "model": .string(number % 2 == 0 ? "iPhone14,2" : "iPhone15,2"),
                        ]
                    }
                    return JSONWriter.text(.object(row))
                }
                let answer = try await BrazeCaller(world: world).call(
                    "/v1/apps/\(app)/imports?vendor=\(dialect)",
                    lines.joined(separator: "\n") + "\n",
                    key: world.apiKey,
                    type: "application/x-ndjson"
                )
                try #require(answer.json?["created"]?.int == Int64(count), "\(dialect): \(answer.text)")
            }
        }
    }

    // MARK: Native calls

    /// Sends to an audience and returns the message's id.
    func send(
        _ to: JSON,
        app: String = "shop",
        _ more: JSON = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        var body: JSONObject = ["app": .string(app), "to": to, "body": "Hi"]
        for (name, value) in more.object?.pairs ?? [] { body[name] = value }
        let answer = try await call("POST", "/v1/messages", .object(body))
        try #require(answer.status == 202, "\(answer.text)", sourceLocation: sourceLocation)
        return try #require(answer.json?["id"]?.string, sourceLocation: sourceLocation)
    }

    /// The same; nil while the call fails, as it does while PostgreSQL is down.
    func trySend(_ to: JSON, _ more: JSON) async throws -> String? {
        var body: JSONObject = ["app": "shop", "to": to, "body": "Hi"]
        for (name, value) in more.object?.pairs ?? [] { body[name] = value }
        guard let answer = try? await call("POST", "/v1/messages", .object(body)), answer.status == 202 else {
            return nil
        }
        return answer.json?["id"]?.string
    }

    func call(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> HTTPCaller.Answer {
        try await steady.call(method, path, body, bearer: apiKey)
    }

    func control(_ message: String, _ action: String) async throws {
        let answer = try await call("POST", "/v1/messages/\(message)/\(action)")
        try #require(answer.status == 200, "\(action): \(answer.status) \(answer.text)")
    }

    /// Reports a receipt of a device of the native SDK, and returns its outcome.
    @discardableResult
    func report(_ message: String, _ number: Int, _ kind: String, app: String = "shop") async throws -> String? {
        let body: JSON = ["message": .string(message), "key": .string(Self.key(0, number)), "kind": .string(kind)]
        let outcome: String?
        do {
            outcome = try await call("POST", "/v1/apps/\(app)/receipts", body).json?["outcome"]?.string
        } catch {
            orphans.withLockedValue { $0.unanswered += 1 }
            throw error
        }
        orphans.withLockedValue { orphans in
            switch outcome {
            case "recorded": break  // it changed a delivery
            case "repeated": orphans.repeated += 1
            case "orphan": orphans.others += 1
            default: orphans.unanswered += 1
            }
        }
        return outcome
    }

    /// The orphan receipts that the analytics count, as repeated ones and others.
    private func countedOrphans() async throws -> (repeated: Int64, others: Int64) {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        // Two days, because an app's clock may be ahead.
        let path = "/v1/analytics/devices?from=\(now - 172_800_000)&to=\(now + 172_800_000)&zone=UTC"
        let total = try #require(try await call("GET", path).json?["total"]?.object)
        let counts = total.pairs.filter { $0.key.hasPrefix("orphans") }.map { ($0.key, $0.value.int ?? -1) }
        #expect(counts.count == 6 && counts.allSatisfy { $0.1 >= 0 }, "\(counts)")
        let repeated = total["orphansRepeated"]?.int ?? -1
        return (repeated, counts.reduce(0) { $0 + $1.1 } - repeated)
    }

    /// Every receipt is counted as it was answered. One that was not answered may be counted or not.
    func expectOrphans(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let wanted = orphans.withLockedValue(\.self)
        let seen = try await countedOrphans()
        let repeated = wanted.repeated...wanted.repeated + wanted.unanswered
        let others = wanted.others...wanted.others + wanted.unanswered
        let most = wanted.repeated + wanted.others + wanted.unanswered
        #expect(repeated.contains(seen.repeated) && others.contains(seen.others), sourceLocation: sourceLocation)
        #expect(seen.repeated + seen.others <= most, "\(seen), not \(wanted)", sourceLocation: sourceLocation)
    }

    /// Keys of imported devices of the native SDK.
    static func keys(_ numbers: Range<Int>) -> JSON {
        ["keys": .array(numbers.map { .string(key(0, $0)) })]
    }

    /// The number of settled deliveries of a message, and of those that a state names.
    func settled(_ message: String, _ state: String? = nil) async throws -> Int {
        try await cluster.number(
            """
            SELECT count(*) AS number FROM gateway.delivery
            WHERE message_id = '\(message)' AND sent_at IS NOT NULL AND state = \(state.map { "'\($0)'" } ?? "state")
            """
        )
    }

    func settle(_ message: String, _ count: Int, _ state: String? = nil) async throws {
        try await eventually("\(count) deliveries of \(message) are \(state ?? "settled")") {
            try await settled(message, state) == count
        }
    }

    func untilTried(_ message: String) async throws {
        try await eventually("the pushes are tried") {
            try await cluster.number(
                "SELECT coalesce(max(attempts), 0)::bigint AS number FROM gateway.slice WHERE message_id = '\(message)'"
            ) > 0
        }
    }

    /// Makes the gateway give up a message whose pushes fail: sets its attempts to 32, which would take minutes otherwise.
    func giveUp(_ message: String) async throws {
        try await untilTried(message)
        try await eventually("the message gives up", every: .milliseconds(200)) {
            _ = try await cluster.number(
                """
                WITH s AS (
                    UPDATE gateway.slice SET attempts = 32, next_at = now()
                    WHERE message_id = '\(message)' AND state = 'ready' AND dead_reason IS NULL RETURNING 1)
                SELECT count(*) AS number FROM s
                """
            )
            return try await cluster.number(
                "SELECT dead_slices::bigint AS number FROM gateway.message WHERE message_id = '\(message)'"
            ) > 0
        }
    }

    // MARK: Vendors' calls

    /// Registers devices by each vendor's call, sends to them by it, and reports receipts, some of them twice, by it.
    func useVendors() async throws {
        try await useUPMC()
        try await useIPNS()
        try await useRationalOwl()
        try await useBraze()
        try await useNotificationHubs()
        // Half of the devices of four dialects have reported a receipt twice.
        let seen = try await countedOrphans()
        #expect(seen.repeated == Int64(4 * Self.wired / 2) && seen.others == 0, "\(seen)")
        orphans.withLockedValue { $0.repeated += seen.repeated }
    }

    private func useUPMC() async throws {
        let caller = UPMCCaller(base: world.http.base)
        let phones = (0..<Self.wired).map { UPMCCaller.Phone(user: "wired-upmc-\($0)") }
        for phone in phones { try await caller.register(phone) }
        let number = try await caller.send(to: phones.map(\.user))
        try await eventually("the messages of UPMC are sent") { try await sent("upmc") == phones.count }
        for (place, phone) in phones.enumerated() where place % 2 == 0 {
            let receipt = phone.fields.merging(["SEQNO": number]) { $1 }
            for _ in 0..<2 { #expect(try await caller.call("rcv_register_sent_ack", receipt).code == "0000") }
            if place % 4 == 0 { #expect(try await caller.read(phone, number, badge: nil).code == "0000") }
        }
    }

    private func useIPNS() async throws {
        func call(_ name: String, _ fields: JSON) async throws -> JSON? {
            var body = fields.object ?? JSONObject()
            body["APP_ID"] = "hr.mobile"
            return try await self.call("POST", "/ipns/\(name)", .object(body)).json
        }
        for number in 0..<Self.wired {
            let fields: JSON = [
                "USER_CN": .string("wired-ipns-\(number)"), "DEVICE_ID": .string("wired-\(number)"), "PUSH_TYPE": "ios",
                "PUSH_TOKEN": .string(String(format: "%064x", 0xC100 + number)),
            ]
            #expect(try await call("appRegist", fields)?["RT"] == "0000")
        }
        let users = (0..<Self.wired).map { JSON.string("wired-ipns-\($0)") }
        let fields: JSON = [
            "PUSH_ID_TYPE": "@01", "PUSH_ID": .array(users), "TITLE": "t", "ALERT": "a", "SEND_TYPE": "I",
        ]
        let message = try #require(try await call("send", fields)?["MESSAGE_ID"])
        try await eventually("the messages of iPNS are sent") { try await sent("ipns") == Self.wired }
        for number in 0..<Self.wired where number % 2 == 0 {
            let device = JSON.string("wired-\(number)")
            for _ in 0..<2 {
                #expect(try await call("recvReport", ["DEVICE_ID": device, "MSG_ID": message])?["RT"] == "0000")
            }
            let user = JSON.string("wired-ipns-\(number)")
            let read: JSON = ["DEVICE_ID": device, "USER_CN": user, "REQ_ID": message]
            if number % 4 == 0 { #expect(try await call("readReport", read)?["RT"] == "0000") }
        }
    }

    private func useRationalOwl() async throws {
        func call(_ path: String, _ fields: JSON) async throws -> JSON {
            let answer = try await world.http.call("POST", path, fields)
            return try #require(answer.json, "\(path): \(answer.status) \(answer.text)")
        }
        let service = JSON.string(world.service)
        var devices: [JSON] = []
        for number in 0..<Self.wired {
            let facts: JSON = [
                "sId": service, "name": "n", "dt": 2, "tk": .string(String(format: "%064x", 0xC200 + number)),
                "env": "prod",
                "bundleId": "com.example.umsdemo", "model": "iPhone15,2", "osVer": "18.1",
            ]
            devices.append(try #require(try await call("/ro/v1/device/register", facts)["dRId"]))
        }
        let server: JSON = ["serviceId": service, "registerName": "shop", "privateNetwork": 1]
        let sender = try #require(try await call("/server/register/", server)["serverRegId"])
        let head: [(String, JSON)] = [
            ("rId", sender), ("aId", .string(world.account)), ("ip", "203.0.113.10"),
        ]
        let client: [(String, JSON)] = [("cId", 1), ("r", 1), ("t", 12), ("sId", service), ("mcn", "shop")]
        _ = try await call("/msgClient/register", .object(JSONObject(client + head)))
        let content: [(String, JSON)] = [
            ("msg", ["title": "t", "body": "b"]), ("dest", ["t": 2, "tg": .array(devices.map { ["dId": $0] })]),
        ]
        let sent = try await call("/msgClient/msgClientSendMsgByDeviceId", .object(JSONObject(head + content)))
        let message = try #require(sent["mId"], "\(JSONWriter.text(sent))")
        try await eventually("the messages of RationalOwl are sent") {
            try await self.sent("rationalowl") == devices.count
        }
        for (place, device) in devices.enumerated() where place % 2 == 0 {
            let report: JSON = ["sId": service, "dRId": device, "mId": message, "t": 1_731_999_999_123]
            for _ in 0..<2 { #expect(try await call("/ro/v1/noti/delivered", report)["rc"] == 1) }
            let opened: JSON = ["sId": service, "dRId": device, "mId": message]
            if place % 4 == 0 { #expect(try await call("/ro/v1/noti/opened", opened)["rc"] == 1) }
        }
    }

    private func useBraze() async throws {
        let braze = BrazeCaller(world: world)
        func report(_ number: Int, _ event: String, _ reference: String) async throws -> Int {
            try await braze.sdk(
                #"{"device_id":"wired-b\#(number)","events":[{"name":"\#(event)","time":1767229199.7,"data":{"c":"\#(reference)"},"user_id":"wired-braze-\#(number)"}]}"#
            ).status
        }
        for number in 0..<Self.wired {
            let token = BrazeCaller.token(number)
            let body =
                #"{"device_id":"wired-b\#(number)","attributes":[{"user_id":"wired-braze-\#(number)","push_token":"\#(token)"}]}"#
            #expect(try await braze.sdk(body).status == 201)
        }
        let users = (0..<Self.wired).map { "\"wired-braze-\($0)\"" }.joined(separator: ",")
        let body = #"{"external_user_ids":[\#(users)],"messages":{"apple_push":{"alert":"Hi"}}}"#
        #expect(try await braze.call("/messages/send", body).status == 201)
        try await eventually("the messages of Braze are sent") { try await sent("braze") == Self.wired }
        for number in 0..<Self.wired where number % 2 == 0 {
            let push = try await braze.push(number)
            let reference = try #require(push["payload"]?["ab"]?["c"]?.string)
            for _ in 0..<2 { #expect(try await report(number, "got", reference) == 201) }
            if number % 4 == 0 { #expect(try await report(number, "pc", reference) == 201) }
        }
    }

    private func useNotificationHubs() async throws {
        let hubs = NotificationHubsTests()
        for number in 0..<Self.wired {
            let body: JSON = [
                "installationId": .string("wired-\(number)"), "platform": "apns",
                "pushChannel": .string(NotificationHubsTests.token(number)), "tags": ["wired"],
            ]
            let answer = try await hubs.call(world, .PUT, "/installations/wired-\(number)", JSONWriter.text(body))
            #expect(answer.status == 200, "\(answer.text)")
        }
        let headers = ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "wired"]
        let sent = try await hubs.call(world, .POST, "/messages", #"{"aps":{"alert":"Hi"}}"#, headers: headers)
        #expect(sent.status == 201, "\(sent.text)")
        try await eventually("the messages of the hub are sent") {
            try await self.sent("notificationhubs") == Self.wired
        }
    }

    /// The accepted deliveries of messages sent by a vendor's call.
    private func sent(_ vendor: String) async throws -> Int {
        try await cluster.number(
            "SELECT count(*) AS number FROM gateway.delivery WHERE vendor = '\(vendor)' AND transport IS NOT NULL"
        )
    }
}
