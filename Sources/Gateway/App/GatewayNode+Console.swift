import AccountStore
import ConsoleHTTP
import EngineStore
import GatewayHTTP
import Model
import Store
import WebConsole

/// The web console of a node.
extension GatewayNode {
    /// The parts that all listeners of the console share. Nil: the node has no such listener.
    ///
    /// - Throws: when the files of the console are missing.
    func consoleParts() throws -> ConsoleParts? {
        let configuration = base.configuration.console
        guard !configuration.listen.isEmpty else { return nil }
        let call = base.database.call
        let status = PostgresStatusStore(engine: base.database.engine)
        let queries = PostgresQueryStore(call: call)
        let node = ConsoleParts.Node(
            native: nativeAPI(),
            bodies: bodies,
            limiter: limiter,
            handler: handler,
            store: PostgresAccountStore(engine: base.database.engine),
            keyRing: base.keyRing,
            identifiers: base.identifiers,
            clock: base.clock,
            logger: base.logger,
            tenants: { () async throws(StoreError) in try await status.tenants() },
            head: { (tenant) async throws(StoreError) in try await queries.eventBounds(in: tenant).head }
        )
        var cost = PasswordCost.standard
        cost.rounds = configuration.passwordRounds
        return try ConsoleParts(node, renderer: try Renderer.bundled(), cost: cost)
    }

    /// The responder of one listener of the console.
    func consoleResponder(
        _ parts: ConsoleParts,
        on address: ListenAddress,
        isTLS: Bool
    ) -> IdentifiedResponder<ConsoleResponder> {
        identified(
            ConsoleResponder(
                parts,
                ConsoleSettings(
                    isLoopback: address.isLoopback,
                    isTLS: isTLS,
                    mustHaveCodes: base.configuration.console.mustHaveCodes,
                    proxies: proxies,
                    proxied: proxied
                )
            ),
            nil
        )
    }
}
