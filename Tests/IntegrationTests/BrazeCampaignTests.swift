import AsyncHTTPClient
import CommandSupport
import Coverage
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing

/// Braze's campaigns and schedules over real HTTP, PostgreSQL and simulator (docs/contracts/braze.md#5.6 to 5.8).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BrazeCampaignTests {
    private static let key = "00000000-aaaa-4bbb-8ccc-dddddddddddd"
    private static let query = "?vendor=braze"

    @Test(
        .covers("braze", "POST /campaigns/trigger/send"),
        .covers("braze", "POST /messages/schedule/create"),
        .covers("braze", "POST /messages/schedule/update"),
        .covers("braze", "POST /messages/schedule/delete"),
        .covers("braze", "GET /messages/scheduled_broadcasts"),
        .covers("braze", "POST /campaigns/trigger/schedule/create"),
        .covers("braze", "POST /campaigns/trigger/schedule/update"),
        .covers("braze", "POST /campaigns/trigger/schedule/delete"),
        .covers("braze", "POST /sends/id/create"),
        .covers("braze", "GET /sends/data_series")
    )
    func campaignsAndSchedules() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await bind(world)
            try await campaigns(world)
            try await triggers(world)
            try await schedules(world)
            try await triggerSchedules(world)
            try await series(world)
            try await audience(world)
            try await broadcast(world)
        }
    }

    // MARK: Calls

    private struct Answer {
        var status: Int
        var text: String

        var json: JSON? { try? JSONParser.parse(text) }
    }

    private func call(
        _ world: World,
        _ path: String,
        _ body: String? = nil,
        method: NIOHTTP1.HTTPMethod? = nil,
        key: String = key,
        type: String = "application/json"
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "\(world.http.base)\(path)")
        request.method = method ?? (body == nil ? .GET : .POST)
        request.headers.add(name: "authorization", value: "Bearer \(key)")
        request.headers.add(name: "content-type", value: type)
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return Answer(status: Int(response.status.code), text: String(buffer: buffer))
    }

    private static func token(_ number: Int) -> String { String(format: "%064x", 0xCA00 + number) }

    /// The alerts that a device displayed, oldest first.
    private func alerts(_ world: World, _ number: Int) async throws -> [JSON] {
        let answer = try await world.control.call(
            "GET",
            "/_simulator/requests?token=\(Self.token(number))&limit=50"
        )
        return (answer.json?["requests"]?.array ?? []).compactMap { $0["payload"]?["aps"]?["alert"] }
    }

    /// A time in ISO 8601, the given number of seconds from now by the database's clock.
    private func time(_ world: World, _ seconds: Int) async throws -> String {
        try await world.value(
            """
            SELECT to_char(now() AT TIME ZONE 'UTC' + interval '\(seconds) seconds', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS value
            """
        )
    }

    private func state(_ world: World, _ dispatch: JSON?) async throws -> String {
        try await world.value(
            "SELECT state AS value FROM gateway.message WHERE message_id = '\(dispatch?.string ?? "")'::uuid"
        )
    }

    // MARK: Steps

    private func bind(_ world: World) async throws {
        let path = world.material.path("tenants.yaml")
        let file = try String(contentsOfFile: path, encoding: .utf8)
        let binding = """

                      braze:
                        restKeyEnv: BRAZE_REST_KEY

            """
        try (file + binding).write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await world.apply(environment: ["BRAZE_REST_KEY": Self.key])
        try #require(applied.status == 0, "\(applied.log)")
        try await eventually("the binding is served") { try await call(world, "/messages/send", "{}").status == 400 }
        let lines = [(1, "u-1"), (2, "u-2")].map { number, user in
            JSONWriter.text([
                "key": .string("c-\(number)"), "platform": "ios", "token": .string(Self.token(number)),
                "user": .string(user),
            ])
        }
        let answer = try await call(
            world,
            "/v1/apps/shop/imports\(Self.query)",
            lines.joined(separator: "\n") + "\n",
            key: world.apiKey,
            type: "application/x-ndjson"
        )
        try #require((200...202).contains(answer.status), "\(answer.text)")
    }

    /// Campaigns are stored with the native API, in the dialect's shape.
    private func campaigns(_ world: World) async throws {
        func native(_ method: NIOHTTP1.HTTPMethod, _ path: String, _ body: String? = nil) async throws -> Answer {
            try await call(
                world,
                "/v1/apps/shop/campaigns\(path)\(Self.query)",
                body,
                method: method,
                key: world.apiKey
            )
        }
        let body = #"{"name":"Winter","variations":[{"message_variation_id":"v-1","apple_push":{"alert":"first"}}]}"#
        let made = try await native(.PUT, "/winter", body)
        #expect(made.status == 201, "\(made.text)")
        let text =
            "{{api_trigger_properties.${name} | default: 'you'}} in {{api_trigger_properties.${city}}}: {{campaign.${name}}}"
        let again = try await native(.PUT, "/winter", body.replacingOccurrences(of: "first", with: text))
        #expect(again.status == 200, "\(again.text)")
        let found = try await native(.GET, "/winter")
        #expect(found.json?["name"] == "Winter")
        #expect(found.json?["variations"]?.array?.first?["apple_push"]?["alert"] == .string(text))
        let other = try await native(.POST, "", body)
        #expect(other.status == 201, "\(other.text)")
        let id = try #require(other.json?["id"]?.string)
        let list = try await native(.GET, "")
        #expect(list.json?["campaigns"]?.array?.count == 2, "\(list.text)")
        #expect(try await native(.DELETE, "/\(id)").status == 204)
        #expect(try await native(.DELETE, "/\(id)").status == 404)
        #expect(try await native(.GET, "/\(id)").status == 404)
        // What could not be sent is not kept.
        let unclear = try await native(.PUT, "/bad", body.replacingOccurrences(of: "first", with: "{{x}}"))
        #expect(unclear.status == 422 && unclear.text.contains("{{x}}"), "\(unclear.text)")
        #expect(try await call(world, "/v1/apps/shop/campaigns?vendor=ipns", key: world.apiKey).status == 422)
        let audited = try await world.value(
            "SELECT string_agg(action, ' ' ORDER BY position) AS value FROM gateway.audit WHERE subject LIKE 'campaign %'"
        )
        #expect(audited == "put put put remove")
    }

    // docs/contracts/braze.md#5.6: a recipient's own properties override the common ones.
    private func triggers(_ world: World) async throws {
        let unknown = try await call(world, "/campaigns/trigger/send", #"{"campaign_id":"x","broadcast":true}"#)
        #expect(unknown.status == 400)
        #expect(unknown.json == ["message": "Invalid Campaign ID"])
        let send = try await call(world, "/sends/id/create", #"{"campaign_id":"winter"}"#)
        #expect(send.status == 201)
        #expect(send.json?["send_id"]?.string?.hasPrefix("send-") == true, "\(send.text)")
        let alias = #"{"alias_name":"7","alias_label":"crm"}"#
        let names = #"{"user_aliases":[{"external_id":"u-2","alias_name":"7","alias_label":"crm"}]}"#
        #expect(try await call(world, "/users/alias/new", names).status == 201)
        let body = #"""
            {"campaign_id":"winter","send_id":"one","trigger_properties":{"city":"Seoul"},"recipients":[\#
            {"external_user_id":"u-1","trigger_properties":{"name":"Mina"}},\#
            {"user_alias":\#(alias),"trigger_properties":{"city":"Busan"},"attributes":{"vip":true}},{"external_user_id":"nobody"}]}
            """#
        let answer = try await call(world, "/campaigns/trigger/send", body)
        #expect(answer.status == 201, "\(answer.text)")
        #expect(answer.json?["dispatch_id"]?.string?.count == 32)
        try await eventually("both") {
            let (one, two) = (try await alerts(world, 1), try await alerts(world, 2))
            return one == ["Mina in Seoul: Winter"] && two == ["you in Busan: Winter"]
        }
        let told = try await call(world, "/users/export/ids", #"{"user_aliases":[\#(alias)]}"#)
        let user = told.json?["users"]?.array?.first
        #expect(user?["external_id"] == "u-2" && user?["custom_attributes"] == ["vip": true], "\(told.text)")
    }

    // docs/contracts/braze.md#5.10: all users are checked, and only those that match the filter receive a push.
    private func audience(_ world: World) async throws {
        let users =
            #"{"attributes":[{"external_id":"u-1","plan":"gold","visits":7},{"external_id":"u-2","plan":"tin"}]}"#
        #expect(try await call(world, "/users/track", users).status == 201)
        let (one, two) = (try await alerts(world, 1).count, try await alerts(world, 2).count)
        func leaf(_ name: String, _ comparison: String, _ value: String) -> String {
            #"{"custom_attribute":{"custom_attribute_name":"\#(name)","comparison":"\#(comparison)","value":\#(value)}}"#
        }
        let filter = #"{"AND":[\#(leaf("plan", "matches_regex", #""^g""#)),\#(leaf("visits", "greater_than", "6"))]}"#
        let body =
            #"{"campaign_id":"winter","audience":\#(filter),"trigger_properties":{"name":"gold","city":"Ulsan"}}"#
        let answer = try await call(world, "/campaigns/trigger/send", body)
        #expect(answer.status == 201, "\(answer.text)")
        let message = answer.json?["dispatch_id"]?.string ?? ""
        try await eventually("who is not meant") {
            try await world.value(
                "SELECT coalesce(string_agg(d.state || coalesce(' ' || d.reason, ''), ',' ORDER BY d.state), '') AS value "
                    + "FROM gateway.delivery d WHERE replace(d.message_id::text, '-', '') = '\(message)'"
            ) == "sent,suppressed withheld"
        }
        #expect(try await alerts(world, 1).count == one + 1)
        #expect(try await alerts(world, 2).count == two)
        #expect(try await alerts(world, 1).contains("gold in Ulsan: Winter"))
        try await scheduledAudience(world)
    }

    // A schedule evaluates its filter when it is due: the user's attribute is set after the schedule was accepted.
    private func scheduledAudience(_ world: World) async throws {
        let (one, two) = (try await alerts(world, 1).count, try await alerts(world, 2).count)
        let body = """
            {"audience":{"AND":[{"push_subscription_status":{"comparison":"is","value":"opted_in"}},
            {"last_used_app":{"comparison":"after","value":"2025-06-01"}}]},
            "schedule":{"time":"\(try await time(world, 5))"},"messages":{"apple_push":{"alert":"used"}}}
            """
        let answer = try await call(world, "/messages/schedule/create", body)
        #expect(answer.status == 201, "\(answer.text)")
        let users =
            #"{"attributes":[{"external_id":"u-2","push_subscribe":"opted_in","date_of_last_session":"2025-06-02T00:00:00Z"},"#
            + #"{"external_id":"u-1","date_of_last_session":"2025-06-02T00:00:00Z"}]}"#
        #expect(try await call(world, "/users/track", users).status == 201)
        try await eventually("the filter's schedule") { try await state(world, answer.json?["dispatch_id"]) == "done" }
        #expect(try await alerts(world, 1).count == one)
        #expect(try await alerts(world, 2).count == two + 1)
        #expect(try await alerts(world, 2).last == "used")
    }

    // docs/contracts/braze.md#5.7
    private func schedules(_ world: World) async throws {
        func create(_ seconds: Int, _ audience: String, _ alert: String) async throws -> JSON? {
            let body = """
                {\(audience),"schedule":{"time":"\(try await time(world, seconds))"},"messages":{"apple_push":{"alert":"\(alert)"}}}
                """
            let answer = try await call(world, "/messages/schedule/create", body)
            #expect(answer.status == 201, "\(answer.text)")
            return answer.json
        }
        let first = try await create(3600, #""external_user_ids":["u-1"]"#, "late")
        let all = try await create(7200, #""broadcast":true"#, "all")
        let id = try #require(first?["schedule_id"]?.string)
        let listed = try await call(world, "/messages/scheduled_broadcasts?end_time=\(try await time(world, 9000))")
        #expect(listed.status == 200, "\(listed.text)")
        #expect(listed.json?["scheduled_broadcasts"]?.array?.map { $0["id"] } == [all?["schedule_id"]])
        // Sent once, with what the update says, and when it says.
        let update = """
            {"schedule_id":"\(id)","schedule":{"time":"\(try await time(world, 2))"},"messages":{"apple_push":{"alert":"soon"}}}
            """
        let updated = try await call(world, "/messages/schedule/update", update)
        #expect(updated.status == 201, "\(updated.text)")
        #expect(updated.json == ["message": "success"])
        #expect(try await state(world, first?["dispatch_id"]) == "canceled")
        try await eventually("the schedule") { try await alerts(world, 1).last == "soon" }
        #expect(try await alerts(world, 1).count == 2)
        // It is no longer to come.
        #expect(try await call(world, "/messages/schedule/update", update).status == 400)
        let gone = #"{"schedule_id":"\#(id)"}"#
        #expect(try await call(world, "/messages/schedule/delete", gone).status == 400)
        let delete = #"{"schedule_id":"\#(all?["schedule_id"]?.string ?? "")"}"#
        #expect(try await call(world, "/messages/schedule/delete", delete).json == ["message": "success"])
        #expect(try await call(world, "/messages/schedule/delete", delete).status == 400)
        #expect(try await state(world, all?["dispatch_id"]) == "canceled")
        let none = try await call(world, "/messages/scheduled_broadcasts")
        #expect(none.json?["scheduled_broadcasts"] == [])
    }

    private func triggerSchedules(_ world: World) async throws {
        func create() async throws -> String {
            let body = """
                {"campaign_id":"winter","schedule":{"time":"\(try await time(world, 3600))"},"send_id":"two",
                "recipients":[{"external_user_id":"u-2","trigger_properties":{"name":"Jo","city":"Jeju"}}]}
                """
            let answer = try await call(world, "/campaigns/trigger/schedule/create", body)
            #expect(answer.status == 201, "\(answer.text)")
            return answer.json?["schedule_id"]?.string ?? ""
        }
        let (first, second) = (try await create(), try await create())
        let update = """
            {"campaign_id":"winter","schedule_id":"\(first)","schedule":{"time":"\(try await time(world, 1))"}}
            """
        let answer = try await call(world, "/campaigns/trigger/schedule/update", update)
        #expect(answer.status == 201, "\(answer.text)")
        try await eventually("the trigger") { try await alerts(world, 2).last == "Jo in Jeju: Winter" }
        let delete = #"{"campaign_id":"winter","schedule_id":"\#(second)"}"#
        #expect(try await call(world, "/campaigns/trigger/schedule/delete", delete).status == 201)
        #expect(try await alerts(world, 2).count == 2)
    }

    // docs/contracts/braze.md#5.8: the series is counted from the deliveries.
    private func series(_ world: World) async throws {
        try await eventually("the figures") {
            let answer = try await call(world, "/sends/data_series?campaign_id=winter&send_id=one&length=2")
            guard answer.status == 200, let days = answer.json?["data"]?.array, days.count == 2 else { return false }
            let sent = days.compactMap { $0["messages"]?["ios_push"]?.array?.first?["sent"]?.int }.reduce(0, +)
            return sent == 2 && days.compactMap { $0["unique_recipients"]?.int }.reduce(0, +) == 2
        }
        let none = try await call(world, "/sends/data_series?campaign_id=winter&send_id=nobody&length=1")
        #expect(none.json?["data"]?.array?.first?["unique_recipients"] == 0)
    }

    // An expanded audience has no properties of single users.
    private func broadcast(_ world: World) async throws {
        let body = #"{"campaign_id":"winter","broadcast":true,"trigger_properties":{"city":"Ulsan"}}"#
        #expect(try await call(world, "/campaigns/trigger/send", body).status == 201)
        try await eventually("everybody") {
            let (one, two) = (try await alerts(world, 1), try await alerts(world, 2))
            return one.last == "you in Ulsan: Winter" && two.last == "you in Ulsan: Winter"
        }
        // What is removed is sent no more.
        let removed = try await call(
            world,
            "/v1/apps/shop/campaigns/winter\(Self.query)",
            method: .DELETE,
            key: world.apiKey
        )
        #expect(removed.status == 204)
        #expect(try await call(world, "/campaigns/trigger/send", body).json == ["message": "Invalid Campaign ID"])
    }
}
