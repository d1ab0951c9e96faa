import DeliveryEngine
import EngineSupport
import Model
import TestKit
import Testing

/// Drives one machine without an engine: performs its actions, records its requests, and answers when the test does.
struct MachineBench {
    static let start = Timestamp(seconds: 1_764_547_200)
    static let credential = CredentialKey(tenant: "acme", credential: "apple")

    var machine: DeliveryMachine
    var now = MachineBench.start
    /// The answer of the credential gate, and how long a stopped credential has been out of order.
    var permit = Permit.go
    var outage: Duration? = .zero
    /// Pushes that were sent and not answered yet.
    var onTheirWay: [Push] = []
    var sent: [Push] = []
    /// The number of pushes of each send.
    var batches: [Int] = []
    var records: [SliceProgress] = []
    /// Calls to upstreams that were ordered, by their numbers, and those that have not ended.
    var orders: [Int: UpstreamOrder] = [:]
    var openCalls: [Int] = []
    var verdicts: [TokenVerdict] = []
    /// The answers in which verdicts on tokens were looked for.
    var answers: [TokenAnswers] = []
    var signs: [CredentialSign] = []
    var loads = 0
    var asks = 0
    /// The number of pushes or calls for which the machine asked the gate, of each question.
    var asked: [Int] = []
    var isReleased = false
    var isFinished = false

    init(
        _ lease: SliceLease,
        policy: EnginePolicy = EnginePolicy(),
        transports: [Platform: String] = [.ios: "apns"],
        adapter: any VendorAdapter = PlainAdapter()
    ) {
        let settings = DeliveryMachine.Settings(
            policy: policy,
            payloads: PayloadWriter(adapters: [.rationalOwl: adapter]),
            identifiers: TestIdentifiers(),
            transports: transports,
            jitter: 0
        )
        machine = DeliveryMachine(lease, settings: settings)
        perform(machine.started())
    }

    /// A machine for `count` targets that has loaded its work.
    init(
        targets count: Int = 1,
        lease: SliceLease? = nil,
        policy: EnginePolicy = EnginePolicy(),
        permit: Permit = .go,
        outage: Duration? = .zero,
        adapter: any VendorAdapter = PlainAdapter(),
        _ change: (inout SliceWork) -> Void = { _ in }
    ) {
        let lease = lease ?? MachineBench.lease(count)
        self.init(lease, policy: policy, adapter: adapter)
        self.permit = permit
        self.outage = outage
        var work = MachineBench.work(lease)
        change(&work)
        load(work)
    }

    static func lease(
        _ count: Int,
        epoch: Int64 = 1,
        attempts: Int16 = 0,
        lapses: Int16 = 0,
        done: [Int] = []
    ) -> SliceLease {
        var lease = SliceLease(
            key: SliceKey(tenant: "acme", message: MessageID(.numbered(1000)), number: 1),
            epoch: epoch,
            lane: .bulk,
            dueDay: start.day,
            work: .deliver,
            targets: (0..<count).map { TargetID(.numbered($0)) },
            attempts: attempts,
            lapses: lapses
        )
        for index in done { lease.markDone(index) }
        return lease
    }

    static func facts(_ index: Int) -> TargetFacts {
        TargetFacts(
            target: TargetID(.numbered(index)),
            identity: IdentityID(.numbered(index)),
            device: DeviceID(.numbered(index)),
            app: "shop",
            vendor: .rationalOwl,
            key: VendorDeviceKey("d\(index)"),
            destination: PushDestination(
                platform: .ios,
                environment: .production,
                token: DeviceToken(stored: "token-\(index)"),
                tokenState: .active
            )
        )
    }

    static func work(_ lease: SliceLease) -> SliceWork {
        let open = lease.targets.indices.filter { !lease.isDone($0) }
        return SliceWork(
            app: "shop",
            notification: Notification(
                message: lease.key.message,
                origin: .rationalOwl,
                content: Content(body: "hello"),
                sentAt: start,
                expiresAt: start + .seconds(86_400)
            ),
            state: .sending,
            lane: lease.lane,
            targets: Dictionary(uniqueKeysWithValues: open.map { ($0, facts($0)) }),
            routes: [.ios: PlatformRoute(topic: "com.example.shop", credentials: [.production: "apple"])],
            settings: [.rationalOwl: .unbound]
        )
    }

    // MARK: Events

    mutating func load(_ work: SliceWork?) { perform(machine.loaded(work, now: now)) }

    mutating func complete(_ slots: [Int], _ outcome: Outcome) {
        onTheirWay.removeAll { slots.contains($0.slot) }
        perform(machine.completed(slots.map { PushCompletion(slot: $0, outcome: outcome) }, now: now))
    }

    /// Answers everything that is on its way, once.
    mutating func completeAll(_ outcome: Outcome) { complete(onTheirWay.map(\.slot), outcome) }

    /// The upstream gives an open call one outcome for all of its targets.
    mutating func answer(_ number: Int, _ outcome: Outcome, reference: String? = nil) {
        guard let order = orders[number] else { return }
        end(number, .ended(UpstreamResult(outcome, for: order.call, reference: reference)))
    }

    mutating func end(_ number: Int, _ end: UpstreamEnd) {
        openCalls.removeAll { $0 == number }
        perform(machine.called(number, end, now: now))
    }

    mutating func pass(_ duration: Duration) {
        now = now + duration
        let isAwaited = machine.needsTicks
        let actions = machine.ticked(now: now)
        #expect(isAwaited || actions.isEmpty, "the engine leaves out ticks that the machine does not need")
        perform(actions)
    }

    /// The store records the flush in progress.
    mutating func recorded() { perform(machine.recorded(.recorded(records.last?.results.count ?? 0), now: now)) }

    mutating func perform(_ actions: [DeliveryMachine.Action]) {
        var actions = actions[...]
        while let action = actions.popFirst() {
            switch action {
            case .load: loads += 1
            case .ask(let key, let pushes):
                asks += 1
                asked.append(pushes)
                actions += machine.permitted(key, permit, outage: outage, now: now)
            case .send(_, let pushes, _, _):
                sent += pushes
                onTheirWay += pushes
                batches.append(pushes.count)
            case .call(let number, let order, _):
                orders[number] = order
                openCalls.append(number)
            case .judge(_, let sign): signs.append(sign)
            case .condemn(let found, let among):
                verdicts += found
                answers.append(among)
            case .record(let progress): records.append(progress)
            case .release: isReleased = true
            case .finish: isFinished = true
            }
        }
    }

    // MARK: Results

    /// Every outcome that was flushed, by index.
    var results: [Int: DeliveryResult] {
        Dictionary(records.flatMap(\.results).map { ($0.index, $0) }) { _, last in last }
    }

    var disposition: SliceProgress.Disposition? { records.last?.disposition }

    /// The slices that leave this one with the last flush.
    var retries: [RetrySlice] { records.last?.retries ?? [] }
}
