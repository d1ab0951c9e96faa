import Crypto
import DatabaseSupport
import EngineStore
import Foundation
import Logging
import Model
import PostgresClient
import Store
import TestKit
import Testing

@testable import Gateway
@testable import Secrets

/// The chain of the audit on a real database: what a person with all rights on the database changes is found.
@Suite(.timeLimit(.minutes(10))) struct AuditChainTests {
    private let stores: DatabaseStores
    private let tenant: TenantID
    private let ring: KeyRing
    private let signer: AuditSigner

    init() async throws {
        stores = try await DatabaseStores.copy()
        tenant = TenantID("acme")
        ring = try KeyRing([MasterKey(bytes: Array(repeating: 7, count: 32))])
        signer = try AuditSigner(ring)
        let facts = ProvisionedTenant(id: tenant)
        _ = try await stores.provisioning.apply([facts])
    }

    private var service: AuditCheckpointService {
        AuditCheckpointService(
            keeper: PostgresAuditKeeper(engine: stores.engine, node: stores.node),
            store: stores.audit,
            signer: signer,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private func write(_ count: Int) async throws {
        let records = (0..<count).map { AuditRecord(.write, "user u\($0), ü", data: ["n": .int($0)]) }
        try await stores.commands.run(WriteAudit(records, by: .key("k")), in: tenant)
    }

    private func verify(signers: [[UInt8]]? = nil) async throws -> AuditChain {
        let retention = try await service.keeper.retention()
        let bounds = AuditBounds(
            kept: try #require(retention[tenant]),
            copied: try await service.keeper.copied(in: tenant),
            now: Timestamp(seconds: Int64(Date().timeIntervalSince1970))
        )
        return try await AuditReader(store: stores.audit)
            .verify(tenant, signers: signers ?? [signer.publicKey], within: bounds)
    }

    private func change(_ sql: String) async throws {
        let admin = try await stores.database.admin()
        try await admin.script(sql)
        await admin.close()
    }

    @Test func theAuditIsSignedAgainAndAgain() async throws {
        try await write(1)
        var service = service
        service.period = .milliseconds(10)
        let running = service
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await running.run() }
            for rows in 2...4 {
                // The time limit of the suite ends the wait for a round that never signs.
                while try await verify().confirmedUntil != Int64(rows) { try await Task.sleep(for: .milliseconds(10)) }
                try await write(1)
            }
            group.cancelAll()
        }
    }

    /// Rows 1 to 11, of which the first six are signed, then all.
    private func signedTwice() async throws {
        try await write(5)
        #expect(try await service.sign() == 1)
        try await write(5)
        #expect(try await service.sign() == 1)
        #expect(try await service.sign() == 0, "nothing is new")
    }

    @Test func anUnchangedAuditIsConfirmed() async throws {
        try await signedTwice()
        try await write(2)
        let chain = try await verify()
        #expect(chain.faults == [])
        #expect(chain.chained == 13 && chain.unchained == 0)
        #expect(chain.confirmed == 2 && chain.confirmedUntil == 11)
    }

    @Test(arguments: [
        ("UPDATE gateway.audit SET actor = 'key:other' WHERE position = 3", [AuditFault.changed(3)]),
        ("UPDATE gateway.audit SET data = '{\"n\": 1}' WHERE position = 3", [.changed(3)]),
        ("UPDATE gateway.audit SET at = at + interval '1 microsecond' WHERE position = 3", [.changed(3)]),
        ("UPDATE gateway.audit SET hash = NULL WHERE position = 3", [.withoutDigest(3), .changed(4)]),
        ("DELETE FROM gateway.audit WHERE position = 3", [.missing(3, 3), .changed(4)]),
        ("DELETE FROM gateway.audit WHERE position >= 9", [.missing(9, 11)]),
        ("DELETE FROM gateway.audit WHERE position <= 2", [.changed(3)]),
        ("DELETE FROM gateway.audit WHERE position <= 6", [.removedEarly(6)]),
        ("DELETE FROM gateway.audit", [.missing(1, 11)]),
        (
            """
            DELETE FROM gateway.audit WHERE position <= 6;
            UPDATE gateway.audit_checkpoint SET last_at = last_at - interval '500 days' WHERE position = 6
            """, [.badSignature(6)]
        ),
        (
            """
            UPDATE gateway.audit SET position = -3 WHERE position = 3; UPDATE gateway.audit SET position = 3 WHERE position = 4;
            UPDATE gateway.audit SET position = 4 WHERE position = -3
            """, [.changed(3), .changed(4), .changed(5)]
        ),
        (
            "UPDATE gateway.audit_checkpoint SET signature = set_byte(signature, 0, 255 - get_byte(signature, 0)) WHERE position = 6",
            [.badSignature(6)]
        ),
        ("UPDATE gateway.audit_checkpoint SET position = 7 WHERE position = 6", [.badSignature(7)]),
    ])
    func aChangeIsFound(_ sql: String, _ faults: [AuditFault]) async throws {
        try await signedTwice()
        try await change(sql)
        #expect(try await verify().faults == faults)
    }

    /// Whoever can compute digests cannot sign them.
    @Test func aChainThatWasWrittenAnewIsFound() async throws {
        try await signedTwice()
        try await change("DELETE FROM gateway.audit WHERE position > 3")
        try await write(8)
        let chain = try await verify()
        #expect(chain.faults == [.differs(6), .differs(11)])
        // A chain that is signed with another key does not count either.
        try await change("DELETE FROM gateway.audit_checkpoint")
        var other = service
        other = AuditCheckpointService(
            keeper: other.keeper,
            store: other.store,
            signer: try AuditSigner(KeyRing([MasterKey(bytes: Array(repeating: 8, count: 32))])),
            logger: other.logger
        )
        #expect(try await other.sign() == 1)
        #expect(try await verify().faults == [.unknownSigner(11)])
        #expect(try await verify(signers: [other.signer.publicKey]).faults == [])
    }

    @Test func aBrokenChainIsNotSigned() async throws {
        try await signedTwice()
        try await write(3)
        try await change("UPDATE gateway.audit SET actor = 'key:other' WHERE position = 12")
        #expect(try await service.sign() == 0)
        #expect(try await stores.audit.checkpoints(in: tenant, after: 0, limit: 10).map(\.position) == [6, 11])
    }

    @Test func verificationBeginsBehindRetention() async throws {
        try await signedTwice()
        try await age(500)
        let keeper = PostgresMaintenance(engine: stores.engine, node: stores.node)
        #expect(try await keeper.run().auditRemoved == 6)
        let chain = try await verify()
        #expect(chain.faults == [] && chain.chained == 5 && chain.confirmedUntil == 11)
        try await change("DELETE FROM gateway.audit WHERE position = 7")
        #expect(try await verify().faults == [.missing(7, 7), .changed(8)])
    }

    /// The first checkpoint, signed as if its row had been written that many days ago.
    private func age(_ days: Int64) async throws {
        let links = try await stores.audit.links(in: tenant, after: 5, limit: 1)
        let seconds = Int64(Date().timeIntervalSince1970) - days * 86_400
        let hash = try #require(links.first?.hash)
        try await store(signer.checkpoint(tenant, 6, hash, micros: seconds * 1_000_000).signature, at: seconds)
    }

    private func store(_ signature: [UInt8], at seconds: Int64) async throws {
        try await change(
            """
            UPDATE gateway.audit_checkpoint SET last_at = to_timestamp(\(seconds)),
                signature = decode('\(HexCoding.encode(signature))', 'hex') WHERE position = 6
            """
        )
    }

    private func keep(_ days: Int?) async throws {
        var facts = ProvisionedTenant(id: tenant)
        if let days { facts.retention = TenantRetention([.audit: .seconds(days * 86_400)]) }
        _ = try await stores.provisioning.apply([facts])
    }

    /// Rows are missing up to a checkpoint of 40 days ago: retention has removed them only if the tenant keeps, or kept, less.
    @Test func theStartOfAnAuditFitsItsRetention() async throws {
        try await signedTwice()
        try await age(40)
        try await change("DELETE FROM gateway.audit WHERE position <= 6")
        #expect(try await verify().faults == [.removedEarly(6)])
        try await keep(50)
        #expect(try await verify().faults == [.removedEarly(6)])
        try await keep(30)
        #expect(try await verify().faults == [])
        // A row says that less was kept until now.
        try await keep(nil)
        #expect(try await verify().faults == [])
        // A row after it does not say that for a time in which nothing was old enough.
        try await change("DELETE FROM gateway.audit WHERE position > 11")
        try await keep(45)
        try await keep(nil)
        #expect(try await verify().faults == [.removedEarly(6)])
    }

    /// The signatures of older programs do not cover the time of the row.
    @Test func aCheckpointWithoutASignedTimeCounts() async throws {
        try await signedTwice()
        let links = try await stores.audit.links(in: tenant, after: 5, limit: 1)
        let hash = HexCoding.encode(try #require(links.first?.hash))
        let key = try Curve25519.Signing.PrivateKey(rawRepresentation: ring.derived("audit checkpoint"))
        let signature = try key.signature(for: Array("push-gateway audit checkpoint\nacme\n6\n\(hash)".utf8))
        let now = Int64(Date().timeIntervalSince1970)
        try await store(Array(signature), at: now)
        let chain = try await verify()
        #expect(chain.faults == [] && chain.confirmed == 2)
        try await change("DELETE FROM gateway.audit WHERE position <= 6")
        #expect(try await verify().faults == [.removedEarly(6)])
        try await store(Array(signature), at: now - 500 * 86_400)
        #expect(try await verify().faults == [])
    }

    /// Whoever removes the newest rows with their checkpoints is found if a copy has them.
    @Test func aTruncatedAuditIsFoundByItsCopy() async throws {
        let path = NSTemporaryDirectory() + "audit-\(UUID().uuidString).jsonl"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await signedTwice()
        try await AuditFileService(
            path: path,
            keeper: service.keeper,
            store: stores.audit,
            logger: service.logger
        ).copy()
        try await change(
            "DELETE FROM gateway.audit WHERE position >= 9; DELETE FROM gateway.audit_checkpoint WHERE position >= 9"
        )
        #expect(try await verify().faults == [.missing(9, 11)])
    }

    @Test func anErasedPersonLeavesTheChainValid() async throws {
        try await signedTwice()
        _ = try await stores.call.run(
            Statement("SELECT gateway.forget_subjects('acme', ARRAY['user u1, ü'])"),
            tenant: tenant.rawValue
        )
        let named = try await stores.audit.entries(in: tenant, after: 0, limit: 100).filter {
            $0.subject == "user u1, ü"
        }
        #expect(named == [])
        #expect(try await verify().faults == [])
    }

    @Test func rowsAreCopiedToAFileOnce() async throws {
        let path = NSTemporaryDirectory() + "audit-\(UUID().uuidString).jsonl"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let copier = AuditFileService(
            path: path,
            keeper: PostgresAuditKeeper(engine: stores.engine, node: stores.node),
            store: stores.audit,
            logger: service.logger
        )
        try await write(3)
        try await copier.copy()
        try await write(2)
        try await copier.copy()
        try await copier.copy()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let rows = try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
        let links = try await stores.audit.links(in: tenant, after: 0, limit: 100)
        #expect(rows.map { $0["position"] } == (1...6).map { .int($0) })
        #expect(rows.map { $0["hash"] } == links.map { .string(HexCoding.encode($0.hash ?? [])) })
        #expect(!text.contains("u1, ü"), "the file has pseudonyms")
        #expect(rows.allSatisfy { $0["tenant"] == "acme" })
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
