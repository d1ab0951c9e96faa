import HTTPTypes
import Model
import TestKit
import Testing

@testable import Braze

/// The outcomes of the vendor's answers, for the targets of a send.
struct UpstreamOutcomeTests {
    private static let call = UpstreamCall(Mount.send(#"{"alert":"Hi"}"#), targets: [4, 5, 6])

    private func result(_ response: VendorResponse) -> UpstreamResult {
        Mount.adapter.outcome(of: Self.call, response: response)
    }

    private func outcome(_ response: VendorResponse) -> Outcome? {
        let outcomes = result(response).outcomes
        return Set(outcomes).count == 1 && outcomes.count == 3 ? outcomes.first : nil
    }

    private func answer(_ status: Int, _ body: String = "", _ headers: [String: String] = [:]) -> VendorResponse {
        var fields = HTTPFields()
        for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
        return VendorResponse(status: status, headers: fields, body: Array(body.utf8))
    }

    private func rejection(_ scope: Rejection.Scope, _ status: Int, _ reason: String) -> Rejection {
        Rejection(scope: scope, reason: reason, status: status)
    }

    /// docs/contracts/braze.md#5.5
    private static let sent = #"{"dispatch_id":"4f9c2b7e1d2a4c6f8b0e3a5d7c9f1b2d","message":"success"}"#

    @Test func theDocumentedAnswersHaveTheirOutcomes() throws {
        let sent = result(answer(201, Self.sent))
        #expect(sent.outcomes == Array(repeating: .accepted(TransportMessageID("")), count: 3))
        #expect(sent.reference == "4f9c2b7e1d2a4c6f8b0e3a5d7c9f1b2d")
        for (name, reason) in [
            ("campaign", "Invalid Campaign ID"), ("extra", "Invalid Extra Push Payload"), ("nobody", "No Recipients"),
            ("recipients", "The max number of external_ids and aliases per request was excee"),
            ("unreadable", "The body is not valid JSON."),
        ] {
            let refused = outcome(try OldBraze.response("messages/\(name).response.txt"))
            #expect(refused == .rejected(rejection(.content, 400, reason)), "\(name)")
        }
        #expect(
            outcome(try OldBraze.response("access/key.response.txt"))
                == .rejected(rejection(.credential, 401, "Invalid API Key"))
        )
        // The window ends 60 s after the call.
        #expect(
            outcome(try OldBraze.response("access/throttled.response.txt"))
                == .deferred(rejection(.service, 429, "Too many requests"), after: .seconds(60))
        )
        // docs/contracts/braze.md#4.2: accepted during maintenance, and what the plan does not allow.
        #expect(outcome(answer(202, #"{"message":"queued"}"#)) == .accepted(TransportMessageID("")))
        #expect(outcome(answer(403, #"{"message":"no"}"#)) == .rejected(rejection(.credential, 403, "no")))
        #expect(outcome(answer(413)) == .rejected(rejection(.content, 413, "status 413")))
        #expect(outcome(answer(404)) == .rejected(rejection(.credential, 404, "status 404")))
    }

    @Test(
        arguments: [
            (["X-RateLimit-Reset": "1767225601"], 1), (["X-RateLimit-Reset": "1767225600"], nil),
            (["X-RateLimit-Reset": "1767225600", "Retry-After": "7"], 7), (["X-RateLimit-Reset": "999999999999"], 3600),
            (["X-RateLimit-Reset": "9999999999999999999"], nil),
            (["X-RateLimit-Reset": "soon", "Retry-After": "9"], 9),
            (["Retry-After": "-9"], nil), (["Retry-After": "0"], nil), ([:], nil), (["Retry-After": "999999"], 3600),
        ] as [([String: String], Int64?)]
    )
    func aLimitIsWaitedFor(_ headers: [String: String], _ seconds: Int64?) {
        let deferred = outcome(answer(429, "", headers))
        let after = seconds.map { Duration.seconds($0) }
        #expect(deferred == .deferred(rejection(.service, 429, "status 429"), after: after))
    }

    /// An answer that does not say whether the vendor pushes is not repeated.
    @Test func otherAnswersAreIndeterminate() {
        for status in [0, -1, 100, 204, 301, 302, 307, 402, 405, 408, 409, 422, 500, 502, 503, 504, 599, 999, Int.max] {
            guard case .indeterminate? = outcome(answer(status, Self.sent)) else {
                Issue.record("status \(status)")
                continue
            }
            #expect(result(answer(status, Self.sent)).reference == nil)
        }
    }

    @Test func onlyAShortWordIsAReference() {
        for body in [
            "", "[]", "{}", #"{"dispatch_id":7}"#, #"{"dispatch_id":""}"#, #"{"dispatch_id":"a b"}"#,
            #"{"dispatch_id":"홍"}"#,
        ] {
            #expect(result(answer(201, body)).reference == nil, "\(body)")
            #expect(outcome(answer(201, body)) == .accepted(TransportMessageID("")), "\(body)")
        }
        func body(_ count: Int) -> String { #"{"dispatch_id":"\#(String(repeating: "x", count: count))"}"# }
        #expect(result(answer(201, body(128))).reference?.count == 128)
        #expect(result(answer(201, body(129))).reference == nil)
        let long = Self.sent + String(repeating: " ", count: 64 * 1024)
        #expect(result(answer(201, long)).reference == nil)
    }

    /// A hostile upstream: nothing traps, every target has an outcome, and nothing long is stored.
    @Test func mutatedAnswersHaveBoundedOutcomes() throws {
        var documented = try ["messages/campaign", "messages/unreadable", "access/key", "access/throttled"].map {
            try OldBraze.response("\($0).response.txt")
        }
        documented.append(answer(201, Self.sent))
        var mutator = Mutator(seed: Fuzz.seed)
        for round in 0..<Fuzz.count {
            var response = documented[round % documented.count]
            let json = (try? JSONParser.parse(response.body)) ?? .null
            response.body = mutator.body(round / documented.count, from: json)
            if round % 7 == 0 { response.status = Int.random(in: -10...1000, using: &mutator.random) }
            for field in response.headers {
                let value = mutator.raw(Array(field.value.utf8))
                response.headers[field.name] = String(decoding: value, as: UTF8.self)
            }
            let result = result(response)
            #expect(result.outcomes.count == 3, "seed \(Fuzz.seed)")
            #expect(result.reference?.utf8.count ?? 1 <= 128, "seed \(Fuzz.seed)")
            for outcome in result.outcomes { #expect(Self.isBounded(outcome, response.status), "seed \(Fuzz.seed)") }
        }
    }

    private static func isBounded(_ outcome: Outcome, _ status: Int) -> Bool {
        func isShort(_ rejection: Rejection) -> Bool {
            (1...64).contains(rejection.reason.utf8.count)
                && rejection.reason.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        }
        switch outcome {
        case .accepted: return [200, 201, 202].contains(status)
        case .rejected(let rejection): return isShort(rejection)
        case .deferred(let rejection, let after):
            return isShort(rejection) && (after.map { $0 > .zero && $0 <= .seconds(3600) } ?? true)
        case .unsent: return false
        case .indeterminate: return true
        }
    }

    /// Mutated calls: a kind for each, and no trap in what reads them.
    @Test func mutatedCallsAreReadSafely() throws {
        let documented = try ConformanceTests.subject().documented
        var mutator = Mutator(seed: Fuzz.seed)
        for round in 0..<Fuzz.count / 2 {
            var request = documented[round % documented.count]
            request.body = mutator.body(round, from: (try? JSONParser.parse(request.body)) ?? .null)
            if round.isMultiple(of: 3) {
                request.path = String(decoding: mutator.raw(Array(request.path.utf8)), as: UTF8.self)
            }
            _ = Mount.adapter.kind(of: request, settings: Mount.settings)
            _ = Mount.adapter.named(in: request, settings: Mount.settings)
            _ = Mount.adapter.appVersion(in: request)
        }
    }
}
