import Testing

@testable import HTTP2

/// The connection's life without a socket or a clock.
struct ConnectionMachineTests {
    private let start = ContinuousClock.now
    private var timeouts: HTTP2Timeouts { HTTP2Timeouts() }

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private func opened(_ timeouts: HTTP2Timeouts? = nil, lifetime: Duration? = nil) -> ConnectionMachine {
        var machine = ConnectionMachine(timeouts: timeouts ?? self.timeouts, lifetime: lifetime, now: start)
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

    // RFC 8305 §5: the next address is tried before the silent one times out.
    @Test func nextAddressIsTriedWhileOneIsSilent() {
        var machine = ConnectionMachine(timeouts: timeouts, now: start)
        _ = machine.openRequested(now: start)
        _ = machine.resolved(addressCount: 3, now: start)
        #expect(machine.nextDeadline == at(0.25))
        #expect(machine.timePassed(now: at(0.25)) == .connect(address: 1))
        #expect(machine.nextDeadline == at(0.5))
        #expect(machine.timePassed(now: at(0.5)) == .connect(address: 2))
        #expect(machine.nextDeadline == at(5), "no fourth address is tried")
        #expect(machine.connected(now: at(1)) == .startTLS)
        #expect(machine.connected(now: at(1)) == .none, "the first wins")
        #expect(machine.connectFailed(HTTP2Error(.connectFailed), now: at(1)) == .none)
    }

    @Test func silentAddressesEndWithTheConnectDeadline() {
        var machine = ConnectionMachine(timeouts: timeouts, now: start)
        _ = machine.openRequested(now: start)
        _ = machine.resolved(addressCount: 2, now: at(1))
        #expect(machine.timePassed(now: at(2)) == .connect(address: 1))
        #expect(machine.timePassed(now: at(5)) == .close(HTTP2Error(.connectTimeout, isUnsent: true)))
    }

    @Test func refusedAddressIsFollowedAtOnceAndTheLastOneEndsIt() {
        var machine = ConnectionMachine(timeouts: timeouts, now: start)
        let refused = HTTP2Error(.connectFailed, isUnsent: true)
        _ = machine.openRequested(now: start)
        _ = machine.resolved(addressCount: 3, now: start)
        #expect(machine.connectFailed(refused, now: start) == .connect(address: 1))
        #expect(machine.timePassed(now: at(0.25)) == .connect(address: 2))
        #expect(machine.connectFailed(refused, now: at(0.5)) == .none, "one is still silent")
        #expect(machine.connectFailed(refused, now: at(0.5)) == .close(refused))
        #expect(machine.connectFailed(refused, now: at(0.5)) == .none)
    }

    @Test func silenceWithOpenStreamsIsPingedSooner() {
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

    @Test func peerThatClosesAfterADrainIsNotAnError() {
        var machine = opened()
        _ = machine.drainRequested(now: at(1))
        #expect(machine.failed(HTTP2Error(.connectionLost)) == .close(nil))
        #expect(machine.failed(HTTP2Error(.connectionLost)) == .none)
    }

    // MARK: Retiring

    @Test func idleConnectionRetiresAndOneWithStreamsDoesNot() {
        var timeouts = timeouts
        timeouts.idleClose = .seconds(60)
        var machine = opened(timeouts)
        _ = machine.streamsCounted(1, now: at(10))
        machine.bytesReceived(now: at(100))
        _ = machine.streamsCounted(0, now: at(100))
        #expect(machine.nextDeadline == at(160))
        #expect(machine.timePassed(now: at(160)) == .retire(.idle))
        #expect(machine.timePassed(now: at(160)) == .none)
        #expect(machine.streamsCounted(0, now: at(160)) == .close(nil))

        var busy = opened(timeouts)
        _ = busy.streamsCounted(1, now: at(10))
        busy.bytesReceived(now: at(65))
        #expect(busy.timePassed(now: at(70)) == .none)
        #expect(busy.isOpen)
    }

    @Test func agedConnectionRetiresAndFinishesOpenStreams() {
        var machine = opened(lifetime: .seconds(30))
        _ = machine.streamsCounted(2, now: at(25))
        #expect(machine.timePassed(now: at(30)) == .retire(.age))
        #expect(!machine.isOpen)
        machine.bytesReceived(now: at(31))
        #expect(machine.streamsCounted(1, now: at(31)) == .none)
        #expect(machine.streamsCounted(0, now: at(32)) == .close(nil))
    }

    @Test func spreadTakesUpToItsShareOffTheAge() {
        var timeouts = HTTP2Timeouts()
        #expect(timeouts.lifetime(chance: 1) == nil)
        timeouts.maxAge = .seconds(100)
        #expect(timeouts.lifetime(chance: 0) == .seconds(100))
        #expect(timeouts.lifetime(chance: 1) == .seconds(90))
    }

    @Test func extremeDurationsAreBoundedAndDoNotTrap() {
        var timeouts = HTTP2Timeouts()
        timeouts.connect = .seconds(Int64.max)
        timeouts.pingWhenIdle = .seconds(Int64.max)
        timeouts.idleClose = .seconds(Int64.min)
        timeouts.maxAge = .seconds(Int64.max)
        timeouts.maxAgeSpread = .infinity
        timeouts.tls = .seconds(-1)
        #expect(timeouts.bounded.lifetime(chance: 1) == .zero)
        var machine = ConnectionMachine(timeouts: timeouts, lifetime: HTTP2Timeouts.maxDuration, now: start)
        _ = machine.openRequested(now: start)
        _ = machine.resolved(addressCount: 1, now: start)
        _ = machine.connected(now: start)
        #expect(machine.timePassed(now: start) == .close(HTTP2Error(.tlsTimeout, isUnsent: true)))
    }
}
