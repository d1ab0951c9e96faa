import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import SwiftASN1
import X509

/// An upstream with TLS that offers HTTP/2 and HTTP/1.1, with a certificate of its own for one name.
final class TLSUpstream: Sendable {
    private let channel: any Channel
    private let counts: NIOLockedValueBox<Counts>
    /// The certificate, which is its own authority.
    let certificatePEM: String

    private struct Counts {
        var connections = 0
        var calls = 0
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var connections: Int { counts.withLockedValue { $0.connections } }
    var calls: Int { counts.withLockedValue { $0.calls } }

    static func start(named name: String, protocols: [String] = ["h2", "http/1.1"]) async throws -> TLSUpstream {
        let (certificate, key) = try certificate(for: name)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
        )
        tls.applicationProtocols = protocols
        let context = try NIOSSLContext(configuration: tls)
        let counts = NIOLockedValueBox(Counts())
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                counts.withLockedValue { $0.connections += 1 }
                do {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                } catch { return channel.eventLoop.makeFailedFuture(error) }
                return channel.configureCommonHTTPServerPipeline { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Handler(counts))
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return TLSUpstream(channel, counts, certificate)
    }

    private init(_ channel: any Channel, _ counts: NIOLockedValueBox<Counts>, _ certificatePEM: String) {
        self.channel = channel
        self.counts = counts
        self.certificatePEM = certificatePEM
    }

    func stop() async { try? await channel.close() }

    private static func certificate(for name: String) throws -> (certificate: String, key: String) {
        let key = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName(name) }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: .init(key.publicKey),
            notValidBefore: Date() - 3600,
            notValidAfter: Date() + 86_400,
            issuer: subject,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName(name)])
            },
            issuerPrivateKey: .init(key)
        )
        return (try certificate.serializeAsPEM().pemString, key.pemRepresentation)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let counts: NIOLockedValueBox<Counts>

        init(_ counts: NIOLockedValueBox<Counts>) { self.counts = counts }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            counts.withLockedValue { $0.calls += 1 }
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "2"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "ok")))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
