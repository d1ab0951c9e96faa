import EngineStore
import MigrationStore
import Migrations
import Model
import Provisioning
import ServiceLifecycle
import Store

// Migrations of apps from their vendors.
extension GatewayNode {
    static func figures(_ base: Base) -> FigureCounts {
        FigureCounts(
            store: PostgresMigrationStore(engine: base.database.engine),
            interval: base.configuration.migrationInterval,
            logger: base.logger
        )
    }

    func migrations() -> MigrationProvisioner {
        let store = PostgresMigrationStore(engine: base.database.engine)
        return MigrationProvisioner(
            store: store,
            routes: routeProvisioner,
            meter: MigrationMeter(
                store: store,
                queries: PostgresQueryStore(call: base.database.call),
                audit: PostgresAuditStore(call: base.database.call)
            ),
            clock: base.clock
        )
    }

    func migrationService() -> any Service {
        MigrationService(
            migrations: migrations(),
            node: base.node,
            interval: base.configuration.migrationInterval,
            logger: base.logger
        )
    }

    /// Checks and writes the rules of apps.
    var routeProvisioner: RouteProvisioner {
        RouteProvisioner(
            store: PostgresRouteStore(engine: base.database.engine),
            directory: base.directory,
            keyRing: base.keyRing,
            vendors: base.vendors
        )
    }
}
