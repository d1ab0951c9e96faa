import Testing

@testable import Model

@Suite struct EventReaderMachineTests {
    private let start = ContinuousClock.now

    private func after(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test func itWaitsWithoutEvents() {
        var machine = EventReaderMachine()
        #expect(machine.looked([], areSlicesWaiting: false, at: start) == .wait(.seconds(1)))
        #expect(machine.looked([], areSlicesWaiting: true, at: after(60)) == .wait(.seconds(1)))
    }

    @Test func itCountsWithoutPauseWhileNoSliceWaits() {
        var machine = EventReaderMachine()
        for number in 0..<5 {
            let now = after(Double(number) / 100)
            #expect(machine.looked(["acme", "other"], areSlicesWaiting: false, at: now) == .step("acme"))
            machine.stepped("acme", .counted, at: now)
        }
    }

    // Deliveries come first, but the figures of a busy installation must not stop.
    @Test func whileSlicesWaitItCountsOneStepInTenSeconds() {
        var machine = EventReaderMachine()
        var steps: [Int] = []
        for tenth in 0..<600 {
            let now = after(Double(tenth) / 10)
            if case .step = machine.looked(["acme"], areSlicesWaiting: true, at: now) {
                steps.append(tenth)
                machine.stepped("acme", .counted, at: now)
            }
        }
        #expect(steps == [0, 100, 200, 300, 400, 500])
    }

    @Test func aBusyWaitIsShortSoThatTheEndOfTheLoadIsNoticed() {
        var machine = EventReaderMachine()
        _ = machine.looked(["acme"], areSlicesWaiting: true, at: start)
        #expect(machine.looked(["acme"], areSlicesWaiting: true, at: after(3)) == .wait(.seconds(1)))
        #expect(machine.looked(["acme"], areSlicesWaiting: true, at: after(9.5)) == .wait(.seconds(0.5)))
        #expect(machine.looked(["acme"], areSlicesWaiting: false, at: after(9.6)) == .step("acme"))
    }

    @Test func aTenantThatFailsDoesNotStopTheOthers() {
        var machine = EventReaderMachine()
        #expect(machine.looked(["acme", "other"], areSlicesWaiting: false, at: start) == .step("acme"))
        machine.stepped("acme", .failed, at: start)
        #expect(machine.looked(["acme", "other"], areSlicesWaiting: false, at: after(1)) == .step("other"))
        #expect(machine.looked(["acme"], areSlicesWaiting: false, at: after(29)) == .wait(.seconds(1)))
        #expect(machine.looked(["acme"], areSlicesWaiting: false, at: after(31)) == .step("acme"))
    }

    @Test func aTenantThatAnotherNodeCountsIsLookedAtLater() {
        var machine = EventReaderMachine()
        machine.stepped("acme", .taken, at: start)
        #expect(machine.looked(["acme", "other"], areSlicesWaiting: false, at: start) == .step("other"))
        #expect(machine.looked(["acme"], areSlicesWaiting: false, at: after(1.1)) == .step("acme"))
    }
}
