import DeliveryEngine
import EngineSupport
import Foundation
import Model
import TestKit
import Testing

/// I2 under random outcomes, crashes, lost answers of the store and stolen leases: each target has one counted
/// outcome, and every slice completes.
@Suite struct DeliveryMachineRandomTests {
    /// The row of one slice, as a store keeps it, and the slices that left it.
    private struct Row {
        var lease: SliceLease
        var isFinished = false
        var outcomes: [TargetID: DeliveryResult] = [:]
        var retries: [SliceLease] = []

        mutating func claim() -> SliceLease {
            lease.epoch += 1
            return lease
        }

        private mutating func split(_ retry: RetrySlice) {
            var next = lease
            next.key.number += Int32(retries.count + 1)
            next.epoch = 0
            next.targets = retry.indexes.map { lease.targets[$0] }
            next.done = []
            for index in retry.indexes { lease.markDone(index) }
            if retry.countsAttempt { next.attempts += 1 }
            if case .dead = retry.disposition { next.attempts = 0 }
            retries.append(next)
        }

        mutating func record(_ progress: SliceProgress) -> RecordResult {
            guard progress.lease.epoch == lease.epoch, !isFinished else { return .fenced }
            var count = 0
            for result in progress.results where outcomes[result.target] == nil {
                outcomes[result.target] = result
                count += 1
            }
            lease.done = progress.lease.done
            for retry in progress.retries { split(retry) }
            switch progress.disposition {
            case .goOn: break
            case .finished: isFinished = true
            case .again, .crowded:
                // The lease is returned: no node holds this epoch.
                lease.epoch += 1
                if progress.countsAttempt { lease.attempts += 1 }
            case .dead:
                // The slice is requeued.
                lease.epoch += 1
                lease.attempts = 0
            }
            return .recorded(count)
        }
    }

    /// The possible faults, in percent of the steps at which they can occur.
    private struct Faults {
        var crash = 0
        var lostFlush = 0
        var theft = 0
        var wonBack = 0
        var unknown = 0
    }

    private struct World {
        var random: SplitMix
        var row: Row
        var bench: MachineBench
        /// The number of targets.
        var count = 0
        var accepted: [TargetID: Int] = [:]
        var ids: [TargetID: Set<String>] = [:]
        var violations: [String] = []
        /// Slices that are not finished and not being sent, and the outcomes of those before.
        var waiting: [SliceLease] = []
        var outcomes: [TargetID: DeliveryResult] = [:]
        var isUnfinished: Bool { !waiting.isEmpty || !row.isFinished }
        var seenRecords = 0
        var seenSends = 0

        /// Turns to a slice that is not finished; false: there is none.
        mutating func next() -> Bool {
            waiting += row.retries
            row.retries = []
            outcomes.merge(row.outcomes) { first, _ in first }
            if !row.isFinished, row.lease.epoch > 0 { return true }
            guard let lease = waiting.popLast() else { return false }
            row = Row(lease: lease)
            return true
        }

        mutating func chance(_ percent: Int) -> Bool { Int(random.next() % 100) < percent }

        mutating func outcome(_ faults: Faults) -> Outcome {
            if chance(faults.unknown) { return .lost }
            switch random.next() % 12 {
            case 0: return .rejected(.content, "BadTopic")
            case 1: return .rejected(.tokenDead(since: nil), "Unregistered", 410)
            case 2: return .busy()
            case 3: return .notSent(.refused)
            case 4: return .notSent(.noCredential)
            case 5: return .rejected(.credential, "InvalidProviderToken", 403)
            default: return .yes
            }
        }
    }

    private func run(seed: UInt64, faults: Faults, unknown: RetryUnknown = .withCollapse) -> World {
        var random = SplitMix(state: seed)
        let count = 1 + Int(random.next() % 40)
        let lease = MachineBench.lease(count, epoch: 0)
        var world = World(random: random, row: Row(lease: lease), bench: MachineBench(targets: 1))
        world.waiting = [lease]
        world.count = count
        var policy = EnginePolicy()
        policy.retry.unknown = unknown
        policy.flushCount = 5
        for _ in 0..<2000 {
            guard world.next() else { break }
            let claimed = world.row.claim()
            world.bench = MachineBench(lease: claimed, policy: policy) { work in
                for index in stride(from: 3, to: claimed.targets.count, by: 7) {
                    work.targets[index]?.destination.tokenState = .invalid
                }
            }
            world.seenRecords = 0
            world.seenSends = 0
            oneLife(&world, faults)
        }
        return world
    }

    /// Runs the machine until it ends, crashes, or loses its slice.
    private func oneLife(_ world: inout World, _ faults: Faults) {
        for _ in 0..<500 where !world.bench.isFinished {
            noteSends(&world)
            if world.chance(faults.crash) { return }
            if world.chance(faults.theft) { world.row.lease.epoch += 2 }
            if world.chance(faults.wonBack) { world.bench.machine.reclaimed(world.row.claim()) }
            world.bench.permit =
                [.go, .go, .go, .probe, .stopped(for: .seconds(1)), .full(for: .seconds(4))][
                    Int(world.random.next() % 6)
                ]
            if world.bench.records.count > world.seenRecords, world.chance(60) {
                flush(&world, faults)
            } else if let push = world.bench.onTheirWay.randomElement(using: &world.random) {
                answer(push, &world, faults)
            } else {
                world.bench.pass(.milliseconds(200))
            }
        }
    }

    private func noteSends(_ world: inout World) {
        for push in world.bench.sent[world.seenSends...] {
            let target = world.row.lease.targets[push.slot]
            world.ids[target, default: []].insert(push.id.lowercased)
            if world.row.outcomes[target] != nil && world.row.lease.isDone(push.slot) {
                world.violations.append("target \(push.slot) was pushed though its outcome was written")
            }
        }
        world.seenSends = world.bench.sent.count
        let slots = world.bench.onTheirWay.map(\.slot)
        if Set(slots).count != slots.count { world.violations.append("two pushes of one target on their way") }
    }

    private func answer(_ push: Push, _ world: inout World, _ faults: Faults) {
        let outcome = world.outcome(faults)
        if case .accepted = outcome { world.accepted[world.row.lease.targets[push.slot], default: 0] += 1 }
        world.bench.complete([push.slot], outcome)
    }

    private func flush(_ world: inout World, _ faults: Faults) {
        guard let progress = world.bench.records.last else { return }
        world.seenRecords = world.bench.records.count
        if Set(progress.results.map(\.index)).count != progress.results.count {
            world.violations.append("a flush names a target twice")
        }
        let isLost = world.chance(faults.lostFlush)
        let isWritten = !isLost || world.chance(50)
        let result = isWritten ? world.row.record(progress) : .fenced
        if world.chance(faults.crash) {
            world.bench.isFinished = true
        } else if isLost {
            world.bench.perform(world.bench.machine.recordFailed(now: world.bench.now))
        } else {
            world.bench.perform(world.bench.machine.recorded(result, now: world.bench.now))
        }
    }

    private func problems(_ world: World) -> [String] {
        var problems = world.violations
        if world.isUnfinished { problems.append("a slice never ended") }
        let missing = (0..<world.count).map { TargetID(.numbered($0)) }.filter { world.outcomes[$0] == nil }
        if !missing.isEmpty { problems.append("\(missing.count) targets have no outcome") }
        let changing = world.ids.filter { $0.value.count > 1 }
        if !changing.isEmpty { problems.append("\(changing.count) targets were pushed under several ids") }
        return problems
    }

    private func seeds(_ count: Int) -> [UInt64] {
        if let text = ProcessInfo.processInfo.environment["SEED"], let seed = UInt64(text) { return [seed] }
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in random.next() }
    }

    @Test func everyTargetEndsOnceDespiteCrashes() {
        for seed in seeds(150) {
            let faults = Faults(crash: 3, lostFlush: 20, theft: 1, wonBack: 2, unknown: 5)
            let found = problems(run(seed: seed, faults: faults))
            #expect(found.isEmpty, "SEED=\(seed): \(found)")
        }
    }

    // I3: without faults nothing is pushed twice, however often the peer defers a push.
    @Test func withoutFaultsEveryTargetIsAcceptedAtMostOnce() {
        for seed in seeds(150) {
            let world = run(seed: seed, faults: Faults())
            let twice = world.accepted.filter { $0.value > 1 }.count
            #expect(problems(world).isEmpty && twice == 0, "SEED=\(seed): \(problems(world)), \(twice) twice")
        }
    }

    // An outage of the store repeats nothing while the process runs.
    @Test func lostFlushesAloneRepeatNothing() {
        for seed in seeds(150) {
            let world = run(seed: seed, faults: Faults(lostFlush: 50))
            let twice = world.accepted.filter { $0.value > 1 }.count
            #expect(problems(world).isEmpty && twice == 0, "SEED=\(seed): \(problems(world)), \(twice) twice")
        }
    }

    // If the node claims the slice again, it continues with the state in memory.
    @Test func leasesThatAreClaimedAgainRepeatNothing() {
        for seed in seeds(150) {
            let world = run(seed: seed, faults: Faults(lostFlush: 20, wonBack: 5))
            let twice = world.accepted.filter { $0.value > 1 }.count
            #expect(problems(world).isEmpty && twice == 0, "SEED=\(seed): \(problems(world)), \(twice) twice")
        }
    }
}
