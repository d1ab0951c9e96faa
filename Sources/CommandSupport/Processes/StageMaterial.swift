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
        _ = try await run(
            program,
            ["apply", "--data-dir", path("data"), "--file", path("tenants.yaml")],
            environment: environment.merging(["DEMO_API_KEY": apiKey]) { _, own in own }
        )
    }

    /// Invites an owner of the demo's tenant to the web console with `push-gateway account`.
    ///
    /// - Parameters:
    ///   - program: the program `push-gateway`.
    ///   - console: the address of the console.
    ///   - name: the name of the account.
    /// - Returns: the link, which works once within 15 minutes.
    /// - Throws: `StageFailure` with the command's message.
    package func inviteOwner(_ program: String, console: String, name: String = "demo") async throws -> String {
        let log = try await run(
            program,
            ["account", "invite", name, "--tenant", "acme", "--url", console, "--data-dir", path("data")]
        )
        guard let link = log.split(separator: "\n").first(where: { $0.hasPrefix(console) }) else {
            throw StageFailure("account invite printed no link: \(log.suffix(500))")
        }
        return String(link)
    }

    /// Runs a command of the gateway, and returns its output.
    private func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> String {
        let name = arguments[0]
        let log = path("\(name).log")
        let command = try ChildProcess(
            "push-gateway \(name)",
            program: program,
            arguments: arguments,
            logFile: log,
            environment: environment
        )
        for _ in 0..<600 where command.isRunning { try await Task.sleep(for: .milliseconds(50)) }
        let hasEnded = !command.isRunning
        let status = await command.stop()
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        guard hasEnded, status == 0 else { throw StageFailure("\(name) failed: \(text.suffix(500))") }
        return text
    }
}
