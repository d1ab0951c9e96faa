import Commands
import DeliveryEngine
import Foundation
import HTTPTypes
import Logging
import Model
import NIOConcurrencyHelpers
import RationalOwl
import Testing

/// I5 and I6: no input of a caller causes a 5xx, a trap, another shape, or a change in another tenant.
@Suite(.serialized, .timeLimit(.minutes(40)))
struct MutationTests {
    /// 1,000 mutations per documented request. `MUTATIONS=10000` selects the long run.
    static let perRequest = ProcessInfo.processInfo.environment["MUTATIONS"].flatMap { Int($0) } ?? 1000

    // In process, through the decoder and Commands, on a real PostgreSQL.
    @Test func mutatedCallsKeepTheVendorsShapeAndTheOtherTenant() async throws {
        let stage = try await MutationStage.open()
        try await closing {
            await stage.close()
        } after: {
            let seed = UInt64.random(in: 1...UInt64.max)
            print("mutation seed: \(seed)")
            let before = try await stage.checksum(of: MutationStage.other)
            let counts = Counts()
            for (index, request) in stage.requests.all.enumerated() {
                try await concurrently(16, tasks: 16) { number in
                    try await stage.mutate(
                        request,
                        count: Self.perRequest / 16,
                        seed: seed &+ UInt64(index * 100 + number),
                        counts: counts
                    )
                }
            }
            let (total, reached, wrong) = counts.all
            print("mutations: \(total), reached Commands: \(reached) (\(100 * reached / max(1, total)) %)")
            #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(5))")
            #expect(reached * 100 >= total * 30)
            #expect(try await stage.checksum(of: MutationStage.other) == before)
        }
    }
}

/// The results of the mutations.
final class Counts: Sendable {
    private let box = NIOLockedValueBox((total: 0, reached: 0, wrong: [String]()))
    var all: (Int, Int, [String]) { box.withLockedValue { ($0.total, $0.reached, $0.wrong) } }

    func note(reached: Bool, wrong: String?) {
        box.withLockedValue {
            $0.total += 1
            if reached { $0.reached += 1 }
            if let wrong, $0.wrong.count < 100 { $0.wrong.append(wrong) }
        }
    }
}
