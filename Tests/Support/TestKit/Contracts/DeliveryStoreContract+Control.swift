import Commands
import DeliveryEngine
import Model

/// What an operator may do to a message, and slices that give up.
extension DeliveryStoreContract {
    static let controls = pauses + ends

    private static let pauses = [
        ContractRule("a paused message rests until it is resumed, also what was at work") { world in
            var findings = Findings()
            let message = try await world.listed(2)
            let foreign = try await world.run(
                .control(world.scope, message.id, .pause, by: nil, at: world.now()),
                in: "nobody"
            )
            findings.equal(foreign, .count(0), "another tenant's pause")
            findings.equal(try await world.control(message, .pause), 1, "pauses")
            findings.equal(try await world.control(message, .pause), 0, "second pauses")
            findings.equal(try await world.claim(message.id, by: "n1").count, 0, "claims while it is paused")
            findings.equal(try await world.control(message, .resume), 1, "resumes")
            guard let lease = try await world.claim(message.id, by: "n1").first else {
                return findings.list + ["no lease"]
            }
            findings.equal(try await world.control(message, .pause), 1, "pauses while it is at work")
            findings.equal(try await world.deliveries.load(lease)?.state, .paused, "state")
            var progress = world.progress(lease, .sent, .again(after: .zero))
            progress.results = []
            _ = try await world.deliveries.record(progress, by: "n1")
            findings.equal(try await world.claim(message.id, by: "n1").count, 0, "claims of what was put back")
            findings.equal(try await world.control(message, .resume), 1, "second resumes")
            findings.equal(try await world.deliveries.load(lease)?.state, .sending, "state once it goes on")
            findings.equal(try await world.claim(message.id, by: "n1").count, 1, "claims once it goes on")
            return findings.list
        },
        ContractRule("a paused audience is expanded once it is resumed") { world in
            var findings = Findings()
            _ = try await world.register(world.newKey(), token: world.newToken())
            let message = world.message(to: [], work: .expand(after: nil))
            _ = try await world.accept(message)
            guard let lease = try await world.claim(message.id, by: "n1").first else { return ["no lease"] }
            findings.equal(try await world.control(message, .pause), 1, "pauses")
            let page = try await world.deliveries.expand(lease, by: "n1", pageSize: 9)
            findings.equal(page, .fenced, "a page while it is paused")
            findings.equal(try await world.claim(message.id, by: "n1").count, 0, "claims while it is paused")
            findings.equal(try await world.control(message, .resume), 1, "resumes")
            guard let again = try await world.claim(message.id, by: "n1").first else { return findings.list + ["lost"] }
            let last = try await world.deliveries.expand(again, by: "n1", pageSize: 9)
            findings.equal(last, .finished(recipients: 1), "a page once it is resumed")
            return findings.list
        },
    ]

    private static let ends = [
        ContractRule("what gives up rests until it is requeued, and keeps its outcomes") { world in
            var findings = Findings()
            let message = try await world.listed(2)
            guard let lease = try await world.buried(message) else { return ["no lease"] }
            findings.equal(try await world.deliveries.load(lease)?.state, .dead, "state")
            try await world.pass(.seconds(600))
            findings.equal(try await world.claim(message.id, by: "n1").count, 0, "claims of what gave up")
            findings.equal(try await world.control(message, .requeue), 1, "requeues")
            findings.equal(try await world.control(message, .requeue), 0, "second requeues")
            findings.equal(try await world.deliveries.load(lease)?.state, .sending, "state once requeued")
            guard let again = try await world.claim(message.id, by: "n2").first else { return findings.list + ["lost"] }
            findings.equal(again.attempts, 0, "attempts")
            findings.expect(again.isDone(0) && !again.isDone(1), "the bitmap changed")
            var progress = world.progress(again, .sent, .finished)
            progress.results = Array(progress.results.suffix(1))
            findings.equal(try await world.deliveries.record(progress, by: "n2"), .recorded(1), "the rest")
            findings.equal(try await world.deliveries.load(lease)?.state, .done, "state in the end")
            return findings.list
        },
        ContractRule("what gave up comes up when its message has expired") { world in
            var findings = Findings()
            let message = try await world.listed(2)
            guard let lease = try await world.buried(message) else { return ["no lease"] }
            // The message's hour, and one more.
            try await world.pass(.seconds(2 * 3600))
            guard let last = try await world.claim(message.id, by: "n2").first else { return ["not written off"] }
            var progress = world.progress(last, .expired, .finished)
            progress.results = Array(progress.results.suffix(1))
            _ = try await world.deliveries.record(progress, by: "n2")
            findings.equal(try await world.deliveries.load(lease)?.state, .done, "state in the end")
            return findings.list
        },
        ContractRule("what gave up can be canceled") { world in
            var findings = Findings()
            let message = try await world.listed(2)
            guard try await world.buried(message) != nil else { return ["no lease"] }
            findings.equal(try await world.control(message, .cancel), 1, "cancels")
            findings.equal(try await world.claim(message.id, by: "n1").count, 1, "slices to write off")
            findings.equal(try await world.control(message, .requeue), 0, "requeues of a canceled message")
            return findings.list
        },
        ContractRule("what is put back after its message was canceled comes up at once") { world in
            var findings = Findings()
            for holder in [CredentialID("c1"), nil] {
                let message = try await world.listed(1)
                guard let lease = try await world.claim(message.id, by: "n1").first else { return ["no lease"] }
                findings.equal(try await world.control(message, .cancel), 1, "cancels")
                var progress = world.progress(lease, .sent, .again(after: .seconds(600), heldBy: holder))
                progress.results = []
                _ = try await world.deliveries.record(progress, by: "n1")
                let last = try await world.claim(message.id, by: "n2")
                findings.equal(last.count, 1, "slices to write off, held by \(holder?.rawValue ?? "nobody")")
            }
            return findings.list
        },
        ContractRule("slices of one message that have no room wait together, and no others") { world in
            var findings = Findings()
            let large = try await world.spread(3)
            guard let lease = try await world.first(by: "n1") else { return ["no lease"] }
            let other = try await world.listed(1)
            var progress = world.progress(lease, .sent, .crowded(for: .seconds(20)))
            progress.results = []
            _ = try await world.deliveries.record(progress, by: "n1")
            findings.equal(try await world.first(by: "n1")?.key.message, other.id, "what has room")
            findings.equal(try await world.first(by: "n1")?.key.message, nil, "what else has room")
            try await world.pass(.seconds(21))
            findings.equal(try await world.claim(large.id, by: "n2").count, 3, "claims after it")
            return findings.list
        },
        ContractRule("slices of a canceled message do not wait for room") { world in
            var findings = Findings()
            let message = try await world.spread(3)
            guard let lease = try await world.first(by: "n1") else { return ["no lease"] }
            _ = try await world.control(message, .cancel)
            var progress = world.progress(lease, .sent, .crowded(for: .seconds(20)))
            progress.results = []
            _ = try await world.deliveries.record(progress, by: "n1")
            findings.equal(try await world.claim(message.id, by: "n1").count, 3, "slices to write off")
            return findings.list
        },
        ContractRule("leases in a row that end without a word are counted, and a word ends the row") { world in
            var findings = Findings()
            let message = try await world.listed(1)
            for lapses in 0..<3 {
                let lease = try await world.claim(message.id, by: "n1").first
                findings.equal(lease?.lapses, Int16(lapses), "lapses")
                findings.equal(lease?.followsLapse, lapses > 0, "follows a lapse")
                try await world.pass(ContractWorld.lease + .seconds(1))
            }
            guard let lease = try await world.claim(message.id, by: "n1").first else { return findings.list + ["lost"] }
            var progress = world.progress(lease, .sent, .again(after: .zero))
            progress.results = []
            _ = try await world.deliveries.record(progress, by: "n1")
            let next = try await world.claim(message.id, by: "n1").first
            findings.equal(next?.lapses, 0, "lapses after a word")
            findings.equal(next?.followsLapse, false, "follows a lapse after a word")
            return findings.list
        },
    ]
}

extension ContractWorld {
    /// How many times the control changed something: 0 or 1.
    fileprivate func control(_ message: NewMessage, _ control: MessageControl) async throws -> Int? {
        guard case .count(let count)? = try await run(.control(scope, message.id, control, by: nil, at: now())) else {
            return nil
        }
        return count
    }

    /// A message of so many slices of one target.
    fileprivate func spread(_ count: Int) async throws -> NewMessage {
        var identities: [IdentityID] = []
        for _ in 0..<count {
            if let made = try await register(newKey(), token: newToken()) { identities.append(made.identity) }
        }
        var message = message(to: identities)
        message.slices = identities.enumerated().map { number, identity in
            NewSlice(number: Int32(number), work: .deliver, targets: [TargetID(identity)], addresses: [nil])
        }
        _ = try await accept(message)
        return message
    }

    /// The slice that has been due for longest.
    fileprivate func first(by node: NodeID) async throws -> SliceLease? {
        try await deliveries.claim(tenant: tenant, lane: .bulk, limit: 1, by: node, lease: Self.lease).first
    }

    /// Sends the first target of `message`; the rest gives up. Its lease.
    fileprivate func buried(_ message: NewMessage) async throws -> SliceLease? {
        guard var lease = try await claim(message.id, by: "n1").first else { return nil }
        lease.markDone(0)
        var progress = progress(lease, .sent, .dead(reason: "ServiceUnavailable"))
        progress.results = Array(progress.results.prefix(1))
        _ = try await deliveries.record(progress, by: "n1")
        return lease
    }
}
