import APNsSimulator
import Foundation
import ProgramSupport
import Testing

/// The whole rule table with third-party clients: aioapns for every row that it can express, nghttp for the others
/// (docs/architecture.md, I12).
@Suite struct ForeignRuleTableTests {
    @Test func aioapnsReportsTheDocumentedAnswerOfEachRow() async throws {
        try await with { running, materials in
            let rows = RuleTableRow.all.filter { $0.push != nil }
            let lines = try rows.map { try materials.line($0) }
            let script = try #require(Bundle.module.url(forResource: "Clients/aioapns_rules", withExtension: "py"))
            let result = try await ChildProgram.run(
                "/usr/bin/python3",
                [script.path, "localhost", String(running.addresses.apnsPort)],
                environment: ["SSL_CERT_FILE": running.caFile],
                input: lines.joined(separator: "\n") + "\n"
            )
            #expect(result.status == 0, "\(result.errors)")
            let answers = try result.output.split(separator: "\n").map {
                try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
            }
            #expect(answers.count == rows.count)
            for (row, answer) in zip(rows, answers) {
                #expect(answer.status == row.status, "\(row)")
                #expect(answer.reason == row.reason, "\(row)")
            }
            let records = running.simulator.control.requests(limit: 1000)
            for row in rows where row.row != 29 && row.status != 200 {
                #expect(records.contains { $0.row == row.row && $0.reason == row.reason }, "\(row)")
            }
            #expect(records.contains { $0.row == 29 && !$0.findings.isEmpty })
        }
    }

    @Test func aioapnsLosesTheConnectionOverACertificateOfTheOtherEnvironment() async throws {
        try await with { running, materials in
            let row = RuleTableRow(row: 2, what: "", status: 0, push: [:], credential: "otherEnvironment")
            let script = try #require(Bundle.module.url(forResource: "Clients/aioapns_rules", withExtension: "py"))
            let result = try await ChildProgram.run(
                "/usr/bin/python3",
                [script.path, "localhost", String(running.addresses.apnsPort)],
                environment: ["SSL_CERT_FILE": running.caFile],
                input: try materials.line(row) + "\n"
            )
            #expect(result.output.contains(#""lost": true"#))
        }
    }

    @Test(arguments: RuleTableRow.all.filter { $0.headers != nil })
    func nghttpReportsTheDocumentedAnswers(row: RuleTableRow) async throws {
        try await with { running, _ in
            let body = running.folder.appending(path: "body")
            let bytes = row.bodyBytes ?? 30
            // {"aps":{"alert":"…"}} has 20 bytes around its text.
            let text = bytes < 20 ? "" : #"{"aps":{"alert":"\#(String(repeating: "x", count: bytes - 20))"}}"#
            try Data(text.utf8).write(to: body)
            var headers = [
                ":method": "POST", "apns-topic": RuleTableRow.app, "apns-push-type": "alert",
                "authorization": running.bearer,
            ]
            for (name, value) in row.headers ?? [:] { headers[name] = value.isEmpty ? nil : value }
            let lines = headers.map { "\($0.key): \($0.value)" } + row.extra
            let path = row.path ?? "/3/device/\(RuleTableRow.token)"
            let result = try await ChildProgram.run(
                "/usr/bin/nghttp",
                ["-v"] + (text.isEmpty ? [] : ["-d", body.path]) + lines.flatMap { ["-H", $0] }
                    + ["https://localhost:\(running.addresses.apnsPort)\(path)"],
                environment: ["SSL_CERT_FILE": running.caFile]
            )
            #expect(result.output.contains(":status: \(row.status)"), "\(result.output)")
            if let reason = row.reason { #expect(result.output.contains("{\"reason\":\"\(reason)\"")) }
            #expect(running.simulator.control.requests().last?.row == (row.status == 200 ? 29 : row.row))
        }
    }

    private struct Answer: Decodable {
        var status: Int?
        var reason: String?
    }

    /// Runs `body` with a simulator that knows every credential and device of the table.
    private func with(_ body: (RunningSimulator, RuleTableMaterials) async throws -> Void) async throws {
        let materials = try RuleTableMaterials()
        defer { materials.remove() }
        let change: (inout SimulatorConfiguration) -> Void = {
            materials.configure(&$0)
        }
        try await RunningSimulator.with(mode: .script, keys: materials.registered(), change: change) { running in
            try materials.register(running)
            try await body(running, materials)
        }
    }
}
