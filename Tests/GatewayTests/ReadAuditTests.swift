import Foundation
import Model
import NIOConcurrencyHelpers
import Store
import Testing

@testable import CallAudit
@testable import NativeHTTP

/// The rows of audited reads: what they contain, and how calls share transactions.
@Suite struct ReadAuditTests {
    // MARK: Subjects

    private struct Lookup: InputFields {
        let app = CommonInputs.appFilter
        let user = QueryField.optional("user", .user, "")
        let phone = QueryField.optional("phone", .text(32), "")
        let key = QueryField.optional("key", .deviceKey, "")
        let device = QueryField.optional("device", .text(64), "")
    }

    private func subjects(_ query: [String: String]) -> ReadSubjects {
        var values = InputValues(Lookup(), body: [:])
        values.query = query.mapValues { [$0] }
        return ReadSubjects(values, tenant: "acme")
    }

    @Test func aRowNamesWhatWasLookedUp() {
        #expect(subjects([:]).subjects == ["tenant acme"])
        #expect(subjects(["app": "shop"]).subjects == ["app shop"])
        #expect(subjects(["app": "shop", "device": "ABC"]).subjects == ["device abc"])
        #expect(subjects(["user": "kim", "device": "ABC"]).subjects == ["user kim"])
        #expect(subjects(["user": "a\0b"]).subjects == ["user ab"])
        let both = subjects(["app": "shop", "user": "kim", "phone": "+82 10-1234", "key": "k"])
        #expect(both.subjects == ["user kim", "phone 82101234", "device-key k"])
        // The data has no pseudonyms, so it must not name people.
        let records = both.records(of: "listDevices", count: 2)
        #expect(records.count == 3)
        #expect(records.allSatisfy { $0.data == ["operation": "listDevices", "app": "shop", "count": 2] })
        #expect(subjects(["device": String(repeating: "x", count: 5000)]).subjects[0].utf8.count < 200)
    }

    // MARK: Turns

    @Test func oneCallOfATenantWritesForAllThatWait() {
        var machine = ReadAuditMachine<Int>()
        #expect(machine.arrived("a", 1) == .write)
        #expect(machine.arrived("a", 2) == .wait && machine.arrived("a", 3) == .wait)
        #expect(machine.arrived("b", 4) == .write, "tenants do not wait for each other")
        #expect(machine.ended("a") == [2, 3])
        #expect(machine.arrived("a", 5) == .wait)
        #expect(machine.ended("a") == [5] && machine.ended("a") == [])
        #expect(machine.arrived("a", 6) == .write && machine.waiting == 0)
    }

    @Test func theWaitingCallsAndTheBatchesAreBounded() {
        var machine = ReadAuditMachine<Int>()
        typealias Limits = ReadAuditMachine<Int>
        #expect(machine.arrived("a", 0) == .write)
        for number in 0..<Limits.tenantLimit { #expect(machine.arrived("a", number) == .wait) }
        #expect(machine.arrived("a", 0) == .refused, "a tenant has its own limit")
        for tenant in ["b", "c", "d"] {
            #expect(machine.arrived(TenantID(tenant), 0) == .write)
            for number in 0..<Limits.tenantLimit { #expect(machine.arrived(TenantID(tenant), number) == .wait) }
        }
        #expect(machine.arrived("e", 0) == .write)
        #expect(machine.arrived("e", 0) == .refused)
        #expect(machine.ended("a").count == Limits.batchLimit)
        #expect(machine.arrived("a", 0) == .wait)
    }

    @Test func concurrentReadsShareTransactionsAndEachHasItsRow() async throws {
        let written = NIOLockedValueBox<[[Int]]>([])
        let reads = ReadAudit { (_, entries) async throws(StoreError) in
            try? await Task.sleep(for: .milliseconds(20))
            written.withLockedValue { $0.append(entries.map { Int($0.records[0].data?["count"]?.int ?? -1) }) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let record = AuditRecord(.read, "tenant acme", data: ["count": .int(number)])
                    try await reads.note([record], by: .key("k"), in: "acme")
                    #expect(written.withLockedValue { $0.joined().contains(number) }, "its row is written")
                }
            }
            try await group.waitForAll()
        }
        let batches = written.withLockedValue { $0 }
        #expect(batches.joined().sorted() == Array(0..<100))
        #expect(batches.count < 50, "\(batches.count) transactions")
    }

    // The next call tries again, whatever happened to the one before.
    @Test func aFailureReachesTheCallsOfItsTransactionOnly() async throws {
        let fails = NIOLockedValueBox(true)
        let reads = ReadAudit { (_, _) async throws(StoreError) in
            if fails.withLockedValue({ $0 }) { throw StoreError(.unavailable, "down") }
        }
        await #expect(throws: StoreError.self) { try await reads.note([], by: .key("k"), in: "acme") }
        fails.withLockedValue { $0 = false }
        try await reads.note([], by: .key("k"), in: "acme")
    }
}
