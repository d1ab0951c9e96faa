import Model
import TestKit
import Testing

@testable import Commands

/// What users say to subjects, and to pushes at all.
@Suite struct ConsentTests {
    private func consents(_ desk: Desk, _ user: UserID) async -> [String: ConsentState]? {
        guard case .user(.described(let found))? = await desk.reply(.user(.describe([.id(user)]))) else { return nil }
        return found.first??.consents
    }

    private func say(_ desk: Desk, _ subject: String, _ state: ConsentState, _ users: UserName...) async -> Reply? {
        await desk.reply(.user(.consent([ConsentChange(subject: subject, state: state, users: users)])))
    }

    @Test func whatIsSaidLastCounts() async {
        let desk = Desk()
        #expect(await say(desk, "news", .unsubscribed, .id("hong"), .id("kim")) == .user(.consented(2)))
        #expect(await say(desk, "sale", .subscribed, .id("hong")) == .user(.consented(1)))
        #expect(await say(desk, "news", .subscribed, .id("kim")) == .user(.consented(1)))
        #expect(await consents(desk, "hong") == ["news": .unsubscribed, "sale": .subscribed])
        #expect(await consents(desk, "kim") == ["news": .subscribed])
        // Of one call too.
        let both = ConsentState.allCases.map { ConsentChange(subject: "x", state: $0, users: [.id("kim")]) }
        #expect(await desk.reply(.user(.consent(both))) == .user(.consented(2)))
        #expect(await consents(desk, "kim")?["x"] == .unsubscribed)
    }

    // A refusal must not be lost because the user comes later; an alias alone makes nobody.
    @Test func whoIsNotKnownBecomesKnownByAnId() async {
        let desk = Desk()
        let alias = UserName.alias(UserAlias(label: "crm", name: "1"))
        #expect(await say(desk, "news", .unsubscribed, .id("new"), alias) == .user(.consented(1)))
        #expect(await consents(desk, "new") == ["news": .unsubscribed])
    }

    @Test func subjectsAndUsersAreBounded() async {
        let desk = Desk()
        for index in 0..<CommandLimits.subjectsPerUser {
            #expect(await say(desk, "s\(index)", .subscribed, .id("hong")) == .user(.consented(1)))
        }
        let limit = CommandLimits.subjectsPerUser
        #expect(await say(desk, "more", .subscribed, .id("hong")) == .refused(.tooMany("subjects", limit: limit)))
        #expect(await say(desk, "s0", .unsubscribed, .id("hong")) == .user(.consented(1)))
        let many = (0...CommandLimits.usersPerCall).map { UserName.id(UserID("u\($0)")) }
        let change = ConsentChange(subject: "s", state: .subscribed, users: many)
        let refused = Reply.refused(.tooMany("users", limit: CommandLimits.usersPerCall))
        #expect(await desk.reply(.user(.consent([change]))) == refused)
        for subject in ["", "a\u{0}b", String(repeating: "x", count: CommandLimits.keyBytes + 1)] {
            #expect(await say(desk, subject, .subscribed, .id("hong")) == .refused(.invalid("subject")))
        }
        #expect(await say(desk, "s", .subscribed, .id("")) == .refused(.invalid("user")))
    }

    @Test func aBatchTellsBothAndItsFaultIsItsOwn() async {
        let desk = Desk()
        var patch = UserPatch(user: .id("hong"), acceptsPush: true, isOptedIn: true, consents: ["news": .subscribed])
        let broken = UserPatch(user: .id("kim"), consents: ["": .subscribed])
        let reply = await desk.reply(.user(.track(UserBatch(patches: [patch, broken]))))
        #expect(reply == .user(.tracked(patches: [nil, .invalid("consents")], acts: [])))
        #expect(await consents(desk, "hong") == ["news": .subscribed])
        #expect(await consents(desk, "kim") == nil)
        #expect(await optedIn(desk, "hong") == true)
        // Whoever wants no pushes does not ask for them.
        patch = UserPatch(user: .id("hong"), acceptsPush: false)
        _ = await desk.reply(.user(.track(UserBatch(patches: [patch]))))
        #expect(await optedIn(desk, "hong") == false)
    }

    private func optedIn(_ desk: Desk, _ user: UserID) async -> Bool? {
        let store = InMemoryCommandStore(desk.database)
        let profiles = StoreStatement.profiles(Desk.scope, [.id(user)])
        guard case .profiles(let found)? = try? await store.run([profiles], in: Desk.tenant).first else { return nil }
        return found.first??.isOptedIn
    }

    // What the user has said itself wins over what was said by an alias.
    @Test func whoIsIdentifiedKeepsWhatHeSaid() async {
        let desk = Desk()
        let alias = UserAlias(label: "crm", name: "1")
        let ghost = UserPatch(
            user: .alias(alias),
            acceptsPush: true,
            isOptedIn: true,
            consents: ["news": .subscribed, "sale": .subscribed]
        )
        let hong = UserPatch(user: .id("hong"), consents: ["news": .unsubscribed])
        _ = await desk.reply(.user(.track(UserBatch(patches: [ghost, hong]))))
        #expect(await desk.reply(.user(.identify([NamedUser(user: "hong", alias: alias)]))) == .user(.identified(1)))
        #expect(await consents(desk, "hong") == ["news": .unsubscribed, "sale": .subscribed])
        #expect(await optedIn(desk, "hong") == true)
    }
}
