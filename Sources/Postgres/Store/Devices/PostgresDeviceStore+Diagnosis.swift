package import DeliveryEngine
package import Model
import PostgresClient

/// The facts that decide whether a push reaches a device now.
package struct DiagnosisFacts: Sendable, Hashable {
    /// Without its identities.
    package var device: DeviceFacts
    /// The push service's reason why the token may not be used.
    package var tokenReason: String?
    /// The newest identities, the active ones first; at most `identityLimit`.
    package var identities: [DiagnosedIdentity]
    /// The current topics and credentials of the app.
    package var routes: [Platform: PlatformRoute]
    package var timing: AppTiming
    package var assurance: AssuranceRules
    /// When the app was removed from provisioning.
    package var retiredAt: Timestamp?
    /// The lane of the message for which the conditions hold.
    package var lane: Lane
    package var isLanePaused: Bool
    /// The number of messages that the device was sent within the period of the app's cap, as far as the cap counts; 0 without a cap.
    package var sentInPeriod: Int
    /// The latest deliveries with an outcome, the latest due first; at most `deliveryLimit`.
    package var deliveries: [DeliveryFacts]
    /// The messages that wait: those that are due, the newest first, then those that are due later, the first ones first; at most `waitingLimit`.
    package var waiting: [WaitingFacts]
    /// Whether there are open messages of the tenant that were not looked at.
    package var hasMoreOpen: Bool
    /// When this was read, by the database's clock.
    package var seenAt: Timestamp

    /// 20: a device has one or two active identities, and the former ones only show what it was before.
    package static let identityLimit = 20
    /// 10: the last outcomes and receipts.
    package static let deliveryLimit = 10
    /// 10: a person looks for one message.
    package static let waitingLimit: Int32 = 10
    /// 100 open messages are looked at, with two look-ups each, and some more for those of the app.
    package static let openLimit: Int32 = 100

    package init(
        device: DeviceFacts,
        tokenReason: String? = nil,
        identities: [DiagnosedIdentity],
        routes: [Platform: PlatformRoute],
        lane: Lane,
        seenAt: Timestamp
    ) {
        self.device = device
        self.tokenReason = tokenReason
        self.identities = identities
        self.routes = routes
        timing = .none
        assurance = .none
        self.lane = lane
        isLanePaused = false
        sentInPeriod = 0
        deliveries = []
        waiting = []
        hasMoreOpen = false
        self.seenAt = seenAt
    }
}

/// An identity of a diagnosed device.
package struct DiagnosedIdentity: Sendable, Hashable {
    package var target: TargetFacts
    package var registeredAt: Timestamp
    /// Since when it has its user; nil: since it exists.
    package var userSince: Timestamp?
    /// When the registration ends.
    package var endsAt: Timestamp?
    /// Whether the device's system shows no pushes of the app.
    package var deniesPush = false
    /// Whether its user or phone has an identity of a higher level in the app.
    package var isOutranked = false
    /// The user's consents by subject.
    package var consents: [String: ConsentState] = [:]
    package var client = ClientFacts()

    package init(target: TargetFacts, registeredAt: Timestamp) {
        self.target = target
        self.registeredAt = registeredAt
    }
}

extension PostgresDeviceStore {
    /// Returns what decides whether a push reaches a device in messages of `lane`; nil when the tenant has no such device.
    ///
    /// - Throws: `StoreError`.
    package func diagnosis(
        of id: DeviceID,
        in tenant: TenantID,
        lane: Lane
    ) async throws(StoreError) -> DiagnosisFacts? {
        try await asStore { () throws(PostgresError) in
            let key: [PostgresValue] = [.id(tenant), .id(id)]
            let results = try await run(
                [
                    DiagnosisSQL.device.with(key + [.int(Int(lane.rawValue))]),
                    DiagnosisSQL.identities.with(key + [.int(DiagnosisFacts.identityLimit)]),
                    DiagnosisSQL.deliveries.with(key + [.int(DiagnosisFacts.deliveryLimit)]),
                    DiagnosisSQL.waiting.with(
                        key + [.int32(DiagnosisFacts.openLimit), .int32(DiagnosisFacts.waitingLimit)]
                    ),
                ],
                in: tenant
            )
            guard let row = try results.result(0).first else { return nil }
            let defaults = try row.object("defaults")
            var facts = DiagnosisFacts(
                device: try DeviceRow.device(row),
                tokenReason: try row.optionalText("token_reason"),
                identities: try results.result(1).rows(Self.diagnosed),
                routes: PlatformRouteCoding.decode(try row.object("platforms")),
                lane: lane,
                seenAt: try row.time("asked_at")
            )
            facts.timing = TimingCoding.read(defaults)
            facts.assurance = AssuranceCoding.read(defaults)
            facts.retiredAt = try row.optionalTime("retired_at")
            facts.isLanePaused = try row.bool("is_paused")
            facts.deliveries = try results.result(2).rows(PostgresQueryStore.delivery)
            for row in try results.result(3) {
                if try row.isNull("message_id") {
                    facts.hasMoreOpen = true
                } else {
                    facts.waiting.append(try WaitingFacts.read(row))
                }
            }
            if let cap = facts.timing.cap { facts.sentInPeriod = try await sent(to: facts, cap, in: tenant) }
            return facts
        }
    }

    private func sent(
        to facts: DiagnosisFacts,
        _ cap: AppTiming.FrequencyCap,
        in tenant: TenantID
    ) async throws(PostgresError) -> Int {
        let statement = DiagnosisSQL.sent(
            .id(tenant),
            .id(facts.device.id),
            .id(facts.device.app),
            .int32(cap.firstDay(facts.seenAt.day)),
            .interval(cap.period),
            .int(cap.count)
        )
        return try await call.run(statement, tenant: tenant.rawValue).only().int("sent")
    }

    private static func diagnosed(_ row: Row) throws(PostgresError) -> DiagnosedIdentity {
        var identity = DiagnosedIdentity(
            target: try TargetRow.read(row),
            registeredAt: try row.time("registered_at")
        )
        identity.target.isOptedIn = try row.bool("opted_in")
        identity.userSince = try row.optionalTime("user_since")
        identity.endsAt = try row.optionalTime("ends_at")
        identity.deniesPush = try row.bool("denies_push")
        identity.isOutranked = try row.bool("is_outranked")
        identity.client = ClientFacts(try row.object("client"))
        identity.consents = ConsentCoding.read(try row.object("consents"))
        return identity
    }
}
