import FoundationEssentials
import Model
import Testing

@testable import RationalOwl

/// The comparison of the vendor's answers with the gateway's. The calls and answers are those of docs/contracts/rationalowl.md.
struct ParityTests {
    private static func names(_ request: VendorRequest, _ replies: [Reply], _ theirs: [UInt8]) throws -> [String] {
        let answer = VendorResponse(status: 200, body: theirs)
        let own = try #require(
            Mount.adapter.comparable(replies, to: request, response: answer, settings: BindingSettings())
        )
        let ours = Mount.adapter.encode(own, for: request, settings: BindingSettings())
        return Mount.adapter.differences(ours: ours, theirs: answer, for: request)
    }

    private static func registered(wasActive: Bool) -> Reply {
        .registration(
            .registered(
                Registered(
                    identity: IdentityID(UUID()),
                    device: DeviceID(UUID()),
                    key: VendorDeviceKey(Sample.device),
                    platform: .ios,
                    wasActive: wasActive
                )
            )
        )
    }

    // Whether the device was registered depends on calls before the observation.
    @Test(arguments: ["first-time", "already"], [false, true])
    func aDocumentedRegistrationIsAnsweredAlike(_ answer: String, _ wasActive: Bool) throws {
        let request = try Mount.documented("installApp/vendor-document.request.json")
        let body = try Fixture.bytes("installApp/\(answer).response.json")
        let reply = Self.registered(wasActive: wasActive)
        #expect(try Self.names(request, [reply], body).isEmpty)
        let wrong = String(decoding: body, as: UTF8.self).replacing(#""cId":303"#, with: #""cId":304"#)
        #expect(try Self.names(request, [reply], Array(wrong.utf8)) == ["cId"])
    }

    @Test func aRefusalOfOneSideIsADifference() throws {
        let request = try Mount.documented("installApp/vendor-document.request.json")
        let body = try Fixture.bytes("installApp/unknown-account.response.json")
        let names = try Self.names(request, [Self.registered(wasActive: false)], body)
        #expect(names.contains("rc"))
    }

    @Test func aReceiptAndAnEnrolmentAreAnsweredAlike() throws {
        let receipt = try Mount.documented("notiRead/current.request.json")
        #expect(try Self.names(receipt, [.receipt(.recorded)], Array("ok".utf8)).isEmpty)
        #expect(try Self.names(receipt, [.receipt(.recorded)], Array("no".utf8)) == ["body"])
        let client = try Mount.documented("clientRegister/client.request.json")
        let answer = try Fixture.bytes("clientRegister/new.response.json")
        #expect(try Self.names(client, [.sender(.registered(SenderID(Sample.server)))], answer).isEmpty)
    }
}
