import HTTPTypes
import Model
import Testing

@testable import Braze

/// `/users/track`, as far as it is answered (contract §4.2, §5.1).
struct TrackTests {
    /// Two tokens of one user, one of another: one without an id of its device.
    static let tokens = """
        {"attributes":[{"external_id":"u-1","push_tokens":[\
        {"app_id":"11111111-2222-4333-8444-555555555555","token":"0A1B","device_id":"5D9C"},\
        {"app_id":"11111111-2222-4333-8444-555555555555","token":"99ff"}]},\
        {"external_id":"u-2","nickname":null,"push_tokens":[{"app_id":"1111","token":"aa","device_id":null}]}]}
        """

    /// One element of attributes.
    private func track(_ fields: String) -> VendorResponse {
        Mount.answer(Mount.request("/users/track", #"{"attributes":[{\#(fields)}]}"#), Self.registered)
    }

    private static func registered(_ command: Command) -> Reply {
        .registration(
            .registered(
                Registered(
                    identity: IdentityID(Mount.target.rawValue),
                    device: DeviceID(Mount.target.rawValue),
                    key: "k",
                    platform: .ios,
                    wasActive: false
                )
            )
        )
    }

    private static let token = #""push_tokens":[{"app_id":"a","token":"0a1b"}]"#

    @Test func tokensBecomeRegistrations() throws {
        let request = Mount.request("/users/track", Self.tokens, key: Mount.trackKey)
        let commands = try Mount.adapter.decode(request, settings: Mount.settings)
        let found = commands.compactMap { command -> DeviceRegistration? in
            if case .registration(.register(let registration)) = command { registration } else { nil }
        }
        #expect(found.map(\.token?.text) == ["0a1b", "99ff", "aa"])
        #expect(found.map(\.user) == ["u-1", "u-1", "u-2"])
        #expect(found.map(\.key) == ["5D9C", nil, nil])
        #expect(found.map(\.derivesKey) == [false, true, true])
        let answer = Mount.answer(request, Self.registered)
        #expect(answer.status == 201)
        #expect(answer.json == ["message": "success", "attributes_processed": 2])
        #expect(answer.header("X-RateLimit-Limit") == "3000")
    }

    // Nobody may take for kept what is not.
    @Test(arguments: [
        (#""push_tokens":[]"#, "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required"),
        (#""external_id":"u""#, "'push_tokens' is not valid"),
        (#""external_id":"","push_tokens":[]"#, "'external_id' is not valid"),
        (#""external_id":"u","first_name":"Mina",\#(token)"#, "'first_name' is not available on this gateway"),
        (
            #""external_id":"u","_update_existing_only":true,\#(token)"#,
            "'_update_existing_only' is not available on this gateway"
        ),
        (#""push_token_import":true,\#(token)"#, "'push_token_import' is not available on this gateway"),
        (
            #""user_alias":{"alias_name":"a","alias_label":"l"},\#(token)"#,
            "'user_alias' is not available on this gateway"
        ),
        (#""external_id":"u","push_tokens":[{"app_id":"a","token":"f:APA"}]"#, "'token' is not valid"),
        (#""external_id":"u","push_tokens":[{"token":"0a1b"}]"#, "'app_id' is not valid"),
        (#""external_id":"u","push_tokens":[{"app_id":"a","token":"0a1b","device_id":7}]"#, "'device_id' is not valid"),
    ])
    func anElementIsRefusedWhole(_ fields: String, _ text: String) {
        let answer = track(fields)
        #expect(answer.status == 400)
        #expect(answer.message == "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields.")
        #expect(
            answer.json?["errors"] == [["type": .string(text), "input_array": "attributes", "index": 0]],
            "\(answer.text)"
        )
    }

    // §4.2: a count appears only for what came, and each fault names its place.
    @Test func someElementsAreBad() {
        let body = """
            {"purchases":[{"external_id":"u","product_id":"A1"}],"events":[{"name":"e"}],\
            "attributes":[{"first_name":"Mina"},{"external_id":"u",\(Self.token)}]}
            """
        let answer = Mount.answer(Mount.request("/users/track", body), Self.registered)
        let user = "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required"
        #expect(answer.status == 201)
        #expect(
            answer.json == [
                "message": "success", "attributes_processed": 1, "events_processed": 0, "purchases_processed": 0,
                "errors": [
                    ["type": .string(user), "input_array": "attributes", "index": 0],
                    ["type": .string(user), "input_array": "events", "index": 0],
                    [
                        "type": "'purchases' is not available on this gateway", "input_array": "purchases", "index": 0,
                    ],
                ],
            ],
            "\(answer.text)"
        )
    }

    // §4.4, §5.11: 76 attributes. One element less is answered.
    @Test func arraysHaveALimit() {
        for name in UsersTrack.arrays {
            for (count, text) in [(76, "Max Input Length Exceeded"), (75, BrazeText.noData)] {
                let list = Array(repeating: "{}", count: count).joined(separator: ",")
                let answer = Mount.answer(Mount.request("/users/track", #"{"\#(name)":[\#(list)]}"#))
                #expect(answer.status == 400)
                #expect(answer.message == text, "\(count) \(name)")
            }
        }
    }

    @Test func tokensOfACallHaveALimit() {
        for (count, status) in [(50, 201), (51, 400)] {
            let tokens = Array(repeating: #"{"app_id":"a","token":"0a1b"}"#, count: count).joined(separator: ",")
            let element = #"{"external_id":"u","push_tokens":[\#(tokens)]}"#
            let body = #"{"attributes":[\#(element),\#(element)]}"#
            #expect(Mount.answer(Mount.request("/users/track", body), Self.registered).status == status)
        }
    }

    @Test func aRefusedTokenIsItsElementsFault() {
        let request = Mount.request("/users/track", Self.tokens)
        var number = 0
        let answer = Mount.answer(request) { command in
            number += 1
            return number == 2 ? .refused(.invalid("user")) : Self.registered(command)
        }
        #expect(answer.status == 201)
        #expect(answer.json?["attributes_processed"] == 1)
        #expect(
            answer.json?["errors"]
                == [["type": "'external_id' is not valid", "input_array": "attributes", "index": 0]]
        )
        // As the gateway answers a key that nobody has: one refusal, before the body is looked at.
        for body in [Self.tokens, "{}", #"{"attributes":7}"#] {
            let call = Mount.request("/users/track", body)
            let stranger = Mount.adapter.encode([.refused(.unknownBinding)], for: call, settings: .unbound)
            #expect(stranger.status == 401, "\(body)")
        }
        let down = Mount.answer(request) { _ in .refused(.unavailable(retryAfter: nil)) }
        #expect(down.status == 503)
        #expect(down.header("Retry-After") != nil)
    }

    @Test func aKeyThatOnlySendsMayNotTrack() {
        let request = Mount.request("/users/track", Self.tokens, key: Mount.officeKey, from: "192.0.2.1")
        #expect(Mount.answer(request).status == 401)
    }
}
