package import CommandSupport
import EmbeddedPostgres

/// Thirty days of generated history for the web console: 600 devices of six dialects, about 450 messages and 15,000 deliveries.
///
/// It belongs to an app of its own, whose name says that it is generated, and its messages name `generated` as their sender. So nobody takes it for the calls
/// of the vendors' stories, and no story finds its devices.
package enum DemoHistory {
    package static let app = "generated-history"
    private static let zone = "Asia/Seoul"

    /// The app, as lines of the provisioning file (`StageMaterial.writeTenants`).
    package static let lines = [
        "      - id: \(app)",
        "        timeZone: \(zone)",
        "        platforms:",
        "          ios: { topic: \(StageMaterial.topic), production: apple }",
    ]

    /// Writes the history into the database of a running gateway, and waits at most a minute until its events are counted.
    ///
    /// - Parameter material: the files of the stage whose provisioning contains `lines`.
    /// - Returns: the numbers of deliveries, messages and devices in words.
    /// - Throws: `StageFailure` when `psql` is missing or fails.
    package static func write(_ material: StageMaterial) async throws -> String {
        let cluster = try AttachedCluster(directory: material.path("data/postgres"))
        let output = try await PsqlScript(
            DemoHistorySQL.script,
            variables: ["tenant": "acme", "app": app, "zone": zone],
            path: material.path("history")
        ).run(on: cluster.adminConnectionString)
        guard let numbers = output.split(separator: "\n").last else {
            throw StageFailure("the script of the history printed nothing")
        }
        return String(numbers)
    }
}
