import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// Calls that are handed to the vendor's hub: a signature names host and hub, so the gateway signs them again.
struct UpstreamSigningTests {
    private static let upstream = UpstreamSettings(
        vendor: .notificationHubs,
        secrets: ["key": Mount.fullKey],
        values: ["hub": "Old Hub", "keyName": "Root Key"]
    )

    private func prepared(_ request: VendorRequest, _ upstream: UpstreamSettings = upstream) -> VendorRequest? {
        Mount.adapter.prepare(request, for: upstream, host: "shop.servicebus.windows.net", at: Mount.now)
    }

    /// The first vector of docs/contracts/notificationhubs.md#3.3: the spelling of the vendor's .NET SDK.
    @Test func theSignatureIsTheDocumentedOne() throws {
        let early = Timestamp(seconds: 1_893_456_000 - 300)
        let request = Mount.request(.put, "/old/installations/abc", authorization: nil)
        let signed = Mount.adapter.prepare(request, for: OldHub.upstream, host: OldHub.host, at: early)
        #expect(
            signed?.headers[.authorization]
                == "SharedAccessSignature sr=http%3a%2f%2fgw.example.com%2fhub1%2f&sig=bMKJG0qDde58BMe3p91iUzUHXtycx56kbgnPKOMqDD0%3d&se=1893456000&skn=DefaultFullSharedAccessSignature"
        )
        #expect(signed?.path == "/hub1/installations/abc")
    }

    @Test func onlyTheHubAndTheSignatureChange() throws {
        let headers = ["x-ms-version": "2020-06", "If-Match": "*", "X-HTTP-Method": "DELETE"]
        let request = Mount.request(
            .patch,
            "//Hub1/Installations/a%20b/",
            query: "api-version=2020-06&x",
            headers: headers,
            "[]"
        )
        let sent = try #require(prepared(request))
        #expect(sent.path == "//Old%20Hub/Installations/a%20b/")
        #expect(sent.method == .patch && sent.query == request.query && sent.body == request.body)
        let signature = try SharedAccessSignature(sent.headers[.authorization] ?? "")
        #expect(signature.keyName == "Root Key" && signature.expiry == Mount.now + .seconds(300))
        #expect(signature.resource == "http%3a%2f%2fshop.servicebus.windows.net%2fold%20hub%2f")
        #expect(signature.isSigned(with: Array(Mount.fullKey.utf8)))
        var others = request.headers
        others[.authorization] = sent.headers[.authorization]
        if let name = HTTPField.Name("X-HTTP-Method") { others[name] = nil }
        #expect(sent.headers == others)
    }

    /// The whole documented corpus is accepted by a gateway that has the vendor's key.
    @Test func preparedCallsAreAccepted() throws {
        for request in try ConformanceTests.documented() where BackendPath(request.path) == nil {
            var request = request
            request.path = request.path.replacing("/hub1/", with: "/other/")
            request.headers[.authorization] = nil
            let arriving = try OldHub.arriving(request)
            #expect(throws: Never.self, "\(request.method) \(request.path)") { try Mount.command(arriving) }
        }
    }

    @Test func otherCallsAreNotSigned() throws {
        for path in ["/api/register", "/shop/api/notifications", "/api/x"] {
            #expect(prepared(Mount.request(.post, path)) == nil, "\(path)")
        }
        for path in ["/", "/hub1", "/hub1/nothing", "/hub1/installations/a/b", "/index.html"] {
            let request = Mount.request(.get, path)
            let sent = try #require(prepared(request))
            #expect(sent.path == path && sent.headers == request.headers, "\(path)")
        }
        // Other servers may read another call in these.
        for path in [
            "/hub1/installations/..", "/hub1/installations/%2e%2e", "/hub1/installations/.",
            "/hub1/tags/..%5c/registrations", "/hub1/registrations/%252e%252e",
        ] {
            let request = Mount.request(.delete, path)
            #expect(prepared(request) == nil, "\(path)")
            #expect(throws: AdapterError(.notFound), "\(path)") {
                try Mount.adapter.admit(request, settings: Mount.settings)
            }
        }
        var lacking = Self.upstream
        lacking.secrets = [:]
        #expect(prepared(Mount.request(.get, "/hub1/registrations"), lacking) == nil)
        lacking = Self.upstream
        lacking.values["hub"] = nil
        #expect(prepared(Mount.request(.get, "/hub1/registrations"), lacking) == nil)
    }

    // MARK: Callers

    private func fault(_ request: VendorRequest, _ settings: BindingSettings = Mount.settings) -> AccessFault? {
        do throws(AdapterError) {
            try Mount.adapter.admit(request, settings: settings)
            return nil
        } catch {
            return error.code == .unauthorized ? error.field.flatMap { AccessFault(rawValue: $0) } : .malformed
        }
    }

    private static let listener = Signer(name: "DefaultListenSharedAccessSignature", key: Mount.listenKey).header

    /// The vendor sees the gateway's key, which permits everything: the gateway checks the caller's.
    @Test func aCallerNeedsItsOwnRight() throws {
        for request in try ConformanceTests.documented() where BackendPath(request.path) == nil {
            #expect(fault(request) == nil, "\(request.method) \(request.path)")
            var other = request
            other.headers[.authorization] = nil
            #expect(fault(other) == .missing, "\(request.path)")
            other.headers[.authorization] = Signer(key: "another key of that name").header
            #expect(fault(other) == .signature, "\(request.path)")
            #expect(fault(request, .unbound) == .signature, "without a binding")
        }
        let send = Mount.request(.post, "/hub1/messages", "{}", authorization: Self.listener)
        #expect(fault(send) == .right)
        #expect(fault(Mount.request(.get, "/hub1/registrations", authorization: Self.listener)) == .manage)
        for path in ["/hub1/jobs", "/hub1/feedbackcontainer"] {
            #expect(fault(Mount.request(.get, path, authorization: Self.listener)) == .manage, "\(path)")
            #expect(fault(Mount.request(.get, path)) == nil, "\(path)")
        }
        // As at the vendor, the key of an app sets tags.
        let tagged = #"{"platform":"apns","pushChannel":"ab12","tags":["vip"]}"#
        #expect(fault(Mount.request(.put, InstallationTests.path, tagged, authorization: Self.listener)) == nil)
    }

    /// The key of an app lists the registrations of one channel. Another filter would show all of them at the vendor.
    @Test func aListenKeyListsOneChannel() {
        let channel = "$filter=ChannelUri%20eq%20'ab12'"
        let others = (0..<100).map { "x\($0)" }.joined(separator: "&")
        func list(_ query: String?, _ authorization: String) -> VendorRequest {
            Mount.request(.get, "/hub1/registrations", query: query, authorization: authorization)
        }
        for query in [channel, "api-version=2015-01&%24Filter=deviceToken+eq+'ab12'&$top=5"] {
            #expect(fault(list(query, Self.listener)) == nil, "\(query)")
        }
        for query in [
            nil, "", "$filter", "$filter=", "$filter=Tag%20eq%20'vip'", "$filter=ChannelUri%20ne%20'ab12'",
            "$filter=ChannelUri%20eq%20'ab12'%20or%20true", "\(channel)&$filter=", "\(channel)&%24FILTER=Tag+eq+'a'",
            "\(channel)&\(others)&$filter=Tag%20eq%20'vip'", "\(others)&\(channel)",
        ] {
            #expect(fault(list(query, Self.listener)) != nil, "\(query ?? "none")")
            #expect(fault(list(query, Signer().header)) == nil, "\(query ?? "none")")
        }
    }

    /// A token that the gateway issued for a user does not let its device become another user's.
    @Test func anIssuedTokenStaysRestricted() throws {
        var settings = Mount.settings
        settings.values["hub"] = "hub1"
        let grant = DeviceGrant(
            device: InstallationTests.id,
            user: "u-1",
            host: "gw.example.com",
            expiresAt: Mount.now + .seconds(600)
        )
        let token = try Mount.adapter.deviceToken(for: grant, settings: settings)
        func put(_ more: String) -> VendorRequest {
            let body = #"{"platform":"apns","pushChannel":"ab12"\#(more)}"#
            return Mount.request(.put, InstallationTests.path, body, authorization: token)
        }
        func patch(_ change: String) -> VendorRequest {
            Mount.request(.patch, InstallationTests.path, "[\(change)]", authorization: token)
        }
        for more in ["", #","userId":"u-1""#, #","tags":["vip"]"#, #","templates":{"a":{"body":"{}","tags":["b"]}}"#] {
            #expect(fault(put(more)) == nil, "\(more)")
        }
        for more in [
            #","userId":"u-2""#, #","UserId":"u-2""#, #","tags":["$UserId:{u-2}"]"#, #","Tags":["$UserId:{u-2}"]"#,
            #","templates":{"a":{"body":"{}","tags":["$UserId:{u-2}"]}}"#,
            #","templates":{"a":{"body":"{}","TAGS":["$UserId:{u-2}"]}}"#, #","x""#,
        ] {
            #expect(fault(put(more)) != nil, "\(more)")
        }
        for change in [
            #"{"op":"replace","path":"/pushChannel","value":"ab"}"#,
            #"{"op":"replace","path":"/userId","value":"u-1"}"#,
            #"{"op":"add","path":"/pushVariables/a","value":"b"}"#,
        ] {
            #expect(fault(patch(change)) == nil, "\(change)")
        }
        for change in [
            #"{"op":"replace","path":"/userId","value":"u-2"}"#, #"{"op":"replace","path":"/user","value":"u-2"}"#,
            #"{"op":"add","path":"/tags","value":"$UserId:{u-2}"}"#, #"{"op":"add","path":"/tags","value":"vip"}"#,
            #"{"op":"add","path":"/templates/a","value":"{}"}"#, "1", #"{"op":"remove","path":"/userId"}"#,
            #"{"op":"replace","path":"/userId","value":"u-1","Value":"u-2"}"#,
            #"{"op":"replace","path":"/pushChannel","Path":"/userId","value":"u-2"}"#,
            #"{"op":"replace","path":"/pushChannel","value":"ab","from":"/userId"}"#,
        ] {
            #expect(fault(patch(change)) != nil, "\(change)")
        }
        #expect(fault(Mount.request(.delete, InstallationTests.path, authorization: token)) == nil)
        #expect(fault(Mount.request(.get, "/hub1/installations/other", authorization: token)) == .audience)
    }
}
