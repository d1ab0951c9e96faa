import Foundation
import GatewayHTTP
import HTTPTypes
import Model
import PageParts
import TestKit
import Testing
import WebConsole

@testable import ConsoleHTTP
@testable import Gateway
@testable import NativeHTTP

/// Requests of browsers and of others to the console. All of it is pure.
struct ConsoleRequestTests {
    private static let secret = String(repeating: "0f", count: 32)

    // MARK: Cookies

    private func headers(_ cookies: String...) -> HTTPFields {
        var fields = HTTPFields()
        for cookie in cookies { fields.append(HTTPField(name: .cookie, value: cookie)) }
        return fields
    }

    @Test func aCookieIsFoundAmongOthers() {
        let fields = headers("a=1; __Host-session=\(Self.secret);b=2", "c=3")
        #expect(ConsoleCookies.value(ConsoleCookies.session, in: fields) == Self.secret)
        #expect(ConsoleCookies.value("c", in: fields) == "3" && ConsoleCookies.value("d", in: fields) == nil)
        let twice = headers("__Host-session=1; __Host-session=2")
        #expect(ConsoleCookies.value(ConsoleCookies.session, in: twice) == nil, "two values: neither is trusted")
        let cookie = ConsoleCookies.setSession(Self.secret)
        for part in ["Path=/", "Secure", "HttpOnly", "SameSite=Lax"] { #expect(cookie.contains("; \(part)")) }
        #expect(!cookie.contains("Domain") && cookie.hasPrefix("__Host-"))
    }

    @Test func randomCookiesNeverTrap() {
        var random = SplitMix(state: Fuzz.seed)
        let alphabet = Array("=;, \t\"%__Host-session0f가\u{200B}")
        for _ in 0..<min(Fuzz.count, 5000) {
            let text = String(
                (0..<Int.random(in: 0...200, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) }
            )
            let fields = headers(text)
            _ = ConsoleCookies.value(ConsoleCookies.session, in: fields)
            _ = NoticeCookie.text(fields, session: Self.secret)
        }
        #expect(ConsoleCookies.value("a", in: headers(String(repeating: "a=1;", count: 10_000))) == nil, "too long")
    }

    @Test func aNoticeIsThatOfItsSession() throws {
        let cookie = NoticeCookie.set("Saved. <b>", session: Self.secret)
        let pair = String(cookie.prefix { $0 != ";" })
        #expect(NoticeCookie.text(headers(pair), session: Self.secret) == "Saved. <b>")
        #expect(NoticeCookie.text(headers(pair), session: String(repeating: "0e", count: 32)) == nil)
        #expect(NoticeCookie.text(headers(pair.replacing("=53", with: "=54")), session: Self.secret) == nil)
    }

    // MARK: Errors

    @Test func aProblemOfTheAPIKeepsItsCodeAndItsEnglishDetail() {
        let answer = APIAnswer(status: 422, body: ["code": "PG-1002", "detail": "after: is odd"], requestID: "r-1")
        let refusal = ConsoleResponder.refusal(.problem(answer))
        #expect(refusal.problem == .badRequest && refusal.code == "PG-1002" && refusal.detail == "after: is odd")
        #expect(refusal.note == nil, "a note is in the language of the page")
    }

    // MARK: Time zones

    private static let zones: [(String?, String?, String?, String?)] = [
        ("shop", nil, nil, "Asia/Seoul"), ("shop", nil, "Europe/Berlin", "Asia/Seoul"),
        (nil, "shop", nil, "Asia/Seoul"), ("bank", nil, nil, nil), ("lost", nil, nil, nil), (nil, nil, nil, nil),
        ("bad", nil, nil, nil),
    ]

    @Test(arguments: zones)
    func aPageIsInTheZoneOfItsApp(query: String?, path: String?, named: String?, expected: String?) {
        let apps: [JSON] = [
            ["app": "bank", "timeZone": .null], ["app": "bad", "timeZone": "no/zone"],
            ["app": "shop", "timeZone": "Asia/Seoul"],
        ]
        var page = PageRequest(
            language: .en,
            tenant: "acme",
            account: ConsoleAccount(name: "kim", role: .owner),
            now: Timestamp(seconds: 0),
            zone: "UTC",
            formToken: "",
            onceToken: ""
        )
        page.path["app"] = path
        page.query = [("app", query), ("zone", named)].compactMap { name, value in
            value.map { PageRequest.Parameter(name, $0) }
        }
        #expect(PageZone.ofApp(page, apps) == expected)
        #expect(PageZone.named(page) == named)
        // The figures of a tenant with one app are those of the app.
        if query == nil, path == nil { #expect(PageZone.ofApp(page, [apps[2]]) == "Asia/Seoul") }
        page.query = [PageRequest.Parameter("zone", "no/zone")]
        #expect(PageZone.named(page) == nil)
    }

    // MARK: Forged requests

    @Test(
        arguments: [
            ("https://console.example", nil, true), ("https://console.example", "same-origin", true),
            (nil, "same-origin", true), (nil, nil, false), ("https://evil.example", nil, false),
            ("https://evil.example", "cross-site", false), ("https://console.example", "cross-site", false),
            (nil, "same-site", false), (nil, "none", false), ("null", nil, false),
            ("https://console.example.evil.example", nil, false), ("https://console.example:444", nil, false),
        ] as [(String?, String?, Bool)]
    )
    func onlyOwnPagesSendForms(_ origin: String?, _ site: String?, _ isOwn: Bool) throws {
        var fields = HTTPFields()
        fields[.origin] = origin
        fields[try #require(HTTPField.Name("Sec-Fetch-Site"))] = site
        #expect(RequestOrigin.isOwn(fields, authority: "console.example") == isOwn)
        #expect(!RequestOrigin.isOwn(fields, authority: nil) || site == "same-origin" && origin == nil)
    }

    @Test func aTokenBelongsToItsSession() {
        let token = FormToken.of(session: Self.secret)
        #expect(FormToken.isRight(token, session: Self.secret))
        #expect(token != FormToken.of(session: Self.secret), "each page spells it anew")
        #expect(FormToken.isRight(FormToken.of(session: Self.secret), session: Self.secret))
        for wrong in [nil, "", "00", String(token.dropLast(2)), token + "00", String(repeating: "0", count: 128)] {
            #expect(!FormToken.isRight(wrong, session: Self.secret), "\(wrong ?? "nil")")
        }
        #expect(!FormToken.isRight(token, session: String(repeating: "0e", count: 32)))
    }

    // MARK: Connections

    private func settings(loopback: Bool, tls: Bool, proxies: [String] = []) -> ConsoleSettings {
        ConsoleSettings(
            isLoopback: loopback,
            isTLS: tls,
            mustHaveCodes: false,
            proxies: TrustedProxies(proxies.compactMap { AddressRange($0) })
        )
    }

    @Test func onlyProtectedConnectionsAreAccepted() throws {
        let name = try #require(HTTPField.Name("X-Forwarded-Proto"))
        func origin(_ host: String?, _ peer: String, _ proto: String?, _ settings: ConsoleSettings) -> String? {
            var fields = HTTPFields()
            fields[name] = proto
            return ConsoleTransport.origin(authority: host, peer: peer, headers: fields, settings)
        }
        let local = settings(loopback: true, tls: false)
        #expect(origin("localhost:8082", "127.0.0.1", nil, local) == "http://localhost:8082")
        #expect(origin("127.0.0.1:8082", "127.0.0.1", nil, local) == "http://127.0.0.1:8082")
        #expect(origin("rebound.example:8082", "127.0.0.1", nil, local) == nil, "a domain that leads here")
        #expect(origin("localhost", "127.0.0.1", "https", local) == "http://localhost", "not a trusted proxy")
        #expect(origin(nil, "127.0.0.1", nil, local) == nil)
        let proxied = settings(loopback: false, tls: false, proxies: ["10.0.0.0/8"])
        #expect(origin("console.example", "10.0.0.1", "https", proxied) == "https://console.example")
        #expect(origin("console.example", "10.0.0.1", "http", proxied) == nil)
        #expect(origin("console.example", "10.0.0.1", nil, proxied) == nil)
        #expect(origin("console.example", "192.0.2.1", "https", proxied) == nil, "around the proxy")
        let tls = settings(loopback: false, tls: true)
        #expect(origin("console.example", "192.0.2.1", nil, tls) == "https://console.example")
    }

    @Test(arguments: ["", "//evil.example", "https://evil.example", "/\\evil.example", "/a b", "/a\nb", "javascript:x"])
    func noRequestLeadsToAnotherSite(_ path: String) {
        #expect(ConsoleRequest.safePath(path) == "/")
    }

    // MARK: Forms

    @Test func formsAreReadInTheirOrder() throws {
        let type = "application/x-www-form-urlencoded; charset=utf-8"
        let fields = try FormReader.fields(Array("a=1&b=%EA%B0%80+x&a=2&c".utf8), type: type)
        #expect(fields.all("a") == ["1", "2"] && fields["b"] == "가 x" && fields["c"] == "")
        #expect(throws: FormReader.Failure.malformed) { try FormReader.fields(Array("a=%FF".utf8), type: type) }
        let many = Array(String(repeating: "a=1&", count: 2000).utf8)
        #expect(throws: FormReader.Failure.tooMany) { try FormReader.fields(many, type: type) }
        #expect(throws: FormReader.Failure.unknownType) {
            try FormReader.fields(Array("{}".utf8), type: "application/json")
        }
    }

    private static let upload =
        Array(
            """
            --b\r\nContent-Disposition: form-data; name="name"\r\n\r\napple\r\n\
            --b\r\nContent-Disposition: form-data; name="file"; filename="key.p8"\r\n\
            Content-Type: application/octet-stream\r\n\r\n
            """.utf8
        ) + [0, 255, 13, 10, 45] + Array("\r\n--b--\r\n".utf8)

    @Test func uploadsKeepTheirBytes() throws {
        let fields = try FormReader.fields(Self.upload, type: "multipart/form-data; boundary=b")
        #expect(fields["name"] == "apple" && fields.file("file") == [0, 255, 13, 10, 45])
        let quoted = try FormReader.fields(Self.upload, type: "multipart/form-data; boundary=\"b\"")
        #expect(quoted == fields)
    }

    @Test func randomFormsNeverTrap() {
        var random = SplitMix(state: Fuzz.seed)
        for _ in 0..<min(Fuzz.count, 5000) {
            var bytes = Self.upload
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes = Array(bytes[..<max(1, place)])
                }
                if bytes.isEmpty { bytes = [0x2D] }
            }
            for type in [
                "multipart/form-data; boundary=b", "application/x-www-form-urlencoded", "multipart/form-data", "",
            ] {
                _ = try? FormReader.fields(bytes, type: type)
            }
        }
    }

    // MARK: Addresses

    @Test func pathsOfTenantsAreRead() {
        #expect(PageMatch.segments("/t/acme/")?.rest == [] && PageMatch.segments("/t/acme/")?.tenant == "acme")
        #expect(PageMatch.segments("/t/a%20b/messages/x%2Fy")?.tenant == "a b")
        #expect(PageMatch.segments("/t/a%20b/messages/x%2Fy")?.rest == ["messages", "x/y"])
        for path in ["/t/acme", "/t//", "/t/acme//x", "/t/acme/..", "/t/acme/%00", "/t/acme/%FF", "/t/acme/x/"] {
            #expect(PageMatch.segments(path) == nil, "\(path)")
        }
    }

    @Test(arguments: ["", "a//b", "../keys", "a/..", "a?b", "a#b", "a b", "a\nb", "a/%00/..", "%zz"])
    func callsHaveProperPaths(_ path: String) {
        #expect(ConsoleCalls.segments(path) == nil)
    }

    @Test func accountNamesAreOfOneKind() {
        #expect(AccountNames.normalized("Kim.Minsu@example.com") == "kim.minsu@example.com")
        for name in ["", "a b", "김", "kim\u{200B}", "kim/..", String(repeating: "a", count: 65)] {
            #expect(AccountNames.normalized(name) == nil, "\(name)")
        }
    }
}
