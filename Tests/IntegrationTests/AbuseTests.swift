import Foundation
import Model
import TestKit
import Testing

@testable import CommandSupport

/// I5 over real HTTP.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct AbuseTests {
    static let perRequest = 200

    // For any body, the gateway answers with the vendor's statuses, never with a 5xx, and still serves afterwards.
    // Huge and slow bodies are limited.
    @Test func abusedGatewayAnswersAndLives() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            // The slow body is cut off after 20 seconds, in which the others are sent.
            let base = world.http.base
            async let cutOff: Void = slow(base)
            try await mutated(world)
            try await huge(world)
            try await cutOff
            let health = try await HTTPCaller(base: "http://" + world.adminAddress).closing {
                try await $0.call("GET", "/readyz")
            }
            #expect(health.status == 200, "\(health.text)")
        }
    }

    private func mutated(_ world: World) async throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("HTTP mutation seed: \(seed)")
        let requests = RationalOwlRequests(
            account: world.account,
            service: world.service,
            device: String(repeating: "d1", count: 16),
            sender: "SVR1",
            message: "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11",
            image: String(repeating: "0", count: 32)
        )
        for (index, request) in requests.all.enumerated() {
            var mutator = Mutator(seed: seed &+ UInt64(index), known: [world.account, world.service])
            for number in 0..<Self.perRequest {
                let body = mutator.body(number, from: request.body)
                let answer = try await world.http.post(request.path, json: body)
                let fault = RationalOwlRequests.fault(answer.status, answer.bytes, to: request.path, body)
                #expect(fault == nil, "seed \(seed): \(fault ?? "")")
            }
        }
    }

    // The contract's limit for /pushApp is 64 KiB, for /msgClient 10 MiB; above it 413 in the vendor's shape.
    private func huge(_ world: World) async throws {
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: 10 << 20)
        let small = try await world.http.post("/pushApp/installApp", json: body)
        #expect(small.status == 413)
        #expect(small.json?["rc"]?.int == -1)
        let large = try await world.http.post("/msgClient/sendMsg", json: body + body)
        #expect(large.status == 413)
    }

    // A body that arrives very slowly is cut off after the time limit, and the connection is closed.
    private func slow(_ base: String) async throws {
        let url = try #require(URL(string: base))
        let started = ContinuousClock.now
        let answer = try await SlowClient.drip(
            host: "127.0.0.1",
            port: try #require(url.port),
            path: "/pushApp/installApp",
            statedBytes: 1000,
            every: .milliseconds(500),
            limit: .seconds(25)
        )
        let took = ContinuousClock.now - started
        #expect(took < .seconds(24), "cut off after \(took)")
        // The dialect's own answer, also to one whose connection is given up.
        #expect(answer.hasPrefix("HTTP/1.1 4") && answer.contains("\"rc\""), "\(answer.prefix(200))")
    }
}
