import Foundation
import Model
import NIOHTTP1
import Testing

@testable import CommandSupport
@testable import Gateway

/// Repeat keys on every write of the native API, over real HTTP and two nodes.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct NativeWritesTests {
    // The same key and call return the first answer, status and body, on any node. Another body gets 409, in one
    // shape for all calls.
    @Test func everyWriteIsDoneOnceUnderItsKey() async throws {
        try await NativeStage.on { stage in
            let erased = try await stage.register("erased", token: "aa01")
            let patched = try await stage.register("patched", token: "aa02")
            try await stage.register("reporter", token: "aa03")
            let message = try await stage.send(to: "reporter")
            let image: [UInt8] = [0xFF, 0xD8, 0xFF, 1, 2, 3]
            let hash = SystemIdentifiers().sha256(image)
            let json = JSONWriter.bytes
            let writes: [(String, NativeStage.Call, Int)] = [
                (
                    "register",
                    .init(
                        method: .POST,
                        path: "/v1/devices",
                        body: json(["app": "shop", "platform": "ios", "key": "new", "token": "aa04"])
                    ), 201
                ),
                ("patch", .init(method: .PATCH, path: "/v1/devices/\(patched)", body: json(["name": "Kim"])), 200),
                (
                    "receipt",
                    .init(
                        method: .POST,
                        path: "/v1/apps/shop/receipts",
                        body: json(["message": .string(message), "key": "reporter", "kind": "received"])
                    ), 200
                ),
                ("media", .init(method: .PUT, path: "/v1/apps/shop/media/\(hash)", body: image), 201),
                ("cancel", .init(method: .DELETE, path: "/v1/messages/\(message)"), 200),
                ("erase", .init(method: .DELETE, path: "/v1/devices/\(erased)"), 204),
                ("eraseUser", .init(method: .DELETE, path: "/v1/users/u-patched"), 200),
                (
                    "send",
                    .init(
                        method: .POST,
                        path: "/v1/messages",
                        body: json(["app": "shop", "to": ["keys": ["reporter"]], "body": "once"])
                    ), 202
                ),
                (
                    "import",
                    .init(
                        method: .POST,
                        path: "/v1/apps/shop/imports",
                        body: Array(#"{"key":"imported","token":"aa05"}"#.utf8),
                        type: "application/x-ndjson"
                    ), 200
                ),
            ]
            for (name, call, status) in writes {
                var call = call
                call.repeatKey = "key-\(name)"
                let first = try await stage.call(call)
                #expect(first.status == status, "\(name): \(first.text)")
                call.node = 1
                let again = try await stage.call(call)
                #expect(again.status == status, "\(name) again: \(again.text)")
                #expect(again.bytes == first.bytes, "\(name)")
                #expect(again.headers["content-type"] == first.headers["content-type"], "\(name)")
                // The same key with another call: the body, or for one without body the spelling of the path, differs.
                var other = call
                if call.body.isEmpty, let last = other.path.utf8.last {
                    other.path = String(other.path.dropLast()) + "%" + String(last, radix: 16)
                } else {
                    other.body += Array(" ".utf8)
                }
                if name == "media" {
                    other = .init(
                        method: .PUT,
                        path: "/v1/apps/other/media/\(hash)",
                        body: image,
                        repeatKey: call.repeatKey
                    )
                }
                let mismatch = try await stage.call(other)
                #expect(mismatch.status == 409, "\(name) with another call: \(mismatch.text)")
                #expect(mismatch.json?["code"]?.string == "PG-1009")
            }
            #expect(try await stage.audit().filter { $0.contains(" erase ") }.count == 2)
            #expect(try await stage.audit().filter { $0.contains(" imported ") }.count == 1)
            #expect(try await stage.count("gateway.message WHERE tenant_id = 'own'") == 2)
            // Without a key each call is its own: the device is gone already.
            #expect(try await stage.native(.DELETE, "/v1/devices/\(erased)").status == 404)
        }
    }

    @Test func keysOfTwoTenantsAreTwoAndAKeyThatCannotBeKeptIsRefused() async throws {
        try await NativeStage.on { stage in
            let body: JSON = ["app": "shop", "platform": "ios", "key": "k", "token": "aa01"]
            let own = try await stage.native(.POST, "/v1/devices", body, once: "k")
            // I6: the other tenant's key meets nothing of this one's.
            let other = try await stage.native(.POST, "/v1/devices", body, once: "k", as: stage.otherKey)
            #expect(own.status == 201 && other.status == 201)
            #expect(own.json?["id"] != other.json?["id"])
            let long = String(repeating: "x", count: 129)
            for path in ["/v1/devices", "/v1/messages", "/v1/apps/shop/imports?format=csv"] {
                let refused = try await stage.native(.POST, path, body, once: long)
                #expect(refused.status == 422, "\(path): \(refused.text)")
            }
            // I5: an app that is not there is the caller's slip and not our trouble.
            for key in [nil, "nowhere"] as [String?] {
                let nowhere: JSON = ["app": "nowhere", "platform": "ios", "key": "k", "token": "aa01"]
                #expect(try await stage.native(.POST, "/v1/devices", nowhere, once: key).status == 404)
            }
            // A refusal is not stored: after a correction, the same key can be used.
            let missing = try await stage.native(.PATCH, "/v1/devices/\(UUID())", ["name": "x"], once: "later")
            #expect(missing.status == 404)
            let id = try #require(own.json?["id"]?.string)
            let patched = try await stage.native(.PATCH, "/v1/devices/\(id)", ["name": "x"], once: "later")
            #expect(patched.status == 200, "\(patched.text)")
        }
    }

    // Two nodes receive calls with one key at the same time; one of them acts.
    @Test func callsAtOnceOnBothNodesActOnce() async throws {
        try await NativeStage.on { stage in
            for round in 0..<5 {
                let answers = try await withThrowingTaskGroup(of: HTTPCaller.Answer.self) { group in
                    for index in 0..<6 {
                        group.addTask {
                            try await stage.native(
                                .POST,
                                "/v1/devices",
                                [
                                    "app": "shop", "platform": "ios", "key": .string("r\(round)"),
                                    "token": .string("ab0\(round)"),
                                ],
                                once: "round-\(round)",
                                node: index % 2
                            )
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                // Done twice, the second would have been 200 with wasActive.
                #expect(Set(answers.map(\.status)) == [201], "\(answers.map(\.text))")
                #expect(Set(answers.map(\.bytes)).count == 1)
            }
            #expect(try await stage.count("gateway.idempotency WHERE status = 201") == 5)
        }
    }

    /// The last entry first, page by page, and the filters.
    private static func expectSearches(_ stage: NativeStage, _ count: Int) async throws {
        func positions(_ query: String) async throws -> [Int64] {
            let page = try await stage.native(.GET, "/v1/audit?\(query)")
            return page.json?["entries"]?.array?.compactMap { $0["position"]?.int } ?? []
        }
        let last = Int64(count)
        #expect(try await positions("order=newest&limit=2") == [last, last - 1])
        #expect(try await positions("order=newest&limit=1&after=\(last)") == [last - 1])
        #expect(try await positions("order=newest&limit=1000").count == count)
        #expect(try await positions("subject=app%20shop&action=write").count == 1)
        #expect(try await positions("actor=provisioning&limit=1") == [1])
        #expect(try await positions("actor=nobody").isEmpty)
    }

    @Test func theAuditIsReadByAdminsAndOnlyTheirOwn() async throws {
        try await NativeStage.on { stage in
            let refused = try await stage.native(.GET, "/v1/audit", as: stage.readKey)
            #expect(refused.status == 403)
            let all = try await stage.audit()
            #expect(all.first == "provisioning create tenant own" && all.contains("provisioning write app shop"))
            let page = try await stage.native(.GET, "/v1/audit?limit=2&after=1")
            #expect(page.json?["entries"]?.array?.compactMap { $0["position"]?.int } == [2, 3])
            #expect(page.json?["next"]?.int == 3)
            try await Self.expectSearches(stage, all.count)
            let device = try await stage.register("k", token: "aa01")
            _ = try await stage.native(.DELETE, "/v1/devices/\(device)")
            #expect(try await stage.audit(after: Int64(all.count)) == ["key:backend erase device \(device)"])
            // A control of a message is audited once; a repeat changes nothing.
            let tomorrow = Date.now.addingTimeInterval(86400).formatted(.iso8601)
            let sent = try await stage.native(
                .POST,
                "/v1/messages",
                ["app": "shop", "to": "everyone", "body": "b", "sendAt": .string(tomorrow)]
            )
            let message = try #require(sent.json?["id"]?.string)
            for _ in 0..<2 {
                #expect(try await stage.native(.POST, "/v1/messages/\(message)/pause").status == 200)
            }
            #expect(try await stage.audit(after: Int64(all.count) + 1) == ["key:backend pause message \(message)"])
            // I6
            let other = try await stage.native(.GET, "/v1/audit?limit=1000", as: stage.otherKey)
            #expect(!other.text.contains(device) && other.text.contains("tenant other"))
            for bad in ["after=-1", "after=x", "limit=0", "limit=1001", "order=x", "actor=", "subjekt=x"] {
                #expect(try await stage.native(.GET, "/v1/audit?\(bad)").status == 422, "\(bad)")
            }
        }
    }
}
