import DatabaseSupport
import Model
import Store
import Testing

@testable import Commands

/// Consents of users to subjects and to pushes.
@Suite struct ConsentTests {
    private func consents(_ world: CommandWorld, _ user: UserID) async -> [String: ConsentState]? {
        guard case .user(.described(let found))? = await world.reply(.user(.describe([.id(user)]))) else { return nil }
        return found.first??.consents
    }

    private func say(_ world: CommandWorld, _ subject: String, _ state: ConsentState, _ users: UserName...) async
        -> Reply?
    {
        await world.reply(.user(.consent([ConsentChange(subject: subject, state: state, users: users)])))
    }

    @Test func theLastConsentCounts() async throws {
        let world = try await CommandWorld.make()
        #expect(await say(world, "news", .unsubscribed, .id("hong"), .id("kim")) == .user(.consented(2)))
        #expect(await say(world, "sale", .subscribed, .id("hong")) == .user(.consented(1)))
        #expect(await say(world, "news", .subscribed, .id("kim")) == .user(.consented(1)))
        #expect(await consents(world, "hong") == ["news": .unsubscribed, "sale": .subscribed])
        #expect(await consents(world, "kim") == ["news": .subscribed])
        // This also holds within one call.
        let both = ConsentState.allCases.map { ConsentChange(subject: "x", state: $0, users: [.id("kim")]) }
        #expect(await world.reply(.user(.consent(both))) == .user(.consented(2)))
        #expect(await consents(world, "kim")?["x"] == .unsubscribed)
    }

    // A refusal must be kept until the user becomes known; an alias alone does not create a user.
    @Test func aConsentCreatesAnUnknownUserWithAnId() async throws {
        let world = try await CommandWorld.make()
        let alias = UserName.alias(UserAlias(label: "crm", name: "1"))
        #expect(await say(world, "news", .unsubscribed, .id("new"), alias) == .user(.consented(1)))
        #expect(await consents(world, "new") == ["news": .unsubscribed])
    }

    @Test func subjectsAndUsersAreBounded() async throws {
        let world = try await CommandWorld.make()
        for index in 0..<CommandLimits.subjectsPerUser {
            #expect(await say(world, "s\(index)", .subscribed, .id("hong")) == .user(.consented(1)))
        }
        let limit = CommandLimits.subjectsPerUser
        #expect(await say(world, "more", .subscribed, .id("hong")) == .refused(.tooMany("subjects", limit: limit)))
        #expect(await say(world, "s0", .unsubscribed, .id("hong")) == .user(.consented(1)))
        let many = (0...CommandLimits.usersPerCall).map { UserName.id(UserID("u\($0)")) }
        let change = ConsentChange(subject: "s", state: .subscribed, users: many)
        let refused = Reply.refused(.tooMany("users", limit: CommandLimits.usersPerCall))
        #expect(await world.reply(.user(.consent([change]))) == refused)
        for subject in ["", "a\u{0}b", String(repeating: "x", count: CommandLimits.keyBytes + 1)] {
            #expect(await say(world, subject, .subscribed, .id("hong")) == .refused(.invalid("subject")))
        }
        #expect(await say(world, "s", .subscribed, .id("")) == .refused(.invalid("user")))
    }

    @Test func aUserBeyondTheLimitCanStillDecideAboutTheSubjectsThatAreThere() {
        let subjects = (0...CommandLimits.subjectsPerUser).map { ("s\($0)", ConsentState.subscribed) }
        var profile = StoredProfile(user: "hong", consents: Dictionary(uniqueKeysWithValues: subjects))
        let isTaken = profile.consent(to: ["s0": .unsubscribed])
        #expect(isTaken && profile.consents["s0"] == .unsubscribed)
        let isNewTaken = profile.consent(to: ["new": .unsubscribed])
        #expect(!isNewTaken && profile.consents["new"] == nil)
    }

    @Test func anErrorInABatchAffectsItsOwnElementOnly() async throws {
        let world = try await CommandWorld.make()
        var patch = UserPatch(user: .id("hong"), acceptsPush: true, isOptedIn: true, consents: ["news": .subscribed])
        let broken = UserPatch(user: .id("kim"), consents: ["": .subscribed])
        let reply = await world.reply(.user(.track(UserBatch(patches: [patch, broken]))))
        #expect(reply == .user(.tracked(patches: [nil, .invalid("consents")], acts: [])))
        #expect(await consents(world, "hong") == ["news": .subscribed])
        #expect(await consents(world, "kim") == nil)
        #expect(await optedIn(world, "hong") == true)
        // A user who rejects pushes is not opted in.
        patch = UserPatch(user: .id("hong"), acceptsPush: false)
        _ = await world.reply(.user(.track(UserBatch(patches: [patch]))))
        #expect(await optedIn(world, "hong") == false)
    }

    private func optedIn(_ world: CommandWorld, _ user: UserID) async -> Bool? {
        let found = try? await world.stores.commands.run(FindProfiles(world.scope, [.id(user)]), in: world.tenant)
        return found?.first??.isOptedIn
    }

    // The user's own consent has precedence over one that was set for an alias.
    @Test func anIdentifiedUserKeepsItsConsents() async throws {
        let world = try await CommandWorld.make()
        let alias = UserAlias(label: "crm", name: "1")
        let ghost = UserPatch(
            user: .alias(alias),
            acceptsPush: true,
            isOptedIn: true,
            consents: ["news": .subscribed, "sale": .subscribed]
        )
        let hong = UserPatch(user: .id("hong"), consents: ["news": .unsubscribed])
        _ = await world.reply(.user(.track(UserBatch(patches: [ghost, hong]))))
        #expect(await world.reply(.user(.identify([NamedUser(user: "hong", alias: alias)]))) == .user(.identified(1)))
        #expect(await consents(world, "hong") == ["news": .unsubscribed, "sale": .subscribed])
        #expect(await optedIn(world, "hong") == true)
    }
}
