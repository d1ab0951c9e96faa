import Commands
import Model
import NIOSSL
import Outgoing
import Secrets

// The parts that call other services.
extension GatewayNode {
    /// - Throws: `ConfigurationProblem` for a network of `upstream.allow` that cannot be read.
    static func proxy(_ base: Base, _ upstreams: OpenUpstreams) throws(ConfigurationProblem) -> UpstreamProxy {
        let client = OutgoingClient(
            addressGuard: AddressGuard(allowing: try base.configuration.upstreamNetworks),
            // 16 threads: the names of upstreams are few, and each is looked up twice a minute.
            resolver: SystemResolver(threadCount: 16)
        )
        return UpstreamProxy(upstreams: upstreams, client: client, name: UpstreamProxy.name(base.keyRing))
    }

    /// Performs what the answers to proxied calls establish.
    static func observer(
        _ base: Base,
        _ directory: CachedDirectory,
        _ handler: CommandHandler,
        _ figures: FigureCounts
    ) -> CallObserver {
        CallObserver(
            handler: handler,
            directory: directory,
            multiStep: base.vendors.multiStep,
            figures: figures,
            sessionLimit: max(1, base.configuration.databaseConnections / 2),
            logger: base.logger
        )
    }

    static func clientTLS(_ authoritiesFile: String) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(authoritiesFile)
        return tls
    }

    /// - Throws: `ConfigurationProblem` when the file cannot be read.
    static func collectorTLS(_ file: String) throws -> NIOSSLContext {
        let tls = clientTLS(file)
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw ConfigurationProblem(setting: "audit-ca", problem: "\(file) has no certificate that can be read")
        }
    }
}
