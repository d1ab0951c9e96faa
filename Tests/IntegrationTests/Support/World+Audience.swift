import CommandSupport
import Foundation
import Model
import Testing

@testable import Gateway
@testable import GatewayBench

/// Many devices and large messages.
extension World {
    /// Registers `count` iPhones by the native API, 64 calls at a time; returns their tokens.
    func register(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws -> [String] {
        let tokens = (0..<count).map { index in
            String(format: "%08x", index) + SystemIdentifiers().randomHex(byteCount: 28)
        }
        let http = http
        let apiKey = apiKey
        try await concurrently(count, tasks: 64) { index in
            let answer = try await http.call(
                "POST",
                "/v1/devices",
                [
                    "app": "shop", "platform": "ios", "environment": "production",
                    "token": .string(tokens[index]),
                    "key": .string("device-\(index)"), "user": .string("user-\(index)"),
                ],
                bearer: apiKey
            )
            try #require(answer.status == 201, "\(answer.text)", sourceLocation: sourceLocation)
        }
        return tokens
    }

    /// Creates devices of the demo's tenant directly in the database.
    func makeAudience(_ devices: Int) async throws {
        try await withDatabase { database in
            try await BenchAudience(engine: database.engine, tenant: "acme", app: "shop").make(devices)
        }
    }

    /// Sends to everyone of the app and returns the message's id. Only a 2xx counts as accepted.
    func sendToEveryone(
        _ body: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let answer = try await native(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["everyone": true], "body": .string(body)]
        )
        try #require(answer.status == 202, "\(answer.text)", sourceLocation: sourceLocation)
        return try #require(answer.json?["id"]?.string, sourceLocation: sourceLocation)
    }

    /// The funnel after the message is done. The caller may restart the gateway meanwhile.
    func funnel(
        of id: String,
        within limit: Duration = .seconds(120),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        try await first(
            "message \(id) is done",
            within: limit,
            every: .milliseconds(100),
            sourceLocation: sourceLocation
        ) {
            guard let answer = try? await native("GET", "/v1/messages/\(id)"), answer.json?["state"] == "done" else {
                return nil
            }
            return answer.json?["funnel"] ?? .null
        }
    }

    /// The number of accepted pushes, repeats included.
    func accepted() async throws -> Int { Int(try await stats()["accepted"]?.int ?? -1) }

    /// The number of distinct accepted (token, apns-id) pairs, and the number of their repeats.
    func pairs() async throws -> (distinct: Int, repeats: Int) {
        let stats = try await stats()
        return (Int(stats["distinctPairs"]?.int ?? -1), Int(stats["repeats"]?.int ?? -1))
    }
}
