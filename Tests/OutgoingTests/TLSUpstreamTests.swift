import HTTPTypes
import Model
import Outgoing
import Testing

/// TLS, and HTTP/2 where the upstream offers it.
@Suite(.timeLimit(.minutes(10))) struct TLSUpstreamTests {
    private func caller(_ upstream: TLSUpstream, name: String, trusts: Bool = true) throws -> Caller {
        try Caller(
            "https://\(name):\(upstream.port)",
            roots: trusts ? Array(upstream.certificatePEM.utf8) : nil
        )
    }

    @Test func callsAtTheSameTimeShareOneConnectionOfHTTP2() async throws {
        let upstream = try await TLSUpstream.start(named: "rest.example")
        let caller = try caller(upstream, name: "rest.example")
        #expect(try await caller.call().get().version == "2.0")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let answer = try await caller.call(method: .post, body: [1, 2]).get()
                    #expect(answer.version == "2.0" && answer.body == "ok")
                }
            }
            try await group.waitForAll()
        }
        #expect(upstream.calls == 51 && upstream.connections == 1)
        await upstream.stop()
    }

    @Test func anUpstreamWithoutHTTP2IsCalledOverHTTP1() async throws {
        let upstream = try await TLSUpstream.start(named: "rest.example", protocols: ["http/1.1"])
        let caller = try caller(upstream, name: "rest.example")
        for _ in 0..<3 { #expect(try await caller.call().get().version == "1.1") }
        #expect(upstream.connections == 1)
        await upstream.stop()
    }

    // The address is pinned, and the certificate must still be that of the name.
    @Test func theCertificateMustBeThatOfTheName() async throws {
        let upstream = try await TLSUpstream.start(named: "other.example")
        let caller = try caller(upstream, name: "rest.example")
        #expect(await caller.failure(body: [1]) == .unsent(.connection))
        #expect(upstream.calls == 0)
        await upstream.stop()
    }

    @Test func anUnknownAuthorityIsNotTrusted() async throws {
        let upstream = try await TLSUpstream.start(named: "rest.example")
        let caller = try caller(upstream, name: "rest.example", trusts: false)
        #expect(await caller.failure(body: [1]) == .unsent(.connection))
        #expect(upstream.calls == 0)
        await upstream.stop()
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func unreadableTrustRootsAreRefused(_ pem: String) async throws {
        #expect(!OutgoingServer.areCertificates(Array(pem.utf8)))
        let caller = try Caller("https://rest.example", roots: Array(pem.utf8))
        #expect(await caller.failure() == .invalid)
    }
}
