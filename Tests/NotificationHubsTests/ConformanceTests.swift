import Foundation
import HTTPTypes
import Model
import NotificationHubs
import TestKit
import Testing

/// The rules of every adapter, for Notification Hubs.
struct ConformanceTests {
    static func documented() throws -> [VendorRequest] {
        try [
            Fixture.request("installations/put.request.txt"), Fixture.request("installations/patch.request.txt"),
            Fixture.request("messages/send.request.txt"), Fixture.request("messages/schedule.request.txt"),
            Mount.request(.delete, "/hub1/schedulednotifications/\(Mount.scheduleText)"),
            Mount.request(
                .post,
                "/hub1/messages",
                headers: ["ServiceBusNotification-Format": "template", "ServiceBusNotification-Tags": "a && !b"],
                #"{"title":"Sale","count":3}"#
            ),
            Mount.request(.get, InstallationTests.path), Mount.request(.delete, InstallationTests.path),
            Mount.request(.get, "/hub1/messages/\(Mount.messageText)"),
            Fixture.request("registrations/put.request.txt"), Fixture.request("registrations/newid.request.txt"),
            Mount.request(.post, "/hub1/registrations", RegistrationTests.template()),
            Mount.request(.get, "/hub1/registrations", query: "$filter=ChannelUri+eq+'\(Fixture.token)'&$top=5"),
            Mount.request(.get, "/hub1/registrations/1-2-1"), Mount.request(.delete, "/hub1/registrations/1-2-1"),
            Mount.request(.get, "/hub1/tags/seoul/registrations"), BatchTests.request(BatchTests.body()),
            BackendTests.documented("register.request.txt"), BackendTests.documented("put.request.txt"),
            BackendTests.documented("push.request.txt"), BackendTests.documented("image.request.txt"),
            BackendTests.request(.delete, "/api/register/\(BackendTests.id)"),
            BackendTests.request(.post, "/backend/api/notifications", #"{"message":"Look","type":"img"}"#),
        ]
    }

    static func subject() throws -> AdapterUnderTest {
        let documented = try documented().map { request in
            var request = request
            request.route = Self.route(request.path)
            return request
        }
        return AdapterUnderTest(
            adapter: HubsAdapter(),
            settings: Mount.settings,
            documented: documented,
            catchAll: ["hubs.later"],
            fault: Shape.fault
        )
    }

    private static func route(_ path: String) -> String {
        if path.hasPrefix("/backend") { return "hubs.backend" }
        if path.hasPrefix("/api") { return path.contains("register") ? "hubs.register" : "hubs.notification" }
        return switch path.split(separator: "/").dropFirst().first {
        case "installations": "hubs.installation"
        case "messages": "hubs.message"
        case "registrations": "hubs.registration"
        case "registrationids": "hubs.newid"
        case "tags": "hubs.tag"
        default: "hubs.schedule"
        }
    }

    @Test(arguments: AdapterContract.rules)
    func hubsKeepTheAdaptersRules(_ rule: AdapterRule) throws {
        #expect(rule.faults(try Self.subject()) == [])
    }

    @Test func mutatedRequestsGetTheVendorsShape() throws {
        #expect(AdapterContract.mutationFaults(try Self.subject(), reaching: 10) == [])
    }

    /// The base of a patch comes from the store, and may be as hostile as the patch.
    @Test func mutatedPatchesOfMutatedInstallationsNeverTrap() throws {
        let request = try Fixture.request("installations/patch.request.txt")
        let stored = try JSONParser.parse(try Fixture.message("installations/put.request.txt").body)
        let patch = try JSONParser.parse(request.body)
        var mutator = Mutator(seed: Fuzz.seed)
        var changed = 0
        for round in 0..<Fuzz.count {
            var mutated = request
            // One change at a time, and none in every fifth patch, because a patch is refused for its first invalid
            // change.
            let changes = (patch.array ?? []).enumerated().map { index, change in
                guard index == round % 5 else { return change }
                return (try? JSONParser.parse(mutator.typeCorrect(change))) ?? .null
            }
            mutated.body = JSONWriter.bytes(.array(changes))
            let attributes = (try? JSONParser.parse(mutator.typeCorrect(stored)).object) ?? JSONObject()
            let standing = IdentityStanding(
                state: .active,
                token: DeviceToken(apns: "ab"),
                user: nil,
                attributes: attributes
            )
            do throws(AdapterError) {
                let reply = Reply.registration(.standing(standing))
                let sequel = try Mount.adapter.sequel(to: [reply], of: mutated, settings: Mount.settings)
                changed += sequel.count
            } catch {
                let response = Mount.adapter.refuse(error, for: mutated, settings: Mount.settings)
                #expect(Shape.fault(response, mutated) == nil)
            }
        }
        #expect(changed > 0)
    }
}

/// The allowed form of an answer (docs/contracts/notificationhubs.md#3.4, docs/contracts/notificationhubs.md#3.5,
/// docs/contracts/notificationhubs.md#4, docs/contracts/notificationhubs.md#7), used by all checks above.
enum Shape {
    private static let failures: Set = [400, 401, 404, 405, 408, 410, 412, 413, 429, 503]

    @Sendable static func fault(_ response: VendorResponse, _ request: VendorRequest) -> String? {
        if request.path.lowercased().contains("/api/") { return site(response, request) }
        if response.status == 403 {
            return response.body.isEmpty && response.header("TrackingId") != nil ? nil : "a 403 with a body"
        }
        let type = response.header("Content-Type")
        if response.status == 200, type == "application/atom+xml; type=entry; charset=utf-8" {
            return response.text.hasPrefix("<entry ") && response.header("ETag") != nil ? nil : "no entry"
        }
        if response.status == 200, type == "application/atom+xml; type=feed; charset=utf-8" {
            return response.text.hasPrefix("<feed ") && response.text.hasSuffix("</feed>") ? nil : "no feed"
        }
        guard type == "application/xml; charset=utf-8" else { return "content type" }
        if failures.contains(response.status) {
            let head = "<Error><Code>\(response.status)</Code><Detail>"
            guard response.text.hasPrefix(head), response.text.hasSuffix(" AM</Detail></Error>") else {
                return "an error without its body: \(response.text)"
            }
            guard let tracking = response.header("TrackingId"), response.text.contains(".TrackingId:\(tracking),")
            else {
                return "no tracking id"
            }
            if [429, 503].contains(response.status), response.header("Retry-After") == nil { return "no Retry-After" }
            let inner = response.text.dropFirst(head.count).dropLast("</Detail></Error>".count)
            return inner.contains("<") ? "markup in a detail" : nil
        }
        switch (request.method, response.status) {
        case (.put, 200), (.patch, 200), (.delete, 204), (.delete, 200): return response.body.isEmpty ? nil : "a body"
        case (.post, 201): return response.header("Location") == nil || !response.body.isEmpty ? "no location" : nil
        case (.get, 200): return response.body.isEmpty ? "no body" : nil
        default: return "status \(response.status) of \(request.method)"
        }
    }

    /// The tutorial's back end (docs/contracts/notificationhubs.md#10).
    private static func site(_ response: VendorResponse, _ request: VendorRequest) -> String? {
        if response.status == 401, response.header("WWW-Authenticate") == nil { return "no realm" }
        if [429, 503].contains(response.status), response.header("Retry-After") == nil { return "no Retry-After" }
        if failures.contains(response.status) {
            guard response.header("Content-Type") == "application/json; charset=utf-8" else { return "content type" }
            let body = try? JSONParser.parse(response.body)
            return body?["Message"]?.string?.isEmpty == false ? nil : "an error without its body: \(response.text)"
        }
        guard response.status == 200 else { return "status \(response.status)" }
        if request.method == .get {
            return response.header("Content-Type")?.hasPrefix("image/") == true ? nil : "no image"
        }
        if request.path.lowercased().contains("register"), request.method == .post {
            return (try? JSONParser.parse(response.body))?.string == nil ? "no string" : nil
        }
        return response.body.isEmpty ? nil : "a body"
    }
}
