import Model
import NIOConcurrencyHelpers
import TestKit
import Testing

@testable import APNs

/// One provider token per key over all nodes (I8), through a shared store.
struct SharedTokensTests {
    /// An in-memory version of the single statement in PostgreSQL.
    private final class InMemoryTokenStore: ProviderTokenStore {
        private let tokens = NIOLockedValueBox<[ProviderTokenSigner.ID: ProviderToken]>([:])
        let written = NIOLockedValueBox<[ProviderToken]>([])
        let isDown = NIOLockedValueBox(false)

        func standing(for signer: ProviderTokenSigner.ID) async throws(APNsError) -> ProviderToken? {
            if isDown.withLockedValue(\.self) { throw APNsError(.tokenUnavailable) }
            return tokens.withLockedValue { $0[signer] }
        }

        func offer(
            _ token: ProviderToken,
            for signer: ProviderTokenSigner.ID,
            replacingOlderThan time: Timestamp
        ) async throws(APNsError) -> ProviderToken {
            if isDown.withLockedValue(\.self) { throw APNsError(.tokenUnavailable) }
            // Another node may act between the read and the write.
            await Task.yield()
            return tokens.withLockedValue { tokens in
                if let standing = tokens[signer], standing.issuedAt >= time { return standing }
                tokens[signer] = token
                written.withLockedValue { $0.append(token) }
                return token
            }
        }
    }

    /// A node with its own cache and its own monotonic clock.
    private struct Node {
        let cache: ProviderTokenCache
        let instant = TestInstant()

        init(_ store: InMemoryTokenStore, _ clock: TestWallClock) {
            let instant = instant
            cache = ProviderTokenCache(source: SharedTokens(store: store, clock: clock), now: { instant.now() })
        }
    }

    @Test func fiveNodesRenewAKeyOncePerPeriodForADay() async throws {
        let (store, clock) = (InMemoryTokenStore(), TestWallClock())
        let signer = try TestKey().signer()
        let nodes = (0..<5).map { _ in Node(store, clock) }
        var random = SplitMix(state: 7)
        for _ in 0..<24 * 60 {
            let step = Duration.seconds(60)
            clock.advance(by: step)
            for node in nodes { node.instant.advance(by: step) }
            let asking = nodes.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
            let ages = await withTaskGroup(of: Duration?.self) { group in
                for node in asking { group.addTask { try? await node.cache.token(for: signer).age } }
                return await group.reduce(into: [Duration?]()) { $0.append($1) }
            }
            #expect(ages.allSatisfy { $0.map { $0 < ProviderTokenAge.expiry } ?? false })
        }
        let times = store.written.withLockedValue { $0.map(\.issuedAt.seconds) }
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(times.count >= 27)
        #expect(gaps.allSatisfy { (1_200...3_600).contains($0) }, "\(gaps)")
    }

    @Test func expiredTokenIsReplacedOnceAndNeverWithinTwentyMinutes() async throws {
        let (store, clock) = (InMemoryTokenStore(), TestWallClock())
        let signer = try TestKey().signer()
        let source = SharedTokens(store: store, clock: clock)
        let first = try await source.token(for: signer, replacing: nil)
        clock.advance(by: .minutes(19))
        let error = await #expect(throws: APNsError.self) {
            try await source.token(for: signer, replacing: first.token)
        }
        #expect(error?.code == .tokenTooYoung)
        #expect(error?.retryAfter == .minutes(1))
        clock.advance(by: .minutes(2))
        let second = try await source.token(for: signer, replacing: first.token)
        let third = try await source.token(for: signer, replacing: first.token)
        #expect(second.token == third.token && second.token != first.token)
        #expect(store.written.withLockedValue(\.count) == 2)
    }

    @Test func nodesThatStartTogetherSendTheSameToken() async throws {
        let (store, clock) = (InMemoryTokenStore(), TestWallClock())
        let signer = try TestKey().signer()
        let source = SharedTokens(store: store, clock: clock)
        let tokens = try await withThrowingTaskGroup(of: ProviderToken.self) { group in
            for _ in 0..<20 { group.addTask { try await source.token(for: signer, replacing: nil).token } }
            return try await group.reduce(into: Set<ProviderToken>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
    }

    @Test func nodeKeepsItsTokenDuringAnOutageOfTheStoreUntilItIsTooOld() async throws {
        let (store, clock) = (InMemoryTokenStore(), TestWallClock())
        let signer = try TestKey().signer()
        let node = Node(store, clock)
        let first = try await node.cache.token(for: signer)
        store.isDown.withLockedValue { $0 = true }
        clock.advance(by: .minutes(55))
        node.instant.advance(by: .minutes(55))
        #expect(try await node.cache.token(for: signer).token == first.token)
        node.instant.advance(by: .minutes(5))
        let error = await #expect(throws: APNsError.self) { try await node.cache.token(for: signer) }
        #expect(error?.code == .tokenUnavailable)
    }
}
