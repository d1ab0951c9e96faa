import CommandSupport
import Foundation
import Logging
import Model
import Testing

@testable import EmbeddedPostgres
@testable import Gateway

/// An external PostgreSQL, used with `--database-url`.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ExternalDatabaseTests {
    // Only `database migrate` changes the operator's database. Before that, all other commands refuse
    // (docs/operations.md#your-own-postgresql).
    @Test func gatewayServesFromADatabaseItDoesNotOwn() async throws {
        try await World.onExternalDatabase { world, _, folder in
            try await world.startSimulator()
            let early = try await world.apply()
            #expect(early.status == 1)
            #expect(early.log.contains("database migrate"), "\(early.log)")
            let migrated = try await world.command(["database", "migrate"])
            try #require(migrated.status == 0, "\(migrated.log)")
            #expect(try await world.apply().log.contains("openssl rand"), "the missing master key has no advice")
            try world.makeMasterKey()
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            try await world.startGateway()
            _ = try await world.register(3)
            let id = try await world.sendToEveryone("from a database of your own")
            #expect(try await world.funnel(of: id)["sent"]?.int == 3)
            #expect(await world.gateway?.stop() == 0)
            // Not ours: it lives on.
            #expect(Postmaster.running(in: folder + "/data") != nil)
        }
    }
}
