import Commands
import GatewayHTTP
import Logging
import Model
import NIOConcurrencyHelpers
import Observability
import ServiceLifecycle

/// A proxied call with the upstream's answer.
struct ObservedCall: Sendable {
    var call: VendorRequest
    var adapter: any UpstreamAdapter
    var binding: BoundCall
    var upstream: CredentialID
    var kind: CallKind
    /// Its body is whole.
    var answer: VendorResponse
    /// Whether the endpoint has counted the receipt for parity.
    var isReceiptCounted = false
    /// Its place among the calls that were queued.
    var number = 0

    /// The call without what was read of its body.
    var unread: ObservedCall {
        var copy = self
        copy.call = call.unread
        return copy
    }

    var size: Int { call.body.count + answer.body.count + call.path.utf8.count + (call.query?.utf8.count ?? 0) }
}

/// Performs what the answers to proxied calls establish (docs/routing.md#observation), so that the gateway knows the devices, users and messages of an upstream.
///
/// A caller never waits for it: when the queue is full, the call is dropped and counted. The upstream remains the source of truth, and the next registration or an
/// import corrects what is missing. Calls about one user or device are performed in the order in which they were answered, except that a receipt whose message is not known
/// waits for the sends before it.
final class CallObserver: Service {
    /// 10,000 calls and 128 MiB wait on a node: a slow database must not exhaust the memory.
    static let queueLimit = 10_000
    static let queueLimitBytes = 128 << 20
    /// 1 MiB of an answer is read. The IDs that a vendor gives are in shorter ones.
    static let answerLimitBytes = 1 << 20
    /// 32 calls are performed at a time, and as many late receipts: together they share commits of the store. More would keep served calls waiting.
    static let laneCount = 32
    /// 1,000 calls wait in a lane: the calls about one device must not take the whole queue.
    static let laneLimit = 1_000
    /// Four calls with large bodies are performed at a time, because what was read of a body takes many times its memory. Not one: a call that waits for a lock
    /// would keep all others waiting.
    static let largeCallLimit = 4
    /// Three calls that share no commit are performed at a time (`CommandHandler.sharesCommit`), half of the default of `database.connections`: each has a session of the store for
    /// itself, and with 32 of them served calls would wait for a session.
    static let sessionLimit = 3
    /// 1 s: a receipt may arrive before the vendor's answer to the send. Afterwards the sends that were answered are performed, and then the receipt.
    static let lateReceiptWait = Duration.seconds(1)
    /// 4,000 such receipts and 64 MiB wait, in whichever lanes: they leave at least half of the queue to other calls.
    static let lateReceiptLimit = 4_000
    static let lateReceiptLimitBytes = 64 << 20
    /// 5 s after the listeners have stopped, the calls that still wait are dropped.
    static let drainLimit = Duration.seconds(5)
    /// Six sequels, as in calls that the gateway serves.
    private static let sequelLimit = 6

    /// Why a call was not observed.
    enum Loss: String, Sendable {
        case full, large, compressed, store, stopping
    }

    private struct State {
        /// The calls that wait or are performed.
        var queue = CallRoom(limit: CallObserver.queueLimit, limitBytes: CallObserver.queueLimitBytes)
        /// The late receipts among them.
        var late = CallRoom(limit: CallObserver.lateReceiptLimit, limitBytes: CallObserver.lateReceiptLimitBytes)
        var end: ContinuousClock.Instant?
        /// The number of the last call that was queued.
        var last = 0
        /// The numbers of the sends that were queued and are not performed yet.
        var sends = OpenNumbers()
    }

    /// A receipt whose message is not known, and since when it waits.
    private typealias LateReceipt = (call: ObservedCall, since: ContinuousClock.Instant)

    /// How well the gateway agrees with the upstreams. Nil: nothing is compared.
    let parity: ParityTally?
    private let handler: CommandHandler
    private let directory: any CallDirectory
    private let multiStep: [Vendor: any MultiStepVendor]
    private let logger: Logger
    private let state = NIOLockedValueBox(State())
    private let calls: AsyncStream<ObservedCall>
    private let queue: AsyncStream<ObservedCall>.Continuation
    /// Apart from the room for bodies of served calls, so that no caller waits for an observed call.
    let largeCalls = Permits(CallObserver.largeCallLimit)
    /// For calls that share no commit.
    let sessions: Permits

    /// `compares`: whether the calls are compared for parity, of which `bench parity` measures the cost. `sessionLimit`: the number of calls at a time that share no
    /// commit.
    init(
        handler: CommandHandler,
        directory: any CallDirectory,
        multiStep: [Vendor: any MultiStepVendor],
        figures: FigureCounts? = nil,
        compares: Bool = true,
        sessionLimit: Int = CallObserver.sessionLimit,
        logger: Logger
    ) {
        sessions = Permits(sessionLimit)
        parity = compares ? ParityTally(handler: handler, recent: figures, logger: logger) : nil
        self.handler = handler
        self.directory = directory
        self.multiStep = multiStep
        self.logger = logger
        (calls, queue) = AsyncStream<ObservedCall>.makeStream(bufferingPolicy: .bufferingOldest(Self.queueLimit))
    }

    /// Queues an answered call. Never waits.
    func offer(_ call: ObservedCall) {
        if call.answer.body.count > Self.answerLimitBytes { return lost(call, .large) }
        let number = state.withLockedValue { state -> Int? in
            guard state.queue.enter(bytes: call.size) else { return nil }
            state.last += 1
            if call.kind == .send { state.sends.add(state.last) }
            return state.last
        }
        guard let number else { return lost(call, .full) }
        var queued = call.unread
        queued.number = number
        if case .enqueued = queue.yield(queued) { return }
        release(queued)
        lost(queued, .stopping)
    }

    /// Counts a proxied call that is not observed, also as one that the gateway has not understood.
    func lost(_ observed: ObservedCall, _ loss: Loss) {
        MetricName.observedLost.count([("vendor", "\(observed.adapter.vendor)"), ("reason", loss.rawValue)])
        if observed.kind != .read { note(.observed, observed, differs: true) { ["lost": .string(loss.rawValue)] } }
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            await work()
        } onGracefulShutdown: {
            self.stop()
        }
    }

    /// Ends `work` when the queue is empty, or after the time for that.
    func stop(within limit: Duration = CallObserver.drainLimit) {
        state.withLockedValue { $0.end = ContinuousClock.now + limit }
        finish()
    }

    /// Whether the time for the calls that wait is over.
    private var isOver: Bool { state.withLockedValue { $0.end }.map { ContinuousClock.now >= $0 } ?? false }

    /// Ends `work` when the queue is empty.
    func finish() { queue.finish() }

    /// Performs the queued calls until the queue is finished, and stores the figures of parity.
    func work() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.parity?.keepStoring() }
            await self.performLanes()
            group.cancelAll()
        }
        await parity?.store()
    }

    private func performLanes() async {
        let lanes = (0..<Self.laneCount).map { _ in
            AsyncStream<ObservedCall>.makeStream(bufferingPolicy: .bufferingOldest(Self.laneLimit))
        }
        await withDiscardingTaskGroup { group in
            for lane in lanes {
                // `State.late` limits those of all lanes together.
                let (receipts, late) = AsyncStream<LateReceipt>.makeStream(
                    bufferingPolicy: .bufferingOldest(Self.lateReceiptLimit)
                )
                group.addTask {
                    for await observed in lane.stream {
                        await self.permitted(observed) { await self.perform(observed, late) }
                    }
                    late.finish()
                }
                group.addTask { await self.perform(late: receipts) }
            }
            var turn = 0
            for await observed in calls {
                // The commands are read again when they are performed: here they would stay in memory while the call waits.
                let unread = observed.unread
                let commands = await Self.read(unread) { self.performedCommands(of: $0) }
                guard !commands.isEmpty else {
                    release(observed)
                    count(observed, "nothing")
                    await Self.read(unread) { self.noteUnread($0) }
                    continue
                }
                let lane = lanes[Self.lane(of: commands, observed, &turn)]
                if case .enqueued = lane.continuation.yield(observed) { continue }
                release(observed)
                lost(observed, .full)
            }
            for lane in lanes { lane.continuation.finish() }
        }
    }

    /// The lane of a call: that of its user or device, so that these stay in order. Sends name neither, and take the lanes in turn.
    static func lane(of commands: [Command], _ observed: ObservedCall, _ turn: inout Int) -> Int {
        let subject = ForwardedSubject(commands)
        // A device is named by every call about it, and a user is not.
        let name = subject.device?.rawValue ?? subject.user?.rawValue ?? subject.other
        if name == nil, observed.kind == .send {
            turn = (turn + 1) % laneCount
            return turn
        }
        var hasher = Hasher()
        hasher.combine(observed.binding.tenant)
        hasher.combine(observed.binding.app)
        hasher.combine(name)
        return Int(hasher.finalize().magnitude % UInt(laneCount))
    }

    /// Reads a call: a large one on the thread where also the large bodies of served calls are parsed, one after the other.
    static func read<Value: Sendable>(
        _ observed: ObservedCall,
        _ reading: @escaping @Sendable (ObservedCall) -> Value
    ) async -> Value {
        await LargeBodies.parse(observed.call.body) { reading(observed) }
    }

    /// The commands of a call, or those of a read that is compared.
    private func performedCommands(of observed: ObservedCall) -> [Command] {
        let commands = commands(of: observed)
        return commands.isEmpty ? comparedReads(observed) : commands
    }

    /// The commands of a call, as far as the user's token permits them.
    private func commands(of observed: ObservedCall) -> [Command] {
        let settings = observed.binding.settings
        let found = observed.adapter.observedCommands(observed.call, response: observed.answer, settings: settings)
        return admitted(found, observed).map { command in
            guard case .submission(.observe(var message)) = command else { return command }
            message.upstream = observed.upstream
            return .submission(.observe(message))
        }
    }

    /// As in a call that the gateway serves, a wrong token of a user registers nobody. Nothing is sent: the upstream has sent it.
    private func admitted(_ found: [Command], _ observed: ObservedCall) -> [Command] {
        let commands = Self.withoutSends(found)
        guard let gate = UserTokenGate(observed.binding.userTokens) else { return commands }
        let token = observed.adapter.userToken(of: observed.call)
        switch gate.judge(commands, token, at: observed.call.receivedAt) {
        case .unproven: return commands
        case .vouched(let proven): return proven
        case .refused: return []
        }
    }

    static func withoutSends(_ commands: [Command]) -> [Command] {
        commands.filter { command in
            if case .submission(.submit) = command { false } else { true }
        }
    }

    // MARK: Performing

    /// Runs `body`, which reads and performs a call; for a large call only while few others are performed. The replies are compared with the call, and its sequels
    /// are read from it, so that what was read stays until the end.
    private func permitted(_ observed: ObservedCall, _ body: () async -> Void) async {
        guard observed.call.body.count > LargeBodies.smallBytes else { return await body() }
        await largeCalls.run(body)
    }

    /// Performs a call of a lane. A receipt whose message is not known is performed again later, if there is room for it.
    private func perform(_ observed: ObservedCall, _ late: AsyncStream<LateReceipt>.Continuation) async {
        if await !perform(observed, isRepetition: false) {
            if isKept(observed, in: late) { return }
            // One that could not wait does not show that its message is unknown.
            var unwaited = observed
            unwaited.isReceiptCounted = true
            _ = await perform(unwaited, isRepetition: true)
        }
        release(observed)
    }

    /// Keeps a receipt to perform it again later. False: it does not fit.
    private func isKept(_ observed: ObservedCall, in late: AsyncStream<LateReceipt>.Continuation) -> Bool {
        guard state.withLockedValue({ $0.late.enter(bytes: observed.size) }) else { return false }
        if case .enqueued = late.yield((call: observed.unread, since: .now)) { return true }
        state.withLockedValue { $0.late.leave(bytes: observed.size) }
        return false
    }

    /// Performs the receipts of a lane again, in their order: their messages may have been in other lanes, or not answered yet.
    private func perform(late receipts: AsyncStream<LateReceipt>) async {
        var settled = ContinuousClock.now
        for await receipt in receipts {
            await settle(receipt.since + Self.lateReceiptWait, &settled)
            await permitted(receipt.call) { _ = await self.perform(receipt.call, isRepetition: true) }
            state.withLockedValue { $0.late.leave(bytes: receipt.call.size) }
            release(receipt.call)
        }
    }

    /// Waits until a receipt is due, and until the sends that were answered before that are performed. All sends that were answered before `settled` are performed already, so
    /// that one wait is enough for all receipts that are due by then.
    func settle(_ due: ContinuousClock.Instant, _ settled: inout ContinuousClock.Instant) async {
        guard due > settled else { return }
        let end = state.withLockedValue { $0.end }
        try? await Task.sleep(until: min(due, end ?? due), clock: .continuous)
        let asked = ContinuousClock.now
        let last = state.withLockedValue { $0.last }
        while !Task.isCancelled, !state.withLockedValue({ $0.sends.areRemoved(upTo: last) }) {
            try? await Task.sleep(for: .milliseconds(50))
        }
        settled = asked
    }

    /// Whether a call consists of receipts, and the message of one is not known. Other commands are not performed twice: newer calls may have changed what they change.
    static func overtakes(_ commands: [Command], _ replies: [Reply]) -> Bool {
        let areReceipts = commands.allSatisfy { command in
            if case .receipt = command { true } else { false }
        }
        return areReceipts && replies.contains(where: isUnknown)
    }

    /// A command of a call that is performed again, without the badge that the first attempt has set: newer calls may have changed the badge since.
    static func repeated(_ command: Command) -> Command {
        guard case .receipt(.acknowledge(let kind, let reference, let holder, .set?)) = command else { return command }
        return .receipt(.acknowledge(kind, reference: reference, holder, nil))
    }

    /// Returns false, and counts nothing, for a receipt whose message is not known, unless this is the second attempt.
    private func perform(_ observed: ObservedCall, isRepetition: Bool) async -> Bool {
        if isOver {
            lost(observed, .stopping)
            return true
        }
        var commands = await Self.read(observed) { self.commands(of: $0) }
        if isRepetition { commands = commands.map(Self.repeated) }
        guard !commands.isEmpty else {
            await compareRead(observed)
            return true
        }
        let replies = await replies(to: commands, observed)
        if replies.contains(where: Self.isUnavailable) {
            lost(observed, isOver ? .stopping : .store)
            return true
        }
        if !isRepetition, Self.overtakes(commands, replies) { return false }
        // Last, because it may wait for the store.
        if observed.kind == .send { await countProof(of: observed) }
        let isRefused = replies.contains { reply in
            if case .refused = reply { true } else { false }
        }
        count(observed, isRefused ? "refused" : "stored")
        if observed.kind != .read { note(.observed, observed, differs: isRefused) { ["lost": "refused"] } }
        noteAgreement(observed, commands, replies)
        if isRefused {
            logger.debug(
                "an observed call was refused: the gateway does not know its device or message",
                metadata: [
                    LogKey.tenant: "\(observed.binding.tenant)", LogKey.app: "\(observed.binding.app)",
                    LogKey.vendor: "\(observed.adapter.vendor)", LogKey.route: "\(observed.call.route)",
                ]
            )
        }
        return true
    }

    /// Performs commands and their sequels at the time of the call. Returns the last replies; none if `readsOnly` and a sequel would change something.
    func replies(to commands: [Command], _ observed: ObservedCall, readsOnly: Bool = false) async -> [Reply] {
        let binding = observed.binding
        let scope = CallScope(
            tenant: binding.tenant,
            app: binding.app,
            vendor: observed.adapter.vendor,
            settings: binding.settings
        )
        var replies: [Reply] = []
        for start in stride(from: 0, to: commands.count, by: CommandLimits.commandsPerCall) {
            let part = Array(commands[start..<min(start + CommandLimits.commandsPerCall, commands.count)])
            replies += await perform(part, in: scope, at: observed.call.receivedAt)
        }
        guard let vendor = multiStep[scope.vendor] else { return replies }
        for _ in 0..<Self.sequelLimit {
            let next = (try? vendor.sequel(to: replies, of: observed.call, settings: scope.settings)) ?? []
            let sequel = admitted(next, observed)
            if sequel.isEmpty { break }
            if readsOnly, !sequel.allSatisfy(\.isPureRead) { return [] }
            replies = await perform(sequel, in: scope, at: observed.call.receivedAt)
        }
        return replies
    }

    private func perform(_ commands: [Command], in scope: CallScope, at time: Timestamp) async -> [Reply] {
        if CommandHandler.sharesCommit(commands) {
            return await handler.perform(commands, in: scope, at: time).replies
        }
        return await sessions.run {
            // A call may have waited for its permit until the node had to stop.
            if isOver { return commands.map { _ in .refused(.unavailable(retryAfter: nil)) } }
            return await handler.perform(commands, in: scope, at: time).replies
        }
    }

    static func isUnavailable(_ reply: Reply) -> Bool {
        if case .refused(.unavailable) = reply { true } else { false }
    }

    /// Counts whether the gateway would have accepted a send: the proofs of its senders, or of the dialect. Those who fail must be given one before rules serve sends.
    private func countProof(of observed: ObservedCall) async {
        guard let (_, caller) = try? observed.adapter.locate(observed.call) else { return }
        let passes: Bool
        switch caller {
        case .sender:
            let gate = SenderGate(observed.call, observed.adapter.senders, observed.binding)
            let verdict = try? await gate.judge(in: observed.binding.tenant) { (key) async throws(StoreError) in
                try await directory.apiKey(key)
            }
            guard let verdict else { return }
            if case .refused = verdict { passes = false } else { passes = true }
        case .credential:
            let decoded = try? observed.adapter.decode(observed.call, settings: observed.binding.settings)
            passes = decoded != nil
        case .device: passes = true
        }
        note(.senders, observed, differs: !passes) { [:] }
        let proof = passes ? "passes" : "fails"
        MetricName.observedSends.count([("vendor", "\(observed.adapter.vendor)"), ("proof", proof)])
    }

    private func count(_ observed: ObservedCall, _ outcome: String) {
        MetricName.observed.count([("vendor", "\(observed.adapter.vendor)"), ("outcome", outcome)])
    }

    private func release(_ observed: ObservedCall) {
        state.withLockedValue { state in
            state.queue.leave(bytes: observed.size)
            state.sends.remove(observed.number)
        }
    }
}
