import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The counts are exact at every commit, whatever happens in which order (I2).
@Suite struct StoreCounterTests {
    private let inbox = AppScope(app: "shop", vendor: .ipns)

    private func expectExact(
        _ fixture: StoreFixture,
        _ admin: PostgresConnection,
        _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let rows = try await CountedRows(of: fixture.acme, admin)
        #expect(rows.counters == rows.recount, comment, sourceLocation: sourceLocation)
        #expect(rows.messages == rows.messageRecount, comment, sourceLocation: sourceLocation)
        for (key, count) in rows.counters { #expect(count > 0, "\(key)", sourceLocation: sourceLocation) }
    }

    private func fold(_ fixture: StoreFixture, limit: Int32 = 1000) async throws -> Int {
        let statement = CountSQL.fold(.id(fixture.acme), .int32(limit))
        return try await fixture.engine.run(statement, tenant: nil).only().int("count")
    }

    // MARK: Random histories

    /// A tenant whose messages are sent, returned, canceled, read and expanded in a random order.
    private struct History {
        struct Sent {
            var message: NewMessage
            var lease: SliceLease
            var flushes: [SliceProgress] = []
            var isOver = false
        }

        let fixture: StoreFixture
        let keys: [VendorDeviceKey]
        let identities: [IdentityID]
        let scope: AppScope
        var random: SplitMix
        var sent: [Sent] = []
        /// Deliveries that were canceled after an attempt, which the next receipts are about.
        var canceled: [(MessageID, VendorDeviceKey)] = []
        var number = 0
        /// The receipts that changed no delivery, by their reply.
        var orphans: [ReceiptReply: Int64] = [:]

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        mutating func accept() async throws {
            let count = Int.random(in: 1...6, using: &random)
            let targets = identities.shuffled(using: &random).prefix(count).map { (TargetID($0), nil as Address?) }
            let suppressed =
                chance(30)
                ? [
                    SuppressedTarget(
                        target: TargetID(UUID()),
                        identity: nil,
                        device: nil,
                        address: nil,
                        reason: .noDevice
                    )
                ] : []
            var message = try await fixture.message(to: Array(targets), suppressed: suppressed, scope: scope)
            message.times.dueAt = message.times.dueAt + .seconds(chance(50) ? 0 : -86_400)
            // As the gateway makes it: a recount finds the messages of a day by their ids.
            message.id = MessageID(UUID.v7(at: message.times.dueAt, using: &random))
            number += 1
            let numbering = NumberMessage(
                message.id,
                [.ipns: String(200_000_000_000_000_000 + number)],
                targets: [],
                inboxes: [.ipns]
            )
            _ = try await fixture.commands.run(AcceptMessage(message), numbering, in: fixture.acme)
            sent.append(Sent(message: message, lease: fixture.lease(of: message)))
        }

        mutating func expand() async throws {
            var message = try await fixture.message(
                slices: [NewSlice(number: 0, work: .expand(after: nil))],
                recipients: 0,
                scope: scope
            )
            message.targets.recipients = nil
            try await fixture.accept(message)
            let lease = fixture.lease(of: message)
            while case .page = try await fixture.delivery.expand(lease, by: fixture.node, pageSize: 4) {}
            for lease in try await claims() { sent.append(Sent(message: message, lease: lease)) }
        }

        private func claims() async throws -> [SliceLease] {
            try await fixture.delivery.claim(
                tenant: fixture.acme,
                lane: .transactional,
                limit: 100,
                by: fixture.node,
                lease: .seconds(600)
            )
        }

        private mutating func outcome(_ result: inout DeliveryResult) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: (result.state, result.reason, result.attempt.transport) = (.failed, "PayloadTooLarge", nil)
            case 1: (result.state, result.reason) = (.failed, "Unregistered")
            case 2: (result.state, result.reason, result.attempt.transport) = (.suppressed, "quietHours", nil)
            case 3, 4:
                result.state = chance(50) ? .expired : .canceled
                result.attempt.transport = nil
                result.attempt.count = chance(50) ? 2 : 0
            case 5: result.attempt.isCertain = false
            default: break
            }
        }

        mutating func flush() async throws {
            guard let place = sent.indices.filter({ !sent[$0].isOver }).randomElement(using: &random) else { return }
            let lease = sent[place].lease
            let open = lease.targets.indices.filter { !lease.isDone($0) }
            let some = open.shuffled(using: &random).prefix(Int.random(in: 0...open.count, using: &random)).sorted()
            let isLast = some.count == open.count
            let returns = !isLast && chance(30)
            var progress = try await fixture.progress(
                lease,
                some,
                disposition: isLast ? .finished : returns ? .again(after: .zero) : .goOn
            )
            progress.settles = chance(50)
            for index in progress.results.indices {
                progress.results[index].dialect = chance(40) ? .upmc : .ipns
                outcome(&progress.results[index])
                let result = progress.results[index]
                guard result.state == .canceled, result.attempt.count > 0 else { continue }
                let place = identities.firstIndex { $0.rawValue == result.target.rawValue }
                if let place { canceled.append((lease.key.message, keys[place])) }
            }
            _ = try await fixture.delivery.record(progress, by: fixture.node)
            if chance(20) { _ = try await fixture.delivery.record(progress, by: fixture.node) }
            if isLast, !progress.settles { try await fixture.delivery.settle(lease.key.message, tenant: fixture.acme) }
            sent[place].lease = progress.lease
            sent[place].isOver = isLast || returns
            if returns {
                for lease in try await claims() {
                    guard let known = sent.firstIndex(where: { $0.lease.key == lease.key }) else { continue }
                    sent[known].lease = lease
                    sent[known].isOver = false
                }
            }
        }

        mutating func report() async throws {
            guard let message = sent.randomElement(using: &random)?.message.id,
                let key = keys.randomElement(using: &random)
            else { return }
            let kind: ReceiptKind = chance(50) ? .received : .read
            let now = try await fixture.now()
            let (subject, reporter) = canceled.popLast() ?? (message, key)
            let reply = try await fixture.ask(RecordReceipt(scope, subject, Reporter(key: reporter), kind, at: now))
            if reply != .recorded { orphans[reply, default: 0] += 1 }
        }

        mutating func reportSeveral() async throws {
            let now = try await fixture.now()
            var operations: [RecordReceipt] = []
            for _ in 0..<5 {
                guard let message = sent.randomElement(using: &random)?.message.id,
                    let key = keys.randomElement(using: &random)
                else { return }
                let kind: ReceiptKind = chance(50) ? .received : .read
                operations.append(RecordReceipt(scope, message, Reporter(key: key), kind, at: now))
            }
            let rows = try await fixture.call.run(try fixture.joined(operations), tenant: fixture.acme.rawValue)
            // Those that the statement leaves out would be recorded alone.
            for row in rows where try row.optionalText("outcome") == "repeated" { orphans[.repeated, default: 0] += 1 }
        }

        mutating func poll() async throws {
            guard let key = keys.randomElement(using: &random) else { return }
            let now = try await fixture.now()
            let caller = DeviceCaller(key: key)
            if chance(50) {
                _ = try await fixture.ask(PollInbox(scope, caller, limit: 3, at: now))
            } else {
                _ = try await fixture.ask(ListHistory(scope, caller, HistoryPage(.device, count: 3), at: now))
            }
        }

        mutating func cancel() async throws {
            guard let message = sent.randomElement(using: &random)?.message else { return }
            _ = try await fixture.ask(ControlMessage(scope, message.id, .cancel, by: nil))
        }
    }

    @Test(arguments: 1...6)
    func countsEqualARecountOfAnyHistory(seed: Int) async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        var keys: [VendorDeviceKey] = []
        var identities: [IdentityID] = []
        for index in 10..<20 {
            keys.append(VendorDeviceKey("k\(index)"))
            let made = try await fixture.register(keys[index - 10], token: "aa\(index)", vendor: .ipns)
            identities.append(made.identity)
        }
        var history = History(
            fixture: fixture,
            keys: keys,
            identities: identities,
            scope: inbox,
            random: SplitMix(state: UInt64(seed))
        )
        try await history.accept()
        for step in 0..<120 {
            let choice = Int.random(in: 0..<100, using: &history.random)
            switch choice {
            case ..<15: try await history.accept()
            case ..<50: try await history.flush()
            case ..<70: try await history.report()
            case ..<78: try await history.reportSeveral()
            case ..<88: try await history.poll()
            case ..<92: try await history.cancel()
            case ..<95: try await history.expand()
            default: _ = try await fold(fixture, limit: 3)
            }
            if step % 10 == 9 {
                try await expectExact(fixture, admin, "seed \(seed), step \(step), \(choice)")
                #expect(try await orphans(fixture) == history.orphans, "seed \(seed), step \(step), \(choice)")
            }
            if step % 40 == 39 { try await expectRecountsToCorrect(fixture, admin, &history.random) }
        }
        #expect(history.orphans[.orphan] != nil, "seed \(seed)")
        while history.sent.contains(where: { !$0.isOver }) { try await history.flush() }
        try await expectExact(fixture, admin, "seed \(seed), at the end")
        while try await fold(fixture, limit: 50) > 0 {}
        try await expectExact(fixture, admin, "seed \(seed), folded")
        #expect(try await orphans(fixture) == history.orphans, "seed \(seed), folded")
        #expect(try await CountedRows(of: fixture.acme, admin).pending.isEmpty)
        let messages = try await admin.query(
            "SELECT count(*) AS count FROM gateway.message WHERE tenant_id = $1 AND state NOT IN ('done', 'canceled')",
            [.text(fixture.acme.rawValue)]
        )
        #expect(try messages.only().int("count") == 0)
    }

    /// The counted receipts that changed no delivery, by the reply that they got. A recount must not change them: they have no rows.
    private func orphans(_ fixture: StoreFixture) async throws -> [ReceiptReply: Int64] {
        let today = try await fixture.now().day
        let days = today - 1...today + 1
        let found = try #require(try await fixture.queries.deviceFigures(of: days, apps: [], in: fixture.acme))
        var sums: [ReceiptReply: Int64] = [:]
        for (reason, count) in found.flatMap({ Array($0.figures.orphans) }) {
            sums[reason == "repeated" ? .repeated : .orphan, default: 0] += count
        }
        return sums
    }

    /// Changes counts by hand, and expects that a recount finds the changes and nothing else, and corrects them.
    private func expectRecountsToCorrect(
        _ fixture: StoreFixture,
        _ admin: PostgresConnection,
        _ random: inout SplitMix
    ) async throws {
        let recount = PostgresRecount(engine: fixture.engine)
        let today = Int32(try await fixture.now().seconds / 86_400)
        func compare(corrects: Bool) async throws -> [CountDifference] {
            var found: [CountDifference] = []
            // Messages are due now or a day ago, and midnight may have passed since they were accepted.
            for day in today - 2...today {
                let differences =
                    corrects
                    ? try await recount.correct(day: day, of: fixture.acme, by: .command(user: 0))
                    : try await recount.compare(day: day, of: fixture.acme)
                found += try #require(differences)
            }
            return found
        }
        #expect(try await compare(corrects: false) == [])
        #expect(try await compare(corrects: true) == [])
        while try await fold(fixture, limit: 50) > 0 {}
        let changes = [
            "UPDATE gateway.counter SET accepted = accepted + 3, read = read + 1 WHERE tenant_id = $1",
            "UPDATE gateway.counter SET targets = targets - 1 WHERE tenant_id = $1",
            "DELETE FROM gateway.counter_reason WHERE tenant_id = $1",
            "UPDATE gateway.message_counter SET accepted = accepted + 2, rejected = rejected - 1 WHERE tenant_id = $1",
            "DELETE FROM gateway.counter WHERE tenant_id = $1",
        ]
        let change = try #require(changes.randomElement(using: &random))
        let changed = try await admin.query(change + " RETURNING 1", [.text(fixture.acme.rawValue)]).count
        #expect(try await compare(corrects: false).isEmpty == (changed == 0), "\(change): \(changed)")
        #expect(try await compare(corrects: true).isEmpty == (changed == 0))
        #expect(try await compare(corrects: false) == [], "\(change)")
        let rows = try await CountedRows(of: fixture.acme, admin)
        #expect(rows.counters == rows.recount, "\(change)")
        #expect(rows.messages == rows.messageRecount, "\(change)")
    }

    // MARK: Transitions

    private func failed(_ fixture: StoreFixture, _ state: DeliveryState, transport: String?, attempts: Int16)
        async throws -> NewMessage
    {
        let device = try await fixture.register("k1", token: "aa01")
        let (message, lease) = try await fixture.sending(to: [device.identity])
        var progress = try await fixture.progress(lease, [0], state, transport: transport)
        progress.results[0].attempt.count = attempts
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        return message
    }

    @Test func aReceiptOfARejectedDeliveryMakesItUncertain() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let message = try await failed(fixture, .failed, transport: "apns", attempts: 1)
        #expect(try await fixture.counters() == Funnel(recipients: 1, failed: 1))
        #expect(try await fixture.receipt(message.id, "k1", .read) == .recorded)
        #expect(try await fixture.counters() == Funnel(recipients: 1, sent: 1, received: 1, read: 1))
        try await expectExact(fixture, admin)
        let delivery = try #require(try await fixture.stores.deliveries(of: message.id, in: fixture.acme).first)
        #expect(delivery.state == .read && !delivery.isCertain)
    }

    @Test(arguments: [DeliveryState.expired, .canceled])
    func aReceiptOfADeliveryThatEndedAfterAnAttemptMakesItUncertain(_ state: DeliveryState) async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let message = try await failed(fixture, state, transport: nil, attempts: 1)
        #expect(try await fixture.receipt(message.id, "k1", .received) == .recorded)
        #expect(try await fixture.counters() == Funnel(recipients: 1, sent: 1, received: 1))
        try await expectExact(fixture, admin)
    }

    @Test(arguments: [DeliveryState.failed, .expired, .suppressed, .canceled])
    func aReceiptOfADeliveryWithoutAnAttemptCountsNothing(_ state: DeliveryState) async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let message = try await failed(fixture, state, transport: nil, attempts: 0)
        #expect(try await fixture.receipt(message.id, "k1", .read) == .orphan)
        let counts = try await fixture.counters()
        #expect(counts.sent == 0 && counts.received == 0 && counts.read == 0)
        try await expectExact(fixture, admin)
    }

    @Test func aPolledMessageThatWasNotSentStaysSoAndCountsNothing() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let device = try await fixture.register("k1", token: "aa01", vendor: .ipns)
        for (state, transport) in [(DeliveryState.suppressed, nil), (.failed, "apns"), (.expired, nil)]
            as [(DeliveryState, String?)]
        {
            let message = try await fixture.message(to: [(TargetID(device.identity), nil)], scope: inbox)
            try await fixture.accept(message)
            var progress = try await fixture.progress(fixture.lease(of: message), [0], state, transport: transport)
            progress.results[0].dialect = .ipns
            _ = try await fixture.delivery.record(progress, by: fixture.node)
        }
        let poll = PollInbox(inbox, DeviceCaller(key: "k1"), limit: 9, at: try await fixture.now())
        #expect(try await fixture.ask(poll).count == 3)
        #expect(try await fixture.counters() == Funnel(recipients: 3, failed: 1, suppressed: 1, expired: 1))
        try await expectExact(fixture, admin)
    }

    // MARK: Folding

    @Test func foldingDuringFlushesLosesNothingAndReadsStayExact() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let slices = (0..<12).map { number in
            NewSlice(number: Int32(number), work: .deliver, targets: (0..<20).map { _ in TargetID(UUID()) })
        }
        let message = try await fixture.message(slices: slices, recipients: 240)
        try await fixture.accept(message)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for slice in slices {
                group.addTask {
                    var lease = fixture.lease(of: message)
                    lease.key.number = slice.number
                    lease.targets = slice.targets
                    for index in slice.targets.indices {
                        let progress = try await fixture.progress(
                            lease,
                            [index],
                            disposition: index == slice.targets.count - 1 ? .finished : .goOn
                        )
                        _ = try await fixture.delivery.record(progress, by: fixture.node)
                        lease = progress.lease
                    }
                }
            }
            group.addTask {
                while try await fixture.counters().sent < 240 { _ = try await fold(fixture, limit: 7) }
            }
            group.addTask {
                let admin = try await fixture.database.admin()
                for _ in 0..<40 { try await expectExact(fixture, admin) }
            }
            try await group.waitForAll()
        }
        try await expectExact(fixture, admin)
        #expect(try await fixture.counters() == Funnel(recipients: 240, sent: 240))
        while try await fold(fixture) > 0 {}
        #expect(try await fixture.counters() == Funnel(recipients: 240, sent: 240))
        #expect(try await fixture.facts(message.id).state == .done)
    }

    @Test func theKeeperFoldsTheCountsOfAllTenants() async throws {
        let fixture = try await StoreFixture.alone()
        let keeper = PostgresCountKeeper(engine: fixture.engine, node: fixture.node)
        let message = try await fixture.message(to: [(TargetID(UUID()), nil)])
        try await fixture.accept(message)
        try await fixture.accept(message, in: fixture.other)
        let count = try #require(try await keeper.fold())
        #expect(count == 2)
        #expect(try await keeper.fold() == 0)
        #expect(try await PostgresCountKeeper(engine: fixture.engine, node: "other").fold() == nil)
        #expect(try await fixture.counters() == Funnel(recipients: 1))
    }

    // MARK: Messages with counts of their own

    @Test func alargeMessageIsCountedOnItsOwn() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let targets = (0..<2100).map { _ in TargetID(UUID()) }
        let message = try await fixture.message(
            slices: [
                NewSlice(number: 0, work: .deliver, targets: Array(targets[..<500])),
                NewSlice(number: 1, work: .deliver, targets: Array(targets[500...])),
            ],
            recipients: 2100
        )
        try await fixture.accept(message)
        let progress = try await fixture.progress(fixture.lease(of: message), Array(0..<500))
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        #expect(try await fixture.facts(message.id).funnel == Funnel(recipients: 2100, sent: 500))
        _ = try await fold(fixture)
        #expect(try await fixture.facts(message.id).funnel == Funnel(recipients: 2100, sent: 500))
        try await expectExact(fixture, admin)
    }
}
