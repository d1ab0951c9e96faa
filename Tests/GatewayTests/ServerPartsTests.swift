import Adapters
import CoreMetrics
import HTTPTypes
import Model
import Testing

@testable import Gateway
@testable import GatewayHTTP
@testable import Observability
@testable import Provisioning

struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", 8080), (":0", "0.0.0.0", 0), ("[::1]:443", "::1", 443),
        ("localhost:65535", "localhost", 65535),
    ])
    func addressIsRead(_ text: String, _ host: String, _ port: Int) {
        #expect(ListenAddress(text) == ListenAddress(host: host, port: port))
    }

    @Test(arguments: ["", "8080", "host:", "host:x", "host:70000", "host:-1"])
    func invalidAddressIsRefused(_ text: String) { #expect(ListenAddress(text) == nil) }
}

struct PrometheusTests {
    // Text exposition format 0.0.4.
    @Test func expositionHasTypesLabelsAndEscapes() {
        let registry = PrometheusRegistry()
        registry.makeCounter(label: "calls", dimensions: [("route", "a\"b\n")]).increment(by: 3)
        registry.makeTimer(label: "took", dimensions: []).recordNanoseconds(2_000_000)
        let text = registry.exposition()
        #expect(text.contains("# TYPE calls counter\ncalls{route=\"a\\\"b\\n\"} 3"))
        #expect(text.contains("took_seconds_bucket{le=\"0.0025\"} 1"))
        #expect(text.contains("took_seconds_bucket{le=\"0.001\"} 0"))
        #expect(text.contains("took_seconds_count 1"))
    }

    @Test func sameLabelsGiveTheSameSeries() {
        let registry = PrometheusRegistry()
        registry.makeCounter(label: "x", dimensions: []).increment(by: 1)
        registry.makeCounter(label: "x", dimensions: []).increment(by: 1)
        #expect(registry.exposition().contains("\nx 2\n"))
    }
}

struct VendorMountsTests {
    private let mounts = VendorMounts(VendorCatalog.product.adapters)

    @Test func exactPathWinsAndTrailingSlashIsIgnored() {
        #expect(mounts.match(path: "/pushApp/installApp", method: .post)?.methodFits == true)
        #expect(mounts.match(path: "/server/register/", method: .post)?.methodFits == true)
    }

    @Test func unknownPathBelowAPrefixReachesTheVendor() {
        #expect(mounts.match(path: "/pushApp/nothing", method: .post)?.adapter.vendor == .rationalOwl)
        #expect(mounts.match(path: "/elsewhere", method: .post) == nil)
        #expect(mounts.match(path: "/pushAppX", method: .post) == nil)
    }

    // Paths are compared without case (docs/contracts/notificationhubs.md#3.5). The hub is the first segment and chosen by the customer (docs/contracts/notificationhubs.md#1).
    @Test func aHubIsFoundByTheSecondPartOfItsPath() {
        for path in ["/any-hub/messages", "/any-hub/Installations/i1/", "//h//registrationids"] {
            #expect(mounts.match(path: path, method: .post)?.adapter.vendor == .notificationHubs, "\(path)")
        }
        #expect(mounts.match(path: "/installations", method: .post) == nil)
        #expect(mounts.match(path: "/hub/message", method: .post) == nil)
        // Paths that another vendor has claimed by name stay with that vendor.
        #expect(mounts.match(path: "/pushApp/messages", method: .post)?.adapter.vendor == .rationalOwl)
        #expect(mounts.match(path: "/hub/messages/x.ctl", method: .post)?.adapter.vendor == .upmc)
    }

    @Test func vendorsOwnTheirFirstSegments() {
        #expect(ProvisioningReader.reservedSegments(.product).isSuperset(of: ["pushapp", "msgclient", "server", "ro"]))
    }
}

struct IdentifierTests {
    // RFC 9562 §A.4: the UUIDv5 of www.example.com in the DNS namespace.
    @Test func uuidVersion5IsTheDocumentedOne() throws {
        let dns = try #require(MessageID(text: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        let made = SystemIdentifiers().uuid(named: Array("www.example.com".utf8), in: dns.rawValue)
        #expect(made.lowercased == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    }
}
