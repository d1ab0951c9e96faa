import Model
import Routing
import Testing

/// The digest by which messages of different entry points are compared (docs/routing.md#cross-vendor-duplicates).
@Suite struct MessageFingerprintTests {
    private func digest(
        _ title: String?,
        _ body: String,
        _ data: JSONObject = [:],
        further: JSONObject = [:]
    ) -> [UInt8]? {
        MessageFingerprint(of: Content(title: title, body: body, data: data), further: further)?.bytes
    }

    @Test func textsThatDifferInBlanksAndCompositionAreEqual() throws {
        let first = try #require(digest("Winter sale", "Caf\u{E9} at 9"))
        #expect(first.count == 8)
        #expect(first == digest(" Winter\n sale ", "Cafe\u{301}\u{A0}at  9\t"))
        #expect(first == digest("Winter sale", "Caf\u{E9} at 9", ["screen": "cart", "n": 1]))
    }

    @Test func otherTextsAreDifferent() {
        let all = [
            digest("a", "b"), digest("b", "a"), digest(nil, "ab"), digest("ab", ""), digest("a", "B"),
            digest("a", "b c"),
            digest("a", "bc"),
        ]
        #expect(Set(all).count == all.count)
    }

    // A text that ends with what another one begins with must not be the same.
    @Test func titleAndBodyDoNotRunTogether() { #expect(digest("ab", "c") != digest("a", "bc")) }

    @Test func linksCountWhereverAVendorPutsThem() {
        let plain = digest("a", "b")
        let linked = digest("a", "b", ["url": "shop://cart"])
        #expect(linked != plain)
        #expect(linked == digest("a", "b", ["deepLink": "shop://cart"]))
        #expect(linked == digest("a", "b", further: ["ab_uri": "shop://cart"]))
        #expect(linked == digest("a", "b", ["x": "shop://cart"], further: ["y": "shop://cart"]))
        #expect(linked != digest("a", "b", ["url": "shop://other"]))
        for text in ["no link", "see https://a.example now", #"{"url":"shop://cart"}"#, "://x", "1a://x"] {
            #expect(digest("a", "b", ["x": .string(text)]) == plain, "\(text)")
        }
    }

    @Test func aMessageWithoutATextIsNotCompared() {
        #expect(digest(nil, "") == nil && digest(" ", "\n") == nil)
        #expect(MessageFingerprint(of: Content(body: "b", isSilent: true)) == nil)
        var content = Content(body: "b")
        content.activity = ActivityReference(.running, "order-1")
        #expect(MessageFingerprint(of: content) == nil)
    }
}
