import HTTPTypes
import Model
import TestKit
import Testing

@testable import NotificationHubs

/// The kind of every documented call. The lists are written by hand: a call that pushes or registers must not be treated as one that reads.
struct UpstreamKindTests {
    private static let catalogue: [String: CallKind] = [
        "PUT /{hub}/installations/{id}": .device,
        "GET /{hub}/installations/{id}": .read,
        "PATCH /{hub}/installations/{id}": .device,
        "DELETE /{hub}/installations/{id}": .device,
        "POST /{hub}/messages": .send,
        "POST /{hub}/messages by template": .send,
        "POST /{hub}/messages?direct": .send,
        "POST /{hub}/messages?test": .send,
        "POST /{hub}/messages/$batch": .send,
        "GET /{hub}/messages/{id}": .read,
        "POST /{hub}/schedulednotifications": .send,
        "DELETE /{hub}/schedulednotifications/{id}": .message,
        "POST /{hub}/registrationids": .device,
        "POST /{hub}/registrations": .device,
        "PUT /{hub}/registrations/{id}": .device,
        "GET /{hub}/registrations/{id}": .read,
        "DELETE /{hub}/registrations/{id}": .device,
        "GET /{hub}/registrations": .read,
        "GET /{hub}/tags/{tag}/registrations": .read,
        "POST /api/register": .device,
        "PUT /api/register/{id}": .device,
        "DELETE /api/register/{id}": .device,
        "GET /api/notifications": .read,
        "POST /api/notifications": .send,
        "GET /{hub}/feedbackcontainer": .read,
        "/{hub}/jobs": .device,
    ]

    private func kind(_ method: String, _ path: String, query: String? = nil) throws -> CallKind {
        let method = try #require(HTTPRequest.Method(method))
        let request = Mount.request(method, path, query: query, authorization: nil, host: nil)
        return Mount.adapter.kind(of: request, settings: Mount.settings)
    }

    @Test func everyCallOfTheCatalogueHasItsKind() throws {
        let listed = try JSONParser.parse(try Fixture.text("catalogue.json"))["calls"]?.array ?? []
        let calls = listed.compactMap(\.string)
        #expect(Set(calls) == Set(Self.catalogue.keys) && calls.count == Self.catalogue.count)
        for (call, wanted) in Self.catalogue {
            var words = call.split(separator: " ").map(String.init)
            if words.first?.hasPrefix("/") == true { words.insert("POST", at: 0) }
            let parts = words[1].split(separator: "?").map(String.init)
            for path in [parts[0], parts[0].replacing("{hub}", with: "Hub1"), parts[0] + "/"] {
                let query = parts.count > 1 ? parts[1] : nil
                #expect(try kind(words[0], path, query: query) == wanted, "\(words[0]) \(path)")
            }
        }
    }

    /// Every route with its methods.
    @Test func everyRouteHasItsKinds() throws {
        let routes: [String: [(method: String, path: String, kind: CallKind)]] = [
            "hubs.installation": [
                ("GET", "/h/installations/1", .read), ("HEAD", "/h/installations/1", .read),
                ("PUT", "/h/INSTALLATIONS/1", .device), ("PATCH", "/h/installations/1/", .device),
                ("DELETE", "/h/installations/1", .device),
            ],
            "hubs.message": [
                ("POST", "/h/messages/", .send), ("POST", "/h/messages/$batch", .send), ("GET", "/h/messages/1", .read),
                ("GET", "/h/messages/$batch/1", .read),
            ],
            "hubs.registration": [
                ("GET", "/h/registrations", .read), ("POST", "/h/registrations", .device),
                ("GET", "/h/Registrations/1", .read), ("PUT", "/h/registrations/1", .device),
                ("DELETE", "/h/registrations/1", .device),
            ],
            "hubs.newid": [("POST", "/h/registrationids", .device)],
            "hubs.schedule": [
                ("POST", "/h/schedulednotifications", .send), ("DELETE", "/h/schedulednotifications/1", .message),
                ("GET", "/h/schedulednotifications/1", .read),
            ],
            "hubs.tag": [("GET", "/h/tags/a/registrations", .read)],
            "hubs.later": [
                ("GET", "/h/feedbackcontainer", .read), ("GET", "/h/jobs", .read), ("POST", "/h/jobs", .device),
            ],
            "hubs.register": [
                ("POST", "/api/register", .device), ("PUT", "/api/register/1", .device),
                ("DELETE", "/api/register/1", .device),
            ],
            "hubs.notification": [
                ("POST", "/api/notifications", .send), ("GET", "/api/notifications/1", .read),
            ],
            "hubs.backend": [
                ("POST", "/shop/api/register", .device), ("POST", "/shop/api/notifications", .send),
                ("GET", "/shop/api/values", .other),
            ],
        ]
        #expect(Set(Mount.adapter.routes.map(\.name)) == Set(routes.keys))
        for (route, calls) in routes {
            for call in calls { #expect(try kind(call.method, call.path) == call.kind, "\(route): \(call.path)") }
        }
        for path in ["/", "", "/h", "/h/nothing", "/$hubs", String(repeating: "/x", count: 5000), "/h/%zz", "/%zz/x"] {
            #expect(try kind("GET", path) == .other, "\(path.prefix(20))")
        }
    }

    /// A documented request, and the answered calls of the table of callers, have a kind other than `.other`; methods decide as in the lists above.
    @Test func everyDocumentedRequestHasAKind() throws {
        for request in try ConformanceTests.documented() {
            let wanted: CallKind =
                switch (request.method, request.path) {
                case (.get, _): .read
                case (.delete, let path) where path.contains("schedulednotifications"): .message
                case (.post, let path) where path.contains("messages") || path.contains("notifications"): .send
                default: .device
                }
            let kind = Mount.adapter.kind(of: request, settings: Mount.settings)
            #expect(kind == wanted, "\(request.method) \(request.path)")
        }
        for row in VendorCallTable.all where row.vendor == .notificationHubs && row.caller != nil {
            let request = Mount.request(row.method, row.path)
            #expect(Mount.adapter.kind(of: request, settings: Mount.settings) != .other, "\(row)")
        }
    }

    // MARK: Targets

    private func named(_ tags: String?, path: String = "/hub1/messages", query: String? = nil) -> NamedTargets {
        let request = Mount.request(
            .post,
            path,
            query: query,
            headers: tags.map { ["ServiceBusNotification-Tags": $0] } ?? [:],
            "{}"
        )
        return Mount.adapter.named(in: request, settings: Mount.settings)
    }

    /// docs/contracts/notificationhubs.md#6: both forms of the tags; the value keeps its case.
    @Test(arguments: [
        ("$InstallationId:{5d9C}", RolloutFacts(device: "5d9C")),
        ("$installationid:5d9C", RolloutFacts(device: "5d9C")),
        ("($InstallationId:{5d9c})", RolloutFacts(device: "5d9c")), ("$UserId:{u-1}", RolloutFacts(user: "u-1")),
        ("$UserId:u=1", RolloutFacts(user: "u=1")), ("$InstallationId:{5d9c} && news", RolloutFacts(device: "5d9c")),
        ("!(a || b) && $UserId:{u-1}", RolloutFacts(user: "u-1")),
    ])
    func oneInstallationOrUserIsNamed(_ tags: String, _ facts: RolloutFacts) {
        #expect(named(tags) == .targets([facts]))
        #expect(named(tags, path: "/hub1/schedulednotifications") == .targets([facts]))
    }

    @Test(arguments: [
        nil, "", "news", "news || vip", "!$UserId:{u-1}", "$UserId:{u-1} || news", "$UserId:{u-1} || $UserId:{u-2}",
        "$UserId:{u-1} && $InstallationId:{a}", "$UserId:{u-1} && (a || $UserId:{u-2})",
        "$UserId:{u-1} && !$UserId:{u-2}",
        "seoul && && vip", "$Platform:{ios}", String(repeating: "(", count: 100) + "a",
    ])
    func otherExpressionsAreAudiences(_ tags: String?) {
        #expect(named(tags) == .audience)
    }

    @Test func handlesAreHidden() throws {
        #expect(named("$UserId:{u-1}", query: "direct&api-version=2015-01") == .hidden)
        #expect(named("$UserId:{u-1}", query: "direct=false") == .targets([RolloutFacts(user: "u-1")]))
        let batch = try BatchTests.request(BatchTests.body())
        #expect(Mount.adapter.named(in: batch, settings: Mount.settings) == .hidden)
    }

    @Test func otherCallsNameNobody() throws {
        let tags = ["ServiceBusNotification-Tags": "$UserId:{u-1}"]
        for path in ["/hub1/registrations", "/api/notifications", "/hub1/messages/a/b/c", "/hub1"] {
            let request = Mount.request(.post, path, headers: tags)
            #expect(Mount.adapter.named(in: request, settings: Mount.settings) == .audience, "\(path)")
        }
        let read = Mount.request(.get, "/hub1/messages/1", headers: tags)
        #expect(Mount.adapter.named(in: read, settings: Mount.settings) == .audience)
        // The key that a registration stores is the one that a send names.
        let put = try Fixture.request("installations/put.request.txt")
        guard case .registration(.enlist(let registration, .set(let user, _, _, _))) = try Mount.command(put) else {
            Issue.record("no registration")
            return
        }
        let key = try #require(registration.key)
        #expect(named("$InstallationId:{\(key)}") == .targets([RolloutFacts(device: key.rawValue)]))
        #expect(named("$UserId:{\(user)}") == .targets([RolloutFacts(user: user.rawValue)]))
    }
}
