import Foundation
import Testing

@testable import Model

struct CallIDTests {
    // The header of a caller is echoed and logged: neither may be forged by it.
    @Test(arguments: ["a", "req-1", "7f9c/2:b", String(repeating: "x", count: 128), "'\"\\{}"])
    func visibleCharactersAreAccepted(_ text: String) {
        #expect(CallID(text)?.description == text)
    }

    @Test(arguments: [
        "", " ", "a b", "a\nb", "a\r\nSet-Cookie: x", "\u{7F}", "é", "a\0", String(repeating: "x", count: 129),
    ])
    func otherTextIsNotAccepted(_ text: String) {
        #expect(CallID(text) == nil)
    }

    @Test func aGeneratedOneIsAUUIDInLowerCase() throws {
        let id = try #require(UUID(uuidString: "0199B2F0-6A3C-7C1E-9D64-2F1F6D0C8A11"))
        #expect(CallID(id).description == "0199b2f0-6a3c-7c1e-9d64-2f1f6d0c8a11")
    }
}
