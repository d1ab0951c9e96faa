import EmbeddedPostgres
import Foundation
import Logging
import Model
import TestKit

@testable import Gateway

extension World {
    /// Runs `body` with a world whose gateway uses a database that outlives it, and the folder of that database. Removes both afterwards.
    static func onExternalDatabase(
        simulatorArguments: [String] = ["--mode", "script"],
        serveArguments: [String] = [],
        _ body: (World, EmbeddedCluster, _ folder: String) async throws -> Void
    ) async throws {
        let folder = "\(ScratchFolder.root)/pgw-external-" + SystemIdentifiers().randomHex(byteCount: 5)
        let cluster = try await EmbeddedCluster.start(directory: folder, logger: Logger(label: "test"))
        let world = try World(
            simulatorArguments: simulatorArguments,
            serveArguments: serveArguments,
            databaseURL: cluster.superuserConnectionString
        )
        try await closing {
            await world.close()
            try await cluster.stop()
            try FileManager.default.removeItem(atPath: folder)
        } after: {
            try await body(world, cluster, folder)
        }
    }
}
