import Testing

@testable import Traces

struct ExportMachineTests {
    private typealias Machine = ExportMachine<Int>

    private func sent(_ action: Machine.Action) -> [Int]? {
        if case .send(let spans) = action { spans } else { nil }
    }

    private func isWait(_ action: Machine.Action) -> Bool { if case .wait = action { true } else { false } }

    @Test func spansAreSentTogetherAfterTheInterval() {
        var machine = Machine()
        #expect(isWait(machine.next(at: .zero)))
        #expect(machine.ended(1, at: .seconds(10)) == .queued)
        #expect(machine.ended(2, at: .seconds(10.9)) == .queued)
        #expect(isWait(machine.next(at: .seconds(10.9))))
        #expect(sent(machine.next(at: .seconds(11))) == [1, 2])
        #expect(isWait(machine.next(at: .seconds(99))), "one batch at a time")
        #expect(machine.answered(.accepted(rejected: 0), at: .seconds(12)) == .init(exported: 2))
        #expect(isWait(machine.next(at: .seconds(99))), "nothing is left")
    }

    @Test func aFullBatchIsSentAtOnce() {
        var machine = Machine()
        for span in 1..<Machine.batchLimit { #expect(machine.ended(span, at: .zero) == .queued) }
        #expect(machine.ended(0, at: .zero) == .full)
        #expect(sent(machine.next(at: .zero))?.count == Machine.batchLimit)
    }

    @Test func spansAboveTheBoundAreDropped() {
        var machine = Machine()
        for span in 0..<Machine.queueLimit { #expect(machine.ended(span, at: .zero) != .dropped) }
        #expect(machine.ended(-1, at: .zero) == .dropped)
        #expect(sent(machine.next(at: .zero))?.first == 0, "the oldest are sent")
        #expect(machine.ended(-2, at: .zero) == .queued, "a batch in flight makes room")
    }

    @Test func aDeferredBatchIsSentOnceMoreAndThenGivenUp() {
        var machine = Machine()
        _ = machine.ended(1, at: .zero)
        #expect(sent(machine.next(at: .seconds(1))) == [1])
        #expect(machine.answered(.deferred(after: nil), at: .seconds(1)) == .init())
        _ = machine.ended(2, at: .seconds(2))
        #expect(isWait(machine.next(at: .seconds(5.9))), "the backoff holds back later spans too")
        #expect(sent(machine.next(at: .seconds(6))) == [1])
        #expect(machine.answered(.deferred(after: nil), at: .seconds(7)) == .init(failed: 1))
        #expect(sent(machine.next(at: .seconds(7))) == [2])
        #expect(machine.answered(.deferred(after: nil), at: .seconds(7)) == .init(), "a new batch has its own retry")
    }

    @Test(arguments: [(Duration.seconds(2), 2.0), (.seconds(3600), 30), (.seconds(-5), 0)])
    func theCollectorsWaitIsFollowedWithinALimit(_ wish: Duration, _ seconds: Double) {
        var machine = Machine()
        _ = machine.ended(1, at: .zero)
        _ = machine.next(at: .seconds(1))
        _ = machine.answered(.deferred(after: wish), at: .seconds(1))
        if seconds > 0 { #expect(isWait(machine.next(at: .seconds(0.9 + seconds)))) }
        #expect(sent(machine.next(at: .seconds(1 + seconds))) == [1])
    }

    @Test func refusedAndRejectedSpansAreNotSentAgain() {
        var machine = Machine()
        for span in 0..<3 { _ = machine.ended(span, at: .zero) }
        _ = machine.next(at: .seconds(1))
        #expect(machine.answered(.accepted(rejected: 2), at: .seconds(1)) == .init(exported: 1, rejected: 2))
        _ = machine.ended(3, at: .seconds(1))
        _ = machine.next(at: .seconds(2))
        #expect(machine.answered(.refused, at: .seconds(2)) == .init(rejected: 1))
        _ = machine.ended(4, at: .seconds(2))
        _ = machine.next(at: .seconds(3))
        #expect(machine.answered(.accepted(rejected: 9), at: .seconds(3)) == .init(rejected: 1), "no more than sent")
    }

    @Test func aShutdownSendsWhatWaitsWithoutRetries() {
        var machine = Machine()
        _ = machine.ended(1, at: .zero)
        machine.stop()
        #expect(machine.ended(2, at: .zero) == .dropped)
        #expect(sent(machine.next(at: .zero)) == [1])
        #expect(machine.answered(.deferred(after: nil), at: .zero) == .init(failed: 1))
        guard case .finish = machine.next(at: .zero) else {
            Issue.record("not finished")
            return
        }
    }

    @Test func everySpanEndsOnce() {
        var machine = Machine()
        var random = SystemRandomNumberGenerator()
        var (offered, dropped, ends, waiting) = (0, 0, 0, false)
        for step in 0..<20_000 {
            let now = Duration.milliseconds(step * 20)
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                offered += 1
                if machine.ended(offered, at: now) == .dropped { dropped += 1 }
            }
            if waiting {
                let answer: Machine.Answer =
                    [.accepted(rejected: 0), .accepted(rejected: 3), .deferred(after: nil), .refused].randomElement()
                    ?? .refused
                let result = machine.answered(answer, at: now)
                ends += result.exported + result.rejected + result.failed
                waiting = false
            } else if sent(machine.next(at: now)) != nil {
                waiting = true
            }
        }
        machine.stop()
        if waiting {
            let result = machine.answered(.refused, at: .seconds(1000))
            ends += result.exported + result.rejected + result.failed
        }
        while sent(machine.next(at: .seconds(1000))) != nil {
            let result = machine.answered(.accepted(rejected: 0), at: .seconds(1000))
            ends += result.exported
        }
        #expect(ends + dropped == offered)
    }
}
