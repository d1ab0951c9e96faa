import Foundation
import NIOConcurrencyHelpers
import NIOCore
package import NIOSSL

/// The certificate and the private key of the HTTPS listeners. They can be replaced while the listeners run: each handshake uses the newest pair, and open
/// connections keep theirs.
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

    /// The bytes of both files, and what was made of them.
    private struct Pair: Sendable {
        var bytes: [Data]
        var chain: [NIOSSLCertificateSource]
        var key: NIOSSLPrivateKeySource

        var server: TLSConfiguration {
            TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        }

        var replacement: NIOSSLContextConfigurationOverride {
            var replacement = NIOSSLContextConfigurationOverride()
            replacement.certificateChain = chain
            replacement.privateKey = key
            return replacement
        }
    }

    private let certificateFile: String
    private let keyFile: String
    private let clients: [NIOSSLCertificate]?
    private let mustClientsShowOne: Bool
    private let pair: NIOLockedValueBox<Pair>

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
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.mustClientsShowOne = mustClientsShowOne
        pair = NIOLockedValueBox(try Self.pair(try Self.read(certificateFile), try Self.read(keyFile)))
        guard let clientCAFile else {
            clients = nil
            return
        }
        let bytes = Array(try Self.read(clientCAFile))
        guard let found = try? NIOSSLCertificate.fromPEMBytes(bytes), !found.isEmpty else {
            throw Fault(description: "\(clientCAFile) does not contain a certificate in PEM")
        }
        clients = found
    }

    /// The configuration of a listener.
    package var configuration: TLSConfiguration {
        var configuration = pair.withLockedValue { $0.server }
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = Self.ciphers
        configuration.applicationProtocols = ["http/1.1"]
        if let clients {
            configuration.trustRoots = .certificates(clients)
            // A client's certificate has no host name that could be compared.
            configuration.certificateVerification =
                mustClientsShowOne ? .noHostnameVerification : .optionalVerification
        }
        configuration.sslContextCallback = { [pair] _, promise in
            promise.succeed(pair.withLockedValue { $0.replacement })
        }
        return configuration
    }

    /// Reads the files again and uses them from now on. True if they have changed.
    ///
    /// - Throws: `Fault`; the pair in use stays. A renewal that replaces one file after the other ends with a pair that fits.
    package func reload() throws(Fault) -> Bool {
        let bytes = [try Self.read(certificateFile), try Self.read(keyFile)]
        guard pair.withLockedValue({ $0.bytes }) != bytes else { return false }
        let new = try Self.pair(bytes[0], bytes[1])
        pair.withLockedValue { $0 = new }
        return true
    }

    private static func read(_ path: String) throws(Fault) -> Data {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Fault(description: "\(path) cannot be read")
        }
        return data
    }

    private static func pair(_ certificates: Data, _ key: Data) throws(Fault) -> Pair {
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificates))
            guard !chain.isEmpty else { throw Fault(description: "no certificate in PEM") }
            let privateKey = try NIOSSLPrivateKey(bytes: Array(key), format: .pem)
            let pair = Pair(
                bytes: [certificates, key],
                chain: chain.map { .certificate($0) },
                key: .privateKey(privateKey)
            )
            // A context is made here, because a listener would report a key of another certificate only at a handshake.
            _ = try NIOSSLContext(configuration: pair.server)
            return pair
        } catch {
            throw Fault(description: "the TLS certificate and its key cannot be used: \(error)")
        }
    }
}
