import FoundationEssentials
import Model
import Testing

/// UUIDs as identifiers.
struct IdentifierTests {
    /// RFC 9562 §5.7: 48 bits of milliseconds, version 7, variant 10.
    @Test func versionSevenCarriesItsTime() {
        var random = SystemRandomNumberGenerator()
        let id = UUID.v7(at: Timestamp(milliseconds: 0x0123_4567_89AB), using: &random)
        #expect(Array(id.bytes.prefix(6)) == [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB])
        #expect(id.bytes[6] >> 4 == 7)
        #expect(id.bytes[8] >> 6 == 2)
        #expect(
            UUID.v7(at: Timestamp(milliseconds: 5), using: &random)
                != UUID.v7(at: Timestamp(milliseconds: 5), using: &random)
        )
    }

    @Test func laterVersionSevensSortLater() {
        var random = SystemRandomNumberGenerator()
        let early = MessageID(UUID.v7(at: Timestamp(milliseconds: 1_700_000_000_000), using: &random))
        let late = MessageID(UUID.v7(at: Timestamp(milliseconds: 1_700_000_000_001), using: &random))
        #expect(early < late)
    }

    @Test func textIsLowerCaseAndReadInEitherCase() {
        let text = "3F0C2C1E-0A55-4F6E-9A3C-5D2B9A1E7C11"
        #expect(MessageID(text: text)?.description == text.lowercased())
        #expect(MessageID(text: "3f0c2c1e") == nil)
        #expect(UUID(bytes: [1, 2, 3]) == nil)
    }

    /// The same text as Foundation's, and the order of the texts.
    @Test func textAndOrderAreThoseOfFoundation() {
        let ids = (0..<200).map { _ in MessageID(UUID()) }
        for id in ids { #expect(id.description == id.rawValue.uuidString.lowercased()) }
        #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
    }

    @Test func addressesSurviveTheirCanonicalText() {
        for address in [Address.phone("0101"), .deviceKey("a:b"), .user("kim"), .device(DeviceID(UUID()))] {
            #expect(Address(canonical: address.canonical) == address)
        }
        #expect(Address(canonical: "nothing") == nil)
        #expect(Address(canonical: "device:x") == nil)
    }
}
