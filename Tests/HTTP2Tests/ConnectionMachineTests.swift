import Testing

@testable import HTTP2

/// The connection's life without a socket or a clock.
struct ConnectionMachineTests {
    private let start = ContinuousClock.now
    private var timeouts: HTTP2Timeouts { HTTP2Timeouts() }

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private func opened() -> ConnectionMachine {
        var machine = ConnectionMachine(timeouts: timeouts, now: start)
        _ = machine.openRequested(now: start)
        _ = machine.resolved(addressCount: 1, now: start)
        _ = machine.connected(now: start)
        #expect(machine.handshakeDone(now: start) == .announceOpen)
        return machine
    }

    @Test func dialsLooksUpConnectsAndShakesHands() {
        var machine = ConnectionMachine(timeouts: timeouts, now: start)
        #expect(machine.openRequested(now: start) == .resolve)
        #expect(machine.openRequested(now: start) == .none)
        #expect(machine.resolved(addressCount: 2, now: start) == .connect(address: 0))
        #expect(machine.connected(now: start) == .startTLS)
        #expect(machine.handshakeDone(now: start) == .announceOpen)
        #expect(machine.isOpen)
    }

    @Test func silentAddressLeavesTimeForTheNext() {
        var machine = ConnectionMachine(timeouts: timeouts, now: start)
        _ = machine.openRequested(now: start)
        _ = machine.resolved(addressCount: 2, now: start)
        #expect(machine.nextDeadline == at(2.5))
        #expect(machine.timePassed(now: at(2.5)) == .connect(address: 1))
        #expect(machine.nextDeadline == at(5))
        #expect(machine.timePassed(now: at(5)) == .close(HTTP2Error(.connectTimeout, isUnsent: true)))
    }

    @Test func lastAddressThatRefusesEndsIt() {
        var machine = ConnectionMachine(timeouts: timeouts, now: start)
        let refused = HTTP2Error(.connectFailed, isUnsent: true)
        _ = machine.openRequested(now: start)
        _ = machine.resolved(addressCount: 2, now: start)
        #expect(machine.connectFailed(refused, now: start) == .connect(address: 1))
        #expect(machine.connectFailed(refused, now: start) == .close(refused))
        #expect(machine.connectFailed(refused, now: start) == .none)
    }

    @Test func silenceWithOpenStreamsIsAskedAboutSooner() {
        var machine = opened()
        #expect(machine.nextDeadline == at(600))
        _ = machine.streamsCounted(3, now: at(100))
        #expect(machine.nextDeadline == at(110), "counted from the first open stream, not from the last byte")
        machine.bytesReceived(now: at(105))
        #expect(machine.timePassed(now: at(110)) == .none)
        #expect(machine.timePassed(now: at(115)) == .ping)
        #expect(machine.nextDeadline == at(120))
        #expect(machine.pingAnswered(now: at(116)) == .announcePing(.seconds(1)))
        machine.bytesReceived(now: at(116))
        #expect(machine.nextDeadline == at(126))
    }

    @Test func unansweredPingEndsIt() {
        var machine = opened()
        #expect(machine.timePassed(now: at(600)) == .ping)
        machine.bytesReceived(now: at(604))
        #expect(machine.timePassed(now: at(605)) == .close(HTTP2Error(.pingTimeout)))
    }

    @Test func drainEndsWithTheLastStream() {
        var machine = opened()
        _ = machine.streamsCounted(2, now: at(1))
        #expect(machine.drainRequested(now: at(1)) == .startDrain)
        #expect(machine.drainRequested(now: at(2)) == .none)
        #expect(machine.streamsCounted(1, now: at(3)) == .none)
        #expect(machine.streamsCounted(0, now: at(4)) == .close(nil))
        #expect(machine.isClosed)
    }

    @Test func drainDeadlineEndsItUnderOpenStreams() {
        var machine = opened()
        _ = machine.streamsCounted(2, now: at(1))
        _ = machine.drainRequested(now: at(1))
        machine.bytesReceived(now: at(30))
        #expect(machine.timePassed(now: at(31)) == .close(HTTP2Error(.closed)))
    }

    @Test func peerThatHangsUpAfterADrainIsNoError() {
        var machine = opened()
        _ = machine.drainRequested(now: at(1))
        #expect(machine.failed(HTTP2Error(.connectionLost)) == .close(nil))
        #expect(machine.failed(HTTP2Error(.connectionLost)) == .none)
    }
}
