import Commands
import DeliveryEngine
import Model

extension MemoryTables {
    func rules(_ tenant: TenantID, _ message: NewMessage) -> TimingRules {
        TimingRules(
            app: apps[Scoped(tenant, message.scope.app)]?.timing ?? .none,
            lane: message.lane,
            dueAt: message.dueAt,
            localDue: message.localDue,
            expiresAt: message.expiresAt
        )
    }

    func clock(_ tenant: TenantID, _ identity: IdentityID) -> DeviceClock {
        identities[Scoped(tenant, identity)].flatMap { devices[Scoped(tenant, $0.device)]?.clock } ?? .unset
    }

    /// Whether targets of a message may be due at different times.
    func hasTimes(_ tenant: TenantID, _ message: NewMessage) -> Bool {
        let rules = rules(tenant, message)
        return rules.concerns(nil)
            || devices.contains { key, row in
                key.tenant == tenant && row.app == message.scope.app && rules.concerns(row.clock.window)
            }
    }

    /// Places of targets whose device got as many messages in the cap's period as it allows.
    func capped(
        _ tenant: TenantID,
        _ message: NewMessage,
        _ timing: AppTiming,
        _ facts: [(Int, TargetFacts)],
        now: Timestamp
    ) -> Set<Int> {
        guard let cap = timing.cap, AppTiming.FrequencyCap.lanes.contains(message.lane) else { return [] }
        var counts: [DeviceID: Int] = [:]
        for (key, row) in deliveries where key.tenant == tenant && row.result.state == .sent {
            guard let device = row.result.device, row.result.at > now + (.zero - cap.period) else { continue }
            guard messages[Scoped(tenant, key.value.message)]?.message.scope.app == message.scope.app else { continue }
            counts[device, default: 0] += 1
        }
        return Set(facts.filter { $0.1.device.map { counts[$0, default: 0] >= cap.count } ?? false }.map(\.0))
    }
}

extension DeviceClock {
    /// What is said stands; a whole day takes the window away.
    mutating func change(_ news: DeviceClock) {
        if let zone = news.timeZone { timeZone = zone }
        if let window = news.window { self.window = window.isWholeDay ? nil : window }
    }
}
