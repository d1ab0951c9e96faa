import HTTPTypes
import Model
import TestKit
import Testing

@testable import NotificationHubs

/// The outcomes of the answers of the vendor's hub, for the targets of a send.
struct UpstreamOutcomeTests {
    private static let call = UpstreamCall(Mount.request(.post, "/hub1/messages"), targets: [4, 5, 6])

    private func result(_ response: VendorResponse) -> UpstreamResult {
        Mount.adapter.outcome(of: Self.call, response: response)
    }

    private func outcome(_ response: VendorResponse) -> Outcome? {
        let outcomes = result(response).outcomes
        return Set(outcomes).count == 1 && outcomes.count == 3 ? outcomes.first : nil
    }

    private func rejection(_ scope: Rejection.Scope, _ status: Int, _ reason: String) -> Rejection {
        Rejection(scope: scope, reason: reason, status: status)
    }

    @Test func theDocumentedAnswersHaveTheirOutcomes() throws {
        let sent = result(try OldHub.response("messages/send.response.txt"))
        #expect(sent.outcomes == Array(repeating: .accepted(TransportMessageID("")), count: 3))
        #expect(sent.reference == "73622a22797441e4b434e8c2c14112ce-20260101000000-1-1")
        #expect(
            outcome(try OldHub.response("messages/tags.response.txt"))
                == .rejected(rejection(.content, 400, "The supplied tag expression is not valid at position 9"))
        )
        #expect(
            outcome(try OldHub.response("access/signature.response.txt"))
                == .rejected(rejection(.credential, 401, "InvalidSignature: The token has an invalid signature."))
        )
        #expect(
            outcome(try OldHub.response("access/hub.response.txt"))
                == .rejected(rejection(.credential, 404, "No service is hosted at the specified address."))
        )
        #expect(
            outcome(try OldHub.response("access/listen.response.txt"))
                == .rejected(rejection(.credential, 403, "status 403"))
        )
        #expect(
            outcome(try OldHub.response("access/throttled.response.txt"))
                == .deferred(rejection(.service, 429, "SubCode=42900. Throttled"), after: .seconds(30))
        )
        // docs/contracts/notificationhubs.md#5.2: gone.
        #expect(
            outcome(try OldHub.response("registrations/gone.response.txt"))
                == .rejected(rejection(.credential, 410, "status 410"))
        )
    }

    private func answer(_ status: Int, _ body: String = "", _ headers: [String: String] = [:]) -> VendorResponse {
        var fields = HTTPFields()
        for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
        return VendorResponse(status: status, headers: fields, body: Array(body.utf8))
    }

    @Test func aQuotaAndAnOutageAreDeferred() {
        for status in [403, 429, 503] {
            #expect(
                outcome(answer(status, "quota"))
                    == .deferred(rejection(.service, status, "status \(status)"), after: nil)
            )
        }
        for (text, time) in [("1", 1), ("3600", 3600), ("99999999", 3600)] as [(String, Int64)] {
            let deferred = answer(503, "", ["Retry-After": text])
            #expect(outcome(deferred) == .deferred(rejection(.service, 503, "status 503"), after: .seconds(time)))
        }
        for text in ["", "0", "-1", "soon", "Thu, 01 Jan 2026 00:00:10 GMT", "99999999999999999999"] {
            let deferred = answer(429, "", ["Retry-After": text])
            #expect(outcome(deferred) == .deferred(rejection(.service, 429, "status 429"), after: nil), "\(text)")
        }
    }

    /// An answer that does not say whether the vendor pushes is not repeated.
    @Test func otherAnswersAreIndeterminate() {
        for status in [0, -1, 100, 202, 204, 301, 302, 307, 402, 405, 408, 409, 422, 500, 502, 504, 599, 999, Int.max] {
            guard case .indeterminate? = outcome(answer(status)) else {
                Issue.record("status \(status)")
                continue
            }
        }
        #expect(outcome(answer(413)) == .rejected(rejection(.content, 413, "status 413")))
        #expect(outcome(answer(200)) == .accepted(TransportMessageID("")))
    }

    /// The id of the notification (docs/contracts/notificationhubs.md#7, #7.4); without a location, the id of the call.
    @Test func theReferenceIsTheNotificationsID() {
        let batch = "https://h/hub1/messages/$batch/1-2-3-4?api-version=2017-04&direct"
        #expect(result(answer(201, "", ["Location": batch, "TrackingId": "t_G1"])).reference == "1-2-3-4")
        #expect(result(answer(201, "", ["TrackingId": "t_G1"])).reference == "t_G1")
        #expect(result(answer(201)).reference == nil)
        #expect(result(answer(500, "", ["Location": batch])).reference == nil)
        let long = String(repeating: "x", count: 129)
        #expect(result(answer(201, "", ["Location": "/\(long)", "TrackingId": long])).reference == nil)
    }

    /// A hostile upstream: nothing traps, every target has an outcome, and nothing long is stored.
    @Test func mutatedAnswersHaveBoundedOutcomes() throws {
        let documented = try [
            "messages/send", "messages/tags", "access/signature", "access/hub", "access/listen", "access/throttled",
        ].map { try OldHub.response("\($0).response.txt") }
        var mutator = Mutator(seed: Fuzz.seed)
        for round in 0..<Fuzz.count {
            var response = documented[round % documented.count]
            response.body = mutator.raw(response.body)
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
        case .accepted: return [200, 201].contains(status)
        case .rejected(let rejection): return isShort(rejection)
        case .deferred(let rejection, let after):
            return isShort(rejection) && (after.map { $0 > .zero && $0 <= .seconds(3600) } ?? true)
        case .unsent: return false
        case .indeterminate: return true
        }
    }

    /// Mutated calls: a kind for each, and no trap in what reads them.
    @Test func mutatedCallsAreReadSafely() throws {
        var mutator = Mutator(seed: Fuzz.seed)
        let documented = try ConformanceTests.documented()
        for round in 0..<Fuzz.count / 2 {
            var request = documented[round % documented.count]
            request.path = String(decoding: mutator.raw(Array(request.path.utf8)), as: UTF8.self)
            request.query = request.query.map { String(decoding: mutator.raw(Array($0.utf8)), as: UTF8.self) }
            for field in request.headers {
                let value = mutator.raw(Array(field.value.utf8))
                request.headers[field.name] = String(decoding: value, as: UTF8.self)
            }
            _ = Mount.adapter.kind(of: request, settings: Mount.settings)
            _ = Mount.adapter.named(in: request, settings: Mount.settings)
            _ = Mount.adapter.prepare(request, for: OldHub.upstream, host: OldHub.host, at: Mount.now)
            _ = try? Mount.adapter.admit(request, settings: Mount.settings)
        }
    }
}
