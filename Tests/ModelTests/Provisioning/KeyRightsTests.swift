import Model
import Testing

/// A key gives other keys at most its own rights.
@Suite struct KeyRightsTests {
    private func range(_ text: String) throws -> AddressRange { try #require(AddressRange(text)) }

    private func excess(_ rights: KeyRights, over caller: KeyRights) -> String? { rights.excess(over: caller)?.field }

    @Test func aKeyWithoutLimitsGivesEveryRight() throws {
        let caller = KeyRights(scopes: ["admin"])
        for rights in [
            KeyRights(scopes: ["admin"]), KeyRights(scopes: ["read"], recipientsPerDay: 5),
            KeyRights(scopes: ["send"], networks: [try range("10.0.0.0/8")], expiresAt: Timestamp(milliseconds: 1)),
        ] {
            #expect(excess(rights, over: caller) == nil)
        }
        #expect(excess(KeyRights(scopes: ["read"]), over: KeyRights(scopes: ["read"])) == "scopes")
    }

    @Test func noKeyOutlivesTheOneThatCreatesIt() {
        let caller = KeyRights(scopes: ["admin"], expiresAt: Timestamp(milliseconds: 10))
        func ending(_ time: Int64?) -> KeyRights {
            KeyRights(scopes: ["read"], expiresAt: time.map { Timestamp(milliseconds: $0) })
        }
        #expect(excess(ending(10), over: caller) == nil)
        #expect(excess(ending(11), over: caller) == "expiresAt")
        #expect(excess(ending(nil), over: caller) == "expiresAt")
    }

    @Test func networksAreWithinThoseOfTheCaller() throws {
        let caller = KeyRights(scopes: ["admin"], networks: [try range("10.0.0.0/8"), try range("2001:db8::/32")])
        func within(_ texts: String...) throws -> KeyRights {
            KeyRights(scopes: ["read"], networks: try texts.map(range))
        }
        #expect(excess(try within("10.0.0.0/8", "2001:db8:1::/48"), over: caller) == nil)
        #expect(excess(try within("10.1.2.3"), over: caller) == nil)
        for outside in ["0.0.0.0/0", "11.0.0.0/8", "10.0.0.0/7", "::/0"] {
            #expect(excess(try within("10.0.0.0/8", outside), over: caller) == "networks", "\(outside)")
        }
        #expect(excess(try within(), over: caller) == "networks")
    }

    // Each new key would have a limit of its own.
    @Test func aKeyWithALimitOfRecipientsCreatesNoneThatSends() {
        let caller = KeyRights(scopes: ["admin"], recipientsPerDay: 10)
        #expect(excess(KeyRights(scopes: ["read", "devices"]), over: caller) == nil)
        for scope in ["send", "send:direct:app/shop", "admin"] {
            #expect(excess(KeyRights(scopes: [scope], recipientsPerDay: 1), over: caller) == "scopes", "\(scope)")
        }
    }
}
