import APNsSimulator
import Foundation
import HTTP2
import Model
import Testing

@testable import APNs

private let soakSeconds = ProcessInfo.processInfo.environment["APNS_SOAK_SECONDS"].flatMap { Int($0) } ?? 0

/// Real sockets and every fault in turn, for `APNS_SOAK_SECONDS`; `scripts/soak` runs it. A normal run skips it.
@Suite(.serialized, .enabled(if: soakSeconds > 0))
struct SoakTests {

    private let deadline = Duration.seconds(6)
    /// A completion passes through a task of the caller, on a machine whose cores are shared with the simulator.
    private let grace = Duration.seconds(3)
    private let small = CredentialKey(tenant: "small", credential: "apple")
    private let shown = CredentialKey(tenant: "shown", credential: "certificate")

    @Test func everyPushEndsOnceAndInTimeUnderEveryFault() async throws {
        let peer = try await Peer {
            $0.mode = .script
            $0.maxStreams = 100
        }
        let ledger = SoakLedger(deadline: deadline)
        let start = ContinuousClock.now
        try await withTransport({
            $0.limits.maxConnections = 3
            $0.limits.growAfter = .milliseconds(200)
            $0.timeouts.pingWhenSilent = .seconds(2)
            $0.timeouts.pingAnswer = .seconds(1)
            $0.timeouts.drain = .seconds(3)
        }) { transport in
            try transport.open(Peer.credential, peer.credential())
            try transport.open(small, peer.credential())
            try transport.open(shown, certificate(peer))
            // The time that a plan does not use is available to the next plans.
            let end = start + .seconds(max(1, soakSeconds)) + deadline
            for (index, plan) in SoakPlan.all.enumerated() {
                let part = ContinuousClock.now.duration(to: end) / (SoakPlan.all.count - index)
                let before = transport.metrics
                try await play(plan, for: part, peer, transport, ledger)
                report(plan, ledger.part(), before, transport.metrics)
            }
        }
        let total = ledger.total
        print(
            "soak: \(total.offered) offered, \(total.accepted) accepted, \(ledger.lost.count) lost, \(ledger.doubled.count)"
        )
        print("soak: twice, latest \(total.latest) after its deadline, in \(start.duration(to: .now))")
        print(
            "soak: the peer took \(peer.simulator.control.stats.accepted), \(peer.simulator.control.duplicates.repeats) of them again"
        )
        #expect(ledger.lost.prefix(10) == [])
        #expect(ledger.doubled.prefix(10) == [])
        #expect(total.latest < grace)
        #expect(total.accepted > total.offered / 2)
        // Only requests that were certainly not processed are sent again.
        #expect(peer.simulator.control.duplicates.repeats == 0)
        await peer.simulator.stop()
    }

    private func certificate(_ peer: Peer) throws -> APNsCredential {
        let made = try peer.simulator.control.makeClientIdentity(ClientCertificateRequest(topics: ["com.example.shop"]))
        return APNsCredential(
            .certificate(try .init(pem: Array(made.certificatePEM.utf8), privateKeyPEM: Array(made.keyPEM.utf8))),
            endpoint: try APNsEndpoint(url: "https://\(peer.addresses.apns)"),
            trustRootsPEM: Array(peer.simulator.caPEM.utf8)
        )
    }

    private func play(
        _ plan: SoakPlan,
        for part: Duration,
        _ peer: Peer,
        _ transport: APNsTransport,
        _ ledger: SoakLedger
    ) async throws {
        // The last pushes of a plan end within their deadline, which is part of the plan's time.
        let offering = max(part - deadline, part / 3)
        peer.simulator.control.setLatency(plan.latency)
        try peer.simulator.control.script(plan.script(for: offering))
        let end = ContinuousClock.now + offering
        await withTaskGroup(of: Void.self) { group in
            for (key, batch, window) in [(Peer.credential, 40, 5), (small, 2, 2), (shown, 10, 2)] {
                group.addTask { await offer(key, batch, window, until: end, transport, ledger) }
            }
        }
    }

    /// Keeps `window` batches of one client in progress, so a slow machine offers less and every machine offers as
    /// much as it can.
    private func offer(
        _ key: CredentialKey,
        _ batch: Int,
        _ window: Int,
        until end: ContinuousClock.Instant,
        _ transport: APNsTransport,
        _ ledger: SoakLedger
    ) async {
        await withTaskGroup(of: Void.self) { group in
            var openCount = 0
            while ContinuousClock.now < end {
                if openCount >= window {
                    await group.next()
                    openCount -= 1
                }
                openCount += 1
                let pushes = ledger.offer(batch).map { makePush($0) }
                group.addTask {
                    for await completions in transport.send(pushes, through: key, deadline: deadline) {
                        ledger.end(completions)
                    }
                }
            }
        }
    }

    private func report(_ plan: SoakPlan, _ counts: SoakLedger.Counts, _ before: APNsMetrics, _ after: APNsMetrics) {
        print(
            "soak: \(plan.name): offered \(counts.offered) accepted \(counts.accepted) rejected \(counts.rejected)",
            "deferred \(counts.deferred) unsent \(counts.unsent) unknown \(counts.unknown)",
            "resent \(after.resentCount - before.resentCount) dials \(after.connectCount - before.connectCount)",
            "late \(max(.zero, counts.latest))",
            counts.causes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        )
    }
}
