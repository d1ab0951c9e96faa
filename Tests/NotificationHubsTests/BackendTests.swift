import Coverage
import Foundation
import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// The back end of the tutorial (docs/contracts/notificationhubs.md#10): an ASP.NET site that the tutorial's app
/// calls.
struct BackendTests {
    static let id = "7260336227650468927-4200236381151834034-1"

    static func basic(_ name: String, _ password: String) -> String {
        "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
    }

    static func request(
        _ method: HTTPRequest.Method,
        _ path: String,
        query: String? = nil,
        _ body: String = "",
        as user: String? = basic("mina", "mina")
    ) -> VendorRequest {
        Mount.request(method, path, query: query, body, authorization: user)
    }

    /// A documented request. Requests without a name and password are mina's.
    static func documented(_ name: String) throws -> VendorRequest {
        var request = try Fixture.request("backend/\(name)")
        let shown = try Fixture.message("backend/\(name)").headers.first { $0.0 == "Authorization" }?.1
        request.headers[.authorization] = shown ?? basic("mina", "mina")
        return request
    }

    private func submission(_ request: VendorRequest) throws -> Submission {
        guard case .submission(.submit(let submission)) = try Mount.command(request) else { throw Failure() }
        return submission
    }

    private struct Failure: Error {}

    // MARK: Callers

    // The name without case, as passwords are found; the credential itself as received.
    @Test func thePasswordOfAUserIsAProof() {
        let text = "Basic \(Data("Hong:wrong".utf8).base64EncodedString())"
        let request = Mount.request(.post, "/site/api/register", authorization: text)
        #expect(Mount.adapter.proof(of: request) == CallProof(text, keyName: "site/hong"))
        for text in ["Basic", "Basic !", Signer().header] {
            #expect(Mount.adapter.proof(of: Mount.request(.post, "/site/api/register", authorization: text)) == nil)
        }
    }

    @Test func aBindingIsFoundByItsPrefix() throws {
        let root = try Mount.adapter.locate(Self.documented("register.request.txt"))
        #expect(root.0.kind == "appbackend" && root.0.value == "api" && root.0.host == "gw.example.com")
        let below = try Mount.adapter.locate(Self.request(.get, "/Backend/API/Notifications/0"))
        #expect(below.0.value == "backend")
    }

    @Test(arguments: [
        nil, "", "Basic", "Basic !", "Bearer abc", BackendTests.basic("mina", "hong"), BackendTests.basic("", ""),
        BackendTests.basic("a b", "a b"), BackendTests.basic("hong", "hong"), BackendTests.basic("hong", "gildon"),
        // User names compare without case, like the tags that they become.
        BackendTests.basic("HONG", "HONG"), BackendTests.basic("Hong", "gildon"),
    ])
    func anUnknownUserGetsAChallenge(_ authorization: String?) {
        let answer = Mount.answer(Self.request(.get, "/api/notifications/0", as: authorization))
        #expect(answer.status == 401)
        #expect(answer.header("WWW-Authenticate") == "Basic realm=\"AppBackend\"")
    }

    /// iOS breaks base64 into lines (docs/contracts/notificationhubs.md#10.1).
    @Test func nameAndPasswordMayHaveLineBreaks() throws {
        let request = Self.request(.post, "/api/register", as: "Basic aG9uZzpn\r\n aWxkb25n")
        #expect(try Mount.command(request) == .registration(.drawKey))
    }

    @Test func userNamesAreCaseInsensitive() throws {
        let request = Self.request(.get, "/api/notifications/0", as: Self.basic("Hong", "gildong"))
        #expect(try Mount.command(request) == .media(.image(number: "1", owner: "hong")))
    }

    @Test func withoutTheTutorialsRuleAPasswordIsNeeded() throws {
        var settings = Mount.settings
        settings.values["appBackend"] = ["image": .string(Mount.image)]
        let request = Self.request(.post, "/api/register")
        #expect(throws: AdapterError(.unauthorized)) { try Mount.adapter.decode(request, settings: settings) }
        let known = Self.request(.post, "/api/register", as: Self.basic("hong", "gildong"))
        #expect(try Mount.adapter.decode(known, settings: settings).count == 1)
    }

    // MARK: Registrations

    @Test(.covers("notificationhubs", "POST /api/register")) func anIDComesAsAStringWithQuotes() throws {
        let store = StoredRegistrations()
        let answer = store.answer(try Self.documented("register.request.txt"))
        let documented = try Fixture.message("backend/register.response.txt")
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == documented.headers.first { $0.0 == "Content-Type" }?.1)
        #expect(answer.text.hasPrefix("\"") && answer.text.hasSuffix("-1\""))
        #expect(answer.text.count > 10)
    }

    @Test(.covers("notificationhubs", "PUT /api/register/{id}")) func aDeviceIsItsUsersAndNobodyElses() throws {
        let store = StoredRegistrations()
        #expect(store.answer(try Self.documented("put.request.txt")).status == 200)
        let made = try #require(store.registered.first)
        #expect(made.key == VendorDeviceKey("r/\(Self.id)"))
        #expect(made.token == DeviceToken(apns: Fixture.token))
        #expect(Set(made.tags ?? []) == Set(["seoul", "username:mina"].compactMap { Tag($0) } + [Tag(Platform.ios)]))
        // A user tag that the device itself sends is ignored; names of properties have any case.
        let body = #"{"platform":"APNS","handle":"\#(Fixture.token)","tags":["username:hong","Username:hong","a"]}"#
        #expect(store.answer(Self.request(.put, "/api/register/\(Self.id)", body)).status == 200)
        let tags = store.registered.last?.tags ?? []
        #expect(tags.contains { $0 == Tag("username:mina") } && !tags.contains { $0 == Tag("username:hong") })
    }

    @Test func aKnownHandleKeepsOneID() throws {
        let store = StoredRegistrations()
        let body = #"{"Platform":"apns","Handle":"\#(Fixture.token)","Tags":null}"#
        for id in ["2-2-1", "1-1-1", "3-3-1"] {
            #expect(store.answer(Self.request(.put, "/api/register/\(id)", body)).status == 200)
        }
        let request = Self.request(.post, "/api/register", query: "handle=\(Fixture.token)")
        #expect(store.answer(request).text == "\"1-1-1\"")
        let left = store.standings.filter { $0.value.state == .active }.map(\.key.rawValue)
        #expect(left == ["r/1-1-1"])
        #expect(store.answer(request).text == "\"1-1-1\"")
    }

    // MARK: Owners

    /// Another user neither overwrites, nor deletes, nor finds a registration, even with its id or its handle.
    @Test func aRegistrationBelongsToItsUser() throws {
        let store = StoredRegistrations()
        #expect(store.answer(try Self.documented("put.request.txt")).status == 200)
        let key = Registration.key(Self.id)
        let stored = try #require(store.standings[key])
        let hong = Self.basic("hong", "gildong")
        let other = String(repeating: "ab", count: 32)
        let body = #"{"Platform":"apns","Handle":"\#(other)","Tags":null}"#
        // 410, so that the app of the other user requests an id of its own.
        #expect(store.answer(Self.request(.put, "/api/register/\(Self.id)", body, as: hong)).status == 410)
        #expect(store.answer(Self.request(.delete, "/api/register/\(Self.id)", as: hong)).status == 200)
        #expect(store.standings[key] == stored)
        let query = "handle=\(Fixture.token)"
        let found = store.answer(Self.request(.post, "/api/register", query: query, as: hong))
        #expect(found.status == 200 && found.text != "\"\(Self.id)\"")
        #expect(store.standings[key] == stored)
        // Names that differ only in case are one user.
        let mina = Self.basic("MINA", "MINA")
        #expect(store.answer(Self.request(.post, "/api/register", query: query, as: mina)).text == "\"\(Self.id)\"")
        #expect(store.answer(Self.request(.put, "/api/register/\(Self.id)", body, as: mina)).status == 200)
        #expect(store.answer(Self.request(.delete, "/api/register/\(Self.id)", as: mina)).status == 200)
        #expect(store.standings[key]?.state == .unregistered)
    }

    /// The hub's own registrations have no user of this back end.
    @Test func aRegistrationOfTheHubIsNotAUsers() throws {
        let store = StoredRegistrations()
        let atom = try Fixture.request("registrations/put.request.txt")
        #expect(store.answer(atom).status == 200)
        let body = #"{"Platform":"apns","Handle":"\#(Fixture.token)","Tags":null}"#
        let id = try #require(atom.path.split(separator: "/").last)
        #expect(store.answer(Self.request(.put, "/api/register/\(id)", body)).status == 410)
        let found = store.answer(Self.request(.post, "/api/register", query: "handle=\(Fixture.token)"))
        #expect(found.text != "\"\(id)\"")
    }

    @Test(.covers("notificationhubs", "DELETE /api/register/{id}")) func whatWasDeletedIsGone() throws {
        let store = StoredRegistrations()
        let put = try Self.documented("put.request.txt")
        #expect(store.answer(put).status == 200)
        #expect(store.answer(Self.request(.delete, "/api/register/\(Self.id)")).status == 200)
        #expect(store.answer(put).status == 410)
        #expect(store.answer(Self.request(.delete, "/api/register/\(Self.id)")).status == 200)
    }

    @Test func aConflictingWriteIsRetried() throws {
        let store = StoredRegistrations()
        store.conflicts = 1
        #expect(store.answer(try Self.documented("put.request.txt")).status == 200)
    }

    @Test(arguments: [
        ("", 400), ("[]", 400), ("{}", 400), (#"{"Platform":"wns","Handle":"aa"}"#, 400),
        (#"{"Platform":"apns"}"#, 400), (#"{"Platform":"apns","Handle":"zz"}"#, 400),
        (#"{"Platform":"apns","Handle":"\#(Fixture.token)","Tags":"a"}"#, 400),
        (#"{"Platform":"apns","Handle":"\#(Fixture.token)","Tags":["a b"]}"#, 400),
    ])
    func anInvalidRegistrationIsRefused(_ body: String, _ status: Int) {
        #expect(StoredRegistrations().answer(Self.request(.put, "/api/register/\(Self.id)", body)).status == status)
    }

    // MARK: Pushes

    @Test(.covers("notificationhubs", "POST /api/notifications")) func aTextGoesToAUsersDevices() throws {
        let submission = try submission(Self.documented("push.request.txt"))
        #expect(submission.content.raw == ["aps": ["alert": "From mina: Hello"]])
        let expected = try TagExpression("username:mina || from:mina").narrowed(to: Tag(Platform.ios))
            .excluding(.onlyVariants)
        #expect(submission.audience == .tags(expected))
        #expect(submission.timing.timeToLive == .seconds(1800))
        let quoted = Self.request(.post, "/api/notifications", query: "pns=apns&to_tag=hong", #""say \"hi\"""#)
        #expect(try self.submission(quoted).content.raw == ["aps": ["alert": "From mina: say \"hi\""]])
        let answer = Mount.answer(quoted) { _ in .submission(.accepted(Mount.message, recipients: nil)) }
        #expect(answer.status == 200 && answer.body.isEmpty)
    }

    @Test(arguments: ["pns=wns&to_tag=mina", "pns=apns", "pns=apns&to_tag=", "to_tag=a%20b", "pns="])
    func aTextWithoutRecipientsIsRefused(_ query: String) {
        #expect(Mount.answer(Self.request(.post, "/api/notifications", query: query, "\"x\"")).status == 400)
    }

    /// The payload of docs/contracts/notificationhubs.md#7.1, which the tutorial creates word for word.
    @Test func aRichPushNamesItsNotification() throws {
        let submission = try submission(Self.request(.post, "/api/notifications"))
        #expect(submission.content.media == MediaReference(id: "", hash: Mount.image))
        #expect(submission.content.isSilent && submission.numbering != nil)
        let mina = try TagExpression("username:mina").narrowed(to: Tag(Platform.ios)).excluding(.onlyVariants)
        #expect(submission.audience == .tags(mina))
        let notification = Notification(
            message: Mount.message,
            origin: .notificationHubs,
            content: submission.content,
            sentAt: Mount.now,
            numbers: [.notificationHubs: "1"]
        )
        let facts = TargetFacts(
            target: TargetID(rawValue: Mount.message.rawValue),
            identity: IdentityID(Mount.message.rawValue),
            device: nil,
            app: "shop",
            vendor: .notificationHubs,
            key: "r/1-1-1",
            destination: PushDestination(
                platform: .ios,
                environment: .production,
                token: DeviceToken(apns: Fixture.token),
                tokenState: .active
            )
        )
        let push = try Mount.adapter.payload(for: notification, to: facts, settings: Mount.settings)
        let text = try Fixture.text("messages/rich.push.txt")
        let document = try #require(text.firstRange(of: "{").map { String(text[$0.lowerBound...]) })
        #expect(try JSONParser.parse(push.bytes) == JSONParser.parse(document))
        #expect(push.type == .background && push.priority == 5)
        // Lists of messages and the search have the text; a device of another dialect gets a silent push without it.
        #expect(submission.content.body == "Check this image out!")
        let elsewhere = try Mount.adapter.normalized(notification, for: facts).content
        #expect(elsewhere.body.isEmpty && elsewhere.isSilent && elsewhere.media == submission.content.media)
    }

    @Test func aRichPushMayNameAnotherImage() throws {
        let hash = String(repeating: "ab", count: 32)
        let body = #"{"image":"\#(hash.uppercased())","message":"Look","type":"coupon"}"#
        let submission = try submission(Self.request(.post, "/api/notifications", body))
        #expect(submission.content.media?.hash == hash)
        #expect(submission.content.data["richMessage"] == "Look" && submission.content.data["richType"] == "coupon")
        #expect(submission.content.body == "Look")
    }

    @Test(.covers("notificationhubs", "GET /api/notifications")) func anImageComesWithItsType() throws {
        let request = try Self.documented("image.request.txt")
        #expect(try Mount.command(request) == .media(.image(number: "1", owner: "mina")))
        let answer = Mount.answer(request) { _ in .media(.bytes([0x89, 0x50], contentType: "image/png")) }
        let documented = try Fixture.message("backend/image.response.txt")
        #expect(answer.status == 200 && answer.body == [0x89, 0x50])
        #expect(answer.header("Content-Type") == documented.headers.first { $0.0 == "Content-Type" }?.1)
        #expect(Mount.answer(request) { _ in .refused(.unknownMedia) }.status == 404)
    }

    @Test(arguments: [("x", 400), ("-1", 400), ("2147483648", 400), ("99999999999999999999", 400)])
    func anInvalidIDIsRefused(_ id: String, _ status: Int) {
        #expect(Mount.answer(Self.request(.get, "/api/notifications/\(id)")).status == status)
    }

    @Test func missingPagesAreAnsweredLikeASite() {
        #expect(Mount.answer(Self.request(.get, "/api/register")).status == 405)
        #expect(Mount.answer(Self.request(.get, "/api/notifications/1/2")).status == 404)
        let unknown = Mount.answer(Self.request(.get, "/other/api/notifications/1"))
        #expect(unknown.status == 404 && unknown.header("Content-Type") == "application/json; charset=utf-8")
    }
}
