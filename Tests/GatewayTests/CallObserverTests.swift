import Commands
import DatabaseSupport
import Logging
import Model
import NIOConcurrencyHelpers
import Store
import TestKit
import Testing
import UpstreamSupport

@testable import Gateway
@testable import GatewayHTTP

/// The order of observed calls, and what they never do (docs/routing.md#observation).
@Suite(.timeLimit(.minutes(10))) struct CallObserverTests {
    private func observed(_ route: String, _ kind: CallKind, _ body: String = "{}") -> ObservedCall {
        ObservedCall(
            call: VendorRequest(route: route, path: "/relay/\(route)", body: Array(body.utf8)),
            adapter: RelayAdapter(),
            binding: BoundCall(tenant: "t", app: "shop", settings: .unbound),
            upstream: "old",
            kind: kind,
            answer: VendorResponse(status: 200)
        )
    }

    private func submission(_ text: String) -> Submission {
        Submission(content: Content(body: text), audience: .everyone)
    }

    /// The lanes of calls with the same commands.
    private func lanes(_ count: Int, _ commands: [Command], _ observed: ObservedCall) -> Set<Int> {
        var turn = 0
        var found: Set<Int> = []
        for _ in 0..<count { found.insert(CallObserver.lane(of: commands, observed, &turn)) }
        return found
    }

    // One slow send would otherwise keep all others of its app waiting.
    @Test func sendsTakeTheLanesInTurn() {
        let message = ObservedMessage(submission("x"), references: ["m-1"])
        let found = lanes(CallObserver.laneCount, [.submission(.observe(message))], observed("send", .send))
        #expect(found == Set(0..<CallObserver.laneCount))
    }

    @Test func callsAboutOneDeviceStayInTheirLane() {
        let commands: [Command] = [.registration(.unregister(.key("D1")))]
        #expect(lanes(CallObserver.laneCount, commands, observed("register", .device)).count == 1)
    }

    // Only sends have no order.
    @Test func callsThatNameNobodyShareALane() {
        #expect(lanes(CallObserver.laneCount, [.group(.create(title: "x"))], observed("other", .user)).count == 1)
    }

    // The upstream has sent the message already.
    @Test func anObservedCallNeverSends() {
        let message = ObservedMessage(submission("x"), references: ["m-1"])
        let kept: [Command] = [.registration(.unregister(.key("D1"))), .submission(.observe(message))]
        let sends: [Command] = [.submission(.submit(submission("x")))]
        #expect(CallObserver.withoutSends(sends + kept) == kept)
    }

    // The receipts of iPNS are also in its polls, which are reads.
    @Test func receiptsWaitForTheirMessagesAndOtherCommandsDoNot() {
        let receipt: Command = .receipt(.reportNumber(.received, number: "1", caller: DeviceCaller(key: "D1")))
        #expect(CallObserver.overtakes([receipt, receipt], [.receipt(.recorded), .refused(.unknownMessage)]))
        #expect(!CallObserver.overtakes([receipt], [.receipt(.repeated)]))
        let mixed: [Command] = [.registration(.unregister(.key("D1"))), receipt]
        #expect(!CallObserver.overtakes(mixed, [.refused(.unknownDevice), .refused(.unknownMessage)]))
    }

    // A newer call may have set the badge while the receipt waited.
    @Test func aRepeatedReceiptSetsNoBadge() {
        func read(_ change: BadgeChange?) -> Command {
            .receipt(.acknowledge(.read, reference: "1", BadgeHolder(user: "u"), change))
        }
        #expect(CallObserver.repeated(read(.set(3))) == read(nil))
        // The first attempt has not found the message, and has subtracted nothing.
        #expect(CallObserver.repeated(read(.keep)) == read(.keep))
    }

    @Test func lateReceiptsLeaveRoomInTheQueue() {
        #expect(CallObserver.lateReceiptLimit <= CallObserver.queueLimit / 2)
        #expect(CallObserver.lateReceiptLimitBytes <= CallObserver.queueLimitBytes / 2)
    }

    @Test func roomIsLimitedInCallsAndInBytes() {
        var room = CallRoom(limit: 2, limitBytes: 100)
        #expect(room.enter(bytes: 60) == true)
        #expect(room.enter(bytes: 41) == false)
        #expect(room.enter(bytes: 40) == true)
        #expect(room.enter(bytes: 0) == false, "two calls are in it")
        room.leave(bytes: 60)
        #expect(room.enter(bytes: 61) == false, "the refused calls have taken no room")
        #expect(room.enter(bytes: 60) == true)
    }

    // A late receipt waits for the sends before it, and not for those that follow.
    @Test func numbersUpToOneAreRemovedInAnyOrder() {
        var sends = OpenNumbers()
        #expect(sends.areRemoved(upTo: 9))
        for number in [2, 3, 5, 8, 9] { sends.add(number) }
        #expect(sends.areRemoved(upTo: 1))
        #expect(!sends.areRemoved(upTo: 2))
        sends.remove(3)
        sends.remove(4)
        #expect(!sends.areRemoved(upTo: 3), "2 is open")
        sends.remove(2)
        #expect(sends.areRemoved(upTo: 4))
        #expect(!sends.areRemoved(upTo: 5))
        sends.remove(9)
        sends.remove(5)
        #expect(sends.areRemoved(upTo: 7))
        #expect(!sends.areRemoved(upTo: 20), "8 is open")
        sends.remove(8)
        #expect(sends.areRemoved(upTo: 20))
        sends.add(21)
        #expect(!sends.areRemoved(upTo: 21))
    }

    // Control: the same by comparing with every number.
    @Test func openNumbersAreThoseOfASet() {
        var generator = SplitMix(state: 20_261_128)
        var (sends, known, last) = (OpenNumbers(), Set<Int>(), 0)
        for _ in 0..<2_000 {
            if Bool.random(using: &generator) || known.isEmpty {
                last += Int.random(in: 1...3, using: &generator)
                sends.add(last)
                known.insert(last)
            } else if let number = known.sorted().randomElement(using: &generator) {
                sends.remove(number)
                known.remove(number)
            }
            let asked = Int.random(in: 0...last, using: &generator)
            #expect(sends.areRemoved(upTo: asked) == known.allSatisfy { $0 > asked })
        }
    }

    // MARK: Calls that wait for others

    private func observer() async throws -> CallObserver {
        let stores = try await DatabaseStores.shared()
        let clock = TestClock()
        return CallObserver(
            handler: CommandHandler(store: stores.commands, clock: clock, identifiers: TestIdentifiers(), node: nil),
            directory: CachedDirectory(store: stores.directory, clock: clock),
            multiStep: [:],
            compares: false,
            logger: Logger(label: "observer") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Runs `body` while it has `count` permits.
    private func holding(_ count: Int, of permits: Permits, _ body: () async -> Void) async {
        guard count > 0 else { return await body() }
        await permits.run { await holding(count - 1, of: permits, body) }
    }

    /// Whether `work` waits while all permits are taken. `meanwhile` runs before they are free. Returns when `work` has ended.
    private func waits(
        for permits: Permits,
        _ count: Int,
        _ work: @escaping @Sendable () async -> Void,
        meanwhile: () -> Void = {}
    ) async -> Bool {
        let isDone = NIOLockedValueBox(false)
        var hasWaited = false
        await holding(count, of: permits) {
            Task {
                await work()
                isDone.withLockedValue { $0 = true }
            }
            while permits.waitingCount == 0, !isDone.withLockedValue({ $0 }) { await Task.yield() }
            hasWaited = permits.waitingCount > 0
            meanwhile()
        }
        while !isDone.withLockedValue({ $0 }) { await Task.yield() }
        return hasWaited
    }

    @Test func permitsAreGivenToAsManyTasksAsThereAre() async {
        let permits = Permits(2)
        #expect(await waits(for: permits, 2) { await permits.run {} })
        #expect(await !waits(for: permits, 1) { await permits.run {} })
        // A permit that was given to a task that waited is free again.
        #expect(await waits(for: permits, 2) { await permits.run {} })
        #expect(permits.waitingCount == 0)
    }

    @Test func permitsAreGivenInTheOrderOfTheWaits() async {
        let permits = Permits(1)
        let order = NIOLockedValueBox<[Int]>([])
        var tasks: [Task<Void, Never>] = []
        await permits.run {
            for number in 0..<3 {
                tasks.append(Task { await permits.run { order.withLockedValue { $0.append(number) } } })
                while permits.waitingCount <= number { await Task.yield() }
            }
        }
        for task in tasks { await task.value }
        #expect(order.withLockedValue { $0 } == [0, 1, 2])
    }

    /// Whether a registration with so many bytes more waits while as many large calls are performed as may be.
    private func registrationWaits(bytes: Int) async throws -> Bool {
        let observer = try await observer()
        let token = String(repeating: "6d", count: 32)
        let padding = String(repeating: " ", count: bytes)
        observer.offer(observed("register", .device, #"{"device":"D1",\#(padding)"token":"\#(token)"}"#))
        observer.finish()
        return await waits(for: observer.largeCalls, CallObserver.largeCallLimit) { await observer.work() }
    }

    // Otherwise 32 large bodies would be in memory as they were read, which takes many times their bytes.
    @Test func onlyFewLargeCallsArePerformedAtATime() async throws {
        #expect(try await registrationWaits(bytes: LargeBodies.smallBytes))
        #expect(try await !registrationWaits(bytes: LargeBodies.smallBytes / 2))
    }

    // Served calls need sessions of the store too. Control: commands that share a commit do not wait.
    @Test func callsThatShareNoCommitLeaveSessionsToOthers() async throws {
        let observer = try await observer()
        let (call, limit) = (observed("other", .user), CallObserver.sessionLimit)
        func areHeld(_ commands: [Command]) async -> Bool {
            await waits(for: observer.sessions, limit) { _ = await observer.replies(to: commands, call) }
        }
        let create = Command.group(.create(title: "x"))
        let unregister = Command.registration(.unregister(.key("D1")))
        #expect(await areHeld([.user(.erase([]))]))
        #expect(await areHeld([.group(.changeMembers("g", GroupChange(add: ["u"])))]))
        #expect(await areHeld([.group(.delete("g"))]))
        #expect(await areHeld([unregister]))
        #expect(await areHeld([create, unregister]), "one of them shares none")
        #expect(await !areHeld([create]))
        #expect(await !areHeld([.group(.put("g"))]))
        #expect(await !areHeld(Array(repeating: create, count: OperationStore.sharingLimit)))
        #expect(await areHeld(Array(repeating: create, count: OperationStore.sharingLimit + 1)), "too many")
    }

    // Otherwise a node that stops would still perform calls after the time that it has for them. Control: it performs those that wait until then.
    @Test(arguments: [Duration.zero, .seconds(86_400)])
    func aCallThatWaitsForASessionIsNotPerformedAfterTheEnd(_ limit: Duration) async throws {
        let observer = try await observer()
        let call = observed("other", .user)
        let replies = NIOLockedValueBox<[Reply]>([])
        let hasWaited = await waits(for: observer.sessions, CallObserver.sessionLimit) {
            let found = await observer.replies(to: [.group(.delete("g"))], call)
            replies.withLockedValue { $0 = found }
        } meanwhile: {
            observer.stop(within: limit)
        }
        #expect(hasWaited)
        let areRefused = replies.withLockedValue { $0.map(CallObserver.isUnavailable) }
        #expect(areRefused == [limit == .zero])
    }

    @Test func allLanesTogetherHaveRoomForTheQueue() {
        #expect(CallObserver.laneCount * CallObserver.laneLimit >= CallObserver.queueLimit)
    }
}
