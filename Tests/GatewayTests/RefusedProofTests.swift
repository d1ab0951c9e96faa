import Foundation
import Model
import NIOConcurrencyHelpers
import Testing

@testable import GatewayHTTP

/// Samples of refused proofs: an attack of any rate becomes few rows.
@Suite struct RefusedProofTests {
    private func proof(_ tenant: TenantID = "acme", _ kind: ProofKind = .key) -> RefusedProof {
        RefusedProof(tenant: tenant, vendor: .native, kind: kind)
    }

    private func shape(_ rows: [RefusedProofRow]) -> [String] {
        rows.map { "\($0.proof.tenant) \($0.proof.kind) \($0.subject) \($0.calls)\($0.isFollowing ? " more" : "")" }
            .sorted()
    }

    @Test func theFirstOfAMinuteIsARowAndThoseThatFollowAreOne() {
        var state = RefusedProofState()
        for number in 0..<10_000 { #expect(state.note(proof(), subject: "key \(number)", at: 0) == true) }
        #expect(shape(state.take(at: 1)) == ["acme key key 0 1"])
        #expect(state.take(at: 2).isEmpty)
        #expect(state.note(proof(), subject: "key x", at: 59) == true)
        #expect(state.take(at: 59.9).isEmpty)
        #expect(shape(state.take(at: 60)) == ["acme key key 0 10000 more"])
        #expect(state.take(at: 61).isEmpty)
        // A new minute begins with its first call.
        #expect(state.note(proof(), subject: "key y", at: 90) == true)
        #expect(shape(state.take(at: 91)) == ["acme key key y 1"])
        #expect(state.take(at: 150).isEmpty, "nothing followed")
    }

    @Test func tenantsDialectsAndKindsAreSampledSeparately() {
        var state = RefusedProofState()
        _ = state.note(proof("a"), subject: "s", at: 0)
        _ = state.note(proof("b"), subject: "s", at: 0)
        _ = state.note(proof("a", .scope), subject: "s", at: 0)
        _ = state.note(RefusedProof(tenant: "a", vendor: .upmc, kind: .key), subject: "s", at: 0)
        #expect(state.take(at: 0).count == 4)
    }

    @Test func theNumberOfSamplesIsBounded() {
        var state = RefusedProofState()
        let limit = RefusedProofState.limit
        for number in 0..<limit { #expect(state.note(proof(TenantID("t\(number)")), subject: "s", at: 0) == true) }
        #expect(state.note(proof("one more"), subject: "s", at: 0) == false)
        #expect(state.note(proof("t0"), subject: "s", at: 0) == true, "known samples count on")
        #expect(state.take(at: 60).count == limit + 1)
        #expect(state.note(proof("one more"), subject: "s", at: 61) == true)
    }

    @Test func aStopWritesMinutesThatHaveNotEnded() {
        var state = RefusedProofState()
        for _ in 0..<3 { _ = state.note(proof(), subject: "s", at: 0) }
        #expect(shape(state.take(at: 1, isLast: true)) == ["acme key s 1", "acme key s 2 more"])
        #expect(state.take(at: 100, isLast: true).isEmpty)
    }

    @Test func rowsThatCouldNotBeWrittenComeAgainWithinALimit() {
        let proofs = RefusedProofs { 0 }
        proofs.note(.key, .native, of: nil)
        #expect(proofs.take().isEmpty, "an unknown tenant has no audit")
        proofs.note(.network, .native, of: "acme", subject: "key crm")
        let rows = proofs.take()
        #expect(shape(rows) == ["acme network key crm 1"])
        proofs.putBack(rows)
        #expect(proofs.take() == rows)
        proofs.putBack(Array(repeating: rows[0], count: RefusedProofs.unwrittenLimit + 5))
        #expect(proofs.take().count == RefusedProofs.unwrittenLimit)
    }
}
