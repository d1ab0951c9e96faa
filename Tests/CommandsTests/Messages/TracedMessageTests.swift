import Model
import Testing

@testable import Store

struct TracedMessageTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func theContentKeepsTheTraceOfASampledMessageOnly() throws {
        let content = Content(title: "t", body: "b")
        let trace = try #require(TraceContext(parent: Self.parent, state: "a=1"))
        let plain = try #require(ContentCoding.encode(content).object)
        let traced = try #require(ContentCoding.encode(content, trace: trace).object)
        #expect(plain["trace"] == nil && ContentCoding.trace(in: plain) == nil)
        #expect(traced["trace"] == .string(Self.parent + " a=1") && ContentCoding.trace(in: traced) == trace)
        #expect(ContentCoding.decode(traced) == ContentCoding.decode(plain), "not part of the content")
    }
}
