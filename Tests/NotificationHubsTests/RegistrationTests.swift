import Coverage
import HTTPTypes
import Model
import TestKit
import Testing

@testable import NotificationHubs

/// Registrations as Atom (docs/contracts/notificationhubs.md#5), with an in-memory store.
struct RegistrationTests {
    static let path = "/hub1/registrations/123-234-1"

    /// The documented description of a registration by template, with the given token.
    static func template(_ token: String = Fixture.token) throws -> String {
        try Fixture.text("registrations/template.xml").replacing("0A1B2C…", with: token)
    }

    private func native(_ token: String = Fixture.token, tags: String = "") -> String {
        "<AppleRegistrationDescription><Tags>\(tags)</Tags><DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>"
    }

    private func put(_ body: String, _ path: String = Self.path, match: String? = nil, at time: Timestamp = Mount.now)
        -> VendorRequest
    {
        Mount.request(.put, path, headers: match.map { ["If-Match": $0] } ?? [:], body, at: time)
    }

    /// docs/contracts/notificationhubs.md#5.2, byte for byte.
    @Test(.covers("notificationhubs", "PUT /{hub}/registrations/{id}", "GET /{hub}/registrations/{id}"))
    func theDocumentedRegistrationIsAnsweredAsDocumented() throws {
        let store = StoredRegistrations()
        let answer = store.answer(try Fixture.request("registrations/put.request.txt"))
        #expect(try answer.fault(against: "registrations/put.response.txt") == nil)
        #expect(answer.header("ETag") == "W/\"1\"")
        let stored = try #require(store.registered.first)
        #expect(
            stored.attributes[DeviceRegistration.sharingAttribute] == true
                && stored.token == DeviceToken(apns: Fixture.token)
        )
        #expect(Set(stored.tags ?? []) == Set([Tag("seoul"), Tag("shop:vip"), Tag(Platform.ios)].compactMap(\.self)))
        let request = Mount.request(.get, Self.path, query: "api-version=2017-04")
        #expect(try store.answer(request).fault(against: "registrations/put.response.txt") == nil)
    }

    /// docs/contracts/notificationhubs.md#5.1.
    @Test(.covers("notificationhubs", "POST /{hub}/registrationids")) func aNewIdIsTheLastPartOfTheLocation() throws {
        let answer = StoredRegistrations().answer(try Fixture.request("registrations/newid.request.txt"))
        #expect(answer.status == 201 && answer.body.isEmpty)
        let documented = try Fixture.message("registrations/newid.response.txt").headers.first { $0.0 == "Location" }?.1
        func form(_ text: String) -> String { text.replacing(/[0-9]{10,}-[0-9]{10,}-1/, with: "id") }
        let location = try #require(answer.header("Location"))
        #expect(form(location) == form(try #require(documented)))
        #expect(form(location).contains("/registrationids/id?"))
    }

    /// docs/contracts/notificationhubs.md#5.2: the template's own elements, in their order.
    @Test func theDocumentedTemplateIsReturned() throws {
        let store = StoredRegistrations()
        let id = "4497227228776861650-7267172778370643468-3"
        let answer = store.answer(put(try Self.template(), "/hub1/registrations/\(id)"))
        #expect(answer.status == 200)
        let wanted = try Self.template().split(separator: "\n").joined()
        #expect(answer.text.contains(wanted), "\(answer.text)")
        let tags = Set(store.registered.first?.tags ?? [])
        #expect(tags.isSuperset(of: [.hasVariants, .onlyVariants]))
        let stored = try #require(store.registered.first?.attributes)
        #expect(stored[Variants.attribute]?.object?.pairs.map { $0.key } == ["news"])
        #expect(stored["templates"]?["news"]?["priority"] == "10")
    }

    @Test func olderClientsNameTheKindInAnAttribute() {
        let body =
            "<RegistrationDescription xmlns:i='u' i:type='AppleRegistrationDescription'>"
            + "<DeviceToken>\(Fixture.token)</DeviceToken></RegistrationDescription>"
        #expect(StoredRegistrations().answer(put(body)).status == 200)
    }

    @Test func versionsCountUpAndMustAgree() throws {
        let store = StoredRegistrations()
        #expect(store.answer(put(native(), match: "*")).status == 404, "nothing to update")
        #expect(store.answer(put(native())).header("ETag") == "W/\"1\"")
        #expect(store.answer(put(native(), match: "\"1\"")).header("ETag") == "W/\"2\"")
        let late = store.answer(put(native(), match: "W/\"1\""))
        #expect(try late.fault(against: "registrations/mismatch.response.txt") == nil)
        #expect(store.answer(put(native(), match: "*")).header("ETag") == "W/\"3\"")
        #expect(store.answer(put(native())).header("ETag") == "W/\"4\"")
        let wrong = Mount.request(.delete, Self.path, headers: ["If-Match": "\"1\""])
        #expect(store.answer(wrong).status == 412)
    }

    @Test func aConflictIsRetriedAndThenReported() {
        let store = StoredRegistrations()
        _ = store.answer(put(native()))
        store.conflicts = 2
        #expect(store.answer(put(native())).header("ETag") == "W/\"2\"")
        store.conflicts = 9
        #expect(store.answer(put(native())).status == 503)
    }

    @Test(.covers("notificationhubs", "DELETE /{hub}/registrations/{id}")) func whatWasDeletedIsGoneForADay() throws {
        let store = StoredRegistrations()
        _ = store.answer(put(native()))
        let delete = Mount.request(.delete, Self.path, headers: ["If-Match": "*"])
        let deleted = store.answer(delete)
        #expect(deleted.status == 200 && deleted.body.isEmpty)
        #expect(store.answer(delete).status == 404)
        let missing = store.answer(Mount.request(.get, Self.path))
        #expect(missing.status == 404 && missing.detail == "")
        #expect(try store.answer(put(native())).fault(against: "registrations/gone.response.txt") == nil)
        #expect(store.answer(put(native(), at: Mount.now + .seconds(86_399))).status == 410)
        #expect(store.answer(put(native(), at: Mount.now + .seconds(86_400))).header("ETag") == "W/\"1\"")
    }

    @Test func aRegistrationWithAnInvalidTokenIsHiddenUntilItRegistersAgain() {
        let store = StoredRegistrations()
        _ = store.answer(put(native()))
        store.expire(Registration.key("123-234-1"))
        #expect(store.answer(Mount.request(.get, Self.path)).status == 404)
        #expect(store.answer(put(native())).status == 200)
        #expect(store.answer(Mount.request(.get, Self.path)).status == 200)
    }

    @Test(.covers("notificationhubs", "POST /{hub}/registrations")) func aRegistrationWithoutAnIdGetsOne() throws {
        let store = StoredRegistrations()
        let answer = store.answer(Mount.request(.post, "/hub1/registrations", native()))
        #expect(answer.status == 200)
        let place = try #require(answer.header("Content-Location"))
        let id = try #require(place.split(separator: "/").last)
        #expect(answer.text.contains("<RegistrationId>\(id)</RegistrationId>"))
        #expect(store.answer(Mount.request(.get, "/hub1/registrations/\(id)")).status == 200)
    }

    @Test(arguments: [
        ("", "The body is not XML"), ("<!DOCTYPE a><a/>", "The body is not XML"), ("<entry/>", "content is missing"),
        (
            "<WindowsRegistrationDescription/>",
            "The registration 'WindowsRegistrationDescription' is not available on this gateway"
        ),
        ("<AppleRegistrationDescription/>", "Device token is either empty OR it has odd number of nibbles"),
        (
            "<AppleRegistrationDescription><DeviceToken>xy</DeviceToken></AppleRegistrationDescription>",
            "One or more characters in device token is not a hexadecimal digit"
        ),
        (
            "<AppleRegistrationDescription><Tags>$a</Tags><DeviceToken>ab</DeviceToken></AppleRegistrationDescription>",
            "Tags can not start with $"
        ),
        (
            "<AppleRegistrationDescription><Tags>a b</Tags><DeviceToken>ab</DeviceToken></AppleRegistrationDescription>",
            "The tag 'a b' is not valid"
        ),
        (
            "<AppleRegistrationDescription><Tags>$UserId:{a},$UserId:{b}</Tags><DeviceToken>ab</DeviceToken></AppleRegistrationDescription>",
            "There may be one installation and one user"
        ),
        (
            "<AppleTemplateRegistrationDescription><DeviceToken>ab</DeviceToken></AppleTemplateRegistrationDescription>",
            "BodyTemplate is missing"
        ),
        (
            "<AppleTemplateRegistrationDescription><DeviceToken>ab</DeviceToken><BodyTemplate>{}</BodyTemplate><Priority>256</Priority></AppleTemplateRegistrationDescription>",
            "The value of Priority is not valid"
        ),
        (
            "<AppleTemplateRegistrationDescription><DeviceToken>ab</DeviceToken><BodyTemplate>{}</BodyTemplate><Expiry> </Expiry></AppleTemplateRegistrationDescription>",
            "The value of Expiry is empty"
        ),
    ])
    func aWrongDescriptionIsRefusedWithItsReason(_ body: String, _ detail: String) {
        let answer = StoredRegistrations().answer(put(body))
        #expect(answer.status == 400)
        #expect(answer.detail == detail)
    }

    // MARK: Ids of the gateway and of the vendor

    @Test func anIDOfTheGatewayIsRecognized() {
        for digit in "0123456789abcdef" {
            let digits = String(repeating: digit, count: 16) + String(repeating: "5a", count: 8)
            let id = Registration.id(drawn: digits)
            #expect(Registration.isDrawn(id), "\(id)")
            #expect(Installation.isIdentifier(id), "\(id)")
            #expect(id.split(separator: "-").count == 3 && id.hasSuffix("-1"), "\(id)")
        }
        let others = ["7260336227650468927-4200236381151834034-1", "123-234-1", "1-1-1", "1-1", "", "a-b-1", "1-2-3-1"]
        for id in others { #expect(!Registration.isDrawn(id), "\(id)") }
    }

    // docs/routing.md#calls-that-are-forwarded
    @Test(arguments: [(nil, true), ("*", true), ("W/\"1\"", false), ("\"1\"", false)] as [(String?, Bool)])
    func aCallForOneVersionIsNotForwarded(_ match: String?, _ isForwarded: Bool) throws {
        let headers = match.map { ["If-Match": $0] } ?? [:]
        let delete = Mount.request(.delete, Self.path, headers: headers)
        #expect(Mount.adapter.mayForward(put(native(), match: match)) == isForwarded)
        #expect(Mount.adapter.mayForward(delete) == isForwarded)
        let own = "/hub1/registrations/" + Registration.id(drawn: String(repeating: "c1", count: 16))
        #expect(!Mount.adapter.mayForward(Mount.request(.put, own, headers: headers, native())))
    }

    // It is not stored with a forwarded call.
    @Test func aForwardedDeletionNamesEveryVersion() throws {
        let delete = Mount.request(.delete, Self.path, authorization: nil)
        let authorized = Mount.adapter.authorized(delete, for: OldHub.upstream)
        #expect(OldHub.header("If-Match", of: authorized) == "*")
        let leaving = Mount.adapter.prepare(authorized, for: OldHub.upstream, host: OldHub.host, at: Mount.now)
        #expect(OldHub.header("If-Match", of: try #require(leaving)) == "*")
        let write = Mount.adapter.authorized(put(native()), for: OldHub.upstream)
        #expect(OldHub.header("If-Match", of: write) == nil)
    }

    // MARK: Lists

    private func ids(_ text: String) -> [String] {
        text.split(separator: "<RegistrationId>").dropFirst().compactMap {
            $0.split(separator: "<").first.map(String.init)
        }
    }

    /// docs/contracts/notificationhubs.md#11: five rows, two per page. An installation with a template counts as two
    /// of six.
    @Test(.covers("notificationhubs", "GET /{hub}/registrations")) func aListIsWalkedPageByPage() throws {
        let store = StoredRegistrations()
        let first = Array(1...4).map { "\($0)-1-1" }
        for id in first { _ = store.answer(put(native(tags: "t\(id.prefix(1))"), "/hub1/registrations/\(id)")) }
        store.put(
            "phone",
            IdentityStanding(
                state: .active,
                token: DeviceToken(apns: "ab12"),
                user: nil,
                attributes: ["platform": "apns", "tags": ["seoul"], "templates": ["news": ["body": "{}"]]]
            )
        )
        var seen: [String] = []
        var query = "api-version=2017-04&$top=2"
        for page in 1...3 {
            let answer = store.answer(Mount.request(.get, "/hub1/registrations", query: query))
            #expect(answer.status == 200)
            let root = try XMLReader.read(answer.body)
            #expect(root.child("title")?.text == "Registrations")
            #expect(root.children.filter { $0.name == "entry" }.count == 2, "page \(page)")
            seen += ids(answer.text)
            let links = root.children.filter { $0.name == "link" }.map { $0.attributes["rel"] ?? "" }
            guard let token = answer.header("x-ms-continuationtoken") else {
                #expect(page == 3 && links == ["self"])
                break
            }
            #expect(links == ["self", "next"])
            query = "api-version=2017-04&$top=2&continuationtoken=\(token)"
        }
        #expect(Set(seen).count == 6 && seen.count == 6, "\(seen)")
        #expect(Set(seen).isSuperset(of: first))
        let documented = try Fixture.message("registrations/list.response.txt")
        let answer = store.answer(Mount.request(.get, "/hub1/registrations", query: "api-version=2017-04&$top=2"))
        let head = try #require(documented.body.firstRange(of: "<link rel=\"next\""))
        #expect(answer.text.hasPrefix(documented.body[..<head.lowerBound]))
        #expect(answer.header("Content-Type") == documented.headers.first { $0.0 == "Content-Type" }?.1)
        let token = try #require(answer.header("x-ms-continuationtoken"))
        let next = "api-version=2017-04&amp;%24top=2&amp;continuationtoken=\(token)\"/>"
        #expect(answer.text.contains("<link rel=\"next\" href=\"https://gw.example.com/hub1/registrations?" + next))
        #expect(answer.text.contains("<Tags>seoul,$InstallationId:{phone}</Tags>"), "its native half")
    }

    @Test(arguments: ["ChannelUri+eq+'TOKEN'", "deviceToken%20eq%20%27TOKEN%27", "channeluri eq'TOKEN'"])
    func aDeviceFindsItsOwnByItsToken(_ filter: String) {
        let store = StoredRegistrations()
        _ = store.answer(put(native()))
        _ = store.answer(put(native("AB12"), "/hub1/registrations/9-9-1"))
        var signer = Signer()
        (signer.name, signer.key) = ("DefaultListenSharedAccessSignature", Mount.listenKey)
        let query = "%24filter=" + filter.replacing("TOKEN", with: Fixture.token)
        let own = store.answer(
            Mount.request(.get, "/hub1/Registrations/", query: query, authorization: signer.header)
        )
        #expect(own.status == 200 && ids(own.text) == ["123-234-1"])
        let all = store.answer(Mount.request(.get, "/hub1/registrations", authorization: signer.header))
        #expect(all.status == 401 && all.detail == "Manage claim is required for this operation.")
        let tagged = Mount.request(.get, "/hub1/tags/seoul/registrations", authorization: signer.header)
        #expect(store.answer(tagged).status == 401)
    }

    @Test(arguments: [
        "x eq 'ab'", "ChannelUri ne 'ab'", "ChannelUri eq ab", "ChannelUri eq 'a'b'", "'", "", "a b eq 'c'",
    ])
    func anotherFilterIsRefused(_ filter: String) {
        let query = "$filter=" + filter.replacing(" ", with: "+")
        let answer = StoredRegistrations().answer(Mount.request(.get, "/hub1/registrations", query: query))
        #expect(answer.status == 400 && answer.detail == "The filter is not valid")
    }

    @Test(arguments: ["$top=0", "$top=x", "continuationtoken=zz", "continuationtoken=ab.-1", "continuationtoken=ab"])
    func aWrongPageIsRefused(_ query: String) {
        #expect(StoredRegistrations().answer(Mount.request(.get, "/hub1/registrations", query: query)).status == 400)
    }

    /// docs/contracts/notificationhubs.md#7: native sends reach native registrations only.
    @Test func nativeSendsSkipTemplates() throws {
        let store = StoredRegistrations()
        _ = store.answer(put(try Self.template()))
        _ = store.answer(put(native(tags: "seoul"), "/hub1/registrations/9-9-1"))
        let send = try Fixture.request("messages/send.request.txt")
        var request = send
        request.headers[try #require(HTTPField.Name("ServiceBusNotification-Tags"))] = "seoul"
        guard case .submission(.submit(let submission)) = try Mount.command(request),
            case .tags(let expression) = submission.audience
        else {
            Issue.record("no send")
            return
        }
        let meant = store.registered.map { expression.matches(Set($0.tags ?? [])) }
        #expect(meant == [false, true])
    }
}
