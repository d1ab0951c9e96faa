import Model
import NIOHTTP1
import Testing

@testable import CommandSupport

/// The check of the answers that tests receive: it finds each kind of difference to the API's document.
@Suite struct DeclaredAnswersTests {
    private static let pause = "/v1/messages/m/pause"
    private static let changed = #"{"id":"0198a1f0-7c00-7000-8000-000000000001","changed":true}"#
    private static let position: HTTPHeaders = [
        "content-type": "application/x-ndjson", "x-event-offset": "0", "x-event-head": "0",
        "x-event-generation": "0198a1f0-7c00-7000-8000-000000000001",
    ]

    private func faults(
        _ method: String,
        _ path: String,
        _ status: Int,
        _ headers: HTTPHeaders,
        _ body: String = ""
    ) -> [String] {
        let answer = HTTPCaller.Answer(status: status, headers: headers, bytes: Array(body.utf8))
        return DeclaredAnswers.faults(method, path.split(separator: "/"), answer)
    }

    private func json(_ status: Int, _ body: String, type: String = "application/json; charset=utf-8") -> [String] {
        faults("POST", Self.pause, status, ["content-type": type], body)
    }

    private func problem(_ method: String, _ path: String, _ status: Int, _ code: String) -> [String] {
        let body = #"{"type":"https://x.example","title":"t","status":\#(status),"code":"\#(code)","detail":"d"}"#
        return faults(method, path, status, ["content-type": "application/problem+json"], body)
    }

    @Test func declaredAnswersHaveNoFaults() {
        #expect(json(200, Self.changed) == [])
        #expect(problem("POST", Self.pause, 404, "PG-1005") == [])
        #expect(faults("POST", "/v1/possession", 204, [:]) == [])
        #expect(faults("GET", "/v1/events", 200, Self.position, "{\"kind\":\"sent\"}\n{}\n") == [])
        #expect(faults("HEAD", "/v1/events", 200, Self.position) == [])
        #expect(faults("GET", "/v1/exports/events", 200, ["content-type": "text/csv; charset=utf-8"], "a,b") == [])
    }

    @Test func aStatusTypeOrBodyThatIsNotDeclaredIsAFault() {
        #expect(json(418, Self.changed) == ["pauseMessage does not declare the status"])
        #expect(json(200, Self.changed, type: "text/html") == ["the content type 'text/html' is not declared"])
        #expect(json(200, "{") == ["a body that is not JSON"])
        #expect(json(200, "{}") != [])
        #expect(faults("POST", "/v1/possession", 204, [:], "{}") == ["a body where none is declared"])
        #expect(faults("GET", "/v1/events", 200, Self.position, "{}\nx\n") == ["a line that is not JSON"])
        #expect(faults("GET", "/v1/events", 200, Self.position, "1") != [])
        #expect(problem("POST", Self.pause, 404, "PG-1003") == ["the problem PG-1003 is not declared"])
    }

    @Test func aMissingHeaderAndABodyAfterHeadAreFaults() {
        #expect(faults("GET", "/v1/events", 200, ["content-type": "application/x-ndjson"]).count == 3)
        #expect(faults("HEAD", "/v1/events", 200, Self.position, "{}") == ["a body after HEAD"])
    }

    @Test func withoutAnOperationOnlyAProblemIsPermitted() {
        #expect(problem("GET", "/v1/nothing", 404, "PG-1005") == [])
        #expect(problem("GET", "/v1/nothing", 500, "PG-1005") == ["no operation has this path and method"])
        #expect(faults("GET", "/v1/nothing", 404, ["content-type": "text/plain"], "no") != [])
    }
}
