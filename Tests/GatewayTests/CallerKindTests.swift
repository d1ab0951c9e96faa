import Adapters
import HTTPTypes
import Model
import TestKit
import Testing

@testable import Gateway

/// The caller that each route of each vendor needs: a call that no longer needs a sender fails here.
struct CallerKindTests {
    private static let mounts = VendorMounts(VendorCatalog.product.adapters)

    /// A call with the names of bindings and the credentials that any vendor looks for.
    private static func request(_ row: VendorCallTable.Row) throws -> (VendorMounts.Match, VendorRequest) {
        let parts = row.path.split(separator: "?").map(String.init)
        let match = try #require(mounts.match(path: parts[0], method: row.method), "\(row): no route")
        var headers: HTTPFields = [.contentType: "application/json", .authorization: "Bearer 0123456789abcdef0123"]
        for (name, value) in [("X-Braze-Api-Key", "sdk"), ("Host", "push.example.com")] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        let body: JSON = [
            "aId": "a", "sId": "s", "serviceId": "s", "APP_ID": "a", "appId": "a", "cuid": "c", "api_key": "sdk",
        ]
        var bytes = JSONWriter.bytes(body)
        if row.vendor == .upmc, !parts[0].hasPrefix("/mobile") {
            headers[.contentType] = "application/x-www-form-urlencoded"
            bytes = Array("APP_ID=a".utf8)
        }
        var call = VendorRequest(
            route: match.route.name,
            method: row.method,
            path: parts[0],
            query: parts.count > 1 ? parts[1] : nil,
            headers: headers,
            body: bytes
        )
        if row.vendor == .ipns, row.method == .get { (call.query, call.body) = ("APP_ID=a", []) }
        return (match, call)
    }

    @Test(arguments: VendorCallTable.all) func aRouteNeedsItsCaller(_ row: VendorCallTable.Row) throws {
        let (match, call) = try Self.request(row)
        #expect(match.adapter.vendor == row.vendor)
        guard let caller = row.caller else {
            #expect(throws: AdapterError.self) { try match.adapter.locate(call) }
            return
        }
        #expect(try match.adapter.locate(call).1 == caller)
    }

    @Test func theTableNamesEveryRoute() throws {
        let named = Set(
            try VendorCallTable.all.map { row in
                let match = try Self.request(row).0
                return "\(match.adapter.vendor) \(match.route.name)"
            }
        )
        let routes = Set(
            VendorCatalog.product.adapters.flatMap { adapter in
                adapter.routes.map { "\(adapter.vendor) \($0.name)" }
            }
        )
        #expect(routes.subtracting(named) == [])
    }

    // The settings of senders exist for the vendors that have senders, and for no other.
    @Test func aVendorWithSendersDeclaresThem() {
        let withSenders = Set(VendorCallTable.all.filter { $0.caller == .sender }.map(\.vendor))
        let declaring = Set(VendorCatalog.product.adapters.filter { $0.senders != nil }.map(\.vendor))
        #expect(withSenders == [.rationalOwl, .upmc, .ipns] && declaring == withSenders)
    }
}
