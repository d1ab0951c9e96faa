import Testing

@testable import APNsSimulator

@Suite struct LedgerTests {
    private static let id = "123e4567-e89b-12d3-a456-426614174000"

    @Test func aRepeatIsTheSameTokenAndID() {
        var ledger = Ledger(recordLimit: 10, trackedLimit: 100)
        ledger.commit(
            deliveries([("ab", Self.id), ("cd", Self.id), ("AB", Self.id.uppercased()), ("ab", nil), ("ab", nil)])
        )
        #expect(ledger.stats.accepted == 5)
        #expect(ledger.stats.distinctTokens == 2)
        #expect(ledger.stats.distinctPairs == 4)
        #expect(ledger.stats.repeats == 1)
        #expect(ledger.duplicates.first == [DuplicateDelivery(token: "AB", apnsID: Self.id.uppercased(), count: 2)])
    }

    @Test func repeatsAreCountedInAllAndNamedUpToAHundred() {
        var ledger = Ledger(recordLimit: 0, trackedLimit: 10_000)
        for _ in 0..<3 { ledger.commit(deliveries((0..<150).map { (String($0), Self.id) })) }
        #expect(ledger.duplicates.repeats == 300)
        #expect(ledger.duplicates.first.count == 100)
        #expect(ledger.duplicates.first.allSatisfy { $0.count == 3 })
    }

    @Test func aFullMemoryIsReported() {
        var ledger = Ledger(recordLimit: 0, trackedLimit: 2)
        ledger.commit(deliveries([("1", Self.id), ("2", Self.id), ("3", Self.id), ("1", Self.id)]))
        #expect(ledger.duplicates == .init(pairs: 2, repeats: 1, untracked: 1, first: ledger.duplicates.first))
    }

    @Test func resetKeepsOpenConnections() {
        var ledger = Ledger(recordLimit: 10, trackedLimit: 100)
        ledger.connectionOpened()
        var batch = deliveries([("ab", Self.id)])
        batch.streamsDelta = 3
        batch.refusals = ["BadTopic"]
        ledger.commit(batch)
        ledger.reset()
        #expect(ledger.stats.connections == 1)
        #expect(ledger.stats.streams == 3)
        #expect(ledger.stats.accepted == 0)
        #expect(ledger.stats.rejected.isEmpty)
    }

    @Test func theRingKeepsTheNewestInOrder() {
        var ledger = Ledger(recordLimit: 3, trackedLimit: 100)
        var batch = Ledger.Batch()
        batch.records = (1...5).map { record("a\($0)") } + [record("a4")]
        ledger.commit(batch)
        #expect(ledger.requests(token: nil, limit: 10).map(\.token) == ["a4", "a5", "a4"])
        #expect(ledger.requests(token: "A4", limit: 10).count == 2)
        #expect(ledger.requests(token: nil, limit: 1).map(\.token) == ["a4"])
        #expect(ledger.requests(token: nil, limit: 0).isEmpty)
    }

    private func deliveries(_ list: [(String, String?)]) -> Ledger.Batch {
        var batch = Ledger.Batch()
        batch.deliveries = list.map { .init(token: $0.0, apnsID: $0.1) }
        return batch
    }

    private func record(_ token: String) -> RecordedRequest {
        RecordedRequest(
            token: token,
            status: 200,
            reason: nil,
            headers: [],
            payload: [],
            row: 29,
            evidence: .documented,
            findings: [],
            receivedAt: 0
        )
    }
}
