import APNsSimulator
import Foundation
import ProgramSupport
import Testing

/// Third-party clients, with only host and port changed (docs/architecture.md, I12).
@Suite struct ForeignClientTests {
    private static let path = "/3/device/" + RuleBench.token
    private static let message = #"{"aps":{"alert":"hi"}}"#

    // MARK: nghttp

    @Test func nghttpSendsAPush() async throws {
        try await RunningSimulator.with { running in
            let result = try await nghttp(running, running.bearer)
            #expect(result.output.contains(":status: 200"))
            #expect(!result.output.contains("WARNING"), "the certificate has to verify")
            #expect(running.simulator.control.stats.accepted == 1)
        }
    }

    @Test func nghttpWithoutATokenIsRefused() async throws {
        try await RunningSimulator.with { running in
            let result = try await nghttp(running, nil)
            #expect(result.output.contains(":status: 403"))
            #expect(running.simulator.control.stats.rejected == ["MissingProviderToken": 1])
        }
    }

    @Test func h2loadIsAcceptedOverAThousandStreams() async throws {
        try await RunningSimulator.with(mode: .accept) { running in
            let body = running.folder.appending(path: "body")
            try Data(Self.message.utf8).write(to: body)
            let url = "https://localhost:\(running.addresses.apnsPort)\(Self.path)"
            let result = try await ChildProgram.run(
                "/usr/bin/h2load",
                ["-n", "3000", "-c", "2", "-m", "100", "-d", body.path, url]
            )
            #expect(result.output.contains("3000 succeeded, 0 failed, 0 errored"))
            #expect(running.simulator.control.stats.accepted == 3000)
            #expect(running.simulator.control.stats.distinctTokens == 1)
            #expect(running.simulator.control.stats.streams == 0)
            #expect(running.simulator.control.requests().isEmpty)
        }
    }

    private func nghttp(_ running: RunningSimulator, _ bearer: String?) async throws -> ChildProgram.Ending {
        let body = running.folder.appending(path: "body")
        try Data(Self.message.utf8).write(to: body)
        let headers =
            [":method: POST", "apns-topic: com.example.shop"] + (bearer.map { ["authorization: \($0)"] } ?? [])
        return try await ChildProgram.run(
            "/usr/bin/nghttp",
            ["-nv", "-d", body.path] + headers.flatMap { ["-H", $0] }
                + ["https://localhost:\(running.addresses.apnsPort)\(Self.path)"],
            environment: ["SSL_CERT_FILE": running.caFile]
        )
    }

    // MARK: aioapns

    @Test func aioapnsSendsPushesOneAfterTheOther() async throws {
        try await RunningSimulator.with { running in
            let pushes = (0..<20).map { push(token: "ab\($0 + 10)") }
            let answers = try await aioapns(running, running.key, pushes)
            #expect(answers.map(\.status) == Array(repeating: "200", count: 20))
            #expect(running.simulator.control.stats.accepted == 20)
            #expect(running.simulator.control.stats.distinctPairs == 20)
            #expect(running.simulator.control.duplicates.first.isEmpty)
            #expect(running.simulator.control.requests(token: "ab15").first?.header("apns-id") == answers[5].id)
        }
    }

    @Test func aioapnsWithAWrongKeyIsAnInvalidProviderToken() async throws {
        try await RunningSimulator.with { running in
            let answers = try await aioapns(running, TestKey(), [push()])
            #expect(answers.map(\.status) == ["403"])
            #expect(answers.map(\.reason) == ["InvalidProviderToken"])
        }
    }

    @Test func aioapnsWithAnOldTokenIsAnExpiredProviderToken() async throws {
        let inAnHour: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) + 3700 }
        try await RunningSimulator.with(change: { $0.now = inAnHour }) { running in
            let answers = try await aioapns(running, running.key, [push()])
            #expect(answers.map(\.reason) == ["ExpiredProviderToken"])
        }
    }

    @Test func aioapnsWithALargePayloadIsTooLarge() async throws {
        try await RunningSimulator.with { running in
            let large = push(body: String(repeating: "x", count: 4096))
            let answers = try await aioapns(running, running.key, [large, push()])
            #expect(answers.map(\.status) == ["413", "200"])
            #expect(answers.first?.reason == "PayloadTooLarge")
        }
    }

    @Test func aioapnsReportsThatATokenIsUnregistered() async throws {
        try await RunningSimulator.with { running in
            try running.simulator.control.script([
                ScriptedAnswer(token: "cd*", status: 410, timestamp: 1_700_000_000_123)
            ])
            let answers = try await aioapns(running, running.key, [push(token: "cdef"), push()])
            #expect(answers.map(\.status) == ["410", "200"])
            #expect(answers.first?.reason == "Unregistered")
        }
    }

    private struct Answer: Decodable {
        var id: String
        var status: String
        var reason: String?
    }

    private func push(token: String = RuleBench.token, body: String = "hi") -> String {
        #"{"token":"\#(token)","message":{"aps":{"alert":"\#(body)"}},"priority":10,"push_type":"alert"}"#
    }

    private func aioapns(_ running: RunningSimulator, _ key: TestKey, _ pushes: [String])
        async throws -> [Answer]
    {
        let script = try #require(Bundle.module.url(forResource: "Clients/aioapns_send", withExtension: "py"))
        let keyFile = running.folder.appending(path: "key.p8")
        try Data(key.privatePEM.utf8).write(to: keyFile)
        let result = try await ChildProgram.run(
            "/usr/bin/python3",
            [
                script.path, "localhost", String(running.addresses.apnsPort), keyFile.path, key.keyID, key.teamID,
                "com.example.shop",
            ],
            environment: ["SSL_CERT_FILE": running.caFile],
            input: pushes.joined(separator: "\n") + "\n"
        )
        #expect(result.status == 0, "\(result.errors)")
        return try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
        }
    }
}
