import DatabaseSupport
import Foundation
import Model
import NIOConcurrencyHelpers
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Calls of one kind that are sent to the server as one statement. Each gets the result that it would get alone.
@Suite struct StatementBatchTests {
    // MARK: The group

    private func call(_ name: String, tenant: String = "a", sql: String = "many") -> Transaction {
        var transaction = Transaction(tenant: tenant, [Statement("one", [.text("p"), .text(name)])])
        transaction.batches = [StatementBatch(shared: Statement(sql, [.text("p")]), row: [.text(name)])]
        return transaction
    }

    private func rows(_ outcomes: [String?]) -> ResultSet {
        var bytes: [UInt8] = []
        var cells: [ResultSet.Cell] = []
        for outcome in outcomes {
            cells.append(ResultSet.Cell(offset: 0, length: 0))
            cells.append(ResultSet.Cell(offset: bytes.count, length: outcome?.utf8.count ?? -1))
            bytes += Array((outcome ?? "").utf8)
        }
        return ResultSet(
            shape: ResultSet.Shape(names: ["ordinal", "outcome"], types: [25, 25]),
            bytes: bytes,
            cells: cells,
            rowCount: outcomes.count,
            affectedRows: outcomes.count,
            commandTag: "SELECT"
        )
    }

    @Test func callsOfOneKindAndTenantAreGrouped() {
        let alone = Transaction(tenant: "a", [Statement("other")])
        let group = BatchedTransactions([
            call("1"), alone, call("2"), call("3", tenant: "b"), call("4", sql: "else"), call("5"),
        ])
        #expect(group.transactions.count == 4)
        let folded = group.transactions.first { $0.statements[0].sql == "many" }
        #expect(folded?.tenant == "a")
        #expect(folded?.statements[0].parameters == [.text("p"), .texts(["1", "2", "5"])])
        // A single call stays unchanged.
        #expect(group.transactions.filter { $0.statements[0].sql == "one" }.count == 2)
    }

    @Test func callsOfSeveralStatementsAreGroupedUnlessTheyShareAKey() throws {
        func call(_ name: String, subject: String) -> Transaction {
            var transaction = Transaction(tenant: "a", [Statement("one"), Statement("two")])
            transaction.batches = [
                StatementBatch(shared: Statement("ones"), row: [.text(name)], subject: subject),
                StatementBatch(shared: Statement("twos", [.bool(true)]), row: [.uuid(nil)]),
            ]
            return transaction
        }
        var half = call("4", subject: "w")
        half.batches.removeLast()
        let group = BatchedTransactions([
            call("1", subject: "x"), call("2", subject: "y"), call("3", subject: "x"), half, call("5", subject: "z"),
        ])
        #expect(group.transactions.map(\.statements.count) == [2, 2, 2])
        let folded = try #require(group.transactions.first { $0.statements[0].sql == "ones" })
        #expect(folded.statements[0].parameters == [.texts(["1", "2", "5"])])
        #expect(folded.statements[1].sql == "twos")
        #expect(folded.statements[1].parameters == [.bool(true), .uuids([nil, nil, nil])])
        // The second call about x and the incomplete call run alone. A row that either statement leaves out runs
        // alone as well.
        let answer: Result<[ResultSet], PostgresError> = .success([rows(["a", nil, "c"]), rows(["d", "e", "f"])])
        let results = group.transactions.map { $0.statements[0].sql == "ones" ? answer : .success([rows(["alone"])]) }
        let split = group.split(results, count: 5)
        #expect(
            try split[4]?.get().map { (set) throws(PostgresError) in try set.only().text("outcome") } == ["c", "f"]
        )
        #expect(split[1] == nil && split[0] != nil)
        #expect(try split[2]?.get().first?.only().text("outcome") == "alone")
    }

    // If the second one had to run alone, the whole call would be repeated, and the first one would find what it has written itself.
    @Test(arguments: [true, false])
    func aCallWithTwoWritesOfOneKindRunsAlone(_ writes: Bool) {
        func call(_ kinds: [String]) -> Transaction {
            var transaction = Transaction(tenant: "a", kinds.map { Statement("one of \($0)") }, flushes: writes)
            transaction.batches = kinds.map { StatementBatch(shared: Statement($0), row: [.text("k")]) }
            return transaction
        }
        let group = BatchedTransactions([
            call(["many", "others"]), call(["many", "others"]), call(["many", "many"]), call(["many", "many"]),
        ])
        let texts = group.transactions.map { $0.statements.map(\.sql) }
        #expect(texts.contains(["many", "others"]))
        #expect(texts.count { $0 == ["one of many", "one of many"] } == (writes ? 2 : 0))
        #expect(texts.count == (writes ? 3 : 2))
    }

    @Test func mergedCallsMakeNoStatementsOfTheirOwn() {
        let made = NIOLockedValueBox(0)
        func call(_ name: String, of count: Int = 1) -> Transaction {
            let batch = StatementBatch(shared: Statement("many"), row: [.text(name)])
            return Transaction(tenant: "a", [batch], of: count, flushes: true) {
                made.withLockedValue { $0 += 1 }
                return (0..<count).map { _ in Statement("one", [.text(name)]) }
            }
        }
        let merged = BatchedTransactions([call("1"), call("2")])
        #expect(merged.transactions.map { $0.statements.map(\.sql) } == [["many"]])
        #expect(made.withLockedValue { $0 } == 0)
        let alone = BatchedTransactions([call("1")])
        #expect(alone.transactions.map { $0.statements.map(\.sql) } == [["one"]])
        #expect(made.withLockedValue { $0 } == 1)
        // With a statement that joins no others, the whole call runs alone.
        #expect(!call("3", of: 2).canBeMerged)
    }

    @Test func groupsAreBounded() throws {
        let calls = (0..<7).map { number in
            var call = call("\(number)")
            call.batches[0].limit = 3
            return call
        }
        let group = BatchedTransactions(calls)
        #expect(group.transactions.map { $0.statements[0].sql } == ["many", "many", "one"])
        #expect(group.transactions[1].statements[0].parameters == [.text("p"), .texts(["3", "4", "5"])])
    }

    @Test func eachGetsItsRow() throws {
        let group = BatchedTransactions([call("1"), call("2"), call("3")])
        let split = group.split([.success([rows(["recorded", nil, "repeated"])])], count: 3)
        #expect(try split[0]?.get().first?.only().text("outcome") == "recorded")
        #expect(split[1] == nil)
        #expect(try split[2]?.get().first?.only().text("outcome") == "repeated")
    }

    @Test func aFailedGroupIsRetriedOneByOneUnlessItMayHaveCommitted() {
        let group = BatchedTransactions([call("1"), call("2")])
        let refused = group.split([.failure(PostgresError(.invalidParameter))], count: 2)
        #expect(refused.allSatisfy { $0 == nil })
        var error = PostgresError(.connectionLost)
        error.isIndeterminate = true
        let lost = group.split([.failure(error)], count: 2)
        #expect(lost.count == 2 && lost.allSatisfy { $0 != nil })
    }

    @Test func anAnswerOfAnotherLengthIsRefused() {
        let split = BatchedTransactions([call("1"), call("2")]).split([.success([rows(["recorded"])])], count: 2)
        #expect(split.allSatisfy { $0 == nil })
    }

    // MARK: Receipts

    private func sent(_ fixture: StoreFixture, _ keys: [String]) async throws -> NewMessage {
        var identities: [IdentityID] = []
        for key in keys {
            let token = String(format: "%016x", key.utf8.reduce(5381) { $0 &* 33 &+ Int($1) })
            identities.append(try await fixture.register(VendorDeviceKey(key), token: token).identity)
        }
        let (message, lease) = try await fixture.sending(to: identities)
        _ = try await fixture.delivery.record(
            try await fixture.progress(lease, Array(identities.indices)),
            by: fixture.node
        )
        return message
    }

    /// The statement for several calls, called directly, because no other test knows which calls meet in a group.
    private func together(
        _ fixture: StoreFixture,
        _ calls: [(message: MessageID, key: String, kind: String)]
    ) async throws -> [String?] {
        let at = try await fixture.now()
        let statement = try fixture.joined(
            calls.map { call in
                let kind = try #require(ReceiptKind(rawValue: call.kind))
                return RecordReceipt(
                    fixture.scope,
                    call.message,
                    Reporter(key: VendorDeviceKey(call.key)),
                    kind,
                    at: at
                )
            }
        )
        return try await fixture.call.run(statement, tenant: fixture.acme.rawValue).map { row throws(PostgresError) in
            try row.optionalText("outcome")
        }
    }

    @Test func receiptsOfManyAreWrittenAndCountedOnce() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await sent(fixture, ["k1", "k2", "k3"])
        let second = try await sent(fixture, ["k1", "k4"])
        let outcomes = try await together(
            fixture,
            [
                (first.id, "k1", "received"), (first.id, "k2", "read"), (second.id, "k1", "read"),
                // A repeated receipt, an unknown device and an unknown message: each runs alone.
                (first.id, "k1", "read"), (first.id, "nobody", "read"), (MessageID(UUID()), "k1", "read"),
                (second.id, "k2", "read"),
            ]
        )
        #expect(outcomes == ["recorded", "recorded", "recorded", nil, nil, nil, nil])
        #expect(try await fixture.counters() == Funnel(recipients: 5, sent: 5, received: 3, read: 2))
        #expect(
            try await together(
                fixture,
                [(first.id, "k1", "read"), (first.id, "k2", "received"), (first.id, "k2", "read")]
            )
                == ["recorded", "repeated", nil]
        )
        #expect(try await fixture.counters() == Funnel(recipients: 5, sent: 5, received: 3, read: 3))
        let facts = try await fixture.facts(first.id).funnel
        #expect(facts == Funnel(recipients: 3, sent: 3, received: 2, read: 2))
        let kinds = try await fixture.deliveryKinds()
        #expect(kinds.filter { $0 == "received" }.count == 1 && kinds.filter { $0 == "read" }.count == 3)
    }

    @Test func concurrentCallsAnswerLikeSingleCalls() async throws {
        let fixture = try await StoreFixture.make()
        let keys = (0..<40).map { "k\($0)" }
        let message = try await sent(fixture, keys)
        let at = try await fixture.now()
        let replies = try await withThrowingTaskGroup(of: (String, ReceiptReply).self) { group in
            for key in keys + ["nobody", "k\u{0}1"] {
                for kind in [ReceiptKind.received, .received, .read] {
                    group.addTask {
                        let reporter = Reporter(key: VendorDeviceKey(key))
                        let statement = RecordReceipt(fixture.scope, message.id, reporter, kind, at: at)
                        do {
                            return (key, try await fixture.ask(statement))
                        } catch {
                            // PostgreSQL text cannot contain NUL: that call alone fails.
                            return (key, .orphan)
                        }
                    }
                }
            }
            return try await group.reduce(into: [String: [ReceiptReply]]()) { $0[$1.0, default: []].append($1.1) }
        }
        for key in keys {
            let recorded = replies[key]?.count { $0 == .recorded } ?? 0
            // The read receipt may arrive first; then it is the only one that is recorded.
            #expect((1...2).contains(recorded), "\(key): \(replies[key] ?? [])")
        }
        for key in ["nobody", "k\u{0}1"] {
            #expect(replies[key]?.count == 3)
            for reply in replies[key] ?? [] { #expect(reply == .orphan) }
        }
        #expect(try await fixture.counters() == Funnel(recipients: 40, sent: 40, received: 40, read: 40))
        let recorded = replies.values.joined().count { $0 == .recorded }
        #expect(try await fixture.deliveryKinds().filter { $0 != "sent" }.count == recorded)
    }
}
