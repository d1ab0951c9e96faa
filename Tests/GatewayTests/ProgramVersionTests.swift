import Model
import Observability
import Testing

@testable import push_gateway

/// `push-gateway --version`.
@Suite struct ProgramVersionTests {
    @Test func aPackageStatesItsCommitAndCompiler() {
        let facts: JSON = ["version": .string(GatewayVersion.text), "commit": "0a1b2c", "swift": "6.3.2"]
        let lines = ProgramVersion.describe(facts).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first == "push-gateway \(GatewayVersion.text)")
        #expect(lines.dropFirst().first == "commit 0a1b2c")
        let libraries = /Swift 6\.3\.2, OpenSSL 3\.[0-9]+\.[0-9]+, nghttp2 1\.[0-9]+\.[0-9]+, libpq [0-9]+\.[0-9]+/
        #expect(lines.last?.wholeMatch(of: libraries) != nil, "\(lines)")
    }

    @Test(arguments: [nil, [:], ["version": "0.0.0", "commit": "other"]] as [JSON?])
    func anotherBuildsFactsAreNotStated(_ facts: JSON?) {
        let text = ProgramVersion.describe(facts)
        #expect(text.contains("commit unknown") && text.contains("\nOpenSSL 3."), "\(text)")
    }
}
