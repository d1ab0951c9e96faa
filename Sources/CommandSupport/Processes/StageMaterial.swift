import Crypto
import Foundation
import Model
import SwiftASN1
import X509

/// The files of a demo, a benchmark or a test that starts the programs: an APNs key, a certificate for the TLS listener and a provisioning file.
/// The keys are new in each run.
package struct StageMaterial {
    package static let teamID = "DEMOTEAM01"
    package static let keyID = "DEMOKEY001"
    package static let topic = "com.example.shop"

    package let directory: String

    package init(directory: String) {
        self.directory = directory
    }

    /// Writes the key, the public key, the simulator's keys file and the TLS certificate into `directory`.
    ///
    /// - Throws: when a file cannot be written.
    package func write() throws {
        let key = P256.Signing.PrivateKey()
        try put("AuthKey_\(Self.keyID).p8", key.pemRepresentation)
        try put("apns-public.pem", key.publicKey.pemRepresentation)
        let keys: JSON = [
            [
                "teamId": .string(Self.teamID), "keyId": .string(Self.keyID), "publicKeyFile": "apns-public.pem",
                "topics": [.string(Self.topic)],
            ]
        ]
        try put("simulator-keys.json", JSONWriter.text(keys))
        try writeCertificate()
    }

    package func path(_ name: String) -> String { "\(directory)/\(name)" }

    private func put(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)), options: .atomic)
    }

    private func writeCertificate() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("localhost") }
        let now = Date()
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: now.addingTimeInterval(-60),
            notValidAfter: now.addingTimeInterval(86_400 * 30),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([
                    .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                ])
            },
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
        try put("gateway-cert.pem", try certificate.serializeAsPEM().pemString)
        try put("gateway-key.pem", key.pemRepresentation)
    }

    /// Writes the provisioning file of a tenant whose app uses RationalOwl's calls, for tests and benchmarks.
    package func writeTenants(
        account: String,
        service: String,
        apnsAddress: String,
        channelAddress: String? = nil
    ) throws {
        let settings = "settings: { senderNetworks: [127.0.0.1, \"::1\"] }"
        let binding = "          rationalowl: { accountId: \(account), serviceId: \(service), \(settings) }"
        try writeTenants(apnsAddress: apnsAddress, channelAddress: channelAddress, lines: [binding])
    }

    /// Writes the provisioning file of the demo's tenant. `lines` contains the bindings of its app `shop`, and further apps.
    package func writeTenants(apnsAddress: String, channelAddress: String? = nil, lines: [String]) throws {
        let channels = channelAddress.map { #", channelEndpoint: "https://\#($0)""# } ?? ""
        try put(
            "tenants.yaml",
            """
            tenants:
              - id: acme
                apiKeys:
                  - { name: backend, secretEnv: DEMO_API_KEY, scopes: [send, devices, read, content] }
                credentials:
                  - { id: apple, kind: apns-token, teamId: \(Self.teamID), keyId: \(Self.keyID), privateKeyFile: AuthKey_\(Self.keyID).p8,
                      endpoint: "https://\(apnsAddress)"\(channels), trustRootsFile: simulator-ca.pem }
                apps:
                  - id: shop
                    platforms:
                      ios: { topic: \(Self.topic), production: apple }
                    bindings:
            \(lines.joined(separator: "\n"))
            """
        )
    }

    /// Applies the tenants file with `push-gateway apply`.
    ///
    /// - Parameters:
    ///   - program: the program `push-gateway`.
    ///   - apiKey: the key that the file names `DEMO_API_KEY`.
    ///   - environment: the other secrets that the file names.
    /// - Throws: `StageFailure` with the command's message.
    package func apply(_ program: String, _ apiKey: String, environment: [String: String] = [:]) async throws {
        let apply = try ChildProcess(
            "push-gateway apply",
            program: program,
            arguments: ["apply", "--data-dir", path("data"), "--file", path("tenants.yaml")],
            logFile: path("apply.log"),
            environment: environment.merging(["DEMO_API_KEY": apiKey]) { _, own in own }
        )
        for _ in 0..<600 where apply.isRunning { try await Task.sleep(for: .milliseconds(50)) }
        guard !apply.isRunning, await apply.stop() == 0 else {
            let log = FileManager.default.contents(atPath: path("apply.log")) ?? Data()
            throw StageFailure("apply failed: \(String(decoding: log.suffix(500), as: UTF8.self))")
        }
    }
}
