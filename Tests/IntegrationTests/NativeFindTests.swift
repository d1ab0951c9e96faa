import CommandSupport
import EngineStore
import Foundation
import Model
import NIOHTTP1
import PostgresClient
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP

/// `POST /v1/find` and `GET /v1/devices/{device}/diagnosis`, on real PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct NativeFindTests {
    private static let token = String(repeating: "ab", count: 32)

    /// The matches of a text by kind.
    private func found(
        _ stage: NativeStage,
        _ value: String,
        app: String? = nil,
        as bearer: String? = nil
    ) async throws -> [String: JSON] {
        var body = JSONObject([("value", .string(value))])
        body["app"] = app.map { .string($0) }
        let answer = try await stage.native(.POST, "/v1/find", .object(body), as: bearer)
        try #require(answer.status == 200, "\(answer.text)")
        #expect(!answer.text.contains(Self.token))
        return Dictionary(
            uniqueKeysWithValues: (answer.json?["matches"]?.array ?? []).map { ($0["kind"]?.string ?? "", $0) }
        )
    }

    private func register(
        _ stage: NativeStage,
        _ key: String,
        phone: String,
        token: String? = nil
    ) async throws -> String {
        var body = JSONObject([
            ("app", "shop"), ("platform", "ios"), ("key", .string(key)), ("user", "kim"), ("phone", .string(phone)),
        ])
        body["token"] = token.map { .string($0) }
        let answer = try await stage.native(.POST, "/v1/devices", .object(body))
        return try #require(answer.json?["id"]?.string, "\(answer.text)")
    }

    @Test func eachKindOfNameFindsItsObjects() async throws {
        try await NativeStage.on { stage in
            let device = try await register(stage, "phone-1", phone: "+82 10-1234-5678", token: Self.token)
            let shown = try await stage.native(.GET, "/v1/devices/\(device)")
            let identity = try #require(shown.json?["identities"]?.array?.first?["id"]?.string)
            let message = try await stage.send(to: "phone-1")
            _ = try await stage.database.engine.run(
                Statement(
                    "INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id) VALUES ('own', 'shop', 'ipns', '123456789012345678', $1)",
                    [.uuid(UUID(uuidString: message))]
                ),
                tenant: nil
            )
            let devices = [
                (device, "device"), (identity, "identity"), (Self.token, "token"), (Self.token.uppercased(), "token"),
                ("phone-1", "key"), (" 82 (10) 1234-5678 ", "phone"), ("kim", "user"),
            ]
            for (value, kind) in devices {
                let matches = try await found(stage, value)
                #expect(Array(matches.keys) == [kind], "\(value): \(matches)")
                let one = matches[kind]?["devices"]?.array?.first
                #expect(one?["id"]?.string == device && one?["app"] == "shop", "\(value)")
                #expect(one?["identities"]?.array?.first?["id"]?.string == identity, "\(value)")
                #expect(one?["token"] == "abab…abab" && one?["tokenState"] == "active", "\(value)")
                #expect(matches[kind]?["more"] == false, "\(value)")
                #expect(try await found(stage, value, app: "shop").count == 1, "\(value)")
                #expect(try await found(stage, value, app: "other").isEmpty, "\(value)")
                // I6
                #expect(try await found(stage, value, as: stage.otherKey).isEmpty, "\(value)")
            }
            for (value, kind) in [(message, "message"), ("123456789012345678", "messageNumber")] {
                let match = try await found(stage, value)[kind]
                let one = match?["messages"]?.array?.first
                #expect(one?["id"]?.string == message && one?["app"] == "shop", "\(value): \(match ?? .null)")
                #expect(try await found(stage, value, app: "other").isEmpty, "\(value)")
                #expect(try await found(stage, value, as: stage.otherKey).isEmpty, "\(value)")
            }
            #expect(try await found(stage, "nothing").isEmpty)
            #expect(try await found(stage, "\u{0}").isEmpty)
        }
    }

    @Test func aUserWithoutADeviceAndAReplacedKeyAreFound() async throws {
        try await NativeStage.on { stage in
            let patch: JSON = ["attributes": ["plan": "gold"]]
            #expect(try await stage.native(.PATCH, "/v1/apps/shop/users/lee", patch).status == 200)
            let match = try await found(stage, "lee")["user"]
            #expect(match?["users"] == [["app": "shop", "vendor": "native", "user": "lee"]] && match?["devices"] == [])
            // 25 devices of one phone number are more than an answer has.
            for number in 0..<25 { _ = try await register(stage, "k-\(number)", phone: "0109999") }
            let many = try await found(stage, "0109999")["phone"]
            #expect(many?["more"] == true && (many?["devices"]?.array?.count ?? 0) <= 20, "\(many ?? .null)")
        }
    }

    @Test func wrongInputIsRefusedWithItsField() async throws {
        try await NativeStage.on { stage in
            let long = String(repeating: "x", count: 5000)
            for body in [
                [:], ["value": ""], ["value": "  "], ["value": 1], ["value": .string(long)],
            ] as [JSON] {
                let answer = try await stage.native(.POST, "/v1/find", body)
                #expect(answer.status == 422 && answer.text.contains("value: "), "\(answer.text)")
            }
            #expect(try await stage.native(.POST, "/v1/find", ["valu": "x"]).status == 422)
        }
    }

    @Test func aSearchIsAuditedWithoutTheNameItSearchedFor() async throws {
        try await NativeStage.on { stage in
            let device = try await register(stage, "phone-1", phone: "01098765432", token: Self.token)
            let start = try await stage.audit().count
            for value in ["010-9876-5432", "phone-1", Self.token, device, "nobody"] {
                _ = try await found(stage, value, as: stage.readKey)
            }
            #expect(try await stage.count("gateway.audit t WHERE t::text ~ 'phone-1|98765432|abababab|nobody'") == 0)
            let rows = Array(try await stage.audit().dropFirst(start))
            #expect(rows.contains("key:reader read device \(device)"))
            for kind in ["phone", "device-key", "token", "user"] {
                let pattern = "^key:reader read \(kind) ~[0-9a-f]{32}$"
                #expect(rows.contains { $0.range(of: pattern, options: .regularExpression) != nil }, "\(kind): \(rows)")
            }
            // A look-up of the same phone by the list of devices has the same pseudonym.
            let phones = rows.filter { $0.contains(" phone ~") }
            _ = try await stage.native(.GET, "/v1/devices?phone=01098765432", as: stage.readKey)
            #expect(try await stage.audit().last == phones.first)
        }
    }

    // MARK: Diagnosis

    @Test func theFactsOfAClientAreShownAndErased() async throws {
        try await NativeStage.on { stage in
            let body: JSON = [
                "app": "shop", "platform": "ios", "key": "phone-1",
                "client": ["appVersion": "2.4\u{7}.3", "model": "iPhone15,2", "os": ""],
            ]
            let registered = try await stage.native(.POST, "/v1/devices", body)
            let device = try #require(registered.json?["id"]?.string, "\(registered.text)")
            let update: JSON = ["app": "shop", "platform": "ios", "key": "phone-1", "client": ["osVersion": "17.5"]]
            #expect(try await stage.native(.POST, "/v1/devices", update).status == 200)
            let facts: JSONObject = [
                "appVersion": "2.4.3", "os": .null, "osVersion": "17.5", "sdkVersion": .null, "model": "iPhone15,2",
                "locale": .null,
            ]
            let shown = try await stage.native(.GET, "/v1/devices/\(device)")
            #expect(shown.json?["identities"]?.array?.first?["client"] == .object(facts), "\(shown.text)")
            let clients = try await diagnosis(stage, device)["clients"]?.array
            #expect(
                clients?.count == 1 && clients?.first?["vendor"] == "native" && clients?.first?["osVersion"] == "17.5"
            )
            let list = try await stage.native(.GET, "/v1/devices?app=shop")
            #expect(
                list.json?["devices"]?.array?.first?["identities"]?.array?.first?["client"]?["appVersion"] == "2.4.3"
            )
            let wrong: JSON = ["app": "shop", "platform": "ios", "client": ["color": "red"]]
            let refused = try await stage.native(.POST, "/v1/devices", wrong)
            #expect(refused.status == 422 && refused.text.contains("client.color"), "\(refused.text)")
            #expect(try await stage.native(.DELETE, "/v1/devices/\(device)").status == 204)
            #expect(try await stage.count("gateway.identity t WHERE t::text ~ 'iPhone15'") == 0)
            // Not reported.
            let bare = try await register(stage, "phone-2", phone: "1")
            let none = try await stage.native(.GET, "/v1/devices/\(bare)")
            #expect(none.json?["identities"]?.array?.first?["client"] == .null)
            #expect(try await diagnosis(stage, bare)["clients"] == [])
        }
    }

    private func diagnosis(_ stage: NativeStage, _ device: String, lane: String = "bulk") async throws -> JSON {
        let answer = try await stage.native(.GET, "/v1/devices/\(device)/diagnosis?lane=\(lane)", as: stage.readKey)
        try #require(answer.status == 200, "\(answer.text)")
        #expect(!answer.text.contains(Self.token))
        return try #require(answer.json)
    }

    private func unmet(_ diagnosis: JSON) -> [String] {
        (diagnosis["conditions"]?.array ?? []).filter { $0["met"] == false && $0["blocks"] == true }
            .compactMap { $0["condition"]?.string }
    }

    private func change(_ stage: NativeStage, _ sql: String) async throws {
        _ = try await stage.database.engine.run(Statement(sql), tenant: nil)
    }

    @Test func aDiagnosisNamesWhatPreventsPushes() async throws {
        try await NativeStage.on { stage in
            let device = try await register(stage, "phone-1", phone: "0101", token: Self.token)
            var now = try await diagnosis(stage, device)
            #expect(now["reachable"] == true && unmet(now).isEmpty, "\(now)")
            #expect(now["answer"] == "Nothing prevents a push to this device now." && now["deliveries"] == [])

            let off = try await stage.native(.PATCH, "/v1/devices/\(device)", ["acceptsPush": false])
            #expect(off.status == 200)
            try await change(
                stage,
                "UPDATE gateway.credential SET refusal = 'InvalidProviderToken', refused_at = now() WHERE tenant_id = 'own'"
            )
            now = try await diagnosis(stage, device)
            #expect(unmet(now) == ["credential", "pushSetting"] && now["reachable"] == false, "\(now)")
            let credential = now["conditions"]?.array?.first { $0["condition"] == "credential" }
            #expect(credential?["since"]?.string != nil && credential?["action"]?.string?.contains("teamId") == true)

            try await change(
                stage,
                "UPDATE gateway.device SET token_state = 'invalid', token_reason = 'Unregistered' WHERE tenant_id = 'own'"
            )
            let defaults = #"{"cap": {"count": 1, "seconds": 86400}, "minAssurance": {"default": "vouched"}}"#
            try await change(stage, "UPDATE gateway.app SET defaults = '\(defaults)' WHERE tenant_id = 'own'")
            try await change(
                stage,
                """
                INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, device_id, state, reason, sent_at)
                SELECT 'own', floor(extract(epoch FROM now()) / 86400)::integer, m.message_id, gen_random_uuid(), 'shop', 'native', '\(device)', s, r, now()
                FROM (VALUES ('sent', NULL), ('failed', 'Unregistered')) v(s, r)
                CROSS JOIN LATERAL (SELECT gateway.first_message_id(now()) AS message_id) m
                """
            )
            try await change(
                stage,
                """
                INSERT INTO gateway.message
                    (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at)
                SELECT 'own', d.message_id, 'shop', 'native', 'done', 2, '{}', now(), now(), d.due_day, now()
                FROM (SELECT DISTINCT x.message_id, x.due_day FROM gateway.delivery x WHERE x.tenant_id = 'own') d
                """
            )
            now = try await diagnosis(stage, device)
            #expect(unmet(now) == ["token", "credential", "pushSetting", "frequencyCap"], "\(now)")
            #expect(now["answer"]?.string?.hasPrefix("The push service rejected the token with Unregistered") == true)
            let token = now["conditions"]?.array?.first { $0["condition"] == "token" }
            #expect(token?["since"]?.string != nil)
            #expect(now["deliveries"]?.array?.count == 2)
            #expect(
                unmet(try await diagnosis(stage, device, lane: "urgent")) == ["token", "credential", "pushSetting"]
            )
        }
    }

    @Test func aDiagnosisNamesTheMessagesThatWait() async throws {
        try await NativeStage.on { stage in
            let device = try await register(stage, "phone-1", phone: "0101", token: Self.token)
            func send(_ more: JSONObject = [:]) async throws -> String {
                var body: JSONObject = ["app": "shop", "to": ["devices": [.string(device)]], "title": "t", "body": "b"]
                for (name, value) in more.pairs { body[name] = value }
                let answer = try await stage.native(.POST, "/v1/messages", .object(body))
                return try #require(answer.json?["id"]?.string, "\(answer.text)")
            }
            func first() async throws -> JSON {
                let now = try await diagnosis(stage, device)
                #expect(now["reachable"] == true && now["waitingComplete"] == true, "\(now)")
                let found = try #require(now["waiting"]?.array?.first, "\(now)")
                #expect(now["answer"] == found["text"], "\(now)")
                return found
            }
            let later = try await send(["sendAt": ["after": 3600]])
            var found = try await first()
            #expect(found["message"] == .string(later) && found["because"] == "schedule" && found["selected"] == true)
            #expect(found["until"] == found["dueAt"] && found["credential"] == .null)
            // One that is due comes first.
            let message = try await send()
            #expect(try await stage.native(.POST, "/v1/messages/\(message)/pause").status == 200)
            found = try await first()
            #expect(found["message"] == .string(message) && found["because"] == "paused", "\(found)")
            #expect(found["since"]?.string != nil && found["text"] == "A message to the device is paused.")
            #expect(try await stage.native(.POST, "/v1/messages/\(message)/resume").status == 200)

            let isDue = "tenant_id = 'own' AND message_id = '\(message)'"
            for (columns, cause) in [
                ("state = 'ready', owner = NULL, next_at = now() - interval '1 second'", "queue"),
                ("next_at = now() + interval '10 minutes', attempts = 2", "retry"), ("held_by = 'apple'", "credential"),
                ("held_by = NULL, dead_reason = 'ServiceUnavailable'", "gaveUp"),
                ("dead_reason = NULL, state = 'leased', owner = 'n'", "sending"),
            ] {
                try await change(stage, "UPDATE gateway.slice SET \(columns) WHERE \(isDue)")
                found = try await first()
                #expect(found["because"] == .string(cause), "\(found)")
                let credential: JSON = cause == "credential" ? "apple" : .null
                #expect(found["credential"] == credential, "\(found)")
                #expect((found["until"]?.string != nil) == ["retry", "credential"].contains(cause), "\(found)")
            }
            #expect(try await stage.native(.POST, "/v1/messages/\(message)/cancel").status == 200)
            found = try await first()
            #expect(found["message"] == .string(later))
        }
    }

    @Test func aDiagnosisNamesTheCredential() async throws {
        try await NativeStage.on { stage in
            let device = try await register(stage, "phone-1", phone: "0101", token: Self.token)
            let conditions = try await diagnosis(stage, device)["conditions"]?.array ?? []
            let named = conditions.filter { $0["credential"]?.string != nil }
            #expect(named.map { $0["condition"] } == ["credential"])
            #expect(named.first?["text"]?.string?.contains(named.first?["credential"]?.string ?? "?") == true)
        }
    }

    @Test func aDiagnosisOfNobodyIsNotFound() async throws {
        try await NativeStage.on { stage in
            let device = try await register(stage, "phone-1", phone: "0101", token: Self.token)
            let start = try await stage.audit().count
            _ = try await diagnosis(stage, device)
            #expect(Array(try await stage.audit().dropFirst(start)) == ["key:reader read device \(device)"])
            for (path, key) in [(device, stage.otherKey), (UUID().uuidString, stage.key), ("x", stage.key)] {
                let answer = try await stage.native(.GET, "/v1/devices/\(path)/diagnosis", as: key)
                #expect(answer.status == 404, "\(answer.text)")
            }
            let lane = try await stage.native(.GET, "/v1/devices/\(device)/diagnosis?lane=fast")
            #expect(lane.status == 422 && lane.text.contains("lane: must be one of urgent"), "\(lane.text)")
        }
    }
}
