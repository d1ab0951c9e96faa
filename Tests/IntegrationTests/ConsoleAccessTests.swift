import Foundation
import Model
import NIOHTTP1
import PageParts
import TestKit
import Testing
import WebConsole

@testable import CommandSupport
@testable import ConsoleHTTP
@testable import Gateway

/// The web console over real sockets and processes: accounts, sessions, and who may open what.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .sharedWorld(serveArguments: ["--console-listen", "127.0.0.1:0"])
)
struct ConsoleAccessTests {
    private static let password = "walnut orbit 41 teapot"

    private var world: World { get throws { try SharedWorld.current } }

    private var base: String { get throws { try world.consoleBase() } }

    /// The path of a new invitation.
    private func invite(_ name: String, _ role: String, tenant: String? = "acme") async throws -> String {
        let place = tenant.map { ["--tenant", $0] } ?? []
        let made = try await world.command(["account", "invite", name, "--role", role] + place)
        try #require(made.status == 0, "\(made.log)")
        return try #require(made.log.split(separator: "\n").map(String.init).first { $0.hasPrefix("/invitation/") })
    }

    /// Forgets the failures of the tests before, which come from one address.
    private func forgetFailures() async throws {
        _ = try await world.value(
            "WITH d AS (DELETE FROM gateway.account_attempt RETURNING 1) SELECT count(*)::text AS value FROM d"
        )
    }

    /// Creates an account and signs it in.
    private func account(_ name: String, _ role: String, tenant: String? = "acme", _ browser: ConsoleBrowser)
        async throws
    {
        try await forgetFailures()
        let link = try await invite(name, role, tenant: tenant)
        let secret = String(link.dropFirst("/invitation/".count))
        let fields = [("secret", secret), ("password", Self.password), ("repeated", Self.password)]
        let accepted = try await browser.post("/invitation", fields)
        try #require(accepted.status == 303, "\(accepted.text)")
        let signed = try await browser.signIn(name, Self.password)
        try #require(signed.status == 303 && browser.cookies["__Host-session"] != nil, "\(signed.text)")
    }

    // MARK: Accounts

    @Test func aLinkOfTheCommandLineMakesTheFirstOwner() async throws {
        try await forgetFailures()
        let link = try await invite("first", "owner")
        try await ConsoleBrowser.with(try base) { browser in
            let one = browser()
            let shown = try await one.get(link)
            #expect(shown.status == 200 && shown.text.contains("first"))
            let secret = String(link.dropFirst("/invitation/".count))
            func accept(_ password: String, _ repeated: String) async throws -> ConsoleBrowser.Answer {
                let fields = [("secret", secret), ("password", password), ("repeated", repeated)]
                return try await one.post("/invitation", fields)
            }
            #expect(try await accept("short", "short").status == 422)
            #expect(try await accept("password1234", "password1234").status == 422)
            #expect(try await accept(Self.password, Self.password + "x").status == 422)
            #expect(try await accept(Self.password, Self.password).location == "/", "the link signs in")
            #expect(try await one.get("/t/acme/accounts").status == 200)
            #expect(try await accept(Self.password, Self.password).status == 404, "a link works once")
            one.set("__Host-session", nil)
            #expect(try await one.get(link).status == 404)
            #expect(try await one.get("/t/acme/accounts").location == "/sign-in?next=%2ft%2facme%2faccounts")
            let signed = try await one.signIn("First", Self.password)
            #expect(signed.status == 303 && signed.location == "/")
            #expect(try await one.get("/").location == "/t/acme/")
            let page = try await one.get("/t/acme/accounts")
            #expect(page.status == 200 && page.text.contains("first"), "\(page.text.prefix(500))")
            // An owner invites the next person; the link is shown, and never in an address.
            let sent = try await one.submit(
                "/t/acme/accounts",
                to: "/t/acme/accounts/invite",
                [("name", "second"), ("role", "analyst")]
            )
            #expect(sent.status == 200 && sent.text.contains("/invitation/"), "\(sent.status)")
            let audit = try await world.command(["audit", "--tenant", "acme"])
            for row in ["invite", "create", "signin"] { #expect(audit.log.contains(row), "\(audit.log)") }
            #expect(audit.log.contains("account:first"), "\(audit.log)")
        }
    }

    @Test func wrongPasswordsLockAnAccountUntilItIsUnlocked() async throws {
        try await ConsoleBrowser.with(try base) { browser in
            try await account("locked", "owner", browser())
            let other = browser()
            for _ in 0..<5 { #expect(try await other.signIn("locked", "wrong").status == 422) }
            // The sixth is read too, and blocks.
            #expect(try await other.signIn("locked", "wrong").status == 422)
            let blocked = try await other.signIn("locked", Self.password)
            #expect(blocked.status == 429 && blocked.headers.first(name: "retry-after") != nil)
            #expect(blocked.text.contains(#"value="locked""#), "the name is kept")
            #expect(other.cookies["__Host-session"] == nil)
            let unlocked = try await world.command(["account", "unlock", "locked"])
            #expect(unlocked.log.contains("unlocked"), "\(unlocked.log)")
            #expect(try await other.signIn("locked", Self.password).status == 303)
            // An account that does not exist is answered alike.
            for _ in 0..<6 { #expect(try await other.signIn("nobody", "wrong").status == 422) }
            #expect(try await other.signIn("nobody", "wrong").status == 429)
        }
    }

    @Test func oneTimeCodesAreAskedForAndUsedOnce() async throws {
        try await ConsoleBrowser.with(try base) { browser in
            let one = browser()
            try await account("coded", "analyst", one)
            let shown = try await one.submit("/account", to: "/account/codes", [("present", Self.password)])
            let letters = try #require(shown.text.firstMatch(of: /[A-Z2-7]{4}(?: [A-Z2-7]{4}){7}/)).0
            let code = OneTimeCode(secret: ConsoleBrowser.base32(String(letters)))
            let salt = try #require(ConsoleBrowser.Answer.first(in: shown.text, after: #"name="salt" value=""#))
            let token = try #require(shown.token)
            func confirm(_ digits: String) async throws -> ConsoleBrowser.Answer {
                try await one.post(
                    "/account/codes/confirm",
                    [("salt", salt), ("code", digits), ("_token", token)]
                )
            }
            #expect(try await confirm("000000").status == 422)
            let step = OneTimeCode.step(at: Timestamp(seconds: Int64(Date().timeIntervalSince1970)))
            #expect(try await confirm(code.code(step)).status == 303)
            let two = browser()
            let signed = try await two.signIn("coded", Self.password)
            #expect(signed.location?.hasPrefix("/code") == true, "\(signed.location ?? "")")
            #expect(try await two.get("/t/acme/").location == "/code", "the password alone opens nothing")
            #expect(try await two.get("/account").location == "/code")
            let before = two.cookies["__Host-session"]
            #expect(try await two.submit("/code", to: "/code", [("code", code.code(step))]).status == 422, "used")
            let right = try await two.submit("/code", to: "/code", [("code", code.code(step + 1))])
            #expect(right.status == 303, "\(right.text)")
            #expect(two.cookies["__Host-session"] != before, "a new session after the proof")
            #expect(try await two.get("/account").status == 200)
        }
    }

    /// A right password costs a hash too: after 120 in an hour it waits like a wrong one.
    @Test func rightPasswordsAreLimitedByTheHour() async throws {
        try await ConsoleBrowser.with(try base) { browser in
            let person = browser()
            func hour() -> Int64 { Int64(Date().timeIntervalSince1970) / 3600 }
            let start = hour()
            try await account("eager", "analyst", person)
            // The counts of this hour, of the account and of its address: a right password takes back all others.
            let set = "SET failures = \(SignInVerifier.accountHourly) WHERE failures > 0 RETURNING 1"
            let fill = "WITH u AS (UPDATE gateway.account_attempt \(set)) SELECT count(*)::text AS value FROM u"
            #expect(try await world.value(fill) == "2")
            #expect(try await person.signIn("eager", Self.password).status == 303, "the first above the limit is read")
            var blocked = try await person.signIn("eager", Self.password)
            if blocked.status == 303, hour() > start {
                // The hour ended meanwhile, and the next one has counts of its own, which the last sign-in began.
                _ = try await world.value(fill)
                #expect(try await person.signIn("eager", Self.password).status == 303)
                blocked = try await person.signIn("eager", Self.password)
            }
            #expect(blocked.status == 429 && blocked.headers.first(name: "retry-after") != nil)
            #expect(try await person.signIn("nobody", Self.password).status == 422, "another account is not blocked")
        }
    }

    @Test func peopleEndTheirSessionsAndChangeTheirPassword() async throws {
        try await ConsoleBrowser.with(try base) { browser in
            let (one, two) = (browser(), browser())
            try await account("mover", "owner", one)
            try await two.signIn("mover", Self.password)
            #expect(try await two.get("/account").status == 200)
            let next = "another walnut 42 teapot"
            let fields = [("present", Self.password), ("password", next), ("repeated", next)]
            #expect(try await one.submit("/account", to: "/account/password", fields).status == 303)
            #expect(try await one.get("/account").status == 200, "the session that changed it stays")
            #expect(try await two.get("/account").location?.hasPrefix("/sign-in") == true)
            #expect(try await two.signIn("mover", next).status == 303)
            #expect(try await two.submit("/account", to: "/sign-out", []).status == 303)
            #expect(try await two.get("/account").location?.hasPrefix("/sign-in") == true)
            // A cookie from before the sign-out opens nothing.
            let disabled = try await world.command(["account", "disable", "mover"])
            #expect(disabled.status == 0, "\(disabled.log)")
            #expect(try await one.get("/account").location?.hasPrefix("/sign-in") == true)
            #expect(try await one.signIn("mover", next).status == 422)
        }
    }

    // MARK: Rights

    /// The pages, with the roles that may open them. Written by hand.
    private static let everyone: Set<Role> = Set(Role.allCases)
    private static let pages: [String: Set<Role>] = [
        "": everyone, "messages": everyone, "messages/{message}": everyone, "messages/{message}/deliveries": everyone,
        "messages/{message}/deliveries/{target}": everyone, "devices/{device}": everyone,
        "devices/{device}/diagnosis": everyone, "find": everyone, "users": everyone, "users/{user}": everyone,
        "groups": everyone, "groups/{group}": everyone, "failures": everyone, "failures/{reason}": everyone,
        "campaigns": everyone, "hours": everyone, "versions": everyone,
        "exports": everyone, "live": everyone, "help": everyone,
        "compose": [.owner, .op, .author], "compose/sent/{message}": [.owner, .op, .author],
        "templates": [.owner, .op, .author], "templates/{app}/{template}": [.owner, .op, .author],
        "test-devices": [.owner, .op, .author],
        "apps": [.owner, .op], "apps/{app}": [.owner, .op], "apps/{app}/parity": [.owner, .op],
        "apps/{app}/routes": [.owner, .op], "routes": [.owner, .op], "senders": [.owner, .op],
        "captures": [.owner, .op], "captures/{capture}": [.owner, .op], "credentials": [.owner, .op],
        "credentials/{credential}": [.owner, .op], "webhooks": [.owner, .op], "webhooks/{webhook}": [.owner, .op],
        "migrations": [.owner, .op], "migrations/{migration}": [.owner, .op], "nodes": [.owner, .op],
        "keys": [.owner], "keys/{key}": [.owner], "accounts": [.owner], "approvals": [.owner],
        "audit": [.owner, .auditor], "posture": [.owner, .auditor],
    ]

    /// Every page and form, by every role, with unknown ids; signed out; and in another tenant.
    @Test func everyPageAndFormIsOpenToItsRolesOnly() async throws {
        try await ConsoleBrowser.with(try base) { browser in
            for role in Role.allCases {
                let person = browser()
                try await account("crawl-\(role.rawValue)", role.rawValue, person)
                for page in Pages.all { try await check(page, role, person) }
                #expect(try await person.get("/t/other/").status == 404)
                #expect(try await person.get("/t/acme/unknown-page").status == 404)
            }
            let nobody = browser()
            for page in Pages.all {
                let path = "/t/acme/" + Self.filled(page.path)
                #expect(try await nobody.get(path).location?.hasPrefix("/sign-in") == true, "\(path)")
                for form in page.forms {
                    let sent = try await nobody.post("\(path)\(page.path.isEmpty ? "" : "/")\(form.name)", [])
                    #expect(sent.location?.hasPrefix("/sign-in") == true, "\(path) \(form.name)")
                }
            }
        }
    }

    private static func filled(_ path: String) -> String { path.replacing(/\{[a-z]+\}/, with: "x") }

    private func check(_ page: any ConsolePage, _ role: Role, _ person: ConsoleBrowser) async throws {
        let allowed = try #require(Self.pages[page.path], "add the page '\(page.path)' to the table")
        let path = Self.filled(page.path)
        let shown = try await person.get("/t/acme/\(path)")
        #expect((shown.status == 403) == !allowed.contains(role), "\(role) \(path): \(shown.status)")
        #expect(shown.status < 500, "\(role) \(path): \(shown.status) \(shown.text)")
        #expect(try await person.get("/t/other/\(path)").status == 404, "\(role) \(path)")
        let account = try await person.get("/account")
        let token = try #require(account.token)
        for form in page.forms {
            let target = path.isEmpty ? form.name : "\(path)/\(form.name)"
            let may =
                allowed.contains(role)
                && (form.permission.roles.contains(role) || form.permission == .operate && role == .author)
            let sent = try await person.post("/t/acme/\(target)", [("_token", token)])
            #expect(may || sent.status == 403, "\(role) \(target): \(sent.status)")
            #expect(sent.status < 500, "\(role) \(target): \(sent.status) \(sent.text)")
            let forged = try await person.post("/t/acme/\(target)", [])
            #expect(forged.status == 403, "\(role) \(target) without a token: \(forged.status)")
            #expect(try await person.post("/t/other/\(target)", [("_token", token)]).status == 404, "\(target)")
        }
    }

    @Test func aPlatformAccountSeesNoContents() async throws {
        try await ConsoleBrowser.with(try base) { browser in
            let person = browser()
            try await account("platform", "platform", tenant: nil, person)
            for page in Pages.all {
                let path = Self.filled(page.path)
                let shown = try await person.get("/t/acme/\(path)")
                #expect(
                    page.permission == .platform ? shown.status == 200 : shown.status == 404,
                    "\(path): \(shown.status)"
                )
            }
        }
    }

    /// The phone number and the user of a device appear on no page of a role that sees people masked.
    @Test func peopleAreMaskedOnEveryPage() async throws {
        let (phone, user) = ("821055667788", "hidden-person")
        let body: JSON = [
            "app": "shop", "platform": "ios", "key": "masked-device-key", "user": .string(user),
            "phone": .string(phone),
        ]
        let made = try await world.native("POST", "/v1/devices", body)
        let device = try #require(made.json?["id"]?.string, "\(made.text)")
        func pages(_ person: ConsoleBrowser) async throws -> [String] {
            var texts: [String] = []
            for page in Pages.all where !page.path.contains("{user}") {
                let path = page.path.replacing("{device}", with: device).replacing(/\{[a-z]+\}/, with: "x")
                for form in ["", "?export=json", "?export=csv"] {
                    texts.append(try await person.get("/t/acme/\(path)\(form)").text)
                }
            }
            return texts
        }
        try await ConsoleBrowser.with(try base) { browser in
            for role in [Role.author, .analyst, .auditor] {
                let person = browser()
                try await account("masked-\(role.rawValue)", role.rawValue, person)
                for text in try await pages(person) {
                    for secret in [phone, "1055667788", "5566-7788", user, "masked-device-key"] {
                        #expect(!text.contains(secret), "\(role) sees \(secret)")
                    }
                }
            }
            // Control: an owner sees them.
            let owner = browser()
            try await account("unmasked", "owner", owner)
            if Pages.all.contains(where: { $0.path == "devices/{device}" }) {
                #expect(try await pages(owner).contains { $0.contains(user) })
            }
        }
    }

    /// An open page is closed at the first look at its session after a role was taken away, not after the length of a stream.
    @Test func anOpenPageEndsWithTheRightsOfItsSession() async throws {
        try await ConsoleBrowser.with(try base) { browser in
            let person = browser()
            try await account("watcher", "owner", person)
            let own = "SELECT account_id FROM gateway.account WHERE name = 'watcher'"
            let demote = "UPDATE gateway.account_role SET role = 'analyst' WHERE account_id = (\(own)) RETURNING 1"
            let began = ContinuousClock.now
            let sent = try await person.stream("messages", in: "acme") {
                let query = "WITH u AS (\(demote)) SELECT count(*)::text AS value FROM u"
                let changed = try await world.value(query)
                #expect(changed == "1")
            }
            let took = ContinuousClock.now - began
            #expect(sent.contains("event: fragment\n"), "it was open: \(sent.prefix(500))")
            #expect(sent.hasSuffix("event: ended\ndata: {}\n\n"), "\(sent.suffix(500))")
            let limits = PageFollower.Limits()
            #expect(took >= limits.heartbeat && took < limits.length, "\(took)")
            // The session itself stays, with the role that is left.
            #expect(try await person.get("/t/acme/messages").status == 200)
            #expect(try await person.get("/t/acme/keys").status == 403)
        }
    }

    /// A page about an app has the app's zone unless its address names one, and a form is read in the zone of its page.
    @Test func timesAreInTheZoneOfTheApp() async throws {
        let (shop, zone) = ("WHERE app_id = 'shop' RETURNING 1", #"'{"timeZone":"Asia/Seoul"}'"#)
        func set(_ defaults: String) async throws {
            let update = "UPDATE gateway.app SET defaults = \(defaults) \(shop)"
            _ = try await world.value("WITH u AS (\(update)) SELECT count(*)::text AS value FROM u")
        }
        try await set("defaults || \(zone)")
        try await ConsoleBrowser.with(try base) { browser in
            let person = browser()
            try await account("zoned", "owner", person)
            func shown(_ query: String) async throws -> String? {
                let page = try await person.get("/t/acme/messages?\(query)")
                return ConsoleBrowser.Answer.first(in: page.text, after: #"name="_zone" value=""#)
            }
            #expect(try await shown("app=shop") == "Asia/Seoul")
            #expect(try await shown("app=shop&zone=Europe/Berlin") == "Europe/Berlin")
            #expect(try await shown("app=shop&zone=no/zone") == "Asia/Seoul")
            let key = [
                ("name", "zoned"), ("scope-read", "on"), ("expiresAt", "2099-01-01T09:00"), ("_zone", "Asia/Seoul"),
            ]
            let made = try await person.submit("/t/acme/keys", to: "/t/acme/keys/create", key)
            #expect(made.status == 200, "\(made.text)")
            #expect(try await person.get("/t/acme/keys?zone=UTC").text.contains("1 Jan 2099 00:00"))
            // Nothing sets a cookie for the zone, so none is read. A page outside of tenants is in UTC.
            person.set("__Host-zone", "Asia/Seoul")
            let own = try await person.get("/account").text
            #expect(own.contains(" UTC") && !own.contains(" KST"), "\(own)")
        }
        try await set("defaults - 'timeZone'")
    }

    // MARK: Forged and broken requests

    @Test func forgedFormsAreRefused() async throws {
        try await ConsoleBrowser.with(try base) { browser in
            let (one, two) = (browser(), browser())
            try await account("forged", "owner", one)
            try await account("forger", "owner", two)
            let token = try #require(try await one.get("/account").token)
            let foreign = try #require(try await two.get("/account").token)
            let target = "/t/acme/accounts/invite"
            let fields = [("name", "x"), ("role", "analyst")]
            func status(_ token: String?, origin: String?, headers: [(String, String)] = []) async throws -> Int {
                let all = fields + (token.map { [("_token", $0)] } ?? [])
                return try await one.post(target, all, origin: origin, headers: headers).status
            }
            #expect(try await status(nil, origin: "own") == 403)
            #expect(try await status(foreign, origin: "own") == 403)
            #expect(try await status(token, origin: nil) == 403)
            #expect(try await status(token, origin: "https://evil.example") == 403)
            #expect(try await status(token, origin: "null") == 403)
            #expect(try await status(token, origin: "own", headers: [("sec-fetch-site", "cross-site")]) == 403)
            #expect(try await status(token, origin: nil, headers: [("sec-fetch-site", "same-origin")]) == 200)
            // Nobody is signed in by another site.
            let sign = [("name", "forged"), ("password", Self.password)]
            #expect(try await browser().post("/sign-in", sign, origin: "https://evil.example").status == 403)
            // A domain that leads to this machine.
            let rebound = try await one.get("/account", headers: [("host", "rebound.example")])
            #expect(rebound.status == 403)
            for path in ["/", "/t/acme/accounts", "/account"] {
                #expect(try await one.send(.PUT, path, [], []).status == 405)
            }
        }
    }

    @Test func everyAnswerHasItsSecurityHeaders() async throws {
        try await ConsoleBrowser.with(try base) { browser in
            let person = browser()
            try await account("headers", "owner", person)
            for path in ["/sign-in", "/t/acme/accounts", "/t/acme/unknown", "/account", "/nothing"] {
                let answer = try await person.get(path)
                #expect(answer.headers.first(name: "content-security-policy") == SecurityHeaders.policy, "\(path)")
                #expect(answer.headers.first(name: "x-content-type-options") == "nosniff")
                #expect(answer.headers.first(name: "cache-control") == "no-store", "\(path)")
                #expect(answer.headers.first(name: "cross-origin-opener-policy") == "same-origin")
                #expect(!answer.text.contains(" style=") && !answer.text.contains("<style"), "\(path)")
                #expect(answer.text.matches(of: /<script(?! type="module" src=")/).isEmpty, "\(path)")
            }
            // Pages of signed-in people state their times, other pages do not.
            let times = try await person.get("/t/acme/accounts").headers.first(name: "server-timing") ?? ""
            let steps = times.split(separator: ", ").map { $0.prefix { $0 != ";" } }
            #expect(steps == ["calls", "session", "read", "content", "write", "page"], "\(times)")
            #expect(try await person.get("/sign-in").headers.first(name: "server-timing") == nil)
            let page = try await person.get("/t/acme/accounts").text
            let asset = try #require(ConsoleBrowser.Answer.first(in: page, after: #"rel="stylesheet" href=""#))
            let file = try await person.get(asset)
            #expect(file.status == 200 && file.headers.first(name: "cache-control")?.contains("immutable") == true)
            #expect(try await person.get(asset + "x").status == 404)
            #expect(try await person.get("/assets/../../etc/passwd").status == 404)
        }
    }

    @Test func metricsCountPagesAndSignIns() async throws {
        let world = try self.world
        func pages(_ label: String) async throws -> Double { try await world.metric("console_pages_total", label) }
        func signIns(_ outcome: String) async throws -> Double {
            try await world.metric("console_sign_ins_total", #"proof="password",outcome="\#(outcome)""#)
        }
        try await ConsoleBrowser.with(try base) { browser in
            let person = browser()
            let right = try await signIns("right")
            try await account("counted", "owner", person)
            #expect(try await signIns("right") == right + 1)
            let wrong = try await signIns("wrong")
            #expect(try await browser().signIn("counted", "not this password").status == 422)
            #expect(try await signIns("wrong") == wrong + 1)
            let (shown, unknown) = (#"page="messages",status="2xx""#, #"page="messages/{message}",status="4xx""#)
            let before = (try await pages(shown), try await pages(unknown))
            let timed = try await world.metric("console_page_seconds_count", #"page="messages""#)
            _ = try await person.get("/t/acme/messages")
            _ = try await person.get("/t/acme/messages/x")
            #expect(try await pages(shown) == before.0 + 1)
            #expect(try await pages(unknown) == before.1 + 1)
            #expect(try await world.metric("console_page_seconds_count", #"page="messages""#) == timed + 1)
        }
    }

    @Test func randomRequestsAreAnsweredWithoutAnError() async throws {
        var random = SplitMix(state: Fuzz.seed)
        let alphabet = Array("abc019/%&=;.-_~ \"'<>{}[]\\\t가\u{202E}\u{0}?#+:")
        func text(_ limit: Int) -> String {
            String(
                (0..<Int.random(in: 0...limit, using: &random)).compactMap { _ in alphabet.randomElement(using: &random)
                }
            )
        }
        try await ConsoleBrowser.with(try base) { browser in
            let person = browser()
            try await account("fuzzed", "owner", person)
            let token = try #require(try await person.get("/account").token)
            let session = try #require(person.cookies["__Host-session"])
            let paths =
                ["/sign-in", "/code", "/prove", "/invitation", "/account/password", "/preferences"]
                + Pages.all.flatMap { page in
                    page.forms.map { "/t/acme/\(Self.filled(page.path))\(page.path.isEmpty ? "" : "/")\($0.name)" }
                }
            for _ in 0..<min(Fuzz.count, 300) {
                person.set("__Host-session", Bool.random(using: &random) ? session : nil)
                person.set("__Host-language", PercentCoding.encode(text(20)))
                person.set("__Host-theme", PercentCoding.encode(text(20)))
                let path = paths.randomElement(using: &random) ?? "/"
                let fields = [
                    (text(8), text(40)), ("name", text(40)), ("role", text(10)), ("_token", token), ("next", text(30)),
                ]
                let sent = try await person.post(path, fields)
                #expect(sent.status < 500, "\(path) \(fields): \(sent.status)")
                #expect(sent.location?.hasPrefix("//") != true && sent.location?.contains("\n") != true)
                let odd = "/t/acme/" + PercentCoding.encode(text(30)) + "?" + PercentCoding.encode(text(30))
                #expect(try await person.get(odd).status < 500, "\(odd)")
            }
            person.set("__Host-session", session)
            let markup = "<b>\"'&\u{202E}\u{1}" + String(repeating: "x", count: 10_000)
            let invited = [("name", markup), ("role", "analyst"), ("_token", token)]
            let kept = try await person.post("/t/acme/accounts/invite", invited)
            #expect(kept.status == 422 && !kept.text.contains("<b>\"") && kept.text.contains("&lt;b&gt;"))
        }
    }
}
