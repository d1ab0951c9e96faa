import ConsoleHTTP
import GatewayHTTP
import Logging
import ServiceLifecycle

/// The listeners of the web console of a node, and the certificate of those beyond loopback.
struct ConsoleListeners {
    /// Nil: no listener has TLS.
    let identity: ListenerCertificate?
    private let parts: ConsoleParts?

    /// - Throws: when the certificate or the files of the console cannot be used.
    init(_ node: GatewayNode) throws {
        let configuration = node.base.configuration
        parts = try node.consoleParts()
        guard configuration.console.listen.contains(where: { !$0.isLoopback }),
            let certificate = configuration.tlsCertificateFile, let key = configuration.tlsKeyFile
        else {
            identity = nil
            return
        }
        // People prove themselves with passwords: no certificate is asked of their browsers.
        identity = try ListenerCertificate(certificateFile: certificate, keyFile: key)
    }

    /// The service that ends after the listeners, and the listeners.
    func services(_ node: GatewayNode, _ addresses: BoundAddresses, _ logger: Logger) -> [any Service] {
        guard let parts else { return [] }
        let connections = ConnectionLimit(limiter: node.limiter, proxies: node.proxies)
        let listeners: [any Service] = node.base.configuration.console.listen.map { address in
            let tls = address.isLoopback ? nil : identity
            return Listener.service(
                .console,
                on: address,
                responder: node.consoleResponder(parts, on: address, isTLS: tls != nil),
                tls: tls,
                addresses: addresses,
                connections: connections,
                proxied: node.proxied,
                maximum: Self.connections,
                logger: logger
            )
        }
        return [parts.service] + listeners
    }

    /// 1,024 connections: people, and the streams of their open pages.
    private static let connections = 1024
}
