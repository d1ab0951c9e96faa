import Model
import Testing

struct KeyScopeTests {
    @Test(arguments: [
        "send", "devices", "read", "content", "admin", "content:app/shop", "send:app/shop", "read:app/shop.ios_2",
        "devices:app/a-b", "send:direct",
        "send:groups", "send:broadcast", "send:direct:app/shop",
    ])
    func scopesAreReadAndWritten(_ text: String) throws {
        #expect(try #require(KeyScope(text)).description == text)
    }

    @Test func theOrderOfLimitsDoesNotMatter() {
        #expect(KeyScope("send:app/shop:direct") == KeyScope("send:direct:app/shop"))
    }

    @Test(arguments: [
        "", "write", "Send", "send:", "send:app", "send:app/", "send:app/a b", "send:app/a/b", "send:all",
        "read:direct", "content:direct", "devices:broadcast", "admin:app/shop", "admin:direct", "send:direct:groups",
        "send:app/a:app/b", "send:app/" + String(repeating: "a", count: 65), "send,read",
    ])
    func otherTextsAreNoScopesAndGrantNothing(_ text: String) {
        #expect(KeyScope(text) == nil)
        let scopes = KeyScopes([text])
        #expect(KeyScope.Action.allCases.allSatisfy { scopes.apps($0) == .only([]) })
        #expect(!scopes.maySend(to: .direct, of: "shop"))
    }

    @Test func aPlainScopeCoversEveryAppAndAudience() {
        let scopes: KeyScopes = ["send", "read"]
        #expect(scopes.apps(.send) == .all && scopes.apps(.read) == .all && scopes.apps(.devices) == .only([]))
        #expect(scopes.appsOfFullSending == .all)
        #expect(KeyScope.Reach.allCases.allSatisfy { scopes.maySend(to: $0, of: "shop") })
        #expect(scopes.maySend(to: nil, of: "shop"))
    }

    @Test func limitsApplyTogether() {
        let scopes: KeyScopes = ["send:direct:app/shop", "send:broadcast:app/news", "send:groups"]
        #expect(scopes.maySend(to: .direct, of: "shop") && !scopes.maySend(to: .direct, of: "news"))
        #expect(scopes.maySend(to: .broadcast, of: "news") && !scopes.maySend(to: .broadcast, of: "shop"))
        #expect(scopes.maySend(to: .groups, of: "anything"))
        #expect(!scopes.maySend(to: nil, of: "shop"), "no scope covers every audience")
        #expect(scopes.appsOfFullSending == .only([]) && scopes.apps(.send) == .all)
    }

    @Test func contentIsReadWithItsScopeOnly() {
        #expect(!(["read", "send", "devices"] as KeyScopes).mayReadContent(of: "shop"))
        let scopes: KeyScopes = ["read", "content:app/shop"]
        #expect(scopes.mayReadContent(of: "shop") && !scopes.mayReadContent(of: "news"))
        #expect((["content"] as KeyScopes).mayReadContent(of: "news"))
    }

    @Test func adminIncludesEverything() {
        let scopes: KeyScopes = ["admin"]
        #expect(scopes.mayReadContent(of: "shop"))
        #expect(KeyScope.Action.allCases.allSatisfy { scopes.apps($0) == .all })
        #expect(scopes.maySend(to: nil, of: "shop") && scopes.appsOfFullSending == .all)
    }

    @Test func audiencesHaveAReach() throws {
        #expect(Audience.listed([]).reach == .direct && Audience.users(["u"]).reach == .direct)
        #expect(Audience.groups(["g"]).reach == .groups && Audience.everyone.reach == .broadcast)
    }
}
