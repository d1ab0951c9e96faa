import FoundationEssentials
import Model
import Testing

@testable import APNs

/// `apns-id` as text, compared with another implementation of UUIDs.
struct PushIDTextTests {
    private func read(_ text: [UInt8]) -> PushID? { PushID(text: text.span) }

    @Test func textEqualsThatOfFoundation() {
        for _ in 0..<500 {
            let uuid = UUID()
            let id = PushID(uuid)
            let text = [UInt8](capacity: PushID.textCount) { id.spell(into: &$0) }
            #expect(String(decoding: text, as: UTF8.self) == uuid.uuidString.lowercased())
            #expect(read(text) == id)
            #expect(read(Array(uuid.uuidString.utf8)) == id)
            #expect(id.uuid == uuid)
        }
    }

    @Test func otherTextsAreNotIDs() {
        let good = Array("ec1bf194-b3b2-424a-89a9-5a918a6e6b5d".utf8)
        for place in good.indices {
            for byte in [
                UInt8(ascii: "g"), UInt8(ascii: " "), 0x00, 0xE9, good[place] == UInt8(ascii: "-") ? 0x30 : 0x2D,
            ] {
                var text = good
                text[place] = byte
                #expect(read(text) == nil)
            }
        }
        for count in 0..<good.count { #expect(read(Array(good[..<count])) == nil) }
        #expect(read(good + [0x30]) == nil)
    }

    @Test func idsOtherThanUUIDsAreKept() {
        #expect(TransportMessageID("projects/p/messages/0:1") != TransportMessageID("projects/p/messages/0:2"))
        #expect(
            TransportMessageID("EC1BF194-B3B2-424A-89A9-5A918A6E6B5D")
                == TransportMessageID("ec1bf194-b3b2-424a-89a9-5a918a6e6b5d")
        )
        #expect(TransportMessageID("").isEmpty)
    }
}
