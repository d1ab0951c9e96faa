import DeliveryEngine
import Model

extension ContractWorld {
    /// A world in memory, whose time is moved by hand.
    package static func inMemory() -> ContractWorld {
        let clock = TestClock()
        let database = MemoryDatabase(clock: clock)
        let credentials: [PushEnvironment: CredentialID] = [.production: "apple", .sandbox: "apple-sandbox"]
        for tenant in ["one", "two"] as [TenantID] {
            database.provision(
                tenant,
                app: "shop",
                routes: [.ios: PlatformRoute(topic: "com.example.shop", credentials: credentials)],
                settings: [.rationalOwl: BindingSettings(tenant: tenant, app: "shop")]
            )
        }
        return ContractWorld(
            tenant: "one",
            otherTenant: "two",
            app: "shop",
            commands: InMemoryCommandStore(database),
            deliveries: InMemoryDeliveryStore(database),
            webhooks: InMemoryWebhookStore(database),
            subscriptions: InMemorySubscriptionStore(database),
            setTiming: { database.setTiming($0, of: "shop", in: "one") },
            erase: { database.erase($0, in: "one") },
            identifiers: TestIdentifiers(),
            now: { clock.now() },
            pass: { clock.advance(by: $0) }
        )
    }
}
