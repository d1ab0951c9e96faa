import CommandSupport
import Foundation
import HTTPTypes
import Model
import TestKit
import Testing

/// Every call of every vendor, made with credentials that must not be able to make it, against a binding with the defaults. The expectations are written by
/// hand, in `VendorCallTable` and here; docs/security.md is checked against them.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.applyCrawled() })
struct VendorCrawlTests {
    private var world: World { get throws { try SharedWorld.current } }

    /// The calls that a key of a hub with the right *listen* may make: those of an app for itself.
    private static let listening: Set<String> = [
        "POST /hub/registrationids", "POST /hub/registrations", "GET /hub/registrations/1", "PUT /hub/registrations/1",
        "DELETE /hub/registrations/1", "GET /hub/installations/i", "PUT /hub/installations/i",
        "PATCH /hub/installations/i", "DELETE /hub/installations/i",
    ]
    /// Calls that the gateway does not have.
    private static let later: Set<String> = ["/hub/jobs", "/hub/feedbackcontainer"]

    /// Sends a call as its dialect does, to the binding of the app `bank`, without a value that is not needed to find it.
    private func call(
        _ row: VendorCallTable.Row,
        _ headers: [String: String] = [:]
    ) async throws -> HTTPCaller.Answer {
        let http = try world.http
        let isForm = row.vendor == .upmc && !row.path.hasPrefix("/mobile")
        if isForm, row.method == .post {
            return try await http.post(row.path, form: ["APP_ID": "com.bank"], headers: headers)
        }
        let app: JSON = row.vendor == .upmc ? "com.bank" : "bank"
        let binding: JSON = [
            "aId": "bank-account", "sId": "bank-service", "serviceId": "bank-service", "APP_ID": app, "appId": app,
            "api_key": "bank-sdk",
        ]
        guard row.method == .get || row.method == .delete else {
            return try await http.call(row.method.rawValue, row.path, binding, headers: headers)
        }
        let joint = row.path.contains("?") ? "&" : "?"
        let query = row.vendor == .ipns ? "\(joint)APP_ID=bank" : isForm ? "\(joint)APP_ID=com.bank" : ""
        return try await http.call(row.method.rawValue, row.path + query, headers: headers)
    }

    private func isRefused(_ answer: HTTPCaller.Answer, _ row: VendorCallTable.Row) -> Bool {
        RefusedCall.isRefused(row.vendor, row.path, answer.status, answer.bytes)
    }

    @Test(arguments: VendorCallTable.all.filter { $0.caller == .sender })
    func aCallOfASenderNeedsAKeyThatMaySend(_ row: VendorCallTable.Row) async throws {
        let none = try await call(row)
        #expect(isRefused(none, row), "no credential: \(none.text)")
        for (name, key) in CrawledKeys.wrong {
            for header in ["Authorization": "Bearer \(key)", "X-API-Key": key] {
                let answer = try await call(row, [header.key: header.value])
                #expect(isRefused(answer, row), "\(name): \(answer.text)")
            }
        }
        let right = try await call(row, ["Authorization": "Bearer \(CrawledKeys.sender)"])
        #expect(!isRefused(right, row) && right.status < 500, "\(right.text)")
    }

    // An app's calls need no key, and a wrong one does not matter.
    @Test(arguments: VendorCallTable.all.filter { $0.caller == .device && $0.vendor != .braze })
    func aCallOfADeviceIsTheSameWithAnyKey(_ row: VendorCallTable.Row) async throws {
        let none = try await call(row)
        #expect(!isRefused(none, row) && none.status < 500, "\(none.text)")
        for (name, key) in CrawledKeys.wrong {
            let answer = try await call(row, ["Authorization": "Bearer \(key)"])
            #expect(answer.status == none.status && !isRefused(answer, row), "\(name): \(answer.text)")
        }
    }

    // The calls of Braze's SDK are off by default.
    @Test(
        arguments: VendorCallTable.all.filter {
            $0.caller == .credential || $0.caller == .device && $0.vendor == .braze
        }
    )
    func aCallWithACredentialOfItsOwnTakesNoOther(_ row: VendorCallTable.Row) async throws {
        let none = try await call(row)
        #expect(isRefused(none, row), "no credential: \(none.status) \(none.text)")
        for (name, key) in CrawledKeys.wrong + [("sender", CrawledKeys.sender)] {
            for header in ["Authorization": "Bearer \(key)", "X-API-Key": key] {
                let answer = try await call(row, [header.key: header.value])
                #expect(isRefused(answer, row), "\(name): \(answer.status) \(answer.text)")
            }
        }
        let wrong: [(String, String)] =
            row.vendor == .braze
            ? [
                ("another", "Bearer 00000000-aaaa-4bbb-8ccc-000000000000"),
                ("elsewhere", "Bearer \(CrawledKeys.far)"),
            ]
            : [
                ("expired", try signature(CrawledKeys.full, "Full", expiresIn: -3600)),
                ("forged", try signature("another key", "Full")),
                ("unknown", try signature(CrawledKeys.full, "Nobody")), ("password", Self.basic("mina:wrong")),
                // The two back ends have one user each.
                ("neighbour", Self.basic(row.path.hasPrefix("/site/") ? CrawledKeys.mina : CrawledKeys.hong)),
            ]
        for (name, header) in wrong {
            let answer = try await call(row, ["Authorization": header])
            #expect(isRefused(answer, row), "\(name): \(answer.status) \(answer.text)")
        }
    }

    private static func basic(_ user: String) -> String { "Basic \(Data(user.utf8).base64EncodedString())" }

    // The right password opens it: otherwise the refusals would show nothing.
    @Test(arguments: [("/api", CrawledKeys.mina), ("/site/api", CrawledKeys.hong)])
    func theBackEndOfEachAppKnowsItsOwnUser(_ path: String, _ user: String) async throws {
        let headers = ["Authorization": Self.basic(user)]
        let answer = try await world.http.call("GET", "\(path)/notifications/1", headers: headers)
        #expect(answer.status == 404, "\(answer.status) \(answer.text)")
    }

    // The name in `/upstream/NAME` is the secret, and the admin listener has its three pages only: no key opens more.
    @Test func noKeyOpensAnUnknownReportOrMoreOfTheAdminListener() async throws {
        let world = try world
        let http = world.http
        let name = String(repeating: "0", count: 32)
        let keys = CrawledKeys.wrong + [("sender", CrawledKeys.sender), ("backend", world.apiKey)]
        for (holder, key) in keys {
            for path in ["/upstream/\(name)", "/upstream/\(name)/msgs"] {
                for method in ["GET", "POST"] {
                    let answer = try await http.call(method, path, method == "POST" ? [:] : nil, bearer: key)
                    #expect(answer.status == 404, "\(holder): \(answer.status) \(answer.text)")
                }
            }
        }
        try await HTTPCaller(base: "http://" + world.adminAddress).closing { admin in
            for path in ["/v1/messages", "/v1/keys", "/openapi.json", "/console", "/upstream/\(name)"] {
                let answer = try await admin.call("GET", path, bearer: world.apiKey)
                #expect(answer.status == 404, "\(path): \(answer.status) \(answer.text)")
            }
            // The control.
            #expect(try await admin.call("GET", "/metrics").text.contains("# TYPE"))
        }
        let metrics = try await http.call("GET", "/metrics", bearer: world.apiKey)
        #expect(metrics.status != 200 && metrics.status < 500, "\(metrics.status)")
        #expect(!metrics.text.contains("# TYPE"), "\(metrics.status) \(metrics.text)")
    }

    @Test(
        arguments: VendorCallTable.all.filter {
            $0.vendor == .notificationHubs && $0.path.hasPrefix("/hub/") && $0.caller != nil
        }
    )
    func aKeyThatListensNeitherSendsNorReadsWhatIsNotItsOwn(_ row: VendorCallTable.Row) async throws {
        let answer = try await call(row, ["Authorization": try signature(CrawledKeys.listen, "Listen")])
        let isOpen = Self.listening.contains("\(row.method) \(row.path)") || Self.later.contains(row.path)
        #expect([401, 403].contains(answer.status) != isOpen, "\(answer.status) \(answer.text)")
        let full = try await call(row, ["Authorization": try signature(CrawledKeys.full, "Full")])
        #expect(!isRefused(full, row) && full.status < 500, "\(full.status) \(full.text)")
    }

    @Test(arguments: VendorCallTable.all.filter { $0.vendor == .braze && $0.caller == .credential })
    func aKeyOfOneCallMakesNoOther(_ row: VendorCallTable.Row) async throws {
        let answer = try await call(row, ["Authorization": "Bearer \(CrawledKeys.track)"])
        #expect(isRefused(answer, row) != (row.path == "/users/track"), "\(answer.status) \(answer.text)")
        let all = try await call(row, ["Authorization": "Bearer \(CrawledKeys.rest)"])
        #expect(!isRefused(all, row) && all.status < 500, "\(all.status) \(all.text)")
    }

    @Test func theDocumentListsTheCallsThatADefaultBindingRefuses() throws {
        let document = try SecurityDocument()
        for vendor in [Vendor.rationalOwl, .upmc] {
            let calls = VendorCallTable.all.filter { $0.vendor == vendor && $0.caller == .sender }
            // The short names of RationalOwl are aliases.
            let aliases: Set = ["sendmsg", "sendmsgbyphonenum", "sendmsgbydeviceid"]
            let names = Set(calls.map { SecurityDocument.name($0.path) }).subtracting(aliases)
            #expect(Set(document.refusedCalls(of: vendor).map(SecurityDocument.name)) == names, "\(vendor)")
        }
        #expect(document.refusedCalls(of: .ipns) == ["send"])
        #expect(document.refusedCalls(of: .notificationHubs) == [])
        let sdk = VendorCallTable.all.filter { $0.vendor == .braze && $0.caller == .device }
        #expect(!sdk.isEmpty && sdk.allSatisfy { document.entry(for: $0.path, of: .braze) == "/api/v3/*" })
        let rest = VendorCallTable.all.filter { $0.vendor == .braze && $0.caller == .credential }
        #expect(rest.allSatisfy { document.entry(for: $0.path, of: .braze) == nil })
    }

    private func signature(_ key: String, _ name: String, expiresIn seconds: Int = 1200) throws -> String {
        NotificationHubsTests().token(try world, name, key: key, hub: "hub", expiresIn: seconds)
    }
}

/// The keys of `World.applyCrawled`.
private enum CrawledKeys {
    static let sender = "sender-3b9c1d7e5f2a48608c4d6e1f0a7b9c23"
    /// None of them may send to every audience of the app `bank`, from here, now.
    static let wrong = [
        ("unknown", "unknown-1e8d3c7b5a9f40628b4c6d0e2f7a9b15"), ("reader", "reader-8a1f5c3e7d9b42608e4c6a0d2f7b9c31"),
        ("anotherApp", "another-app-4c7e1a9d3f5b48206e8c0a2d7f9b1c35"),
        ("groupsOnly", "groups-only-6d2f8b4a0c9e47135f7a1c3e5d8b0f92"),
        ("elsewhere", "elsewhere-7b3d9f1c5e8a40264c6e0d2a7f9b1835"),
        ("expired", "expired-2a6c0e4d8f1b47395b7d9f1c3e5a8042"),
        ("foreign", "foreign-5e1b7d3f9a2c48604d6f8a0c2e7b9135"),
    ]
    /// The users of the back ends of the apps `bank` and `other`.
    static let mina = "mina:a password of mina's"
    static let hong = "hong:a password of hong's"
    static let site = "the full key of the hub of the app other"
    static let full = "the full key of the hub of the crawl"
    static let listen = "the listening key of the hub of the crawl"
    static let rest = "22222222-aaaa-4bbb-8ccc-dddddddddddd"
    static let track = "22222222-aaaa-4bbb-8ccc-eeeeeeeeeeee"
    /// Permits every call from a network that is not this one.
    static let far = "22222222-aaaa-4bbb-8ccc-ffffffffffff"
}

extension World {
    /// Adds the app `bank` with a binding of every vendor, without settings, the app `other`, and the keys of the crawl.
    fileprivate func applyCrawled() async throws {
        _ = try await apply()
        let secrets =
            CrawledKeys.wrong + [
                ("sender", CrawledKeys.sender), ("full", CrawledKeys.full), ("listen", CrawledKeys.listen),
                ("rest", CrawledKeys.rest), ("track", CrawledKeys.track), ("site", CrawledKeys.site),
                ("far", CrawledKeys.far),
                ("mina", String(CrawledKeys.mina.dropFirst(5))), ("hong", String(CrawledKeys.hong.dropFirst(5))),
            ]
        try writeKeys(secrets)
        let soon = ISO8601DateFormatter().string(from: Date().addingTimeInterval(2))
        let keys = """
                  - { name: reader, secretFile: reader.key, scopes: [read, devices] }
                  - { name: anotherApp, secretFile: anotherApp.key, scopes: ["send:app/other", "devices:app/other"] }
                  - { name: groupsOnly, secretFile: groupsOnly.key, scopes: ["send:groups"] }
                  - { name: elsewhere, secretFile: elsewhere.key, scopes: [admin], networks: [203.0.113.0/24] }
                  - { name: expired, secretFile: expired.key, scopes: [admin], expiresAt: "\(soon)" }
                  - { name: sender, secretFile: sender.key, scopes: [send] }

            """
        let apps = """

                  - id: bank
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      rationalowl: { accountId: bank-account, serviceId: bank-service }
                      upmc: { applicationId: com.bank }
                      ipns: { appId: bank }
                      braze:
                        sdkKey: bank-sdk
                        restKeyFile: rest.key
                        restKeys:
                          - { name: crm, valueFile: track.key, permissions: [users.track] }
                          - { name: far, valueFile: far.key, permissions: ["*"], addresses: [203.0.113.0/24] }
                      notificationhubs:
                        hub: hub
                        keys:
                          - { name: Full, valueFile: full.key, rights: [listen, send, manage] }
                          - { name: Listen, valueFile: listen.key, rights: [listen] }
                        appBackend: { users: [ { name: mina, passwordFile: mina.key } ] }
                  - id: other
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      notificationhubs:
                        hub: site-hub
                        keys: [ { name: Full, valueFile: site.key, rights: [listen, send, manage] } ]
                        appBackend: { prefix: site, users: [ { name: hong, passwordFile: hong.key } ] }
              - id: other
                apiKeys:
                  - { name: sender, secretFile: foreign.key, scopes: [send, admin] }
            """
        try await apply("crawl.yaml", keys: keys, apps: apps)
        try await eventually("the last binding is served") {
            try await http.call("POST", "/ipns/getConfig", ["APP_ID": "bank", "DEVICE_ID": "D"]).json?["RT"] == "2003"
        }
        // A node may accept a key from memory for a second more.
        let expired = "expires_at < now() - interval '1 second'"
        try await eventually("the key has expired") {
            try await value("SELECT (\(expired))::text AS value FROM gateway.api_key WHERE name = 'expired'") == "true"
        }
    }
}
