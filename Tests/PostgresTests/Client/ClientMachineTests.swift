import Testing

@testable import PostgresClient

/// Rules of the client that need no server.
@Suite struct ClientMachineTests {
    private let start = ContinuousClock.now
    private var random = SystemRandomNumberGenerator()

    private func machine(connections: Int, waiters: Int = 10) -> PoolMachine {
        var limits = PoolLimits()
        limits.maximumConnections = connections
        limits.maximumWaiters = waiters
        return PoolMachine(limits: limits)
    }

    /// Opens one session in `machine` and leaves it leased.
    private mutating func lease(_ machine: inout PoolMachine) throws -> PoolMachine.Slot {
        guard case .open(let slot) = machine.acquired(now: start) else { throw PostgresError(.other) }
        _ = machine.opened(slot, now: start, random: &random)
        return slot
    }

    @Test mutating func waitersAreServedInTheOrderTheyCame() throws {
        var machine = machine(connections: 1)
        let slot = try lease(&machine)
        #expect(machine.acquired(now: start) == nil)
        let first = machine.makeWaiter()
        let second = machine.makeWaiter()
        _ = machine.waited(first, until: start + .seconds(1), now: start)
        _ = machine.waited(second, until: start + .seconds(1), now: start)
        #expect(machine.released(slot, isReusable: true, now: start).grants == [first: .lease(slot)])
        #expect(machine.released(slot, isReusable: true, now: start).grants == [second: .lease(slot)])
    }

    @Test mutating func aCallBeyondTheWaitersBoundIsShed() throws {
        var machine = machine(connections: 1, waiters: 1)
        _ = try lease(&machine)
        _ = machine.waited(machine.makeWaiter(), until: start + .seconds(1), now: start)
        guard case .fail(let error) = machine.acquired(now: start) else { throw PostgresError(.other) }
        #expect(error.code == .overloaded)
        #expect(machine.currentStatistics.shedCount == 1)
    }

    @Test mutating func aBrokenSessionMakesRoomForItsWaiterToOpenAnother() throws {
        var machine = machine(connections: 1)
        let slot = try lease(&machine)
        let waiter = machine.makeWaiter()
        _ = machine.waited(waiter, until: start + .seconds(1), now: start)
        let action = machine.released(slot, isReusable: false, now: start)
        #expect(action.closing == [slot])
        guard case .open(let fresh)? = action.grants[waiter] else { throw PostgresError(.other) }
        #expect(fresh != slot)
    }

    @Test mutating func afterAFailureOneCallProbesAndTheOthersWait() throws {
        var machine = machine(connections: 4)
        guard case .open(let slot) = machine.acquired(now: start) else { throw PostgresError(.other) }
        _ = machine.openFailed(slot, PostgresError(.cannotConnect), now: start, random: &random)
        #expect(machine.acquired(now: start) == nil)
        let first = machine.makeWaiter()
        let second = machine.makeWaiter()
        _ = machine.waited(first, until: start + .seconds(1), now: start)
        _ = machine.waited(second, until: start + .seconds(1), now: start)
        let action = machine.ticked(now: start + .milliseconds(100))
        #expect(action.grants.count == 1)
        // No other session was opened in time: the reported reason is the database, not the pool.
        let late = machine.ticked(now: start + .seconds(2))
        #expect(late.grants[second] == .fail(PostgresError(.cannotConnect)))
    }

    @Test mutating func anOldSessionIsNotParkedAgain() throws {
        var machine = machine(connections: 1)
        let slot = try lease(&machine)
        let action = machine.released(slot, isReusable: true, now: start + PoolLimits().maximumAge)
        #expect(action.closing == [slot])
        #expect(machine.currentStatistics.openCount == 0)
    }

    @Test mutating func anIdleSessionIsClosedAfterItsTimeout() throws {
        var machine = machine(connections: 1)
        let slot = try lease(&machine)
        _ = machine.released(slot, isReusable: true, now: start)
        #expect(machine.ticked(now: start + .seconds(1)).closing == [])
        #expect(machine.ticked(now: start + PoolLimits().maximumIdle).closing == [slot])
    }

    @Test mutating func closingFailsTheWaitersAndEndsWithTheLastLease() throws {
        var machine = machine(connections: 1)
        let slot = try lease(&machine)
        let waiter = machine.makeWaiter()
        _ = machine.waited(waiter, until: start + .seconds(1), now: start)
        #expect(machine.closed().grants == [waiter: .fail(PostgresError(.closed))])
        #expect(!machine.isDrained)
        _ = machine.released(slot, isReusable: true, now: start)
        #expect(machine.isDrained)
    }

    @Test mutating func pausesDoubleUpToTheCap() {
        var backoff = Backoff()
        var last = Duration.zero
        for _ in 0..<20 { last = backoff.failed(random: &random) }
        #expect(last >= Backoff.cap / 2 && last <= Backoff.cap)
        backoff.succeeded()
        #expect(backoff.failed(random: &random) <= Backoff.base)
    }

    @Test func aDeadlineInterruptsOnceThenGivesUpAfterTheGracePeriod() {
        let deadline = Deadline(until: start + .seconds(1), ticket: 1)
        guard case .wait = deadline.verdict(now: start, isCancelled: false) else {
            Issue.record("should wait")
            return
        }
        guard case .interrupt = deadline.verdict(now: start + .seconds(1), isCancelled: false) else {
            Issue.record("should interrupt")
            return
        }
        #expect(deadline.interruption == .timeout)
        guard case .wait = deadline.verdict(now: start + .seconds(2), isCancelled: false) else {
            Issue.record("should wait for the server to confirm")
            return
        }
        guard case .giveUp = deadline.verdict(now: start + .seconds(4), isCancelled: false) else {
            Issue.record("should give up")
            return
        }
    }

    @Test func theLeastRecentlyUsedStatementIsEvictedFirst() {
        var statements = PreparedStatements()
        func key(_ number: Int) -> PreparedStatements.Key { .init(sql: "SELECT \(number)", types: []) }
        for number in 0...PreparedStatements.capacity {
            _ = statements.name(for: key(number))
            statements.confirm(key(number))
        }
        let kept = statements.name(for: key(0))
        #expect(!kept.isNew)
        statements.trim()
        #expect(statements.abandonedNames.count == 1)
        #expect(!statements.name(for: key(0)).isNew)
        #expect(statements.name(for: key(1)).isNew)
        #expect(statements.takeAbandonedNames() == ["s2"])
    }

    @Test func aStatementOfOtherParameterTypesIsAnotherStatement() {
        var statements = PreparedStatements()
        #expect(statements.name(for: .init(sql: "SELECT $1", types: [TypeID.text])).isNew)
        #expect(statements.name(for: .init(sql: "SELECT $1", types: [TypeID.int8])).isNew)
    }

    /// On Citus, constraint names end in the shard's number (seen in an experiment, 2026-11).
    @Test func shardNumbersAreStrippedFromConstraints() {
        #expect(PGResult.withoutShard("device_token_102095") == "device_token")
        #expect(PGResult.withoutShard("device_token_key1") == "device_token_key1")
        #expect(PGResult.withoutShard("slice_2") == "slice_2")
    }

    @Test func quotedLiteralsCannotBeEscaped() throws {
        #expect(try SQLText.literal("a'; DROP TABLE x; --") == "'a''; DROP TABLE x; --'")
        #expect(try SQLText.identifier("a\"b") == "\"a\"\"b\"")
        #expect(throws: PostgresError.self) { try SQLText.literal("a\u{0}b") }
    }

    @Test func connectErrorsAreClassifiedBySQLSTATE() {
        let refusal = "connection to server failed: FATAL:  28P01\n"
        #expect(PostgresSession.connectError(refusal).code == .authenticationFailed)
        #expect(PostgresSession.connectError("FATAL:  57P03\n").code == .shuttingDown)
        #expect(PostgresSession.connectError("could not connect: Connection refused\n").code == .cannotConnect)
    }

    @Test func truncatedAndForeignBytesAreRefused() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }[...]
            let type = [TypeID.int8, TypeID.numeric, TypeID.jsonb, TypeID.uuid, TypeID.date, TypeID.bool]
                .randomElement()
            _ = WireInteger(wire: bytes, type: type ?? 0)
            _ = WireTimestamp(wire: bytes, type: type ?? 0)
            _ = String(wire: bytes, type: type ?? 0)
            let ints: [WireInteger]? = WireReader.array(bytes)
            let texts: [String]? = WireReader.array([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25] + bytes)
            #expect((ints?.count ?? 0) <= 40 && (texts?.count ?? 0) <= 40)
        }
    }
}
