import Testing

/// The harness of the connection's tests.
struct HarnessTests {
    // A test that waits for something that does not happen ends at its time limit, which cancels it.
    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func aCanceledWaitEnds(isWaiting: Bool) async throws {
        let harness = try Harness()
        let (looks, look) = AsyncStream<Void>.makeStream()
        let wait = Task {
            try await harness.wait { _ in
                look.yield()
                return false
            }
        }
        if isWaiting {
            for await _ in looks { break }
        }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
    }
}
