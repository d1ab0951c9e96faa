import HTTPTypes
import NIOHTTP1
import NIOHTTPTypesHTTP1
import Testing

@testable import GatewayHTTP

/// Requests get the same form as from the codec of the web framework, which parses their targets.
@Suite struct CallCodecTests {
    private static let methods: [HTTPMethod] = [.GET, .POST, .PUT, .DELETE, .PATCH, .OPTIONS, .RAW(value: "PURGE-ALL")]

    private func head(_ target: String, _ method: HTTPMethod = .POST) -> HTTPRequestHead {
        let headers: HTTPHeaders = [
            "Host": "push.example:8080", "Content-Type": "application/json", "x-two": "1", "Cookie": "a=1; b=2",
            "X-Two": "2", "HOST": "other.example", "empty": "",
        ]
        return HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
    }

    @Test(
        arguments: [
            "/", "/ipns/appRegist", "/v1/messages?limit=2&after=a%2Fb", "//host/path?x=1", "/a:b/c", "/a#b", "/%zz",
            "/\u{AC00}", "/?http://other.example/", "/http://other.example/",
        ]
    )
    func aPathIsTheTarget(_ target: String) throws {
        for method in Self.methods {
            let request = try #require(CallCodec.request(head(target, method)))
            #expect(try request == HTTPRequest(head(target, method), secure: false, splitCookie: false))
            #expect(request.path == target)
        }
    }

    @Test(arguments: ["", "*", "http://other.example/a?b", "https://other.example", "push.example:443", "a/b", "?a"])
    func anotherTargetIsParsed(_ target: String) {
        #expect(CallCodec.request(head(target)) == nil)
    }

    @Test func aMethodThatIsNotATokenIsLeftToTheFramework() {
        #expect(CallCodec.request(head("/", .RAW(value: "GET POST"))) == nil)
    }
}
