package import AccountStore
import CallAudit
package import Commands
package import GatewayHTTP
package import Logging
package import Model
package import NativeHTTP
import Observability
package import Secrets
package import WebConsole

extension ConsoleParts {
    /// The parts of the node that the console needs.
    package struct Node: Sendable {
        package var native: NativeAPI
        package var bodies: LargeBodies
        package var limiter: CallLimiter
        package var handler: CommandHandler
        package var store: PostgresAccountStore
        package var keyRing: KeyRing
        package var identifiers: any IdentifierSource
        package var clock: any WallClock
        package var logger: Logger
        /// The names of all tenants.
        package var tenants: @Sendable () async throws(StoreError) -> [TenantID]
        /// The last offset of a tenant's event log.
        package var head: @Sendable (TenantID) async throws(StoreError) -> Int64

        package init(
            native: NativeAPI,
            bodies: LargeBodies,
            limiter: CallLimiter,
            handler: CommandHandler,
            store: PostgresAccountStore,
            keyRing: KeyRing,
            identifiers: any IdentifierSource,
            clock: any WallClock,
            logger: Logger,
            tenants: @escaping @Sendable () async throws(StoreError) -> [TenantID],
            head: @escaping @Sendable (TenantID) async throws(StoreError) -> Int64
        ) {
            self.native = native
            self.bodies = bodies
            self.limiter = limiter
            self.handler = handler
            self.store = store
            self.keyRing = keyRing
            self.identifiers = identifiers
            self.clock = clock
            self.logger = logger
            self.tenants = tenants
            self.head = head
        }
    }

    /// - Parameters:
    ///   - node: the parts of the node.
    ///   - renderer: writes the pages.
    ///   - cost: of password hashes; tests choose a smaller one.
    /// - Throws: when the library refuses the cost.
    package init(_ node: Node, renderer: Renderer, cost: PasswordCost = .standard) throws {
        let work = try PasswordWork(cost: cost, identifiers: node.identifiers)
        verifier = SignInVerifier(
            store: node.store,
            work: work,
            identifiers: node.identifiers,
            clock: node.clock,
            logger: node.logger,
            codesKey: node.keyRing.derived("console one-time codes")
        )
        calls = ConsoleCalls(
            native: NativeRouter(node.native),
            resources: AccountResources(store: node.store, identifiers: node.identifiers),
            people: PersonalData(key: node.keyRing.derived("console cursors"))
        )
        answers = ConsoleAnswers(renderer: renderer)
        bodies = node.bodies
        limiter = node.limiter
        let counts = ConsoleCounts()
        self.counts = counts
        live = LiveUpdates(counts, head: node.head)
        reads = ReadAudit(handler: node.handler)
        tenants = node.tenants
        clock = node.clock
        identifiers = node.identifiers
        logger = node.logger
    }

    /// Runs as long as the listeners of the console, and ends after them.
    package var service: ConsoleService { ConsoleService(store: verifier.store, work: verifier.work, logger: logger) }
}
