import Foundation
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
package import NIOSSL

/// The certificate and the private key of the HTTPS listeners, and the authorities of client certificates. They can be replaced while the listeners run: each
/// connection uses the newest files, and open connections keep theirs.
package final class ListenerCertificate: Sendable {
    /// A file that cannot be used.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    /// TLS 1.2 with forward secrecy and authenticated encryption only: no CBC, no SHA-1, no RSA key exchange. TLS 1.3 has no other suites.
    static let ciphers: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// The bytes of the files, and the context that was made of them.
    private struct Loaded: Sendable {
        var bytes: [Data]
        var context: NIOSSLContext
    }

    /// The certificate, the key, and the authorities of clients if they are asked for a certificate.
    private let files: [String]
    private let mustClientsShowOne: Bool
    private let loaded: NIOLockedValueBox<Loaded>

    /// - Parameters:
    ///   - certificateFile: the chain, PEM.
    ///   - keyFile: the private key of its first certificate, PEM.
    ///   - clientCAFile: the authorities whose certificates clients show; nil: clients are not asked for one.
    ///   - mustClientsShowOne: whether a client without a certificate is refused. One with a certificate of another authority always is.
    /// - Throws: `Fault` when a file is missing or not PEM, or the key is not the certificate's.
    package init(
        certificateFile: String,
        keyFile: String,
        clientCAFile: String? = nil,
        mustClientsShowOne: Bool = true
    ) throws(Fault) {
        files = [certificateFile, keyFile] + (clientCAFile.map { [$0] } ?? [])
        self.mustClientsShowOne = mustClientsShowOne
        loaded = NIOLockedValueBox(try Self.load(files, mustClientsShowOne))
    }

    /// The newest context, for a new connection.
    package var context: NIOSSLContext { loaded.withLockedValue { $0.context } }

    /// Reads the files again and uses them from now on. True if they have changed.
    ///
    /// - Throws: `Fault`; the files in use stay. A renewal that replaces one file after the other ends with a pair that fits.
    package func reload() throws(Fault) -> Bool {
        let bytes = try Self.read(files)
        guard loaded.withLockedValue({ $0.bytes }) != bytes else { return false }
        let new = try Self.load(files, bytes, mustClientsShowOne)
        loaded.withLockedValue { $0 = new }
        return true
    }

    private static func read(_ files: [String]) throws(Fault) -> [Data] {
        var contents: [Data] = []
        for path in files {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw Fault(description: "\(path) cannot be read")
            }
            contents.append(data)
        }
        return contents
    }

    private static func load(_ files: [String], _ mustClientsShowOne: Bool) throws(Fault) -> Loaded {
        try load(files, try read(files), mustClientsShowOne)
    }

    private static func load(_ files: [String], _ bytes: [Data], _ mustClientsShowOne: Bool) throws(Fault) -> Loaded {
        let clients = files.count > 2 ? try authorities(files[2], bytes[2]) : nil
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(bytes[0]))
            guard !chain.isEmpty else { throw Fault(description: "no certificate in PEM") }
            let key = try NIOSSLPrivateKey(bytes: Array(bytes[1]), format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.cipherSuiteValues = ciphers
            configuration.applicationProtocols = ["http/1.1"]
            if let clients {
                configuration.trustRoots = .certificates(clients)
                // A client's certificate has no host name that could be compared.
                configuration.certificateVerification =
                    mustClientsShowOne ? .noHostnameVerification : .optionalVerification
            }
            return Loaded(bytes: bytes, context: try NIOSSLContext(configuration: configuration))
        } catch {
            throw Fault(description: "the TLS certificate and its key cannot be used: \(error)")
        }
    }

    private static func authorities(_ path: String, _ bytes: Data) throws(Fault) -> [NIOSSLCertificate] {
        guard let found = try? NIOSSLCertificate.fromPEMBytes(Array(bytes)), !found.isEmpty else {
            throw Fault(description: "\(path) does not contain a certificate in PEM")
        }
        return found
    }
}

/// Begins TLS with the newest context of a certificate.
struct CertificateChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let certificate: ListenerCertificate

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificate.context))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
