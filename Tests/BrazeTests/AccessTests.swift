import HTTPTypes
import Model
import Testing

@testable import Braze

/// Keys, common answers and unsupported calls (docs/contracts/braze.md#1, docs/contracts/braze.md#4,
/// docs/contracts/braze.md#5.11).
struct AccessTests {
    private let send = #"{"external_user_ids":["u-1"],"messages":{"apple_push":{"alert":"Hi"}}}"#

    // docs/contracts/braze.md#5.11: wrong or missing key.
    @Test(arguments: [nil, "", Mount.trackKey, "nobody's key, at all"])
    func aKeyWithoutThePermissionIsRefused(_ key: String?) throws {
        let answer = Mount.answer(Mount.request("/messages/send", send, key: key))
        #expect(try answer.fault(against: "access/key.response.txt") == nil)
    }

    // A key of another binding, or an unknown key, finds no binding.
    @Test func anUnknownBindingIsAWrongKey() throws {
        let answer = Mount.answer(Mount.request("/messages/send", send)) { _ in .refused(.unknownBinding) }
        #expect(try answer.fault(against: "access/key.response.txt") == nil)
    }

    // docs/contracts/braze.md#4.1: the key is read from the header first, then from the body, then from the query.
    @Test func keysOfOlderIntegrationsAreReadFromBodyAndQuery() throws {
        let body = #"{"api_key":"\#(Mount.key)","external_user_ids":["u-1"],"messages":{"apple_push":{"alert":"Hi"}}}"#
        #expect(Mount.answer(Mount.request("/messages/send", body, key: nil)).status == 201)
        #expect(Mount.answer(Mount.request("/messages/send", body, key: "another key")).status == 401)
        let query = Mount.request("/messages/send", send, key: nil, query: "x=1&api_key=\(Mount.key)")
        #expect(Mount.answer(query).status == 201)
    }

    // docs/contracts/braze.md#4.1: keys may carry an allow-list of addresses.
    @Test func aKeyWithAnAllowListIsValidOnlyFromItsAddresses() {
        for (address, status) in [("192.0.2.1", 201), ("192.0.2.2", 401), (nil, 401)] as [(String?, Int)] {
            let request = Mount.request("/messages/send", send, key: Mount.officeKey, from: address)
            #expect(Mount.answer(request).status == status, "\(address ?? "nowhere")")
        }
    }

    // The settings contain the SHA-256 of a key, not the key, and the binding is found by that hash.
    @Test func aKeyIsFoundByItsHash() throws {
        let (key, caller) = try Mount.adapter.locate(Mount.request("/messages/send", send))
        #expect(key.kind == "rest")
        #expect(Mount.settings.values["keys"]?[key.value]?["name"] == "all")
        #expect(!key.value.contains(Mount.key))
        #expect(caller == .credential)
    }

    // docs/contracts/braze.md#5.11: calls that are not supported answer 404 to any caller.
    @Test(arguments: [
        "/users/track/x", "/users/rename", "/campaigns/trigger/x", "/canvas/trigger/send",
        "/messages/live_activity/update", "/v2/subscription/status/get", "/messages/send/more",
    ])
    func unsupportedCallsAnswer404(_ path: String) throws {
        let answer = Mount.answer(Mount.request(path, "{}"))
        #expect(answer.status == 404)
        #expect(answer.json == ["message": "Not Found"])
        #expect(Mount.answer(Mount.request("/messages/send", "", method: .get)).status == 404)
    }

    // docs/contracts/braze.md#1: every path may end in a slash.
    @Test func aTrailingSlashIsIgnored() {
        #expect(Mount.answer(Mount.request("/messages/send/", send)).status == 201)
    }

    // docs/contracts/braze.md#5.11: over the limit. The documented call is not supported, so only its answer is
    // compared.
    @Test func tooManyRequestsIncludeARetryTime() throws {
        var request = Mount.request("/users/export/ids", "{}")
        request.receivedAt = Timestamp(seconds: 1_767_225_600)
        let refusal = Reply.refused(.rateLimited(retryAfter: .seconds(42)))
        let answer = Mount.adapter.encode([refusal], for: request, settings: Mount.settings)
        #expect(try answer.fault(against: "access/throttled.response.txt") == nil)
    }

    // docs/contracts/braze.md#4.2: a gateway failure.
    @Test func aGatewayFailureIsAServerError() {
        let answer = Mount.answer(Mount.request("/messages/send", send)) { _ in
            .refused(.unavailable(retryAfter: .seconds(7)))
        }
        #expect(answer.status == 503)
        #expect(answer.header("Retry-After") == "7")
        #expect(answer.json == ["message": "Internal Server Error"])
    }
}
