import NIOConcurrencyHelpers
import Testing

@testable import Gateway

/// Work that runs one piece after the other.
@Suite struct SerialRunsTests {
    @Test func noTwoPiecesRunAtOnce() async {
        let runs = SerialRuns()
        let running = NIOLockedValueBox(0)
        let most = NIOLockedValueBox(0)
        let ended = NIOLockedValueBox(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await runs.run {
                        let now = running.withLockedValue { running in
                            running += 1
                            return running
                        }
                        most.withLockedValue { $0 = max($0, now) }
                        await Task.yield()
                        running.withLockedValue { $0 -= 1 }
                        ended.withLockedValue { $0 += 1 }
                    }
                }
            }
        }
        #expect(most.withLockedValue { $0 } == 1 && ended.withLockedValue { $0 } == 50)
    }
}
