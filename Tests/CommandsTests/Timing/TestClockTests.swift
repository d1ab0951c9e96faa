import Model
import TestKit
import Testing

@Suite struct TestClockTests {
    @Test func aSleeperWakesWhenTheTimeIsMovedToItsDeadline() async throws {
        let clock = TestClock()
        let timer = clock.timer
        async let slept: Void = timer.sleep(for: .seconds(5))
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(5))
        try await slept
    }

    @Test func aCanceledSleeperThrows() async {
        let clock = TestClock()
        let task = Task { try await clock.timer.sleep(for: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
