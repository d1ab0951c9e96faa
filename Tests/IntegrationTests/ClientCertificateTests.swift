import CommandSupport
import Foundation
import Model
import NIOSSL
import TestKit
import Testing

@testable import Gateway

/// Client certificates as the proof of a sender, over TLS to a real gateway that asks for certificates without requiring them.
@Suite(.timeLimit(.minutes(5))) struct ClientCertificateTests {
    /// A directory with the certificate of a back end and its key. The certificate is its own authority and names `localhost`.
    private func backEnd() throws -> StageMaterial {
        let path = "\(ScratchFolder.root)/pgw-back-end-" + SystemIdentifiers().randomHex(byteCount: 5)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let material = StageMaterial(directory: path)
        try material.write()
        return material
    }

    /// A client of the gateway that shows the certificate of `shown`; nil: none.
    private func caller(_ world: World, showing shown: StageMaterial?) throws -> HTTPCaller {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(world.material.path("gateway-cert.pem"))
        if let shown {
            tls.certificateChain = try NIOSSLCertificate.fromPEMFile(shown.path("gateway-cert.pem"))
                .map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: shown.path("gateway-key.pem"), format: .pem))
        }
        return HTTPCaller(gateway: world.https.base, tls: tls)
    }

    /// The call by which a RationalOwl back end registers, which needs a proof.
    private func register(_ world: World, _ caller: HTTPCaller, headers: [String: String] = [:]) async throws -> JSON {
        let body: JSON = [
            "aId": .string(world.account), "sId": .string(world.service), "serviceId": .string(world.service),
            "ip": "203.0.113.10", "registerName": "bank-core",
        ]
        return try #require(try await caller.call("POST", "/server/register/", body, headers: headers).json)
    }

    @Test func aNamedCertificateProvesASenderAndNoOtherDoes() async throws {
        let (known, stranger) = (try backEnd(), try backEnd())
        defer {
            for directory in [known.directory, stranger.directory] {
                try? FileManager.default.removeItem(atPath: directory)
            }
        }
        let arguments = ["--tls-client-ca", known.path("gateway-cert.pem"), "--no-tls-client-required"]
        try await World.with(serveArguments: arguments) { world in
            try #require(try await world.apply().status == 0)
            let file = world.material.path("tenants.yaml")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            func setting(_ certificates: String) async throws {
                let changed = text.replacing("senderNetworks: [127.0.0.1, \"::1\"]", with: certificates)
                try #require(changed != text)
                try changed.write(toFile: file, atomically: true, encoding: .utf8)
                let applied = try await world.apply()
                try #require(applied.status == 0, "\(applied.log)")
            }
            let (proven, anonymous) = (try caller(world, showing: known), try caller(world, showing: nil))
            let foreign = try caller(world, showing: stranger)

            try await setting("senderCertificates: [another.example]")
            #expect(try await register(world, proven) == ["error": "not authorized"])
            #expect(try world.gatewayLog().contains("senderCertificates does not name a certificate of its connection"))

            try await setting("senderCertificates: [localhost]")
            try await eventually("the setting is in use") {
                try await register(world, proven)["serverRegId"]?.string != nil
            }
            #expect(try await register(world, anonymous) == ["error": "not authorized"])
            #expect(try await register(world, world.http) == ["error": "not authorized"])
            let page = try await register(world, proven, headers: ["Origin": "https://evil.example"])
            #expect(page == ["error": "not authorized"])
            // A certificate of an unknown authority opens no connection.
            await #expect(throws: (any Error).self) { try await register(world, foreign) }
            for caller in [proven, anonymous, foreign] { await caller.close() }
        }
    }
}
