import APNs
import Model
import NIOConcurrencyHelpers
import Testing

/// One lookup per signer for any number of callers, and the same token for all of them.
struct ProviderTokenCacheTests {
    /// A source that answers only when the test allows it, and counts the requests.
    private final class HeldSource: ProviderTokenSource {
        private let clock: TestWallClock
        private let gate: AsyncStream<Void>
        private let open: AsyncStream<Void>.Continuation
        private let asked: AsyncStream<Void>
        private let tell: AsyncStream<Void>.Continuation
        private let state = NIOLockedValueBox((count: 0, isFailing: false))

        init(clock: TestWallClock) {
            self.clock = clock
            (gate, open) = AsyncStream.makeStream()
            (asked, tell) = AsyncStream.makeStream()
        }

        var count: Int { state.withLockedValue(\.count) }
        func answer() { open.yield() }
        func fail() { state.withLockedValue { $0.isFailing = true } }
        func waitUntilAsked() async { for await _ in asked { return } }

        func token(
            for signer: ProviderTokenSigner,
            replacing stale: ProviderToken?
        ) async throws(APNsError) -> AgedProviderToken {
            state.withLockedValue { $0.count += 1 }
            tell.yield()
            for await _ in gate { break }
            if state.withLockedValue(\.isFailing) { throw APNsError(.tokenUnavailable) }
            return AgedProviderToken(try signer.sign(issuedAt: clock.now()), age: .zero)
        }
    }

    @Test func hundredCallersShareOneLookup() async throws {
        let source = HeldSource(clock: TestWallClock())
        let cache = ProviderTokenCache(source: source)
        let signer = try TestKey().signer()
        let tokens = try await withThrowingTaskGroup(of: AgedProviderToken.self) { group in
            for _ in 0..<100 { group.addTask { try await cache.token(for: signer) } }
            await source.waitUntilAsked()
            source.answer()
            var tokens: Set<ProviderToken> = []
            for try await token in group { tokens.insert(token.token) }
            return tokens
        }
        #expect(tokens.count == 1)
        #expect(source.count == 1)
    }

    @Test func failureReachesEveryWaiterAndTheNextCallerRetries() async throws {
        let source = HeldSource(clock: TestWallClock())
        let cache = ProviderTokenCache(source: source)
        let signer = try TestKey().signer()
        source.fail()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 { group.addTask { (try? await cache.token(for: signer)) == nil } }
            await source.waitUntilAsked()
            // Callers that arrive too late to join a lookup start their own.
            for _ in 0..<10 { source.answer() }
            for await hasFailed in group { #expect(hasFailed) }
        }
    }

    @Test func tokenOfTheDatabasesClockIsRenewedByAgeNotByWallTime() async throws {
        let wall = TestWallClock()
        let instant = TestInstant()
        let cache = ProviderTokenCache(source: SelfSignedTokens(clock: wall), now: instant.now)
        let signer = try TestKey().signer()
        let first = try await cache.token(for: signer).token
        #expect(first.issuedAt == wall.now())
        // The wall clock jumps two hours forward and then a day back. Neither jump causes a new token.
        wall.advance(by: .minutes(120))
        #expect(try await cache.token(for: signer).token == first)
        wall.advance(by: .minutes(-24 * 60))
        #expect(try await cache.token(for: signer).token == first)
        // After 50 minutes the token is renewed.
        instant.advance(by: .minutes(50))
        let second = try await cache.token(for: signer).token
        #expect(second != first)
        #expect(second.issuedAt == wall.now())
    }

    @Test func refusedTokenThatIsTooYoungIsAnErrorWithItsWait() async throws {
        let instant = TestInstant()
        let cache = ProviderTokenCache(source: SelfSignedTokens(clock: TestWallClock()), now: instant.now)
        let signer = try TestKey().signer()
        let first = try await cache.token(for: signer).token
        instant.advance(by: .minutes(5))
        let error = await #expect(throws: APNsError.self) { try await cache.token(for: signer, replacing: first) }
        #expect(error?.code == .tokenTooYoung)
        #expect(error?.retryAfter == .minutes(15))
        instant.advance(by: .minutes(15))
        #expect(try await cache.token(for: signer, replacing: first).token != first)
    }

    @Test func keysHaveTokensOfTheirOwn() async throws {
        let cache = ProviderTokenCache(source: SelfSignedTokens(clock: TestWallClock()))
        let one = try await cache.token(for: TestKey().signer())
        // The same ids with a corrected key file.
        let other = try await cache.token(for: TestKey().signer())
        #expect(one.token != other.token)
    }
}
