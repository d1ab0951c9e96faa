import FoundationEssentials
import Model
import Testing

@testable import IPNS

/// The comparison of the vendor's answers with the gateway's. The calls and answers are those of docs/contracts/ipns.md.
struct ParityTests {
    private static let abbreviations: KeyValuePairs = ["9f2c…64hex": Fixture.token, "5B1C…": "5B1C"]
    private static let replies: [Reply] = [
        .registration(
            .registered(
                Registered(
                    identity: IdentityID(UUID()),
                    device: DeviceID(UUID()),
                    key: "5B1C",
                    platform: .ios,
                    wasActive: false
                )
            )
        ),
        .preference(.preferencesSet),
    ]

    private static func names(_ request: VendorRequest, _ theirs: JSON) throws -> [String] {
        let answer = VendorResponse(status: 200, body: JSONWriter.bytes(theirs))
        let own = try #require(
            Mount.adapter.comparable(replies, to: request, response: answer, settings: Mount.strict)
        )
        let ours = Mount.adapter.encode(own, for: request, settings: Mount.strict)
        return Mount.adapter.differences(ours: ours, theirs: answer, for: request)
    }

    @Test func aDocumentedRegistrationIsAnsweredAlike() throws {
        let call = try #require(try Fixture.calls("appRegist.txt", Self.abbreviations).first)
        let request = Mount.request(call.path, call.request)
        #expect(try Self.names(request, call.response).isEmpty)
        // The pair of result and text has either name at the vendor.
        #expect(try Self.names(request, ["rtCode": "0000", "error": "", "DEVICE_ID": "5B1C", "PUSH_YN": "Y"]).isEmpty)
        #expect(try Self.names(request, ["RT": "0000", "RT_MSG": "x", "DEVICE_ID": "5B1C"]) == ["PUSH_YN"])
        let wrong: JSON = ["RT": "0000", "RT_MSG": "", "DEVICE_ID": "5B1C", "PUSH_YN": "N"]
        #expect(try Self.names(request, wrong) == ["PUSH_YN"])
    }
}
