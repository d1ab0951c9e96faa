import DeliveryEngine
import Testing

/// The stored form of the paths that a delivery left.
@Suite struct TriedPathTests {
    @Test func pathsAreStoredBesideTheShortenedParts() {
        let tried = [TriedPath("apns", outcome: "Unregistered"), TriedPath("old", outcome: "a=b")]
        let stored = TriedPath.entries(["title", "untranslated:braze.loc-key"], tried)
        #expect(stored == "title,untranslated:braze.loc-key,path:apns=Unregistered,path:old=a=b")
        #expect(TriedPath.paths(in: stored) == tried)
        #expect(TriedPath.reduced(in: stored) == "title,untranslated:braze.loc-key")
    }

    @Test func nothingIsStoredWithoutThem() {
        #expect(TriedPath.entries([], []) == nil && TriedPath.entries(["title"], []) == "title")
        #expect(TriedPath.paths(in: nil).isEmpty && TriedPath.paths(in: "title,body").isEmpty)
        #expect(TriedPath.reduced(in: nil) == nil && TriedPath.reduced(in: "title,body") == "title,body")
        #expect(TriedPath.reduced(in: "path:apns=noToken") == nil)
    }

    // A vendor's reason is any text.
    @Test func aReasonCannotAddEntries() {
        let outcome = "no,path:apns=sent\0" + String(repeating: "x", count: 200)
        let stored = TriedPath.entries([], [TriedPath("old", outcome: outcome)])
        let paths = TriedPath.paths(in: stored)
        #expect(paths.count == 1 && paths.first?.path == "old")
        #expect(paths.first?.outcome.hasPrefix("no path:apns=sent x") == true && paths.first?.outcome.count == 100)
        #expect(TriedPath.entries([], [TriedPath("old", outcome: "")]) == "path:old=")
    }
}
