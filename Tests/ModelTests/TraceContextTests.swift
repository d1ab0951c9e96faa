import Testing

@testable import Model

// The valid and invalid values are those of https://www.w3.org/TR/trace-context/, §3.2.
struct TraceContextTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func aValidHeaderIsReadAndWritten() throws {
        let context = try #require(TraceContext(parent: Self.parent, state: "congo=t61rcWkgMzE"))
        #expect(context.traceID == .init(high: 0x4bf9_2f35_77b3_4da6, low: 0xa3ce_929d_0e0e_4736))
        #expect(context.spanID == 0x00f0_67aa_0ba9_02b7 && context.isSampled && context.state == "congo=t61rcWkgMzE")
        #expect(context.parent == Self.parent)
        #expect("\(context.traceID)" == "4bf92f3577b34da6a3ce929d0e0e4736")
        let unsampled = try #require(TraceContext(parent: Self.parent.dropLast(2) + "00"))
        #expect(!unsampled.isSampled && unsampled.parent.hasSuffix("-00"))
    }

    @Test(arguments: [
        "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.extra",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
    ])
    func anInvalidHeaderBeginsANewTrace(_ parent: String) {
        #expect(TraceContext(parent: parent) == nil)
    }

    // §3.2.4: fields of later versions are ignored.
    @Test func aLaterVersionIsReadAsFarAsItIsKnown() throws {
        let later = "cc" + Self.parent.dropFirst(2)
        #expect(TraceContext(parent: later)?.parent == Self.parent)
        #expect(TraceContext(parent: later + "-what-the-future-brings")?.parent == Self.parent)
    }

    @Test(arguments: ["", "a\nb", "a=é", String(repeating: "x", count: 513)])
    func anUnusableStateIsDropped(_ state: String) throws {
        let context = try #require(TraceContext(parent: Self.parent, state: state))
        #expect(context.state == nil)
    }

    @Test(arguments: [nil, "a=1", "a=1, b=2"])
    func aMessageKeepsTheContext(_ state: String?) throws {
        let context = try #require(TraceContext(parent: Self.parent, state: state))
        #expect(TraceContext(stored: context.stored) == context)
    }

    @Test(arguments: ["", " ", "x"])
    func otherStoredTextIsNotAContext(_ text: String) {
        #expect(TraceContext(stored: text) == nil)
    }
}
