import Model
import Secrets
import Testing

@testable import Gateway

/// The names under which vendors report later (docs/routing.md#later-reports).
@Suite struct ReportEndpointTests {
    private static let name = String(repeating: "0f", count: 16)

    @Test(arguments: ["", "/", "/callback", "/a/b?c"])
    func aNameMayHaveAFurtherPath(_ rest: String) {
        #expect(ReportEndpoint.id(in: "/upstream/\(Self.name)\(rest)") == Self.name)
    }

    @Test func repeatedSlashesCountAsOne() {
        #expect(ReportEndpoint.id(in: "//upstream//\(Self.name)//b") == Self.name)
    }

    // A hub may have the name `upstream`.
    @Test(arguments: [
        "/upstream/installations/1", "/upstream", "/upstream/", "/upstreams/\(name)", "/x/upstream/\(name)",
        "/upstream/\(name)0", "/upstream/\(String(repeating: "0g", count: 16))",
        "/%75pstream/\(name)", "/upstream%2F\(name)", "/upstream/\(String(repeating: "é", count: 16))",
    ])
    func otherPathsAreOfOthers(_ path: String) { #expect(ReportEndpoint.id(in: path) == nil) }

    @Test func aNameIsTheSameForOneCredentialOnly() throws {
        let ring = try KeyRing([MasterKey(bytes: [UInt8](repeating: 1, count: 32))])
        let other = try KeyRing([MasterKey(bytes: [UInt8](repeating: 2, count: 32))])
        let key = CredentialKey(tenant: "t", credential: "old")
        let id = UpstreamReportID(key, ring)
        #expect(id == UpstreamReportID(key, ring) && ReportEndpoint.id(in: id.path) == id.text)
        #expect(id != UpstreamReportID(key, other))
        #expect(id != UpstreamReportID(CredentialKey(tenant: "t", credential: "new"), ring))
        #expect(id != UpstreamReportID(CredentialKey(tenant: "u", credential: "old"), ring))
    }
}
