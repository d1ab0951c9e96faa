import ArgumentParser
import CommandSupport
import EngineStore
import Foundation
import Gateway
import Model
import Provisioning
import Secrets

/// `master-key list|add|rotate|remove`.
struct MasterKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "master-key",
        abstract: "List, add, rotate and remove the keys that seal the stored secrets.",
        subcommands: [List.self, Add.self, Rotate.self, Remove.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List this node's master keys, which one seals, and how many secrets each has sealed."
        )
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let (ring, usage, nodes) = try await common.withDatabase { configuration, database in
                let ring = try await database.keyRing(configuration)
                let store = PostgresMasterKeyStore(engine: database.engine)
                let usage = try await MasterKeyRotation(store: store, ring: ring, waitLimit: .zero).usage()
                return (ring, usage, try await store.nodes())
            }
            let current = ring.current.id
            if json {
                Console.print([
                    "keys": .array(
                        ring.keys.map { key in
                            [
                                "id": .string(key.id), "form": .string(Self.form(key)),
                                "seals": .bool(key.id == current),
                                "secrets": .int(Int64(usage.counts[key.id] ?? 0)),
                                "nodes": .int(Int64(Self.count(key, nodes))),
                            ]
                        }
                    ), "unreadable": .int(Int64(usage.unreadable)), "nodes": .int(Int64(nodes.count)),
                ])
                return
            }
            let rows = ring.keys.map { key in
                [
                    key.id, Self.form(key), key.id == current ? "yes" : "", "\(usage.counts[key.id] ?? 0)",
                    "\(Self.count(key, nodes)) of \(nodes.count)",
                ]
            }
            Console.print(Console.table(["key", "form", "seals", "secrets", "nodes that have it"], rows))
            if usage.unreadable > 0 {
                Console.print("\(usage.unreadable) secret(s) cannot be opened with these keys")
            }
        }

        private static func form(_ key: MasterKey) -> String { key.form == .raw ? "v1" : "v2" }

        private static func count(_ key: MasterKey, _ nodes: [NodeKeys]) -> Int {
            nodes.count { $0.ids?.contains(key.id) == true }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a new key to the key file, or create the file. The key seals nothing until 'rotate'.",
            discussion:
                "Needs no database. Copy the file to the other nodes: a running node reads it again within seconds."
        )
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let configuration = try await common.load()
            let path = try configuration.keyFile("add")
            let key = try await MasterKeyCommand.add(to: path)
            Console.print(key.id)
            Console.error("The key is in \(path). Copy the file to all nodes, and keep a copy elsewhere.")
        }
    }

    /// Adds a new key to the file, or creates it.
    private static func add(to path: String) async throws -> MasterKey {
        let key = try MasterKey.random()
        let file = MasterKeyFile(path: path)
        guard FileManager.default.fileExists(atPath: path) else {
            try file.create(key)
            return key
        }
        _ = try KeyRing(try file.keys() + [key])
        try file.append(key)
        return key
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Seal with another key, and seal every secret again, while the nodes run.",
            discussion: """
                The key is the newest of the key file, or a new one that is added to it. The command waits until every running node has the key, makes it \
                seal, seals all secrets again and checks that no other key is needed. It can be interrupted and repeated at any time. The old key stays in \
                the file until 'master-key remove'; a backup needs the key that sealed it.
                """
        )
        @Option(help: "The id of the key to use. Default: the newest one.") var to: String?
        @Option(help: "Seconds to wait for the running nodes (1 to 3600).") var waitSeconds = 60
        @OptionGroup var common: CommonOptions

        func validate() throws {
            guard (1...3600).contains(waitSeconds) else { throw ValidationError("--wait-seconds must be 1 to 3600") }
        }

        func run() async throws {
            let (old, new, usage) = try await common.withDatabase { configuration, database in
                let ring = try await database.keyRing(configuration)
                let store = PostgresMasterKeyStore(engine: database.engine)
                let rotation = MasterKeyRotation(store: store, ring: ring, waitLimit: .seconds(waitSeconds))
                let old = ring.current
                let new = try await target(ring, rotation, configuration)
                let line = RotationLine()
                let usage = try await rotation.rotate(to: new, by: common.actor) { line.show($0) }
                return (old, new, usage)
            }
            Console.print("master key \(new.id) seals all \(usage.counts[new.id] ?? 0) secret(s)")
            if usage.unreadable > 0 {
                Console.error(
                    "push-gateway: \(usage.unreadable) secret(s) could not be opened with any key, and stay as they are"
                )
            }
            guard old.id != new.id else { return }
            Console.error(
                "push-gateway: keep a copy of the new key elsewhere, and the old one as long as backups from before today exist. "
                    + "When every node runs well: push-gateway master-key remove \(old.id)"
            )
        }

        private func target(
            _ ring: KeyRing,
            _ rotation: MasterKeyRotation,
            _ configuration: GatewayConfiguration
        ) async throws -> MasterKey {
            let keys = ring.keys
            if let to {
                guard let key = keys.first(where: { $0.id == to }) else {
                    throw CommandFailure(
                        "master-key rotate: this node has no key \(to); see 'push-gateway master-key list'"
                    )
                }
                return key
            }
            let current = ring.current
            if let newest = keys.last, newest.id != current.id { return newest }
            if try await rotation.usage().others(than: current.id) > 0 { return current }
            let key = try await MasterKeyCommand.add(to: try configuration.keyFile("rotate"))
            try ring.replace(try await configuration.masterKeySource.keys())
            Console.error("push-gateway: added master key \(key.id) to \(configuration.masterKeyFile)")
            return key
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a key from this node's key file. Refused while it seals a secret."
        )
        @Argument(help: "The id of the key.") var key: String
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let path = try await common.withDatabase { configuration, database in
                let path = try configuration.keyFile("remove")
                let ring = try await database.keyRing(configuration)
                guard ring.keys.contains(where: { $0.id == key }) else {
                    throw CommandFailure("master-key remove: \(path) has no key \(key)")
                }
                let store = PostgresMasterKeyStore(engine: database.engine)
                let usage = try await MasterKeyRotation(store: store, ring: ring, waitLimit: .zero).usage()
                let sealing = try await store.nodes().filter { $0.ids?.first == key }
                guard ring.current.id != key, usage.counts[key] == nil, sealing.isEmpty else {
                    throw CommandFailure(
                        "master-key remove: key \(key) still seals \(usage.counts[key] ?? 0) secret(s): run 'push-gateway master-key rotate' first"
                    )
                }
                try MasterKeyFile(path: path).remove(key)
                return path
            }
            Console.print("removed from \(path); remove it on the other nodes too")
        }
    }
}

extension GatewayConfiguration {
    /// The key file, which the named command changes.
    ///
    /// - Throws: `CommandFailure` when the keys come from a command.
    fileprivate func keyFile(_ command: String) throws -> String {
        guard masterKeyCommand == nil else {
            throw CommandFailure(
                "master-key \(command): the keys come from master.key.command: change them there; "
                    + "a new one seals after 'push-gateway master-key rotate --to ID' (ids: 'push-gateway master-key list')"
            )
        }
        return masterKeyFile
    }
}

/// Shows the progress of a rotation: what it waits for, then a bar.
private final class RotationLine {
    private var bar = ProgressBar()
    private var waiting: [NodeID] = []

    func show(_ progress: MasterKeyRotation.Progress) {
        switch progress {
        case .waiting(let nodes):
            guard nodes != waiting else { return }
            waiting = nodes
            Console.error("push-gateway: waiting for \(nodes.map(\.rawValue).joined(separator: ", "))")
        case .replaced:
            Console.error("push-gateway: every node seals with the new key; sealing the stored secrets again")
        case .sealing(let rows, let total): bar.show(done: rows, of: total, rows: rows, isLast: rows == total)
        }
    }
}
