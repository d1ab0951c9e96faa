import Coverage
import HTTPTypes
import Model
import Testing

@testable import Braze

/// `/users/…`: attributes, acts, names, merges and deletions of users (docs/contracts/braze.md#5.1 to 5.4).
struct UserTests {
    static let aliases = #"{"user_aliases":[{"external_id":"u-1","alias_name":"a-7","alias_label":"crm"}]}"#
    static let identities =
        #"{"aliases_to_identify":[{"external_id":"u-1","user_alias":{"alias_name":"a-7","alias_label":"crm"}}],"merge_behavior":"merge"}"#
    static let merges =
        #"{"merge_updates":[{"identifier_to_merge":{"external_id":"old"},"identifier_to_keep":{"external_id":"u-1"}}]}"#
    private static let alias = UserAlias(label: "crm", name: "a-7")
    private static let who = "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required"

    /// The body of a documented request. The contract shortens ids and tokens; here they are filled up with digits.
    static func documented(_ name: String) throws -> String {
        let text = try Fixture.text("users/\(name)")
        let body = text.hasPrefix("POST ") ? String(text.split(separator: "\n\n", maxSplits: 1).last ?? "") : text
        return body.replacing("…", with: "0000")
    }

    private func answer(_ path: String, _ body: String, _ reply: (Command) -> Reply = Mount.reply) -> VendorResponse {
        Mount.answer(Mount.request(path, body), reply)
    }

    private func batch(_ body: String) throws -> UserBatch {
        let commands = try Mount.adapter.decode(Mount.request("/users/track", body), settings: Mount.settings)
        guard case .user(.track(let batch))? = commands.first, commands.count == 1 else {
            throw AdapterError(.invalid, field: "\(commands)")
        }
        return batch
    }

    /// The patch that results from one element of attributes.
    private func patch(_ fields: String) throws -> UserPatch {
        try #require(try batch(#"{"attributes":[{\#(fields)}]}"#).patches.first)
    }

    // MARK: Merging

    // docs/contracts/braze.md#5.2: the status is never 202.
    @Test(.covers("braze", "POST /users/merge")) func aUserIsMergedIntoAnother() throws {
        let request = Mount.request("/users/merge", Self.merges)
        let commands = try Mount.adapter.decode(request, settings: Mount.settings)
        #expect(commands == [.user(.merge([UserMerge(.id("old"), into: .id("u-1"))]))])
        let answer = Mount.answer(request)
        #expect(answer.status == 201 && answer.json == ["message": "success"])
        #expect(answer.header("X-RateLimit-Limit") == "20000")
        let alias = #"{"user_alias":{"alias_name":"a-7","alias_label":"crm"}}"#
        let byAlias = Mount.request("/users/merge", Self.merges.replacing(#"{"external_id":"old"}"#, with: alias))
        let found = try Mount.adapter.decode(byAlias, settings: Mount.settings)
        #expect(found == [.user(.merge([UserMerge(.alias(Self.alias), into: .id("u-1"))]))])
    }

    @Test(arguments: [
        ("{}", "'merge_updates' is not valid"), (#"{"merge_updates":[]}"#, "'merge_updates' is not valid"),
        (#"{"merge_updates":[7]}"#, "'identifier_to_merge' is not valid"),
        (
            #"{"merge_updates":[{"identifier_to_merge":{"external_id":"a"},"identifier_to_keep":{}}]}"#,
            "'identifier_to_keep' is not valid"
        ),
        (
            #"{"merge_updates":[{"identifier_to_merge":{"email":"a@example.com"}}]}"#,
            "'email' is not available on this gateway"
        ),
    ])
    func anInvalidMergeIsRefused(_ body: String, _ text: String) {
        let answer = answer("/users/merge", body)
        #expect(answer.status == 400 && answer.message == text, "\(answer.text)")
    }

    @Test func mergesAreBounded() {
        func body(_ count: Int) -> String {
            let entry = #"{"identifier_to_merge":{"external_id":"a"},"identifier_to_keep":{"external_id":"b"}}"#
            return #"{"merge_updates":[\#(Array(repeating: entry, count: count).joined(separator: ","))]}"#
        }
        #expect(answer("/users/merge", body(50)).status == 201 && answer("/users/merge", body(51)).status == 400)
    }

    // MARK: Tracking

    @Test(.covers("braze", "POST /users/track")) func theDocumentedBatchIsUnderstoodWhole() throws {
        let body = try Self.documented("track.request.txt")
        let batch = try batch(body)
        let first = try #require(batch.patches.first)
        #expect(first.user == .id("u-1") && !first.updatesOnly && first.acceptsPush == true)
        #expect(
            first.changes == [
                AttributeChange("first_name", .set("Mina")), AttributeChange("push_subscribe", .set("opted_in")),
                AttributeChange("loyalty", .increase("5")), AttributeChange("favourites", .append(["A1"])),
                AttributeChange("nickname", .remove),
            ]
        )
        #expect(first.devices.map(\.key) == ["5D9C0000"] && first.devices.map(\.token?.text) == ["0a1b2c0000"])
        #expect(batch.patches.last?.user == nil && batch.patches.last?.devices.first?.derivesKey == true)
        #expect(batch.acts.map(\.user) == [.id("u-1"), .alias(Self.alias)])
        #expect(batch.acts.map(\.kind) == [.event, .purchase])
        #expect(batch.acts.map(\.name) == ["add_to_cart", "A1"])
        #expect(batch.acts.map(\.at.seconds) == [1_767_225_600, 1_767_193_200])
        #expect(batch.acts.first?.data == ["app_id": "11110000", "properties": ["sku": "A1"]])
        #expect(batch.acts.last?.data == ["currency": "KRW", "price": 9900, "quantity": 2])
        // An alias updates existing users only.
        #expect(batch.acts.map(\.updatesOnly) == [false, true])
        let answer = answer("/users/track", body)
        #expect(try answer.fault(against: "users/track.response.txt") == nil)
    }

    // A call that reports facts has the same repeat key every time; a call that only adds may be intended twice.
    @Test func aRepeatIsDetectedByTheReportedActs() throws {
        let body = try Self.documented("track.request.txt")
        let key = try #require(try batch(body).repeatKey)
        #expect(try batch(body).repeatKey == key)
        #expect(try batch(body.replacing("add_to_cart", with: "buy")).repeatKey != key)
        #expect(try batch(#"{"attributes":[{"external_id":"u","n":{"inc":1}}]}"#).repeatKey == nil)
    }

    @Test(arguments: [
        (#""n":{"inc":-2.5}"#, AttributeChange("n", .increase("-2.5"))),
        (#""l":{"remove":["a",1]}"#, AttributeChange("l", .withdraw(["a", 1]))),
        (#""o":{"inc":1,"x":2}"#, AttributeChange("o", .set(["inc": 1, "x": 2]))),
        (#""o":{"x":{"y":null}},"_merge_objects":true"#, AttributeChange("o", .merge(["x": ["y": .null]]))),
        (#""l":["a"]"#, AttributeChange("l", .set(["a"]))), (#""b":false"#, AttributeChange("b", .set(false))),
        (
            #""current_location":{"longitude":1,"latitude":2.5}"#,
            AttributeChange("current_location", .set(["longitude": 1, "latitude": .number("2.5")]))
        ),
        (#""gender":"F""#, AttributeChange("gender", .set("F"))),
        (#""gender":null"#, AttributeChange("gender", .remove)),
        // With an id, the attribute is not a name of the user.
        (#""email":"a@example.com""#, AttributeChange("email", .set("a@example.com"))),
    ])
    func anAttributeIsOneChange(_ fields: String, _ change: AttributeChange) throws {
        #expect(try patch(#""external_id":"u",\#(fields)"#).changes == [change])
    }

    @Test func thePushSubscriptionSetsAcceptsPush() throws {
        for (state, accepts) in [("opted_in", true), ("subscribed", true), ("unsubscribed", false)] {
            #expect(try patch(#""external_id":"u","push_subscribe":"\#(state)""#).acceptsPush == accepts)
        }
        #expect(try patch(#""external_id":"u","push_subscribe":null"#).acceptsPush == nil)
    }

    @Test func theNameAndTheFlagDecideWhetherAUserIsCreated() throws {
        let alias = #""user_alias":{"alias_name":"a-7","alias_label":"crm"}"#
        #expect(try patch(alias).user == .alias(Self.alias) && patch(alias).updatesOnly)
        #expect(try !patch(alias + #","_update_existing_only":false"#).updatesOnly)
        #expect(try patch(#""external_id":"u","_update_existing_only":true"#).updatesOnly)
        #expect(try patch(#""external_id":"u","user_alias":null"#).user == .id("u"))
    }

    private static let token = #""push_tokens":[{"app_id":"a","token":"0a1b"}]"#

    @Test(arguments: [
        (#""push_tokens":[]"#, who), (#""first_name":"Mina""#, who), (#""push_token_import":false,\#(token)"#, who),
        (#""external_id":"""#, "'external_id' is not valid"), (#""external_id":7"#, "'external_id' is not valid"),
        (#""external_id":"u","user_alias":{"alias_name":"a","alias_label":"l"}"#, "'user_alias' is not valid"),
        (#""user_alias":{"alias_name":"a"}"#, "'user_alias' is not valid"),
        (#""braze_id":"b""#, "'braze_id' is not available on this gateway"),
        (#""email":"a@example.com""#, "'email' is not available on this gateway"),
        (#""external_id":"u","push_tokens":[]"#, "'push_tokens' is not valid"),
        (#""external_id":"u","push_tokens":[{"app_id":"a","token":"f:APA"}]"#, "'token' is not valid"),
        (#""external_id":"u","push_tokens":[{"token":"0a1b"}]"#, "'app_id' is not valid"),
        (#""external_id":"u","push_tokens":[{"app_id":"a","token":"0a1b","device_id":7}]"#, "'device_id' is not valid"),
        (#""push_token_import":true"#, "'push_tokens' is not valid"),
        (#""push_token_import":true,"external_id":"u",\#(token)"#, "'external_id' is not valid"),
        (#""external_id":"u","gender":"X""#, "'gender' is not valid"),
        (#""external_id":"u","push_subscribe":"yes""#, "'push_subscribe' is not valid"),
        (#""external_id":"u","first_name":7"#, "'first_name' is not valid"),
        (#""external_id":"u","current_location":{"longitude":1}"#, "'current_location' is not valid"),
        (#""external_id":"u","n":{"inc":"1"}"#, "'n' is not valid"),
        (#""external_id":"u","l":{"add":1}"#, "'l' is not valid"),
        (#""external_id":"u","$x":1"#, "'$x' is not valid"), (#""external_id":"u","":1"#, "'' is not valid"),
        (#""external_id":"u","l":{"$add":[{"id":1}]}"#, "'l' is not available on this gateway"),
        (#""external_id":"u","_merge_objects":1"#, "'_merge_objects' is not valid"),
        (
            #""external_id":"u","subscription_groups":[{"subscription_group_id":"g","subscription_state":"opted_in"}]"#,
            "'subscription_groups' is not valid"
        ),
    ])
    func anInvalidElementIsRefusedCompletely(_ fields: String, _ text: String) {
        let answer = answer("/users/track", #"{"attributes":[{\#(fields)}]}"#)
        #expect(answer.status == 400)
        #expect(answer.message == "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields.")
        #expect(
            answer.json?["errors"] == [["type": .string(text), "input_array": "attributes", "index": 0]],
            "\(answer.text)"
        )
    }

    @Test(arguments: [
        ("events", #""name":"","time":"2026-01-01T00:00:00Z""#, "name"), ("events", #""name":"e""#, "time"),
        ("events", #""name":"e","time":"yesterday""#, "time"),
        ("events", #""name":"e","time":"2026-01-01T00:00:00Z","properties":[]"#, "properties"),
        ("events", #""name":"$e","time":"2026-01-01T00:00:00Z""#, "name"),
        ("purchases", #""time":"2026-01-01T00:00:00Z""#, "product_id"),
        ("purchases", #""product_id":"p","currency":"WON!","price":1,"time":"2026-01-01T00:00:00Z""#, "currency"),
        ("purchases", #""product_id":"p","currency":"KRW","price":"1","time":"2026-01-01T00:00:00Z""#, "price"),
        (
            "purchases", #""product_id":"p","currency":"KRW","price":1,"quantity":0,"time":"2026-01-01T00:00:00Z""#,
            "quantity"
        ),
    ])
    func anInvalidActIsRefusedCompletely(_ array: String, _ fields: String, _ field: String) {
        let answer = answer("/users/track", #"{"\#(array)":[{"external_id":"u",\#(fields)}]}"#)
        #expect(answer.status == 400)
        #expect(
            answer.json?["errors"]
                == [["type": .string("'\(field)' is not valid"), "input_array": .string(array), "index": 0]],
            "\(answer.text)"
        )
    }

    // docs/contracts/braze.md#5.1, partial error: event 1 has no id.
    @Test func someElementsAreInvalid() throws {
        let time = #""time":"2026-01-01T00:00:00Z""#
        let body = #"{"events":[{"external_id":"u","name":"e",\#(time)},{"name":"e",\#(time)}]}"#
        let answer = answer("/users/track", body)
        #expect(answer.status == 201)
        #expect(
            answer.json == (try JSONParser.parse(try Fixture.text("users/partial.response.json"))),
            "\(answer.text)"
        )
    }

    @Test func aRefusalOfTheModelIsAnErrorOfItsElement() throws {
        let body = try Self.documented("track.request.txt")
        let answer = answer("/users/track", body) { _ in
            .user(
                .tracked(
                    patches: [.invalid("attributes.loyalty"), .invalid("token")],
                    acts: [.invalid("data"), .invalid("name")]
                )
            )
        }
        #expect(answer.status == 400 && answer.message == BrazeText.noData)
        let texts = answer.json?["errors"]?.array?.compactMap { $0["type"]?.string }
        #expect(
            texts == [
                "'loyalty' is not valid", "'push_tokens' is not valid", "'properties' is not valid",
                "'product_id' is not valid",
            ]
        )
        #expect(self.answer("/users/track", body) { _ in .refused(.unavailable(retryAfter: nil)) }.status == 503)
        #expect(self.answer("/users/track", body) { _ in .refused(.unknownBinding) }.status == 401)
        #expect(self.answer("/users/track", body) { _ in .user(.tracked(patches: [], acts: [])) }.status == 503)
    }

    // docs/contracts/braze.md#4.4, docs/contracts/braze.md#5.11: 76 attributes. One element less is answered.
    @Test func arraysHaveALimit() throws {
        for name in ["attributes", "events", "purchases"] {
            let many = Array(repeating: "{}", count: 76).joined(separator: ",")
            let answer = answer("/users/track", #"{"\#(name)":[\#(many)]}"#)
            #expect(try answer.fault(against: "users/tooMany.response.txt") == nil)
            let fewer = self.answer("/users/track", #"{"\#(name)":[\#(many.dropLast(3))]}"#)
            #expect(fewer.message == BrazeText.noData)
        }
        for (count, status) in [(50, 201), (51, 400)] {
            let tokens = Array(repeating: #"{"app_id":"a","token":"0a1b"}"#, count: count).joined(separator: ",")
            let element = #"{"external_id":"u","push_tokens":[\#(tokens)]}"#
            #expect(answer("/users/track", #"{"attributes":[\#(element),\#(element)]}"#).status == status)
        }
    }

    // MARK: Names and ends

    @Test(.covers("braze", "POST /users/delete")) func theDocumentedDeleteIsAnswered() throws {
        let body = try Self.documented("delete.request.txt")
        #expect(try JSONParser.parse(body) == JSONParser.parse(Self.documented("delete.request.json")))
        let command = try Mount.adapter.decode(Mount.request("/users/delete", body), settings: Mount.settings)
        #expect(command == [.user(.erase([.id("u-1"), .id("u-2")]))])
        let answer = answer("/users/delete", body)
        #expect(try answer.fault(against: "users/delete.response.txt") == nil)
        #expect(self.answer("/users/delete", "{}").status == 400)
        #expect(self.answer("/users/delete", #"{"braze_ids":["b"]}"#).status == 400)
        let many = (0..<51).map { "\"\($0)\"" }.joined(separator: ",")
        #expect(self.answer("/users/delete", #"{"external_ids":[\#(many)]}"#).message == BrazeText.tooManyRecipients)
    }

    @Test(.covers("braze", "POST /users/alias/new", "POST /users/identify")) func aliasesAreGivenAndIdentified() throws
    {
        let named = try Mount.adapter.decode(Mount.request("/users/alias/new", Self.aliases), settings: Mount.settings)
        #expect(named == [.user(.name([NamedUser(user: "u-1", alias: Self.alias)]))])
        #expect(answer("/users/alias/new", Self.aliases).json == ["aliases_processed": 1, "message": "success"])
        let anonymous = #"{"user_aliases":[{"alias_name":"a","alias_label":"l"}]}"#
        #expect(answer("/users/alias/new", anonymous).status == 201)
        let request = Mount.request("/users/identify", Self.identities)
        let identified = try Mount.adapter.decode(request, settings: Mount.settings)
        #expect(identified == [.user(.identify([NamedUser(user: "u-1", alias: Self.alias)]))])
        #expect(Mount.answer(request).json == ["aliases_processed": 1, "message": "success"])
        for (path, body) in [
            ("/users/alias/new", "{}"), ("/users/alias/new", #"{"user_aliases":[{"alias_name":"a"}]}"#),
            ("/users/identify", #"{"aliases_to_identify":[{"user_alias":{"alias_name":"a","alias_label":"l"}}]}"#),
            ("/users/identify", #"{"emails_to_identify":[{"external_id":"u","email":"a@example.com"}]}"#),
        ] {
            #expect(answer(path, body).status == 400, "\(path) \(body)")
        }
    }

    @Test func aSendReachesAliases() throws {
        let body =
            #"{"external_user_ids":["u-1"],"user_aliases":[{"alias_name":"a-7","alias_label":"crm"}],"messages":{"apple_push":{"alert":"Hi"}}}"#
        let submission = try Mount.submission(Mount.request("/messages/send", body))
        #expect(submission.naming == .names)
        #expect(submission.audience == .users(["u-1", UserName.alias(Self.alias).text]))
        #expect(try Mount.submission(Mount.send(#"{"alert":"Hi"}"#)).naming == .users)
    }

    @Test func eachCallHasItsOwnPermission() {
        for (path, body) in [("/users/delete", "{}"), ("/users/export/ids", "{}"), ("/users/identify", "{}")] {
            #expect(Mount.answer(Mount.request(path, body, key: Mount.trackKey)).status == 401, "\(path)")
        }
    }
}
