import Model
import Testing

@testable import Braze

/// The comparison of the vendor's answers with the gateway's. The calls and answers are those of docs/contracts/braze.md.
struct ParityTests {
    private static func response(_ text: String, status: Int = 201) -> VendorResponse {
        VendorResponse(status: status, body: Array(text.utf8))
    }

    private static func names(_ request: VendorRequest, _ ours: String, _ theirs: String, status: Int = 201) -> [String]
    {
        Mount.adapter.differences(ours: response(ours), theirs: response(theirs, status: status), for: request)
    }

    private static let documented = #"{"message":"success","attributes_processed":2,"events_processed":1}"#

    @Test func countsOfTheUsersTrackCallAreCompared() {
        let request = Mount.request("/users/track", #"{"attributes":[{"external_id":"u-1"}]}"#)
        let ours = #"{"attributes_processed":2,"events_processed":1,"message":"success"}"#
        #expect(Self.names(request, ours, Self.documented).isEmpty)
        let fewer = #"{"message":"success","attributes_processed":1,"events_processed":1}"#
        #expect(Self.names(request, ours, fewer) == ["attributes_processed"])
        #expect(Self.names(request, ours, Self.documented, status: 200) == ["status"])
    }

    // The gateway carries out only the elements that the vendor accepted.
    @Test func aCallWithRefusedElementsIsNotCompared() {
        let request = Mount.request("/users/track", #"{"attributes":[{"external_id":"u-1"}]}"#)
        let partial = Self.response(
            #"{"message":"success","errors":[{"type":"x","input_array":"attributes","index":0}]}"#
        )
        let replies = Mount.adapter.comparable([], to: request, response: partial, settings: .unbound)
        #expect(replies == nil)
        let whole = Self.response(Self.documented)
        #expect(Mount.adapter.comparable([], to: request, response: whole, settings: .unbound) == [])
    }

    // The features of the workspace are the vendor's.
    @Test func callsOfTheSDKAreComparedByTheirAcceptance() {
        let request = Mount.request("/api/v3/data", "{}")
        #expect(Self.names(request, "{}", #"{"config":{"time":1},"triggers":[]}"#).isEmpty)
        #expect(Self.names(request, "{}", #"{"error":"invalid_api_keys"}"#) == ["error"])
    }
}
