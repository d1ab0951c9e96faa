import EngineStore
import FoundationEssentials
import Model
import Testing

@testable import Gateway
@testable import Observability

/// A capture as a file of HTTP exchanges. Source: "HTTP Archive (HAR) format", W3C Web Performance, 2012-08-14.
struct CaptureArchiveTests {
    private static func exchange(
        query: String? = "pw=<secret 4>&Y",
        path: String = "/ipns/v2/regist/<hex 64>",
        bodyBytes: Int = 90,
        answerType: String? = "application/json"
    ) -> CapturedExchange {
        CapturedExchange(
            sequence: 7,
            at: Timestamp(seconds: 1_700_000_000) + .milliseconds(42),
            route: "ipns.other",
            outcome: .refused,
            reason: "missing",
            request: CapturedExchange.Request(
                method: "POST",
                path: path,
                query: query,
                headers: [
                    ["name": "Content-Type", "value": "application/json"], ["name": "x-customer", "value": .null],
                ],
                body: bodyBytes > 0 ? #"{"token":"<hex 64>"}"# : "",
                bodyBytes: bodyBytes
            ),
            answer: CapturedExchange.Answer(
                status: 200,
                contentType: answerType,
                body: #"{"RT":"0000"}"#,
                bodyBytes: 13
            )
        )
    }

    private static func file(_ exchanges: [CapturedExchange], app: AppID = "shop") -> String {
        let entries = exchanges.enumerated().map { CaptureArchive.entry($1, isFirst: $0 == 0) }
        return ([CaptureArchive.opening(of: UUID(), vendor: .ipns, app: app)] + entries + [CaptureArchive.closing])
            .joined(separator: "\n")
    }

    // The expected file is written from the list of fields in the format's specification.
    @Test func anExchangeHasEveryFieldOfTheFormat() throws {
        let log = try #require(JSONParser.parse(Self.file([Self.exchange()]))["log"])
        #expect(log["version"] == "1.2")
        #expect(log["creator"] == ["name": "push-gateway", "version": .string(GatewayVersion.text)])
        let expected = #"""
            {"startedDateTime":"2023-11-14T22:13:20.042Z","time":0,"request":{"method":"POST",
            "url":"http://gateway.invalid/ipns/v2/regist/%3Chex%2064%3E?pw=%3Csecret%204%3E&Y=","httpVersion":"unknown","cookies":[],
            "headers":[{"name":"Content-Type","value":"application/json"},{"name":"x-customer","value":"<hidden>"}],
            "queryString":[{"name":"pw","value":"<secret 4>"},{"name":"Y","value":""}],
            "postData":{"mimeType":"application/json","text":"{\"token\":\"<hex 64>\"}"},"headersSize":-1,"bodySize":90},
            "response":{"status":200,"statusText":"","httpVersion":"unknown","cookies":[],
            "headers":[{"name":"Content-Type","value":"application/json"}],
            "content":{"size":13,"mimeType":"application/json","text":"{\"RT\":\"0000\"}"},"redirectURL":"","headersSize":-1,"bodySize":13},
            "cache":{},"timings":{"send":0,"wait":0,"receive":0},"comment":"#7 refused: missing (ipns.other)"}
            """#
        let entry = try #require(log["entries"]?.array?.first)
        #expect(JSONWriter.text(entry) == expected.replacing("\n", with: ""))
    }

    @Test(arguments: [0, 1, 3]) func anyNumberOfExchangesIsOneDocument(_ count: Int) throws {
        let text = Self.file(Array(repeating: Self.exchange(), count: count), app: AppID(#"a"b\"#))
        #expect(try JSONParser.parse(text)["log"]?["entries"]?.array?.count == count)
    }

    @Test func missingPartsOfACallAreLeftOut() throws {
        let entry = CaptureArchive.entry(Self.exchange(query: nil, bodyBytes: 0, answerType: nil))
        #expect(entry["request"]?["postData"] == nil && entry["request"]?["queryString"] == [])
        #expect(entry["request"]?["url"] == "http://gateway.invalid/ipns/v2/regist/%3Chex%2064%3E")
        #expect(entry["response"]?["headers"] == [] && entry["response"]?["content"]?["mimeType"] == "")
    }

    // I5: the path comes from a caller.
    @Test(arguments: ["", "*", "//x", "/%", "/a?b#c", "/<text 3>… <cut from 9>"])
    func everyPathBecomesOneURL(_ path: String) throws {
        let entry = CaptureArchive.entry(Self.exchange(path: path))
        let url = try #require(entry["request"]?["url"]?.string)
        #expect(URL(string: url)?.host() == "gateway.invalid", "\(url)")
        #expect(url.utf8.allSatisfy { (0x21...0x7E).contains($0) } && url.split(separator: "?").count == 2)
    }
}
