import DatabaseSupport
import DeliveryEngine
import Model
import Testing

@testable import EngineStore
@testable import Store

/// The rules of `DeliveryStore`.
@Suite struct DeliveryStoreRuleTests {
    @Test func aTokenMovesToTheOtherEnvironmentUnlessADeviceHasItThere() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(1)
        guard let lease = try await world.claim(message.id, by: "n1").first,
            let facts = try await world.deliveries.load(lease)?.targets[0], let device = facts.device,
            let token = facts.destination.token
        else { return fail("no device") }
        #expect(try await environment(of: lease, world) == .production, "environment before")
        let stale = TokenVerdict.moved(device, world.newToken(), to: .sandbox)
        try await world.deliveries.condemn([stale], tenant: world.tenant)
        #expect(try await environment(of: lease, world) == .production, "after another token's verdict")
        try await world.deliveries.condemn([.moved(device, token, to: .sandbox)], tenant: world.tenant)
        #expect(try await environment(of: lease, world) == .sandbox, "environment after")
    }

    private func environment(of lease: SliceLease, _ world: RuleWorld) async throws -> PushEnvironment? {
        try await world.deliveries.load(lease)?.targets[0]?.destination.environment
    }

    @Test func aDueSliceIsClaimedAgainAfterItsLeaseWithAHigherEpoch() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(1)
        let tenants = try await world.deliveries.dueTenants(in: .bulk, limit: 1000)
        #expect(tenants.contains(world.tenant), "the tenant is not due")
        let first = try await world.claim(message.id, by: "n1")
        #expect(first.map(\.epoch) == [1], "epochs of the first claim")
        #expect(try await world.claim(message.id, by: "n2").count == 0, "claims while it is leased")
        try await world.pass(RuleWorld.lease + .seconds(1))
        let second = try await world.claim(message.id, by: "n2")
        #expect(second.map(\.epoch) == [2], "epochs after the lease ended")
        guard let old = first.first, let new = second.first else { return fail("no lease") }
        let kept = try await world.deliveries.renew([old], by: "n1", lease: RuleWorld.lease)
        #expect(kept == [], "the lost lease renewed")
        let fenced = try await world.deliveries.record(world.progress(old, .sent, .finished), by: "n1")
        #expect(fenced == .fenced, "a flush under the lost lease")
        let renewed = try await world.deliveries.renew([new], by: "n2", lease: RuleWorld.lease)
        #expect(renewed == [new.key], "the live lease renewed")
    }

    @Test func aMessageThatIsNotDueIsNotClaimed() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(1, dueIn: .seconds(600))
        #expect(try await world.claim(message.id, by: "n1").count == 0, "claims before the due time")
    }

    @Test func aMessageAcceptedWithAClaimIsLeasedAtEpochOne() async throws {
        let world = try await RuleWorld.make()
        let claim = NewMessage.Claim(node: "n1", lease: RuleWorld.lease)
        let message = try await world.listed(1, claim: claim)
        #expect(try await world.claim(message.id, by: "n2").count == 0, "claims by another node")
        let lease = world.handover(message)
        let result = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "n1")
        #expect(result == .recorded(1), "a flush under the transferred lease")
    }

    @Test func aReleasedSliceMayBeClaimedAtOnce() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(1)
        let first = try await world.claim(message.id, by: "n1")
        try await world.deliveries.release(first, by: "n1")
        // Returning a lease increases the epoch too, so an outcome of the returned lease is refused.
        #expect(try await world.claim(message.id, by: "n2").map(\.epoch) == [3], "epochs after the release")
    }

    @Test func repeatedFlushesWriteEachDeliveryOnce() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(3)
        guard var lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        lease.markDone(0)
        var progress = world.progress(lease, .sent, .goOn)
        progress.results = Array(progress.results.prefix(1))
        #expect(try await world.deliveries.record(progress, by: "n1") == .recorded(1), "first flush")
        #expect(try await world.deliveries.record(progress, by: "n1") == .recorded(0), "the same again")
        let work = try await world.deliveries.load(lease)
        #expect(work?.targets.keys.sorted() == [1, 2], "targets left")
    }

    @Test func aReturnedSliceKeepsItsBitmapCountsTheAttemptAndIsDueLater() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(2)
        guard var lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        lease.markDone(0)
        var progress = world.progress(lease, .sent, .again(after: .seconds(600)))
        progress.results = Array(progress.results.prefix(1))
        _ = try await world.deliveries.record(progress, by: "n1")
        #expect(try await world.claim(message.id, by: "n1").count == 0, "claims before it is due")
        try await world.pass(.seconds(601))
        let again = try await world.claim(message.id, by: "n2")
        #expect(again.map(\.attempts) == [1], "attempts")
        #expect(again.map { $0.isDone(0) } == [true], "the first target's bit")
        #expect(again.map { $0.isDone(1) } == [false], "the second target's bit")
    }

    @Test func slicesHeldByACredentialAreDueWhenItWorksAgain() async throws {
        let world = try await RuleWorld.make()
        var messages: [MessageID] = []
        for holder in [CredentialID("c1"), nil] {
            let message = try await world.listed(1)
            guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
            var progress = world.progress(lease, .sent, .again(after: .seconds(600), heldBy: holder))
            progress.results = []
            _ = try await world.deliveries.record(progress, by: "n1")
            messages.append(message.id)
        }
        guard let held = messages.first else { return fail("no message") }
        try await world.deliveries.resume(CredentialKey(tenant: world.tenant, credential: "c2"))
        try await world.deliveries.resume(CredentialKey(tenant: "nobody", credential: "c1"))
        #expect(try await world.claim(held, by: "n2").count == 0, "claims after another credential works again")
        try await world.deliveries.resume(CredentialKey(tenant: world.tenant, credential: "c1"))
        let due = try await world.deliveries.claim(
            tenant: world.tenant,
            lane: .bulk,
            limit: 9,
            by: "n2",
            lease: RuleWorld.lease
        )
        #expect(due.map(\.key.message) == [held], "due after the credential works again")
        guard let again = due.first else { return }
        // The slice is returned for another reason: the previous credential is removed.
        var progress = world.progress(again, .sent, .again(after: .seconds(600)))
        progress.results = []
        _ = try await world.deliveries.record(progress, by: "n2")
        try await world.deliveries.resume(CredentialKey(tenant: world.tenant, credential: "c1"))
        #expect(try await world.claim(held, by: "n2").count == 0, "claims while it waits for a time")
    }

    @Test func aFinishedSliceIsNeverClaimedAgain() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(1)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        _ = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "n1")
        try await world.pass(RuleWorld.lease + .seconds(1))
        #expect(try await world.claim(message.id, by: "n2").count == 0, "claims of a finished slice")
    }

    @Test func aSliceIsLoadedWithEverythingThatSendingNeeds() async throws {
        let world = try await RuleWorld.make()
        let message = try await world.listed(2)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        guard let work = try await world.deliveries.load(lease) else { return fail("nothing loaded") }
        #expect(work.app == world.app, "app")
        #expect(work.notification.message == message.id, "message")
        #expect(work.notification.content == message.content, "content")
        #expect(work.notification.sentAt == message.times.dueAt, "send time")
        #expect(work.targets.keys.sorted() == [0, 1], "targets")
        #expect(work.targets[0]?.destination.tokenState == .active, "token state")
        #expect(work.targets[0]?.vendor == .rationalOwl, "dialect")
        #expect(work.routes[.ios]?.credentials[.production] != nil, "no production credential")
        #expect(work.settings[.rationalOwl] != nil, "no settings of the dialect")
    }

    @Test func anIdentityPastItsEndIsLoadedAsUnregistered() async throws {
        let world = try await RuleWorld.make()
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
        else { return fail("nothing loaded") }
        let states = (0..<4).map { work.targets[$0]?.identityState }
        #expect(states == [.unregistered, .active, .active, .unregistered], "states")
    }

    @Test func aReceiptBeforeTheOutcomeIsKeptAndTheOutcomeCompletesIt() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        guard let identity = try await world.register(key, token: world.newToken())?.identity else {
            return fail("no identity")
        }
        let message = world.message(to: [identity])
        _ = try await world.accept(message)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        _ = try await world.run(
            RecordReceipt(world.scope, message.id, Reporter(key: key), .received, at: world.now())
        )
        let result = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "n1")
        #expect(result == .recorded(1), "the outcome after the receipt")
        let seen = try await world.run(FindDelivery(world.scope, message.id, Reporter(key: key)))
        guard let snapshot = seen.snapshot else { return fail("no delivery") }
        #expect(snapshot.state == .received, "state")
    }

    @Test func anAudienceIsExpandedPageByPageToEachActiveIdentityOnce() async throws {
        let world = try await RuleWorld.make()
        var wanted: Set<TargetID> = []
        for _ in 0..<5 {
            let made = try await world.register(world.newKey(), token: world.newToken())
            if let made { wanted.insert(TargetID(made.identity)) }
        }
        let gone = world.newKey()
        _ = try await world.register(gone, token: world.newToken())
        _ = try await world.run(UnregisterDevices(world.scope, .key(gone)))
        let message = world.message(to: [], work: .expand(after: nil))
        _ = try await world.accept(message)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        var pages = 0
        var recipients: Int?
        // Six: five identities at two per page are three pages, plus the end.
        while recipients == nil, pages < 6 {
            pages += 1
            switch try await world.deliveries.expand(lease, by: "n1", pageSize: 2) {
            case .page: continue
            case .finished(let count): recipients = count
            case .fenced: return fail("fenced")
            }
        }
        #expect(recipients == 5, "recipients")
        let slices = try await world.claim(message.id, by: "n1")
        let targets = slices.flatMap(\.targets)
        #expect(targets.count == 5, "targets in slices")
        #expect(Set(targets) == wanted, "the targets")
        #expect(slices.allSatisfy { $0.key.number > 0 }, "a slice took the expansion's number")
    }

    @Test func aReportedTokenIsInvalidUnlessItWasRegisteredLater() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        let token = world.newToken()
        guard let device = try await world.register(key, token: token)?.device else { return fail("no device") }
        let before = Timestamp(milliseconds: world.now().milliseconds - 60_000)
        try await world.deliveries.condemn([.dead(device, token, since: before)], tenant: world.tenant)
        #expect(try await world.resolve(.deviceKey(key))?.isReachable == true, "older than the registration")
        let after = Timestamp(milliseconds: world.now().milliseconds + 60_000)
        try await world.deliveries.condemn([.dead(device, world.newToken(), since: after)], tenant: world.tenant)
        #expect(try await world.resolve(.deviceKey(key))?.isReachable == true, "another token")
        try await world.deliveries.condemn([.dead(device, token, since: after)], tenant: world.tenant)
        #expect(try await world.resolve(.deviceKey(key))?.isReachable == false, "condemned")
        _ = try await world.register(key, token: token)
        #expect(try await world.resolve(.deviceKey(key))?.isReachable == true, "registered again")
        try await world.deliveries.condemn([.doubtful(device, token, reason: "r")], tenant: world.tenant)
        #expect(try await world.resolve(.deviceKey(key))?.isReachable == false, "quarantined")
    }
}
