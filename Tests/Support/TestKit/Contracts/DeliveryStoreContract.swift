import Commands
import DeliveryEngine
import Model

/// The rules of `DeliveryStore`, run against every implementation.
package enum DeliveryStoreContract {
    /// Every rule; each wants a world of its own.
    package static let rules: [ContractRule] =
        leases + outcomes + audiences + tokens + moves + budgets + controls + AudienceContract.expansions
        + TimingContract.rules + BadgeContract.deliveries

    private static let moves = [
        ContractRule("a token that the other environment knows goes there, unless another device has it there") {
            world in
            var findings = Findings()
            let message = try await world.listed(1)
            guard let lease = try await world.claim(message.id, by: "n1").first,
                let facts = try await world.deliveries.load(lease)?.targets[0], let device = facts.device,
                let token = facts.destination.token
            else { return ["no device"] }
            findings.equal(try await environment(of: lease, world), .production, "environment before")
            let stale = TokenVerdict.moved(device, world.newToken(), to: .sandbox)
            try await world.deliveries.condemn([stale], tenant: world.tenant)
            findings.equal(try await environment(of: lease, world), .production, "after another token's verdict")
            try await world.deliveries.condemn([.moved(device, token, to: .sandbox)], tenant: world.tenant)
            findings.equal(try await environment(of: lease, world), .sandbox, "environment after")
            return findings.list
        }
    ]

    private static func environment(of lease: SliceLease, _ world: ContractWorld) async throws -> PushEnvironment? {
        try await world.deliveries.load(lease)?.targets[0]?.destination.environment
    }

    private static let leases = [
        ContractRule("a due slice is claimed once until its lease ends, then by anyone with a higher epoch") { world in
            var findings = Findings()
            let message = try await world.listed(1)
            let tenants = try await world.deliveries.dueTenants(in: .bulk, limit: 1000)
            findings.expect(tenants.contains(world.tenant), "the tenant is not due")
            let first = try await world.claim(message.id, by: "n1")
            findings.equal(first.map(\.epoch), [1], "epochs of the first claim")
            findings.equal(try await world.claim(message.id, by: "n2").count, 0, "claims while it is leased")
            try await world.pass(ContractWorld.lease + .seconds(1))
            let second = try await world.claim(message.id, by: "n2")
            findings.equal(second.map(\.epoch), [2], "epochs after the lease ended")
            guard let old = first.first, let new = second.first else { return findings.list + ["no lease"] }
            let kept = try await world.deliveries.renew([old], by: "n1", lease: ContractWorld.lease)
            findings.equal(kept, [], "the lost lease renewed")
            let fenced = try await world.deliveries.record(world.progress(old, .sent, .finished), by: "n1")
            findings.equal(fenced, .fenced, "a flush under the lost lease")
            let renewed = try await world.deliveries.renew([new], by: "n2", lease: ContractWorld.lease)
            findings.equal(renewed, [new.key], "the live lease renewed")
            return findings.list
        },
        ContractRule("a message that is not due is not claimed") { world in
            var findings = Findings()
            let message = try await world.listed(1, dueIn: .seconds(600))
            findings.equal(try await world.claim(message.id, by: "n1").count, 0, "claims before the due time")
            return findings.list
        },
        ContractRule("what is accepted with a claim is this node's at epoch one") { world in
            var findings = Findings()
            let claim = NewMessage.Claim(node: "n1", lease: ContractWorld.lease)
            let message = try await world.listed(1, claim: claim)
            findings.equal(try await world.claim(message.id, by: "n2").count, 0, "claims by another node")
            let lease = world.handover(message)
            let result = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "n1")
            findings.equal(result, .recorded(1), "a flush under the handed over lease")
            return findings.list
        },
        ContractRule("a released slice may be taken at once") { world in
            var findings = Findings()
            let message = try await world.listed(1)
            let first = try await world.claim(message.id, by: "n1")
            try await world.deliveries.release(first, by: "n1")
            // The hand-back raises the epoch too: an outcome of the lease that was given back is refused.
            findings.equal(try await world.claim(message.id, by: "n2").map(\.epoch), [3], "epochs after the release")
            return findings.list
        },
    ]

    private static let outcomes = [
        ContractRule("each delivery is written once, whatever is flushed again") { world in
            var findings = Findings()
            let message = try await world.listed(3)
            guard var lease = try await world.claim(message.id, by: "n1").first else { return ["no lease"] }
            lease.markDone(0)
            var progress = world.progress(lease, .sent, .goOn)
            progress.results = Array(progress.results.prefix(1))
            findings.equal(try await world.deliveries.record(progress, by: "n1"), .recorded(1), "first flush")
            findings.equal(try await world.deliveries.record(progress, by: "n1"), .recorded(0), "the same again")
            let work = try await world.deliveries.load(lease)
            findings.equal(work?.targets.keys.sorted(), [1, 2], "targets left")
            return findings.list
        },
        ContractRule("a slice that is put back keeps its bitmap, counts the attempt and comes due later") { world in
            var findings = Findings()
            let message = try await world.listed(2)
            guard var lease = try await world.claim(message.id, by: "n1").first else { return ["no lease"] }
            lease.markDone(0)
            var progress = world.progress(lease, .sent, .again(after: .seconds(600)))
            progress.results = Array(progress.results.prefix(1))
            _ = try await world.deliveries.record(progress, by: "n1")
            findings.equal(try await world.claim(message.id, by: "n1").count, 0, "claims before it is due")
            try await world.pass(.seconds(601))
            let again = try await world.claim(message.id, by: "n2")
            findings.equal(again.map(\.attempts), [1], "attempts")
            findings.equal(again.map { $0.isDone(0) }, [true], "the first target's bit")
            findings.equal(again.map { $0.isDone(1) }, [false], "the second target's bit")
            return findings.list
        },
        ContractRule("what waits for a credential comes due when that is mended, and nothing else does") { world in
            var findings = Findings()
            var messages: [MessageID] = []
            for holder in [CredentialID("c1"), nil] {
                let message = try await world.listed(1)
                guard let lease = try await world.claim(message.id, by: "n1").first else { return ["no lease"] }
                var progress = world.progress(lease, .sent, .again(after: .seconds(600), heldBy: holder))
                progress.results = []
                _ = try await world.deliveries.record(progress, by: "n1")
                messages.append(message.id)
            }
            guard let held = messages.first else { return ["no message"] }
            try await world.deliveries.resume(CredentialKey(tenant: world.tenant, credential: "c2"))
            try await world.deliveries.resume(CredentialKey(tenant: "nobody", credential: "c1"))
            findings.equal(try await world.claim(held, by: "n2").count, 0, "claims after another was mended")
            try await world.deliveries.resume(CredentialKey(tenant: world.tenant, credential: "c1"))
            let due = try await world.deliveries.claim(
                tenant: world.tenant,
                lane: .bulk,
                limit: 9,
                by: "n2",
                lease: ContractWorld.lease
            )
            findings.equal(due.map(\.key.message), [held], "due once it was mended")
            guard let again = due.first else { return findings.list }
            // Put back for another reason: the mark of before is gone.
            var progress = world.progress(again, .sent, .again(after: .seconds(600)))
            progress.results = []
            _ = try await world.deliveries.record(progress, by: "n2")
            try await world.deliveries.resume(CredentialKey(tenant: world.tenant, credential: "c1"))
            findings.equal(try await world.claim(held, by: "n2").count, 0, "claims once it waits for time")
            return findings.list
        },
        ContractRule("a finished slice is never claimed again") { world in
            var findings = Findings()
            let message = try await world.listed(1)
            guard let lease = try await world.claim(message.id, by: "n1").first else { return ["no lease"] }
            _ = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "n1")
            try await world.pass(ContractWorld.lease + .seconds(1))
            findings.equal(try await world.claim(message.id, by: "n2").count, 0, "claims of a finished slice")
            return findings.list
        },
        ContractRule("what a slice needs to be sent is loaded whole") { world in
            var findings = Findings()
            let message = try await world.listed(2)
            guard let lease = try await world.claim(message.id, by: "n1").first else { return ["no lease"] }
            guard let work = try await world.deliveries.load(lease) else { return ["nothing loaded"] }
            findings.equal(work.app, world.app, "app")
            findings.equal(work.notification.message, message.id, "message")
            findings.equal(work.notification.content, message.content, "content")
            findings.equal(work.notification.sentAt, message.dueAt, "send time")
            findings.equal(work.targets.keys.sorted(), [0, 1], "targets")
            findings.equal(work.targets[0]?.destination.tokenState, .active, "token state")
            findings.equal(work.targets[0]?.vendor, .rationalOwl, "dialect")
            findings.expect(work.routes[.ios]?.credentials[.production] != nil, "no production credential")
            findings.expect(work.settings[.rationalOwl] != nil, "no settings of the dialect")
            return findings.list
        },
        ContractRule("an identity whose own time is over is loaded as one that has left") { world in
            var findings = Findings()
            let now = Int(world.now().seconds)
            var identities: [IdentityID] = []
            let ends: [JSON] = [.int(now - 60), .int(now + 3600), "whenever", .int(0)]
            for end in ends {
                if let made = try await world.register(world.newKey(), endingAt: end) {
                    identities.append(made.identity)
                }
            }
            let message = world.message(to: identities)
            _ = try await world.accept(message)
            guard let lease = try await world.claim(message.id, by: "n1").first,
                let work = try await world.deliveries.load(lease)
            else { return ["nothing loaded"] }
            let states = (0..<4).map { work.targets[$0]?.identityState }
            findings.equal(states, [.unregistered, .active, .active, .unregistered], "states")
            return findings.list
        },
        ContractRule("a receipt before the outcome is kept, and the outcome fills in the rest") { world in
            var findings = Findings()
            let key = world.newKey()
            guard let identity = try await world.register(key, token: world.newToken())?.identity else {
                return ["no identity"]
            }
            let message = world.message(to: [identity])
            _ = try await world.accept(message)
            guard let lease = try await world.claim(message.id, by: "n1").first else { return ["no lease"] }
            _ = try await world.run(
                .receipt(world.scope, message.id, Reporter(key: key), .received, at: world.now())
            )
            let result = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "n1")
            findings.equal(result, .recorded(1), "the outcome after the receipt")
            let seen = try await world.run(.delivery(world.scope, message.id, Reporter(key: key)))
            guard case .delivery(let snapshot?, _)? = seen else { return findings.list + ["no delivery"] }
            findings.equal(snapshot.state, .received, "state")
            return findings.list
        },
    ]

    private static let audiences = [
        ContractRule("an audience is expanded page by page to everyone active, once each") { world in
            var findings = Findings()
            var wanted: Set<TargetID> = []
            for _ in 0..<5 {
                let made = try await world.register(world.newKey(), token: world.newToken())
                if let made { wanted.insert(TargetID(made.identity)) }
            }
            let gone = world.newKey()
            _ = try await world.register(gone, token: world.newToken())
            _ = try await world.run(.unregister(world.scope, .key(gone), at: world.now()))
            let message = world.message(to: [], work: .expand(after: nil))
            _ = try await world.accept(message)
            guard let lease = try await world.claim(message.id, by: "n1").first else { return ["no lease"] }
            var pages = 0
            var recipients: Int?
            // Six: five identities at two a page are three pages and an end.
            while recipients == nil, pages < 6 {
                pages += 1
                switch try await world.deliveries.expand(lease, by: "n1", pageSize: 2) {
                case .page: continue
                case .finished(let count): recipients = count
                case .fenced: return ["fenced"]
                }
            }
            findings.equal(recipients, 5, "recipients")
            let slices = try await world.claim(message.id, by: "n1")
            let targets = slices.flatMap(\.targets)
            findings.equal(targets.count, 5, "targets in slices")
            findings.equal(Set(targets), wanted, "who they are")
            findings.expect(slices.allSatisfy { $0.key.number > 0 }, "a slice took the expansion's number")
            return findings.list
        }
    ]

    private static let tokens = [
        ContractRule("a dead token is invalid unless it was registered after the peer's time") { world in
            var findings = Findings()
            let key = world.newKey()
            let token = world.newToken()
            guard let device = try await world.register(key, token: token)?.device else { return ["no device"] }
            let before = Timestamp(milliseconds: world.now().milliseconds - 60_000)
            try await world.deliveries.condemn([.dead(device, token, since: before)], tenant: world.tenant)
            findings.equal(try await world.resolve(.deviceKey(key))?.isReachable, true, "older than the registration")
            let after = Timestamp(milliseconds: world.now().milliseconds + 60_000)
            try await world.deliveries.condemn([.dead(device, world.newToken(), since: after)], tenant: world.tenant)
            findings.equal(try await world.resolve(.deviceKey(key))?.isReachable, true, "another token")
            try await world.deliveries.condemn([.dead(device, token, since: after)], tenant: world.tenant)
            findings.equal(try await world.resolve(.deviceKey(key))?.isReachable, false, "condemned")
            _ = try await world.register(key, token: token)
            findings.equal(try await world.resolve(.deviceKey(key))?.isReachable, true, "registered again")
            try await world.deliveries.condemn([.doubtful(device, token, reason: "r")], tenant: world.tenant)
            findings.equal(try await world.resolve(.deviceKey(key))?.isReachable, false, "quarantined")
            return findings.list
        }
    ]
}
