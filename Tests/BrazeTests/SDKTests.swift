import Coverage
import Foundation
import HTTPTypes
import Model
import Testing

@testable import Braze

/// The calls of the vendor's SDK (docs/contracts/braze.md#3).
struct SDKTests {
    static let key = "11111111-2222-4333-8444-555555555555"
    static let device = "5D9C7B3E-7C41-4C39-9C51-6B1D2A9F0E77"
    static let token = String(repeating: "0A1b2c3d", count: 8)
    static let settings: BindingSettings = {
        var settings = Mount.settings
        settings.values["sdkEnabled"] = true
        return settings
    }()
    private static let alias = UserName.alias(UserAlias(label: "sdk_device", name: device))

    static func request(
        _ path: String = "/api/v3/data",
        _ body: String,
        key: String? = key,
        method: HTTPRequest.Method = .post,
        origin: String? = nil
    ) -> VendorRequest {
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        if let name = HTTPField.Name("X-Braze-Api-Key") { headers[name] = key }
        headers[.origin] = origin
        return VendorRequest(
            route: SDKCall(rawValue: path).map { "braze.\($0)" } ?? BrazeCall.laterRoute,
            method: method,
            path: path,
            headers: headers,
            body: Array(body.utf8),
            receivedAt: Mount.now
        )
    }

    /// A documented body, with the parts that the contract leaves out filled in.
    static func documented(_ name: String) throws -> String {
        let text = try name.hasSuffix(".txt") ? Fixture.message(name).body : Fixture.text(name)
        return text.replacing("0a1b2c…64 hex…", with: token).replacing("1111…", with: key)
            .replacing("5D9C…", with: device)
    }

    static func answer(
        _ request: VendorRequest,
        settings: BindingSettings = settings,
        standing: IdentityStanding? = nil,
        _ reply: (Command) -> Reply = Mount.reply
    ) -> VendorResponse {
        do throws(AdapterError) {
            _ = try Mount.adapter.locate(request)
            var replies = try Mount.adapter.decode(request, settings: settings).map { command in
                if case .registration(.standing) = command { return Reply.registration(.standing(standing)) }
                return reply(command)
            }
            let sequel = try Mount.adapter.sequel(to: replies, of: request, settings: settings)
            if !sequel.isEmpty { replies = sequel.map(reply) }
            return Mount.adapter.encode(replies, for: request, settings: settings)
        } catch {
            return Mount.adapter.refuse(error, for: request, settings: settings)
        }
    }

    private func commands(_ body: String, standing: IdentityStanding? = nil) throws -> [Command] {
        let request = Self.request("/api/v3/data", body)
        let first = try Mount.adapter.decode(request, settings: Self.settings)
        #expect(first == [.registration(.standing(key: VendorDeviceKey(Self.device)))])
        return try Mount.adapter.sequel(
            to: [.registration(.standing(standing))],
            of: request,
            settings: Self.settings
        )
    }

    /// The commands of a call that contains these fields and the device's id.
    private func reported(_ fields: String, standing: IdentityStanding? = nil) throws -> [Command] {
        try commands(#"{"device_id":"\#(Self.device)",\#(fields)}"#, standing: standing)
    }

    private func batches(_ commands: [Command]) -> [UserBatch] {
        commands.compactMap { if case .user(.track(let batch)) = $0 { batch } else { nil } }
    }

    private func standing(_ user: UserID?, _ attributes: JSONObject = [:]) -> IdentityStanding {
        IdentityStanding(state: .active, token: nil, user: user, attributes: attributes)
    }

    // MARK: Examples

    // docs/contracts/braze.md#3.6 A.
    @Test(.covers("braze", "POST /api/v3/data")) func theFirstStartIsKeptAndAnswered() throws {
        let body = try Self.documented("sdk/start.request.txt")
        let commands = try commands(body)
        var registration = DeviceRegistration(key: VendorDeviceKey(Self.device), platform: .ios)
        registration.token = DeviceToken(apns: Self.token)
        registration.clock = DeviceClock(timeZone: TimeZoneName("Asia/Seoul"))
        registration.attributes = [
            "os_version": "17.5", "model": "iPhone15,2", "locale": "ko_KR", "time_zone": "Asia/Seoul",
            "resolution": "1179x2556", "remote_notification_enabled": 1, "ios_push_auth": "authorized",
            "sdk_version": "4.4.1", "app_version": "2.4.3", "app_version_code": "2.4.3.0",
        ]
        registration.client = ClientFacts([
            .appVersion: "2.4.3", .osVersion: "17.5", .sdkVersion: "4.4.1", .model: "iPhone15,2", .locale: "ko_KR",
        ])
        let at = Timestamp(milliseconds: 1_767_225_600_120)
        let batch = UserBatch(
            patches: [
                UserPatch(user: .id("u-1"), devices: [registration]),
                UserPatch(
                    user: .id("u-1"),
                    changes: [
                        AttributeChange("date_of_first_session", .first("2026-01-01T00:00:00Z")),
                        AttributeChange("date_of_last_session", .latest("2026-01-01T00:00:00Z")),
                    ]
                ),
            ],
            acts: [
                UserAct(
                    user: .id("u-1"),
                    kind: .signal,
                    name: "ss",
                    at: at,
                    data: ["session_id": "8d0f6d5c-8f0d-4f5e-b1b4-3f8f0f6e3b11"]
                )
            ]
        )
        let identify = UserCommand.identify([
            NamedUser(user: "u-1", alias: UserAlias(label: "sdk_device", name: Self.device))
        ])
        #expect(commands == [.user(.track(batch)), .user(identify)])

        let answer = Self.answer(Self.request("/api/v3/data", body))
        let example = try Fixture.message("sdk/start.response.txt")
        let documented = try JSONParser.parse(example.body)
        #expect(answer.status == 201 && answer.json == documented)
        for (name, value) in example.headers where name != "x-request-id" { #expect(answer.header(name) == value) }
        #expect(answer.header("x-request-id").flatMap { UUID(uuidString: $0) } != nil)
    }

    // docs/contracts/braze.md#3.6 B, docs/contracts/braze.md#3.2.
    @Test func eventsAndPurchasesBecomeActsOfTheUser() throws {
        let body = try Self.documented("sdk/acts.request.json")
        let batch = try #require(batches(try commands(body)).first)
        let session: JSON = "8d0f…"
        let event = UserAct(
            user: .id("u-1"),
            kind: .event,
            name: "add_to_cart",
            at: Timestamp(milliseconds: 1_767_225_699_500),
            data: ["properties": ["sku": "A1", "qty": 2], "session_id": session]
        )
        let purchase = UserAct(
            user: .id("u-1"),
            kind: .purchase,
            name: "A1",
            at: Timestamp(milliseconds: 1_767_225_699_900),
            data: ["currency": "KRW", "price": 9900, "quantity": 2, "session_id": session]
        )
        #expect(batch.acts == [event, purchase] && batch.repeatKey == nil)
        let answer = Self.answer(Self.request("/api/v3/data", body))
        #expect(answer.status == 201 && answer.text == "{}")
        let single = try Fixture.text("sdk/event.json")
        let known = try #require(batches(try reported(#""events":[\#(single)]"#)).first?.acts.first)
        #expect(known.name == "viewed_item" && known.at == Timestamp(milliseconds: 1_674_022_309_821))
    }

    // docs/contracts/braze.md#3.6 C, docs/contracts/braze.md#3.3 rule 2.
    @Test func anOpenedPushIsFoundByValue() throws {
        let reference = BrazePayload.reference(Mount.message, Mount.target)
        let body = try Self.documented("sdk/opened.request.json")
        let opened = body.replacing("c3RhbmQtaW4tc2VuZC1yZWY", with: reference)
        #expect(opened != body)
        let receipt = Command.receipt(
            .report(
                .read,
                message: Mount.message.description,
                reporter: Reporter(key: VendorDeviceKey(Self.device)),
                at: Timestamp(milliseconds: 1_767_229_199_700)
            )
        )
        #expect(try commands(opened).filter { if case .receipt = $0 { true } else { false } } == [receipt])
        // A reference that this gateway did not create is stored without an error.
        #expect(try commands(body).allSatisfy { if case .receipt = $0 { false } else { true } })
        #expect(batches(try commands(body)).first?.acts.first?.name == "pc")
        #expect(Self.answer(Self.request("/api/v3/data", body)).status == 201)
        func opens(_ data: String) throws -> Bool {
            try reported(#""events":[{"name":"pc","time":1767225600,"data":\#(data)}]"#).contains {
                if case .receipt = $0 { true } else { false }
            }
        }
        #expect(try opens(#"{"a":[{"b":"\#(reference)"}]}"#))
        #expect(try !opens(#"{"a":[{"b":["\#(reference)"]}]}"#))
        #expect(try !opens(#"{"a":"\#(reference)x"}"#) && !opens(#"{"\#(reference)":1}"#))
    }

    // docs/contracts/braze.md#3.6 D and E; docs/contracts/braze.md#3.1.
    @Test func anUnknownSDKKeyIsRefused() throws {
        let body = #"{"api_key":"other","device_id":"d"}"#
        let requests = [
            Self.request("/api/v3/data", #"{"device_id":"d"}"#, key: nil), Self.request("/api/v3/data", body),
            Self.request("/api/v3/data", #"{"device_id":"d"}"#, key: ""),
            Self.request("/api/v3/nothing", "{}", key: nil),
        ]
        let example = try Fixture.message("sdk/key.response.txt")
        for request in requests {
            let answer = Self.answer(request)
            #expect(answer.status == 401 && answer.text == example.body)
        }
        let unknown = Self.answer(Self.request("/api/v3/data", #"{"device_id":"d"}"#)) { _ in .refused(.unknownBinding)
        }
        #expect(unknown.status == 401 && unknown.text == example.body)
        // A licence question: the calls are off unless the operator enables them (docs/contracts/braze.md#0.2).
        for values in [JSONObject(), ["sdkEnabled": false], ["sdkEnabled": 1]] {
            let off = BindingSettings(tenant: "acme", app: "shop", values: values)
            for path in ["/api/v3/data", "/api/v3/template", "/api/v3/nothing"] {
                #expect(Self.answer(Self.request(path, #"{"device_id":"d"}"#), settings: off).status == 401)
            }
        }
        for body in ["", "[]", "{}", #"{"device_id":""}"#, #"{"device_id":7}"#, #"{"device_id":"a\u0001"}"#] {
            let answer = Self.answer(Self.request("/api/v3/data", body))
            #expect(answer.status == 400 && answer.text == #"{"error":"invalid_request"}"#, "\(body)")
        }
    }

    @Test func theKeyIsReadFromAHeaderOrTheBody() throws {
        var old = Self.request("/api/v3/data/", #"{"device_id":"d"}"#, key: nil)
        old.headers[try #require(HTTPField.Name("XBraze-ApiKey"))] = Self.key
        let reported = Self.request("/api/v3/data", #"{"device_id":"d","api_key":"\#(Self.key)"}"#, key: nil)
        for request in [old, reported] {
            #expect(try Mount.adapter.locate(request).0.value == Self.key)
            #expect(Self.answer(request).status == 201)
        }
    }

    // MARK: Devices and users

    // docs/contracts/braze.md#3.4: only changed facts are sent.
    @Test func factsOfADeviceAreMerged() throws {
        func facts(_ device: String, after old: JSONObject) throws -> JSONObject? {
            let commands = try reported(#""device":\#(device)"#, standing: standing("u-1", old))
            return batches(commands).first?.patches.first?.devices.first?.attributes
        }
        let old: JSONObject = ["model": "x", "locale": "ko_KR"]
        #expect(try facts(#"{"locale":"en_US","carrier":null}"#, after: old) == ["model": "x", "locale": "en_US"])
        #expect(try facts(#"{"model":null}"#, after: old) == ["locale": "ko_KR"])
        // Without a change the facts stay as they are.
        #expect(try facts(#"{"locale":"ko_KR"}"#, after: old) == [:])
        let denied = try #require(try facts(#"{"ios_push_auth":"denied"}"#, after: old))
        #expect(denied["deniesPush"] == true)
        #expect(try facts(#"{"ios_push_auth":"provisional"}"#, after: denied)?["deniesPush"] == nil)
        for off in ["0", "false"] {
            #expect(try facts(#"{"remote_notification_enabled":\#(off)}"#, after: old)?["deniesPush"] == true)
        }
        #expect(try facts(#"{"remote_notification_enabled":1}"#, after: denied)?["deniesPush"] == true)
        #expect(try facts(#"{"deniesPush":true,"sharesDevice":true,"$endsAt":1,"variants":{}}"#, after: old) == [:])
        let long = String(repeating: "x", count: 600)
        #expect(try facts(#"{"long":"\#(long)","a":1}"#, after: [:]) == ["a": 1])
        let many = (0..<60).map { #""f\#($0)":1"# }.joined(separator: ",")
        #expect(try facts("{\(many)}", after: [:])?.count == 40)
    }

    @Test func aTokenIsSetClearedOrIgnored() throws {
        func token(_ elements: String) throws -> (DeviceToken?, Bool) {
            let commands = try reported(#""attributes":[\#(elements)]"#)
            let left = commands.contains(.registration(.unregister(.key(VendorDeviceKey(Self.device)))))
            return (batches(commands).first?.patches.first?.devices.first?.token, left)
        }
        let set = #"{"push_token":"\#(Self.token)"}"#
        #expect(try token(set) == (DeviceToken(apns: Self.token), false))
        for gone in ["null", #""""#] {
            #expect(try token(#"{"push_token":\#(gone)}"#) == (nil, true))
            #expect(try token(#"\#(set),{"push_token":\#(gone)}"#) == (nil, true))
            #expect(try token(#"{"push_token":\#(gone)},\#(set)"#) == (DeviceToken(apns: Self.token), false))
        }
        #expect(try token(#"{"push_token":"fcm:APA91b"}"#) == (nil, false))
        #expect(try token(#"{"user_id":"u"}"#) == (nil, false))
    }

    // docs/contracts/braze.md#3.4: `changeUser` has no request of its own.
    @Test func theLastNamedUserOwnsTheDevice() throws {
        func owner(_ fields: String, _ standing: IdentityStanding? = nil) throws -> (UserName?, [Command]) {
            let commands = try reported(fields, standing: standing)
            let identifies = commands.filter { if case .user(.identify) = $0 { true } else { false } }
            return (batches(commands).first?.patches.first?.user, identifies)
        }
        let identify = Command.user(
            .identify([NamedUser(user: "u-1", alias: UserAlias(label: "sdk_device", name: Self.device))])
        )
        let switching = #"""
            "events":[{"name":"se","time":1,"data":{},"user_id":"u-1"},{"name":"ss","time":2,"data":{},"user_id":"u-2"}]
            """#
        #expect(try owner(#""events":[]"#) == (Self.alias, []))
        #expect(try owner(switching) == (.id("u-2"), [identify]))
        #expect(try owner(switching, standing("alias:0123")) == (.id("u-2"), [identify]))
        // A device that already has a named user keeps its data for that user when it switches to another one.
        #expect(try owner(switching, standing("u-1")) == (.id("u-2"), []))
        #expect(try owner(#""events":[]"#, standing("u-1")) == (.id("u-1"), []))
        #expect(try owner(#""respond_with":{"user_id":"u-1"}"#) == (.id("u-1"), [identify]))
        // Data without a user's name belongs to the current user.
        let anonymous = #""events":[{"name":"ce","time":1,"data":{"n":"a"}}]"#
        #expect(batches(try reported(anonymous)).first?.acts.first?.user == Self.alias)
        #expect(batches(try reported(anonymous, standing: standing("u-1"))).first?.acts.first?.user == .id("u-1"))
    }

    @Test func attributesAreChangesOfTheirUser() throws {
        func changes(_ element: String) throws -> [AttributeChange] {
            let patches = batches(try reported(#""attributes":[\#(element)]"#)).first?.patches ?? []
            return patches.dropFirst().flatMap(\.changes)
        }
        #expect(
            try changes(#"{"user_id":"u","first_name":"Mina","custom":{"k":"v","gone":null,"email":"x"},"other":1}"#)
                == [
                    AttributeChange("first_name", .set("Mina")), AttributeChange("k", .set("v")),
                    AttributeChange("gone", .remove),
                ]
        )
        #expect(try changes(#"{"gender":"X","custom":{"$a":1}}"#) == [])
        let patches = batches(try reported(#""attributes":[{"user_id":"u","push_subscribe":"unsubscribed"}]"#)).first?
            .patches
        #expect(patches?.last?.acceptsPush == false && patches?.last?.user == .id("u"))
    }

    @Test(arguments: [
        (#"{"name":"add","data":{"key":"l","value":"a"}}"#, AttributeChange.Edit.append(["a"])),
        (#"{"name":"rem","data":{"key":"l","value":1}}"#, .withdraw([1])),
        (#"{"name":"set","data":{"key":"l","value":["a","b"]}}"#, .set(["a", "b"])),
        (
            #"{"name":"lcaa","data":{"key":"l","latitude":1.5,"longitude":2}}"#,
            .set(["latitude": .number("1.5"), "longitude": 2])
        ),
        (#"{"name":"inc","data":{"key":"l","value":-2}}"#, .increase("-2")),
    ])
    func anEventMayChangeAnAttribute(_ event: String, _ edit: AttributeChange.Edit) throws {
        let patches = batches(try reported(#""events":[\#(event)]"#)).flatMap(\.patches)
        #expect(patches.last?.changes == [AttributeChange("l", edit)])
        let none = event.replacing(#""key":"l""#, with: #""key":"email""#)
        #expect(batches(try reported(#""events":[\#(none)]"#)).flatMap(\.patches).count == 1)
    }

    // MARK: Repeats and bounds

    // docs/contracts/braze.md#3.2: a time in exponent form, and no user. docs/contracts/braze.md#3.9: a clock far
    // ahead is not trusted.
    @Test func aTimeIsReadInAnySpelling() throws {
        func act(_ time: String) throws -> (Timestamp?, Bool) {
            let batch = batches(try reported(#""events":[{"name":"ce","data":{"n":"a"}\#(time)}]"#)).first
            return (batch?.acts.first?.at, batch?.repeatKey != nil)
        }
        #expect(try act(#","time":1.674022309821E9"#) == (Timestamp(milliseconds: 1_674_022_309_821), false))
        #expect(try act(#","time":1767312000"#) == (Mount.now + .seconds(86_400), false))
        // In these cases the gateway's time is used, and a repeat is detected by its text alone.
        for time in [#","time":1767312001"#, "", #","time":-1"#, #","time":"1""#, #","time":1e300"#] {
            #expect(try act(time) == (Mount.now, true), "\(time)")
        }
    }

    // docs/contracts/braze.md#3.9: whole batches are sent again after a time-out.
    @Test func repeatedIncrementsAreDetected() throws {
        let increases = (0..<40).map { #"{"name":"inc","time":\#($0),"data":{"key":"n","value":1}}"# }
        func keys(_ events: some Sequence<String>) throws -> [String] {
            batches(try reported(#""events":[\#(events.joined(separator: ","))]"#)).compactMap(\.repeatKey)
        }
        let all = try keys(increases)
        // 32 batches of their own, and one for all others.
        #expect(all.count == 33 && Set(all).count == 33)
        #expect(try keys(increases) == all)
        #expect(try keys(increases.prefix(3)) == Array(all.prefix(3)))
        let other = try commands(#"{"device_id":"\#(Self.device)","events":[\#(increases[0])],"time":7}"#)
        #expect(batches(other).compactMap(\.repeatKey) == [all[0]])
    }

    @Test func aLongCallIsManyBatches() throws {
        let events = (0..<1100).map { #"{"name":"ce","time":\#($0),"data":{"n":"a"}}"# }.joined(separator: ",")
        let found = batches(try reported(#""events":[\#(events)]"#))
        #expect(found.map(\.acts.count) == [250, 250, 250, 250])
        let starts = (0..<1000).map { #"{"name":"ss","time":\#($0),"data":{}}"# }.joined(separator: ",")
        let sessions = batches(try reported(#""events":[\#(starts)]"#))
        #expect(sessions.allSatisfy { $0.patches.count <= 75 && $0.acts.count <= 250 })
        #expect(sessions.map(\.acts.count).reduce(0, +) == 1000 && sessions.count < 100)
        let opens = #"{"name":"pc","time":1,"data":{"r":"\#(BrazePayload.reference(Mount.message, Mount.target))"}}"#
        let many = try reported(#""events":[\#(Array(repeating: opens, count: 80).joined(separator: ","))]"#)
        #expect(many.count { if case .receipt = $0 { true } else { false } } == 50)
        #expect(many.count <= 100)
    }

    // MARK: Answers

    // docs/contracts/braze.md#3.5: only the requested parts, and a configuration only if it is newer.
    @Test func onlyRequestedPartsAreAnswered() throws {
        func fields(_ wish: String) -> Set<String> {
            let body = #"{"device_id":"d","respond_with":\#(wish)}"#
            return Set(Self.answer(Self.request("/api/v3/data", body)).json?.object?.keys ?? ["none"])
        }
        #expect(fields("{}") == [] && fields("null") == [])
        #expect(fields(#"{"triggers":true}"#) == ["triggers", "feed"])
        #expect(fields(#"{"config":{"config_time":1666846268}}"#) == ["config"])
        #expect(fields(#"{"config":{}}"#) == ["config"])
        #expect(fields(#"{"config":{"config_time":1767225600}}"#) == [])
    }

    @Test func aGatewayFailureMakesTheSDKRetry() throws {
        let request = Self.request("/api/v3/data", #"{"device_id":"d"}"#)
        for refusal in [Refusal.unavailable(retryAfter: .seconds(7)), .outdated] {
            let answer = Self.answer(request) { _ in .refused(refusal) }
            #expect(answer.status == 503 && answer.header("Retry-After") != nil)
        }
        // Invalid data is dropped.
        #expect(Self.answer(request) { _ in .refused(.invalid("user")) }.status == 201)
        #expect(Self.answer(request) { _ in .user(.tracked(patches: [.invalid("key")], acts: [])) }.status == 201)
    }

    // docs/contracts/braze.md#3.8.
    @Test(
        .covers("braze", "POST /api/v3/template", refused: "201 `{}`: there are no in-app messages"),
        .covers(
            "braze",
            "POST /api/v3/content_cards/sync",
            refused: "201 with an empty full sync: there are no content cards"
        )
    )
    func whatThereIsNoneOfIsAnsweredEmpty() throws {
        let body = #"{"device_id":"d","events":[{"name":"ce","time":1,"data":{"n":"a"}}]}"#
        let template = Self.answer(Self.request("/api/v3/template", body))
        #expect(template.status == 201 && template.text == "{}")
        let cards = Self.answer(Self.request("/api/v3/content_cards/sync", body))
        let none: JSON = [
            "cards": [], "last_full_sync_at": 1_767_225_600, "last_card_updated_at": 0, "full_sync": true,
        ]
        #expect(cards.status == 201 && cards.json == none)
        let other = Self.answer(Self.request("/api/v3/push_token_tag", "not JSON"))
        #expect(other.status == 201 && other.text == "{}")
        #expect(Self.answer(Self.request("/api/v3/data", "{}", method: .get)).status == 404)
    }

    // docs/contracts/braze.md#3.1.
    @Test func webPagesHaveAccessIfTheOperatorAllowsIt() throws {
        let ask = Self.answer(
            Self.request("/api/v3/data", "", key: nil, method: .options, origin: "https://shop.example")
        )
        #expect(ask.status == 204 && ask.body.isEmpty)
        #expect(ask.header("Access-Control-Allow-Origin") == "https://shop.example")
        #expect(ask.header("Access-Control-Allow-Methods") == "POST, OPTIONS")
        #expect(ask.header("Access-Control-Max-Age") == "86400")
        let headers = ask.header("Access-Control-Allow-Headers") ?? ""
        for name in ["content-type", "x-braze-api-key", "x-braze-datarequest", "x-braze-triggersrequest"] {
            #expect(headers.contains(name))
        }
        let call = Self.request("/api/v3/data", #"{"device_id":"d"}"#, origin: "https://shop.example")
        #expect(Self.answer(call).header("Access-Control-Allow-Origin") == nil)
        var settings = Self.settings
        settings.values["origins"] = ["https://shop.example"]
        #expect(Self.answer(call, settings: settings).header("Access-Control-Allow-Origin") == "https://shop.example")
        settings.values["origins"] = ["https://other.example"]
        #expect(Self.answer(call, settings: settings).header("Access-Control-Allow-Origin") == nil)
    }

    // docs/contracts/braze.md#3.3: the operator has to find out the names that the SDKs send.
    @Test func theBindingSetsTheNamesOfEvents() throws {
        let reference = BrazePayload.reference(Mount.message, Mount.target)
        let body = #"{"device_id":"d","events":[{"name":"seen","time":1,"data":{"r":"\#(reference)"}}]}"#
        for (key, kind) in [("openEvents", ReceiptKind.read), ("receivedEvents", .received)] {
            var settings = Self.settings
            settings.values[key] = ["seen"]
            let commands = try SDKData(Self.request("/api/v3/data", body), settings).commands(after: nil)
            let kinds = commands.compactMap { if case .receipt(.report(let kind, _, _, _)) = $0 { kind } else { nil } }
            #expect(kinds == [kind])
        }
        #expect(BrazeSettings.declared.problems(in: ["sdkEnabled": true, "openEvents": ["a"], "origins": ["*"]]) == [])
        #expect(
            BrazeSettings.declared.problems(in: ["sdkEnabled": "yes", "openEvents": [1], "origins": "*", "x": 1]).count
                == 4
        )
    }
}
