import Foundation
import GatewayHTTP
import Model
import Testing
import UpstreamSupport

@testable import CommandSupport

/// Calls that rules of a provisioning file give to an upstream, in a gateway as a process (docs/routing.md#proxying).
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProxyRuleTests {
    @Test func appliedRulesProxyCallsAlsoWithoutTheDatabase() async throws {
        let upstream = try await RawServer.start()
        let world = try World(serveArguments: ["--upstream-allow", "127.0.0.0/8"])
        try await closing(world.close) {
            try await world.startSimulator()
            try await world.startGateway()
            try await proxyCalls(world, to: upstream)
            #expect(upstream.requests.last?.field("via")?.hasPrefix("1.1 push-gateway-") == true)
            #expect(try await world.metric("upstream_calls_total", #"upstream="acme/old""#) >= 1)

            // The gateway starts its database again at once, and its calls wait a while for it: the database is away until the rules were used.
            let away = Task {
                while !Task.isCancelled {
                    if let pid = try? world.postgresPID() { Glibc.kill(pid, SIGKILL) }
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
            try await closing({ away.cancel() }) {
                try await eventually("a call is proxied by remembered rules", within: .seconds(60)) {
                    #expect(try await install(world) == "ok")
                    return try await world.metric("upstream_remembered_total", #"upstream="acme/old""#) >= 1
                }
            }
        }
        await upstream.stop()
    }

    // Otherwise the calls of one client, which an upstream answers slowly, would keep out those of all others.
    @Test func oneAddressLeavesPlacesAtAnUpstreamToOthers() async throws {
        let upstream = try await RawServer.start()
        let arguments = ["--upstream-allow", "127.0.0.0/8", "--trusted-proxies", "127.0.0.1", "--limits-calls"]
        try await World.with(serveArguments: arguments) { world in
            try await proxyCalls(world, to: upstream)
            upstream.script([.silence])
            let before = upstream.requests.count
            let most = before + UpstreamShares.limit
            let caller = HTTPCaller(base: world.http.base, tls: nil, connections: UpstreamShares.limit + 2)
            try await closing {
                await caller.close()
            } after: {
                let fields: JSON = ["aId": .string(world.account), "sId": .string(world.service), "cId": 303, "dt": 2]
                @Sendable func call(_ address: String) async throws -> HTTPCaller.Answer {
                    let headers = ["X-Forwarded-For": address]
                    return try await caller.call("POST", "/pushApp/installApp", fields, headers: headers)
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<UpstreamShares.limit { group.addTask { _ = try? await call("198.51.100.1") } }
                    try await eventually("all places of the address are taken") { upstream.requests.count == most }
                    upstream.script([RawServer.ok])
                    let refused = try await call("198.51.100.1")
                    #expect(refused.json?["rc"] != nil, "in the vendor's format: \(refused.status) \(refused.text)")
                    let limit = "limit=\"\(FixedLimit.upstreamCalls.rawValue)\""
                    let limited = try await world.metric("calls_limited_total", limit)
                    #expect(limited == 1 && upstream.requests.count == most)
                    let other = try await call("198.51.100.2")
                    #expect(other.text == "ok", "\(other.status)")
                    group.cancelAll()
                }
            }
        }
        await upstream.stop()
    }

    /// Gives the calls of the demo's app to an upstream, and waits until it gets them.
    private func proxyCalls(_ world: World, to upstream: RawServer) async throws {
        try #require(try await world.apply().status == 0)
        let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let old = #"      - { id: old, kind: upstream-rationalowl, url: "http://127.0.0.1:\#(upstream.port)" }"#
        let routes = "        routes: { calls: [{ action: proxy, upstream: old }] }\n"
        try yaml.replacing("    credentials:\n", with: "    credentials:\n\(old)\n")
            .replacing("        platforms:\n", with: routes + "        platforms:\n")
            .write(toFile: world.material.path("proxied.yaml"), atomically: true, encoding: .utf8)
        let applied = try await world.apply("proxied.yaml")
        try #require(applied.status == 0, "\(applied.log)")
        try await eventually("calls are proxied") { try await install(world) == "ok" }
    }

    private func install(_ world: World) async throws -> String {
        let fields: JSON = ["aId": .string(world.account), "sId": .string(world.service), "cId": 303, "dt": 2]
        return try await world.http.call("POST", "/pushApp/installApp", fields).text
    }
}
