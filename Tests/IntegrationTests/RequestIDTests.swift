import AsyncHTTPClient
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing

@testable import CommandSupport

/// `X-Request-Id` in responses, problems, log lines and rows of the audit, on a real gateway.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct RequestIDTests {
    private var world: World { get throws { try SharedWorld.current } }

    private func call(
        _ method: HTTPMethod,
        _ url: String,
        _ body: JSON? = nil,
        id: String? = nil,
        bearer: String? = nil
    ) async throws -> HTTPCaller.Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let id { request.headers.add(name: "x-request-id", value: id) }
        if let bearer { request.headers.add(name: "authorization", value: "Bearer \(bearer)") }
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: JSONWriter.bytes(body)))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let bytes = Array(try await response.body.collect(upTo: 4 << 20).readableBytesView)
        let answer = HTTPCaller.Answer(response, bytes)
        DeclaredAnswers.check(method.rawValue, URL(string: url)?.path ?? "", answer)
        let ids = answer.headers["x-request-id"]
        #expect(ids.count == 1, "\(method) \(url): \(ids)")
        return answer
    }

    /// The log lines of a call.
    private func lines(_ id: String) throws -> [JSON] {
        try world.gatewayLog().split(separator: "\n").compactMap { try? JSONParser.parse(Array($0.utf8)) }
            .filter { $0["request"]?.string == id }
    }

    @Test func everyListenerAnswersWithAnIdentifier() async throws {
        let world = try world
        let admin = "http://\(world.adminAddress)"
        let urls: [(HTTPMethod, String, Int)] = [
            (.GET, world.http.base + "/v1/apps", 401), (.GET, world.http.base + "/openapi.json", 200),
            (.GET, world.http.base + "/v1/nowhere", 404), (.GET, world.http.base + "/nowhere", 404),
            (.GET, world.http.base + "/r/x/y", 404), (.POST, world.http.base + "/ro/v1/device/register", 200),
            (.GET, admin + "/healthz", 200), (.GET, admin + "/metrics", 200), (.GET, admin + "/x", 404),
            (.POST, admin + "/healthz", 405), (.HEAD, world.http.base + "/v1/nowhere", 404),
        ]
        for (method, url, status) in urls {
            let made = try await call(method, url)
            #expect(made.status == status || url.contains("/ro/"), "\(url): \(made.status)")
            #expect(UUID(uuidString: made.id ?? "") != nil && made.id?.lowercased() == made.id)
            #expect(try await call(method, url).id != made.id)
            #expect(try await call(method, url, id: "mine-\(status)").id == "mine-\(status)")
            #expect(try await call(method, url, id: "two words").id != "two words")
            #expect(try await call(method, url, id: String(repeating: "x", count: 129)).id?.count == 36)
        }
    }

    @Test func theIdentifierOfAnErrorLeadsToItsLogLine() async throws {
        let world = try world
        let urls = [
            "/v1/apps", "/v1/nowhere", "/nowhere", "/r/x/y", "/ro/v1/device/state", "/msgClient/register",
        ]
        for (number, path) in urls.enumerated() {
            let id = "error-\(number)"
            let refused = try await call(path.hasPrefix("/v1") ? .GET : .POST, world.http.base + path, ["x": 1], id: id)
            if refused.json?["code"]?.string?.hasPrefix("PG-") == true {
                #expect(refused.json?["requestId"]?.string == id, "\(path): \(refused.text)")
            } else {
                #expect(!refused.text.contains(id), "the vendor's body is as before: \(refused.text)")
            }
            let found = try lines(id)
            #expect(found.count == 1, "\(path): \(refused.status) \(refused.text) \(found)")
            #expect(found.first?["peer"]?.string == "127.0.0.1")
        }
    }

    // The path of a call contains the ids of users and devices, and more people read the log than the database.
    @Test func theLogLineOfARefusedCallNamesNoUser() async throws {
        let world = try world
        let user = "jane.doe-4711"
        for (number, path) in ["/v1/users/\(user)", "/v1/nowhere/\(user)", "/nowhere/\(user)"].enumerated() {
            let id = "unnamed-\(number)"
            let refused = try await call(.DELETE, world.http.base + path, id: id)
            #expect(refused.status == 401 || refused.status == 404, "\(path): \(refused.text)")
            #expect(try lines(id).count == 1, "\(path)")
        }
        #expect(try !world.gatewayLog().contains(user))
    }

    // Rows that Swift writes, and rows that functions of the schema write.
    @Test func rowsOfTheAuditNameTheirCall() async throws {
        let world = try world
        let base = world.http.base
        let new = try await world.command(["key", "create", "--tenant", "acme", "--name", "ops", "--scopes", "admin"])
        let key = try #require(
            new.log.split(separator: "\n").map(String.init).first { $0.hasPrefix("pgw_") },
            "\(new.log)"
        )
        let device: JSON = [
            "app": "shop", "platform": "ios", "key": "audit-1", "user": "kim",
            "token": .string(String(repeating: "c1", count: 32)),
        ]
        let made = try await call(.POST, base + "/v1/devices", device, bearer: key)
        #expect(made.status == 201, "\(made.text)")
        let calls: [(HTTPMethod, String, JSON?, String)] = [
            (.GET, "/v1/devices?user=kim", nil, "read"),
            (.POST, "/v1/webhooks", ["url": "https://hooks.example.com/a"], "create"),
            (.DELETE, "/v1/users/kim", nil, "erase"),
        ]
        for (method, path, body, action) in calls {
            let id = "audit-\(action)"
            let done = try await call(method, base + path, body, id: id, bearer: key)
            #expect(done.status < 300, "\(path): \(done.status) \(done.text)")
            let found = try await world.value(
                "SELECT coalesce(string_agg(DISTINCT action, ','), '') AS value FROM gateway.audit WHERE data ->> 'request' = '\(id)'"
            )
            #expect(found == action, "\(path): '\(found)'")
        }
        let check = try await world.command(["audit", "verify", "--tenant", "acme"])
        #expect(check.status == 0, "the digests cover the data: \(check.log)")
    }
}

extension HTTPCaller.Answer {
    fileprivate var id: String? { headers.first(name: "x-request-id") }
}
