import AsyncHTTPClient
import CommandSupport
import Foundation
import GatewayHTTP
import Hummingbird
import Logging
import NIOHTTP1
import NIOSSL
import ServiceLifecycle
import Testing

@testable import Gateway

/// The HTTPS listeners: certificates that are replaced while they run, client certificates, and cipher suites.
@Suite(.timeLimit(.minutes(10))) struct TLSListenerTests {
    /// A change of a client's settings.
    private typealias Change = @Sendable (inout TLSConfiguration) throws -> Void

    private struct Answering: HTTPResponder {
        typealias Context = CallContext
        func respond(to request: Request, context: CallContext) async throws -> Response { Response(status: .ok) }
    }

    /// A directory with a certificate of `localhost` and its key.
    private func material() throws -> StageMaterial {
        let path = NSTemporaryDirectory() + "pgw-tls-" + SystemIdentifiers().randomHex(byteCount: 4)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let material = StageMaterial(directory: path)
        try material.write()
        return material
    }

    private func identity(_ files: StageMaterial, clients: String? = nil) throws -> ListenerCertificate {
        try ListenerCertificate(
            certificateFile: files.path("gateway-cert.pem"),
            keyFile: files.path("gateway-key.pem"),
            clientCAFile: clients
        )
    }

    private func copy(_ name: String, _ from: StageMaterial, _ to: StageMaterial) throws {
        let data = try #require(FileManager.default.contents(atPath: from.path(name)))
        try data.write(to: URL(filePath: to.path(name)))
    }

    /// Serves with `identity` while `body` runs with the port.
    private func serving(_ identity: ListenerCertificate, _ body: @escaping @Sendable (Int) async throws -> Void)
        async throws
    {
        let logger = Logger(label: "tls") { _ in SwiftLogNoOpLogHandler() }
        let addresses = BoundAddresses(expected: 1)
        let service = Listener.service(
            .https,
            on: ListenAddress(host: "127.0.0.1", port: 0),
            responder: Answering(),
            tls: identity,
            addresses: addresses,
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            await addresses.allOpen()
            try await body(addresses.first(.https)?.port ?? 0)
            group.cancelAll()
        }
    }

    /// The status of a call, or nil if no connection could be made.
    private func status(_ port: Int, _ change: Change) async throws -> UInt? {
        var tls = TLSConfiguration.makeClientConfiguration()
        try change(&tls)
        // The certificates name no address.
        tls.certificateVerification = .noHostnameVerification
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        // The client would try again for ten seconds.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(configuration: configuration)
        let answer = try? await client.execute(
            HTTPClientRequest(url: "https://127.0.0.1:\(port)/"),
            timeout: .seconds(20)
        )
        try await client.shutdown()
        return answer?.status.code
    }

    private func trusting(_ files: StageMaterial) -> Change {
        { $0.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(files.path("gateway-cert.pem"))) }
    }

    @Test func aReplacedCertificateIsUsedWithoutARestart() async throws {
        let (files, next, old) = (try material(), try material(), try material())
        for name in ["gateway-cert.pem", "gateway-key.pem"] { try copy(name, files, old) }
        let identity = try identity(files)
        try await serving(identity) { (port) async throws in
            #expect(try await status(port, trusting(old)) == 200)
            #expect(try identity.reload() == false, "nothing changed")
            // A renewal replaces one file after the other: until both fit, the old pair stays.
            try copy("gateway-cert.pem", next, files)
            #expect(throws: ListenerCertificate.Fault.self) { try identity.reload() }
            #expect(try await status(port, trusting(old)) == 200)
            try copy("gateway-key.pem", next, files)
            #expect(try identity.reload())
            #expect(try await status(port, trusting(next)) == 200)
            #expect(try await status(port, trusting(old)) == nil)
            try Data("rubbish".utf8).write(to: URL(filePath: files.path("gateway-cert.pem")))
            #expect(throws: ListenerCertificate.Fault.self) { try identity.reload() }
            #expect(try await status(port, trusting(next)) == 200)
        }
    }

    /// A client that trusts `files` and shows the certificate of `shown`.
    private func showing(_ shown: StageMaterial, to files: StageMaterial) -> Change {
        { tls in
            try trusting(files)(&tls)
            let chain = try NIOSSLCertificate.fromPEMFile(shown.path("gateway-cert.pem"))
            tls.certificateChain = chain.map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: shown.path("gateway-key.pem"), format: .pem))
        }
    }

    // An authority that is replaced, because its key was lost, must not be accepted until the next restart.
    @Test func replacedAuthoritiesOfClientsAreUsedWithoutARestart() async throws {
        let (files, first, second, authorities) = (try material(), try material(), try material(), try material())
        try copy("gateway-cert.pem", first, authorities)
        let identity = try identity(files, clients: authorities.path("gateway-cert.pem"))
        try await serving(identity) { (port) async throws in
            #expect(try await status(port, showing(first, to: files)) == 200)
            #expect(try await status(port, showing(second, to: files)) == nil)
            try copy("gateway-cert.pem", second, authorities)
            #expect(try identity.reload())
            #expect(try await status(port, showing(first, to: files)) == nil)
            #expect(try await status(port, showing(second, to: files)) == 200)
            try Data("rubbish".utf8).write(to: URL(filePath: authorities.path("gateway-cert.pem")))
            #expect(throws: ListenerCertificate.Fault.self) { try identity.reload() }
            #expect(try await status(port, showing(second, to: files)) == 200, "the old ones stay in use")
        }
    }

    @Test func clientsShowACertificateWhereOneIsRequired() async throws {
        let (files, clients, strangers) = (try material(), try material(), try material())
        @Sendable func showing(_ shown: StageMaterial) -> Change { self.showing(shown, to: files) }
        try await serving(try identity(files, clients: clients.path("gateway-cert.pem"))) { (port) async throws in
            #expect(try await status(port, showing(clients)) == 200)
            #expect(try await status(port, showing(strangers)) == nil)
            #expect(try await status(port, trusting(files)) == nil)
        }
        try await serving(try identity(files)) { (port) async throws in
            #expect(try await status(port, trusting(files)) == 200, "no certificate is needed by default")
        }
        #expect(throws: ListenerCertificate.Fault.self) { try identity(files, clients: files.path("gateway-key.pem")) }
    }

    @Test func oldCipherSuitesAreRefused() async throws {
        let files = try material()
        try await serving(try identity(files)) { (port) async throws in
            @Sendable func offering(_ ciphers: [NIOTLSCipher]) -> Change {
                { tls in
                    try trusting(files)(&tls)
                    tls.maximumTLSVersion = .tlsv12
                    tls.cipherSuiteValues = ciphers
                }
            }
            let modern: [NIOTLSCipher] = [
                .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            ]
            #expect(try await status(port, offering(modern)) == 200)
            let old: [NIOTLSCipher] = [
                .TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
                .TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, .TLS_RSA_WITH_AES_128_CBC_SHA,
            ]
            #expect(try await status(port, offering(old)) == nil)
        }
    }

    @Test func theAdminListenerAnswersNoDomainOnThisMachine() {
        for host in [nil, "", "localhost", "LOCALHOST:8081", "127.0.0.1", "127.0.0.1:8081", "[::1]:8081"] {
            #expect(AdminResponder.isLocal(host), "\(host ?? "none")")
        }
        for host in ["evil.example", "evil.example:8081", "localhost.evil.example", "127.0.0.1.nip.io"] {
            #expect(!AdminResponder.isLocal(host), "\(host)")
        }
        for address in ["127.0.0.1:1", "localhost:1", "[::1]:1"] {
            #expect(ListenAddress(address)?.isLoopback == true)
        }
        for address in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", ":1"] {
            #expect(ListenAddress(address)?.isLoopback == false)
        }
    }
}
