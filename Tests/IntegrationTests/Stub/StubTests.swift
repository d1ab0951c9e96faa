import Foundation
import Model
import TestVendors
import Testing

@testable import CommandSupport

/// A vendor that was added as described in docs/adding-a-vendor.md, over real HTTP, PostgreSQL and the simulator:
/// register, send, receipt.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct StubTests {
    private static let key = "5c1f0ae69b7d3428f1d0c96e8a7b2354"
    private static let token = String(repeating: "5b", count: 32)

    @Test func aDeviceRegistersIsSentToAndReports() async throws {
        let gateway = try await GatewayInProcess(
            TestVendors.catalog,
            binding: "stub: { app: pigeon, sendKeyFile: stub.key, settings: { push.ttlHours: 2 } }",
            secrets: ["stub.key": Self.key]
        )
        try await closing(gateway.close) {
            try await registers(gateway)
            let message = try await sends(gateway)
            try await reports(gateway, message)
        }
    }

    private func registers(_ gateway: GatewayInProcess) async throws {
        let device: JSON = ["app": "pigeon", "device": "D1", "token": .string(Self.token), "owner": "mina"]
        // A running gateway serves what was applied within a second.
        try await eventually("the binding is served") { try await call(gateway, "register", device).status == 200 }
        let answer = try await call(gateway, "register", device)
        #expect(answer.json == ["ok": true, "device": "D1"])
    }

    private func sends(_ gateway: GatewayInProcess) async throws -> String {
        let push: JSON = ["app": "pigeon", "device": "D1", "text": "Hello"]
        let refused = try await call(gateway, "send", push, key: "another key than that")
        #expect(refused.status == 401 && refused.json == ["ok": false, "error": "unauthorized"])
        let answer = try await call(gateway, "send", push)
        let message = try #require(answer.json?["message"]?.string, "\(answer.text)")
        try await eventually("the push is delivered") { try await funnel(gateway, message)?["sent"] == 1 }
        let seen = try await gateway.world.control.call("GET", "/_simulator/requests?token=\(Self.token)")
        let pushes = try #require(seen.json?["requests"]?.array)
        #expect(pushes.count == 1)
        #expect(pushes.first?["payload"]?["stub"]?.string == message)
        #expect(pushes.first?["payload"]?["aps"]?["alert"]?["body"] == "Hello")
        return message
    }

    private func reports(_ gateway: GatewayInProcess, _ message: String) async throws {
        let receipt: JSON = ["app": "pigeon", "device": "D1", "message": .string(message)]
        #expect(try await call(gateway, "receipt", receipt).json == ["ok": true])
        #expect(try await funnel(gateway, message)?["received"] == 1)
    }

    private func call(_ gateway: GatewayInProcess, _ name: String, _ body: JSON, key: String = key) async throws
        -> HTTPCaller.Answer
    {
        try await gateway.http.call("POST", "/stub/\(name)", body, headers: ["X-Stub-Key": key])
    }

    private func funnel(_ gateway: GatewayInProcess, _ message: String) async throws -> JSON? {
        try await gateway.http.call("GET", "/v1/messages/\(message)", bearer: gateway.world.apiKey).json?["funnel"]
    }
}
