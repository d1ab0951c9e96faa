import Foundation
import Testing

@testable import APNsSimulator

@Suite struct ControlRoutesTests {
    private let state: SimulatorState
    private let routes: ControlRoutes

    init() throws {
        var configuration = SimulatorConfiguration()
        configuration.mode = .script
        state = SimulatorState(configuration)
        routes = ControlRoutes(control: SimulatorControl(state: state, authority: try CertificateAuthority()))
    }

    @Test func statsNameEveryCount() throws {
        var batch = Ledger.Batch()
        batch.deliveries = [.init(token: "ab", apnsID: "1"), .init(token: "ab", apnsID: "1")]
        batch.refusals = ["BadTopic"]
        let finished = batch
        state.withLedger { $0.commit(finished) }
        let stats = try object(routes.answer(method: "GET", target: "/_simulator/stats", body: Data()))
        #expect(stats["accepted"] as? Int == 2)
        #expect(stats["repeats"] as? Int == 1)
        #expect(stats["rejected"] as? [String: Int] == ["BadTopic": 1])
        let duplicates = try object(routes.answer(method: "GET", target: "/_simulator/duplicates", body: Data()))
        #expect(duplicates["repeats"] as? Int == 1)
        #expect((duplicates["duplicates"] as? [[String: Any]])?.first?["count"] as? Int == 2)
    }

    @Test func requestsShowPayloadAsJSONAndAnythingElseAsText() throws {
        var batch = Ledger.Batch()
        batch.records = [record("ab", #"{"aps":{"badge":1}}"#), record("cd", "no json")]
        let finished = batch
        state.withLedger { $0.commit(finished) }
        let target = "/_simulator/requests?token=ab&limit=5"
        let found = try requests(routes.answer(method: "GET", target: target, body: Data()))
        #expect(found.count == 1)
        #expect((found[0]["payload"] as? [String: [String: Int]]) == ["aps": ["badge": 1]])
        #expect((found[0]["headers"] as? [String: String]) == ["apns-topic": "com.example.shop"])
        let other = try requests(routes.answer(method: "GET", target: "/_simulator/requests?token=cd", body: Data()))
        #expect(other[0]["payload"] is NSNull)
        #expect(other[0]["payloadText"] as? String == "no json")
    }

    @Test func aScriptIsAddedClearedAndReset() throws {
        let body = Data(#"[{"token":"ab","status":410},{"token":"*","fault":"silence"}]"#.utf8)
        let added = try object(routes.answer(method: "POST", target: "/_simulator/script", body: body))
        #expect(added["scripted"] as? Int == 2)
        _ = routes.answer(method: "DELETE", target: "/_simulator/script", body: Data())
        #expect(state.scriptedCount == 0)
        _ = routes.answer(method: "POST", target: "/_simulator/script", body: body)
        _ = routes.answer(method: "POST", target: "/_simulator/reset", body: Data())
        #expect(state.scriptedCount == 0)
    }

    @Test(arguments: ["", "{", "[", "[1]", "[{}]", #"{"token":"ab"}"#, "\u{0}"])
    func aMalformedScriptIsA400WithAMessage(body: String) throws {
        let answer = routes.answer(method: "POST", target: "/_simulator/script", body: Data(body.utf8))
        #expect(answer.status == 400)
        #expect(try object(answer)["error"] is String)
    }

    @Test func otherModesReportUnsupportedEntries() throws {
        let fault = Data(#"[{"token":"*","fault":"silence"}]"#.utf8)
        let answer = Data(#"[{"token":"*","status":410}]"#.utf8)
        for (mode, script, status) in [
            (SimulatorMode.validate, fault, 409), (.validate, answer, 200), (.accept, answer, 409),
        ] {
            var configuration = SimulatorConfiguration()
            configuration.mode = mode
            let routes = ControlRoutes(
                control: SimulatorControl(state: SimulatorState(configuration), authority: try CertificateAuthority())
            )
            #expect(routes.answer(method: "POST", target: "/_simulator/script", body: script).status == status)
        }
    }

    @Test(arguments: [
        ("GET", "/", 404), ("GET", "/_simulator/", 404), ("GET", "/_simulator/nothing", 404),
        ("POST", "/_simulator/stats", 405), ("GET", "/_simulator/script", 405),
        ("GET", "/_simulator/requests?limit=many", 400), ("GET", "/_simulator/requests?limit=-1", 400),
        ("GET", "http://[", 404), ("GET", "", 404),
    ])
    func otherCallsAreRefused(method: String, target: String, status: Int) {
        #expect(routes.answer(method: method, target: target, body: Data()).status == status)
    }

    private func object(_ answer: ControlRoutes.Answer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
    }

    private func requests(_ answer: ControlRoutes.Answer) throws -> [[String: Any]] {
        try #require(try object(answer)["requests"] as? [[String: Any]])
    }

    private func record(_ token: String, _ payload: String) -> RecordedRequest {
        RecordedRequest(
            token: token,
            status: 200,
            reason: nil,
            headers: [("apns-topic", "com.example.shop")],
            payload: Array(payload.utf8),
            row: 29,
            evidence: .documented,
            findings: [],
            receivedAt: 0
        )
    }
}
