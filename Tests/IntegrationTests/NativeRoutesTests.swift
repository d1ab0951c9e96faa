import CommandSupport
import Foundation
import HTTPTypes
import Model
import NIOHTTP1
import Testing

@testable import NativeHTTP

/// The common rules of all operations of the native API, over real HTTP.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct NativeRoutesTests {
    @Test func aPathWithoutTheMethodIs405AndOthersAre404() async throws {
        try await NativeStage.on { stage in
            let device = try await stage.register("k")
            for (method, path, allowed) in [
                (HTTPMethod.DELETE, "/v1/devices", "GET, HEAD, POST"), (.GET, "/v1/messages/x/pause", "POST"),
                (.PUT, "/v1/devices/\(device)", "DELETE, GET, HEAD, PATCH"), (.HEAD, "/v1/apps/shop/receipts", "POST"),
                (.POST, "/openapi.json", "GET, HEAD"), (.OPTIONS, "/v1/apps", "GET, HEAD"),
                (.RAW(value: "QUERY"), "/v1/messages", "GET, HEAD, POST"),
            ] as [(HTTPMethod, String, String)] {
                let answer = try await stage.native(method, path)
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.headers.first(name: "allow") == allowed, "\(method) \(path)")
            }
            for path in ["/v1", "/v1/", "/v1/nothing", "/v1/devices/\(device)/x", "/v1/campaigns", "/v1/users"] {
                let answer = try await stage.native(.GET, path)
                #expect(answer.status == 404 && answer.json?["code"] == "PG-1005", "\(path): \(answer.text)")
            }
        }
    }

    @Test func everyPathNamesItsMethods() async throws {
        try await NativeStage.on { stage in
            for (path, operations) in Dictionary(grouping: NativeOperations.all, by: { $0.path }) {
                let answer = try await stage.native(.RAW(value: "QUERY"), path.replacing(/\{[a-z]+\}/, with: "x"))
                let allow = answer.headers.first(name: "allow") ?? ""
                let allowed = allow.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                let declared = Set(operations.map { $0.method.rawValue })
                #expect(answer.status == 405 && declared.isSubset(of: allowed), "\(path): \(answer.status) \(allow)")
            }
        }
    }

    @Test func aHeadIsAGetWithoutBody() async throws {
        try await NativeStage.on { stage in
            let device = try await stage.register("k")
            for path in ["/v1/devices/\(device)", "/v1/events", "/openapi.json"] {
                let head = try await stage.native(.HEAD, path)
                let got = try await stage.native(.GET, path)
                #expect(head.status == got.status && head.status == 200, "\(path)")
                #expect(head.headers.first(name: "content-type") == got.headers.first(name: "content-type"), "\(path)")
                #expect(head.bytes.isEmpty, "\(path)")
            }
            #expect(try await stage.native(.HEAD, "/v1/devices/\(UUID())").status == 404)
        }
    }

    @Test func anUnknownDeviceHasNoInbox() async throws {
        try await NativeStage.on { stage in
            let device = try await stage.register("silent")
            let path = "/v1/devices/\(device)/inbox"
            let empty = try await stage.native(.GET, path, as: stage.readKey)
            #expect(empty.status == 200 && empty.json?["messages"]?.array?.isEmpty == true, "\(empty.text)")
            for (path, key) in [("/v1/devices/\(UUID())/inbox", stage.readKey), (path, stage.otherKey)] {
                let unknown = try await stage.native(.GET, path, as: key)
                #expect(unknown.status == 404 && unknown.json?["code"] == "PG-1005", "\(unknown.text)")
            }
        }
    }

    @Test func anUnknownAppHasNoCampaignsAndTakesNoReceipts() async throws {
        try await NativeStage.on { stage in
            let receipt: JSON = ["message": .string("\(UUID())"), "key": "k", "kind": "received"]
            // The answer to a repeated call is that to the first one.
            for key in [nil, "once", "once"] {
                let orphan = try await stage.native(.POST, "/v1/apps/shop/receipts", receipt, once: key)
                #expect(orphan.status == 200 && orphan.json?["outcome"] == "orphan", "\(orphan.text)")
                let other = key.map { "\($0)-other" }
                let unknown = try await stage.native(.POST, "/v1/apps/other/receipts", receipt, once: other)
                #expect(unknown.status == 404 && unknown.json?["detail"] == "no such app", "\(unknown.text)")
            }
            let none = try await stage.native(.GET, "/v1/apps/shop/campaigns?vendor=braze")
            #expect(none.status == 200 && none.json?["campaigns"]?.array?.isEmpty == true, "\(none.text)")
            let unknown = try await stage.native(.GET, "/v1/apps/other/campaigns?vendor=braze")
            #expect(unknown.status == 404 && unknown.json?["detail"] == "no such app", "\(unknown.text)")
        }
    }

    @Test func withoutAKeyOrItsScopeNothingIsSaid() async throws {
        try await NativeStage.on { stage in
            for operation in NativeOperations.all {
                guard let scope = operation.scope else { continue }
                let path = operation.path.replacing(/\{[a-z]+\}/, with: "x")
                let method = HTTPMethod(rawValue: operation.method.rawValue)
                let unknown = try await stage.native(method, path, as: "pgw_unknown")
                #expect(unknown.status == 401, "\(operation.id): \(unknown.text)")
                guard scope != .read else { continue }
                let refused = try await stage.native(method, path, as: stage.readKey)
                #expect(refused.status == 403, "\(operation.id): \(refused.text)")
                #expect(refused.json?["detail"]?.string?.contains(scope.rawValue) == true)
            }
        }
    }

    @Test func undeclaredParametersAreRefusedByEveryOperation() async throws {
        try await NativeStage.on { stage in
            for operation in NativeOperations.all {
                let path = operation.path.replacing(/\{[a-z]+\}/, with: "x")
                let method = HTTPMethod(rawValue: operation.method.rawValue)
                let answer = try await stage.native(method, path + "?colour=red")
                #expect(answer.status == 422, "\(operation.id): \(answer.text)")
                let known = operation.inputs.filter { $0.place == .query }.map { $0.name }.sorted()
                let rest = known.isEmpty ? "" : "; known are \(known.joined(separator: ", "))"
                #expect(answer.json?["detail"]?.string == "colour: is not a known parameter\(rest)", "\(operation.id)")
            }
            let twice = try await stage.native(.GET, "/v1/devices?limit=1&limit=2")
            #expect(twice.status == 422 && twice.text.contains("more than once"), "\(twice.text)")
            let kinds = try await stage.native(.GET, "/v1/events?kinds=sent&kinds=read,failed")
            #expect(kinds.status == 200, "a list may be repeated: \(kinds.text)")
        }
    }

    // I6, I7: a lookup finds the caller's own devices only, and shows no token.
    @Test func devicesAreLookedUpByWhatTheyHave() async throws {
        let token = String(repeating: "ab", count: 32)
        try await NativeStage.on { stage in
            let device = try await stage.register("k-1", token: token)
            let other = try await stage.register("k-2")
            let phone: JSON = ["app": "shop", "platform": "ios", "key": "k-2", "phone": "+82 10-1234"]
            #expect(try await stage.native(.POST, "/v1/devices", phone).status == 200)
            for (query, found) in [
                ("user=u-k-1", [device]), ("key=k-1", [device]), ("token=\(token)", [device]),
                ("phone=8210-1234", [other]),
                ("vendor=native", [device, other]), ("vendor=native&key=k-1&token=\(token)", [device]),
                ("app=shop&user=u-k-2", [other]), ("app=none&user=u-k-2", []), ("vendor=upmc", []), ("user=nobody", []),
                ("key=k-2&token=\(token)", []),
            ] {
                let answer = try await stage.native(.GET, "/v1/devices?\(query)")
                let ids = (answer.json?["devices"]?.array ?? []).compactMap { $0["id"]?.string }
                #expect(ids == found.sorted(), "\(query): \(answer.text)")
                #expect(!answer.text.contains(token), "\(query)")
            }
            let foreign = try await stage.native(.GET, "/v1/devices?token=\(token)", as: stage.otherKey)
            #expect(foreign.json?["devices"] == [], "\(foreign.text)")
            // An identity that left is found by nobody.
            #expect(try await stage.native(.DELETE, "/v1/devices/\(device)").status == 204)
            #expect(try await stage.native(.GET, "/v1/devices?key=k-1").json?["devices"] == [])
        }
    }

    @Test func pagesFollowEachOtherToTheEnd() async throws {
        try await NativeStage.on { stage in
            for number in 0..<5 {
                try await stage.register("k-\(number)")
                _ = try await stage.send(to: "k-\(number)")
                #expect(try await stage.native(.PUT, "/v1/apps/shop/groups/g-\(number)").status == 201)
            }
            let members: JSON = ["add": ["a", "b", "c", "d", "e"]]
            #expect(try await stage.native(.POST, "/v1/apps/shop/groups/g-0/members", members).status == 200)
            for (path, name, key) in [
                ("/v1/messages", "messages", "id"), ("/v1/devices", "devices", "id"),
                ("/v1/apps/shop/users", "users", "user"), ("/v1/apps/shop/groups", "groups", "group"),
                ("/v1/apps/shop/groups/g-0/members", "members", "user"),
            ] {
                var keys: [String] = []
                var after = ""
                for _ in 0..<5 {
                    let page = try await stage.native(.GET, "\(path)?limit=2\(after)").json
                    keys += (page?[name]?.array ?? []).compactMap { $0[key]?.string }
                    guard let next = page?["next"]?.string else { break }
                    after = "&after=\(next)"
                }
                #expect(keys.count == 5, "\(path): \(keys)")
                #expect(keys == keys.sorted() || keys == keys.sorted(by: >), "\(path): \(keys)")
            }
            let foreign = try await stage.native(.GET, "/v1/messages", as: stage.otherKey)
            #expect(foreign.json?["messages"] == [], "\(foreign.text)")
            let apps = try await stage.native(.GET, "/v1/apps").json?["apps"]?.array ?? []
            #expect(apps.count == 1 && apps.first?["app"] == "shop" && apps.first?["retiredAt"] == .null)
            #expect(apps.first?["platforms"]?.array?.first?["environments"] == ["production", "sandbox"])
        }
    }
}
