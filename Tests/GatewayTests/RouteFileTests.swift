import Foundation
import Model
import Routing
import Testing

@testable import Provisioning

/// Routes of a file that are tried before they are applied (docs/routing.md).
@Suite struct RouteFileTests {
    /// The example of the page: credentials and an app.
    private static func page() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/routing.md"), encoding: .utf8)
        let blocks = page.matches(of: /```yaml\n((?s).*?)```/).map { String($0.1) }
        try #require(blocks.count == 2)
        let indented = blocks.joined().split(separator: "\n").map { "    \($0)\n" }.joined()
        return "tenants:\n  - id: acme\n" + indented
    }

    @Test func theExampleOfThePageIsRightAndIsCarriedOut() throws {
        let file = try RouteFile(try Self.page(), tenant: nil, app: nil)
        #expect(file.faults == [] && file.rules.calls.count == 5 && file.rules.deliveries.count == 2)
        #expect(file.unsupported == nil && file.rules.duplicateWindow == .seconds(600))
        #expect(
            file.upstreams["old-braze"]?.addressesUsers == true && file.upstreams["old-upmc"]?.addressesUsers == false
        )
        let table = RouteTable(file.rules, upstreams: file.upstreams)
        let call = RouteTable.Call(vendor: .braze, kind: .send, named: .targets([RolloutFacts(user: "user-1")]))
        #expect(table.decide(call).action == .proxy && table.decide(call).upstream == "old-braze")
    }

    @Test func theAppIsNamedWhereThereAreSeveral() throws {
        let yaml = """
            tenants:
              - id: acme
                credentials:
                  - { id: old, kind: upstream-upmc, url: "https://a.example", byDevice: false }
                apps:
                  - { id: shop, routes: { deliveries: [{ tags: [a], paths: [old] }] } }
                  - { id: web }
            """
        #expect(throws: ProvisioningProblem.self) { try RouteFile(yaml, tenant: nil, app: nil) }
        #expect(throws: ProvisioningProblem.self) { try RouteFile(yaml, tenant: "acme", app: "none") }
        #expect(try RouteFile(yaml, tenant: "acme", app: "web").rules.isEmpty)
        let shop = try RouteFile(yaml, tenant: "acme", app: "shop")
        #expect(shop.faults == [RouteFault("deliveries[0]", .userSplit("old", by: "tags", rule: 0))])
    }
}
