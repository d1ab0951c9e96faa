import GatewayHTTP
import Model
import NIOConcurrencyHelpers
import Observability
import Testing

@testable import ConsoleHTTP

/// Open pages that update themselves: their limits, and the reads that they share.
@Suite struct ConsoleLiveTests {
    @Test func viewersShareAReadThatIsNewEnough() async throws {
        let reads = SharedReads<String, Int>()
        let count = NIOLockedValueBox(0)
        func value(_ key: String, since: ContinuousClock.Instant? = nil) async -> Int {
            await reads.value(key, maxAge: .seconds(3600), since: since) {
                count.withLockedValue {
                    $0 += 1
                    return $0
                }
            }
        }
        #expect(await value("a") == 1)
        #expect(await value("a") == 1, "another viewer shares it")
        #expect(await value("b") == 2, "another page does not")
        // A viewer that has just changed something must not see what was read before.
        let changed = ContinuousClock.now
        #expect(await value("a", since: changed) == 3)
        #expect(await value("a", since: changed) == 3)
        #expect(await value("a") == 3)
        #expect(await reads.value("a", maxAge: .zero, { 9 }) == 9, "an old one is read again")
    }

    @Test func openPagesAreLimitedByAccountTenantAndNode() throws {
        let live = LiveUpdates(ConsoleCounts()) { _ in 0 }
        var kept: [EventStreamLimit.Permit] = []
        func open(_ tenant: TenantID, _ account: String) -> Bool {
            guard let permit = live.acquire(tenant, account: account) else { return false }
            kept.append(permit)
            return true
        }
        for _ in 0..<LiveUpdates.perAccount { #expect(open("acme", "kim")) }
        #expect(!open("acme", "kim") && open("acme", "lee"))
        while kept.count < LiveUpdates.perTenant { #expect(open("acme", "account-\(kept.count)")) }
        #expect(!open("acme", "one more") && open("other", "kim"))
        while kept.count < LiveUpdates.perNode { #expect(open("other", "account-\(kept.count)")) }
        #expect(!open("third", "kim"))
        kept.removeFirst().release()
        #expect(open("third", "kim") && !open("acme", "kim"))
    }
}
