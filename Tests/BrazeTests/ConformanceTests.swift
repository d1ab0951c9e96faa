import Foundation
import HTTPTypes
import Model
import TestKit
import Testing

@testable import Braze

/// The rules of every adapter, for Braze.
struct ConformanceTests {
    static func subject() throws -> AdapterUnderTest {
        AdapterUnderTest(
            adapter: BrazeAdapter(),
            settings: SDKTests.settings,
            documented: [
                Mount.request("/messages/send", try Fixture.text("messages/send.request.json")),
                Mount.request("/users/track", try UserTests.documented("track.request.txt")),
                Mount.request("/users/delete", try UserTests.documented("delete.request.txt")),
                Mount.request("/users/export/ids", try UserTests.documented("export.request.json")),
                Mount.request("/users/alias/new", UserTests.aliases),
                Mount.request("/users/identify", UserTests.identities),
                Mount.request("/users/merge", UserTests.merges),
            ] + CampaignTests.documented + AudienceTests.documented + SubscriptionTests.documented + [
                SDKTests.request("/api/v3/data", try SDKTests.documented("sdk/start.request.txt")),
                SDKTests.request("/api/v3/template", try SDKTests.documented("sdk/acts.request.json")),
                SDKTests.request("/api/v3/content_cards/sync", try SDKTests.documented("sdk/opened.request.json")),
            ],
            catchAll: [BrazeCall.laterRoute],
            fault: Self.fault
        )
    }

    @Test(arguments: AdapterContract.rules)
    func brazeKeepsTheAdaptersRules(_ rule: AdapterRule) throws {
        #expect(rule.faults(try Self.subject()) == [])
    }

    @Test func mutatedRequestsGetTheVendorsShape() throws {
        #expect(AdapterContract.mutationFaults(try Self.subject(), reaching: 5) == [])
    }

    /// The allowed form of an answer (docs/contracts/braze.md#4.2, docs/contracts/braze.md#4.3).
    @Sendable static func fault(_ response: VendorResponse, _ request: VendorRequest) -> String? {
        guard response.header("Content-Type") == "application/json" else { return "content type" }
        if request.path.hasPrefix("/api/v3") { return sdkFault(response, request) }
        for name in ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] {
            guard response.header(name).flatMap({ Int64($0) }) != nil else { return "no \(name)" }
        }
        guard let body = response.json?.object else { return "no object" }
        if [200, 201].contains(response.status) {
            guard body["message"] == "success", response.status == (request.method == .get ? 200 : 201) else {
                return "a success that does not say so"
            }
            return successFault(body, request)
        }
        guard [400, 401, 404, 408, 413, 429, 503].contains(response.status) else { return "status \(response.status)" }
        if [429, 503].contains(response.status), response.header("Retry-After") == nil { return "no Retry-After" }
        let isTracked = request.path == "/users/track" && response.status == 400 && body["errors"]?.array != nil
        guard body.count == (isTracked ? 2 : 1), let text = (body["message"] ?? body["error"])?.string, !text.isEmpty
        else {
            return "an error without its text"
        }
        return nil
    }

    /// The allowed form of an answer to the SDK (docs/contracts/braze.md#3.5, docs/contracts/braze.md#3.6,
    /// docs/contracts/braze.md#3.8).
    private static func sdkFault(_ response: VendorResponse, _ request: VendorRequest) -> String? {
        guard let body = response.json?.object else { return "no object" }
        guard response.header("Cache-Control") != nil, response.header("x-request-id")?.count == 36 else {
            return "no x-request-id"
        }
        guard response.status == 201 else {
            guard [400, 401, 404, 408, 413, 429, 503].contains(response.status) else {
                return "status \(response.status)"
            }
            if [429, 503].contains(response.status), response.header("Retry-After") == nil { return "no Retry-After" }
            return body.keys == ["error"] && body["error"]?.string?.isEmpty == false ? nil : "an error without its name"
        }
        let fields: Set<String> =
            switch request.path {
            case "/api/v3/data": ["triggers", "feed", "config"]
            case "/api/v3/content_cards/sync": ["cards", "last_full_sync_at", "last_card_updated_at", "full_sync"]
            default: []
            }
        return fields.isSuperset(of: body.keys) ? nil : "a success with more fields"
    }

    /// The allowed fields of a success.
    private static func successFault(_ body: JSONObject, _ request: VendorRequest) -> String? {
        let fields: Set<String>
        switch request.path {
        case "/users/track":
            let known: Set = ["message", "errors", "attributes_processed", "events_processed", "purchases_processed"]
            let counts = known.compactMap { body[$0]?.int }
            return known.isSuperset(of: body.keys) && counts.contains { $0 > 0 } ? nil : "a success without its fields"
        case "/messages/send", "/campaigns/trigger/send": fields = ["dispatch_id", "message"]
        case "/messages/schedule/create", "/campaigns/trigger/schedule/create":
            fields = ["dispatch_id", "schedule_id", "message"]
        case "/users/delete": fields = ["deleted", "message"]
        case "/users/alias/new", "/users/identify": fields = ["aliases_processed", "message"]
        case "/users/export/ids":
            fields = body["invalid_user_ids"] == nil ? ["users", "message"] : ["users", "invalid_user_ids", "message"]
        case "/sends/id/create": fields = ["send_id", "message"]
        case "/messages/scheduled_broadcasts": fields = ["scheduled_broadcasts", "message"]
        case "/subscription/status/get": fields = ["status", "message"]
        case "/subscription/user/status": fields = ["users", "total_count", "message"]
        case "/sends/data_series": fields = ["data", "message"]
        default: fields = ["message"]
        }
        if let dispatch = body["dispatch_id"], dispatch.string?.count != 32 { return "a dispatch_id of another length" }
        return Set(body.keys) == fields ? nil : "a success without its fields"
    }
}
