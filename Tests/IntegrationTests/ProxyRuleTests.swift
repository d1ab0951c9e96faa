import Foundation
import Model
import Testing
import UpstreamSupport

@testable import CommandSupport

/// Calls that rules of a provisioning file give to an upstream, in a gateway as a process (docs/routing.md#proxying).
@Suite(.timeLimit(.minutes(10))) struct ProxyRuleTests {
    @Test func appliedRulesProxyCallsAlsoWithoutTheDatabase() async throws {
        let upstream = try await RawServer.start()
        let world = try World(serveArguments: ["--upstream-allow", "127.0.0.0/8"])
        try await closing(world.close) {
            try await world.startSimulator()
            try await world.startGateway()
            try #require(try await world.apply().status == 0)
            let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
            let old = #"      - { id: old, kind: upstream-rationalowl, url: "http://127.0.0.1:\#(upstream.port)" }"#
            let routes = "        routes: { calls: [{ action: proxy, upstream: old }] }\n"
            try yaml.replacing("    credentials:\n", with: "    credentials:\n\(old)\n")
                .replacing("        platforms:\n", with: routes + "        platforms:\n")
                .write(toFile: world.material.path("proxied.yaml"), atomically: true, encoding: .utf8)
            let applied = try await world.apply("proxied.yaml")
            try #require(applied.status == 0, "\(applied.log)")
            try await eventually("calls are proxied", within: .seconds(10)) { try await install(world) == "ok" }
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

    private func install(_ world: World) async throws -> String {
        let fields: JSON = ["aId": .string(world.account), "sId": .string(world.service), "cId": 303, "dt": 2]
        return try await world.http.call("POST", "/pushApp/installApp", fields).text
    }
}
