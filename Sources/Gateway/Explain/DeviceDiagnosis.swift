import Commands
import DeliveryEngine
package import EngineStore
package import Model
import Routing
package import Store

/// Finds out why pushes reach a device, or why not: from facts to conditions, without I/O. The rules are those of the delivery; only the sentences that
/// deliveries do not need are here.
package struct DeviceDiagnosis: Sendable {
    package var facts: DiagnosisFacts
    /// The standing of the credential on the device's route; nil: it is not provisioned, or the app has no route.
    package var standing: CredentialStanding?
    /// The dialects of this build, with the reports that their SDKs make.
    package var dialects: [Vendor: Reporting]
    /// The platforms that the gateway can reach.
    package var platforms: Set<Platform> = [.ios]
    /// An upstream through which a rule of the app sends to a registration of the device. It needs neither token nor credential of the push service.
    package var upstream: CredentialID?
    /// The standings of the credentials and upstreams for which messages wait.
    package var holders: [CredentialID: CredentialStanding] = [:]
    /// The budgets of the tenant and of the device's credential that have no push left now.
    package var spentBudgets: Set<String> = []

    package init(
        facts: DiagnosisFacts,
        standing: CredentialStanding? = nil,
        dialects: [Vendor: Reporting]
    ) {
        self.facts = facts
        self.standing = standing
        self.dialects = dialects
    }

    /// The conditions in the order of `DeviceCondition.Name`, each for the device or once for each identity.
    package var conditions: [DeviceCondition] {
        let active = facts.identities.filter { $0.target.identityState == .active }
        return DeviceCondition.Name.allCases.flatMap { name -> [DeviceCondition] in
            switch name {
            case .app: [app]
            case .platform: [needless(platform)]
            case .registration: registrations(active)
            case .token: [needless(token)]
            case .route: [needless(routeCondition)]
            case .credential: [needless(credentialCondition.about(credential))]
            case .dialect: active.map { dialect($0).of($0) }
            case .pushSetting: active.map { pushSetting($0).of($0) }
            case .assurance: active.map { assurance($0).of($0) }
            case .highestLevel: active.map { highestLevel($0).of($0) }
            case .optIn: active.map { optIn($0).of($0) }
            case .consents: active.map { consents($0).of($0) }
            case .lane: [lane]
            case .quietHours: [quietHours]
            case .receivingWindow: [receivingWindow]
            case .frequencyCap: [frequencyCap]
            case .lastDelivery: [lastDelivery]
            case .receipts: [receipts]
            }
        }
    }

    /// A condition of the push service, which an upstream does not have.
    private func needless(_ condition: DeviceCondition) -> DeviceCondition {
        guard let upstream, condition.prevents else { return condition }
        return .met(condition.name, "The rules of the app send to the device through the upstream \(upstream).")
    }

    /// Whether a message of the lane would be sent to the device now: to one of its identities, if it has several.
    package var isReachable: Bool { preventing.isEmpty }

    /// The answer in one sentence: the first condition that prevents a push, or else the wait of the first message that waits.
    package var answer: String {
        preventing.first?.text ?? firstWaiting?.text ?? "Nothing prevents a push to this device now."
    }

    /// The conditions that prevent a push. Those of one identity count only if each active identity has one.
    package var preventing: [DeviceCondition] {
        let unmet = conditions.filter(\.prevents)
        let blocked = Set(unmet.compactMap(\.identity?.id))
        let isOpen = facts.identities.contains {
            $0.target.identityState == .active && !blocked.contains($0.target.identity)
        }
        return unmet.filter { $0.identity == nil || !isOpen }
    }

    /// The credential on the device's route.
    package var credential: CredentialID? {
        guard case .direct(let credential) = route else { return nil }
        return credential
    }

    private var device: DeviceFacts { facts.device }

    // MARK: The app and its route

    private var app: DeviceCondition {
        guard let retiredAt = facts.retiredAt else { return .met(.app, "The app is provisioned.") }
        return .unmet(
            .app,
            since: retiredAt,
            "The app was removed from provisioning.",
            action: "Add the app to the provisioning file and apply it."
        )
    }

    private var platform: DeviceCondition {
        guard platforms.contains(device.platform) else {
            return .unmet(.platform, reason: FailureReason.noTransport.rawValue)
        }
        return .met(.platform, "The gateway sends to \(device.platform.rawValue).")
    }

    private var topic: String { facts.routes[device.platform]?.topic ?? "" }

    private var route: Route {
        Router().route(
            to: device.platform,
            device.environment,
            topic: topic,
            credentials: facts.routes[device.platform]?.credentials ?? [:]
        )
    }

    private var routeCondition: DeviceCondition {
        let place = "\(device.platform.rawValue) \(device.environment.rawValue)"
        guard let credential else {
            let hasTopic = !topic.isEmpty || device.platform != .ios
            return .unmet(
                .route,
                hasTopic
                    ? "The app has no credential for \(place)."
                    : "The app has no topic for \(device.platform.rawValue).",
                action: "Add it to the app's platforms in the provisioning file and apply it."
            )
        }
        let topic = topic.isEmpty ? "" : "topic \(topic), "
        return .met(.route, "Pushes for \(place) use \(topic)credential \(credential).")
    }

    private var credentialCondition: DeviceCondition {
        guard let credential else { return .unknown(.credential, "The app has no route for the device.") }
        guard let standing else {
            return .unmet(
                .credential,
                "The credential \(credential) is not provisioned.",
                action: "Add it to the tenant's credentials in the provisioning file and apply it."
            )
        }
        guard let refusal = standing.refusal else {
            return .met(.credential, "The push service has not refused the credential \(credential).")
        }
        let meaning = ReasonText.entry(refusal).map { ": \($0.meaning)" } ?? "."
        return .unmet(
            .credential,
            since: standing.refusedAt,
            reason: refusal,
            "The push service refuses the credential \(credential) with \(refusal)\(meaning)"
        )
    }

    // MARK: The device

    private var token: DeviceCondition {
        let destination = PushDestination(
            platform: device.platform,
            environment: device.environment,
            token: device.token,
            tokenState: device.tokenState,
            tokenRegisteredAt: device.tokenRegisteredAt
        )
        guard destination.usableToken == nil else {
            return .met(.token, since: device.tokenRegisteredAt, "The device has a token.")
        }
        let noDevice = SuppressionReason.noDevice.rawValue
        switch (device.tokenState, facts.tokenReason) {
        case (.none, _), (.active, _):
            return .unmet(.token, reason: noDevice, "The device has no token.")
        case (.invalid, nil), (.quarantined, nil):
            return .unmet(.token, reason: noDevice, "The token is \(device.tokenState.rawValue).")
        case (.invalid, let reason?), (.quarantined, let reason?):
            let meaning = ReasonText.entry(reason).map { ": \($0.meaning)" } ?? "."
            return .unmet(
                .token,
                since: rejectedAt(reason),
                reason: reason,
                "The push service rejected the token with \(reason)\(meaning)"
            )
        }
    }

    /// When the push service rejected the present token, if that delivery is among the latest ones.
    private func rejectedAt(_ reason: String) -> Timestamp? {
        facts.deliveries.last { delivery in
            guard let at = delivery.snapshot.sentAt else { return false }
            return delivery.snapshot.state == .failed && delivery.snapshot.reason == reason
                && device.tokenRegisteredAt.map { at >= $0 } ?? true
        }?.snapshot.sentAt
    }

    private var lane: DeviceCondition {
        guard facts.isLanePaused else { return .met(.lane, "The tenant's lane \(facts.lane) is not paused.") }
        return .unmet(
            .lane,
            "The tenant's lane \(facts.lane) is paused.",
            action: Self.laneAction
        )
    }

    static let laneAction = "Set is_paused of the lane to false in the table gateway.lane."

    // MARK: Identities

    private func registrations(_ active: [DiagnosedIdentity]) -> [DeviceCondition] {
        var found = active.map { identity in
            DeviceCondition.met(.registration, since: identity.registeredAt, "The registration is active.").of(identity)
        }
        if active.isEmpty {
            found.append(
                .unmet(
                    .registration,
                    reason: SuppressionReason.noDevice.rawValue,
                    "The device has no active registration."
                )
            )
        }
        return found + facts.identities.filter { $0.target.identityState != .active }.map { ended($0).of($0) }
    }

    /// A former registration. It blocks nothing: the device is reached through its active ones.
    private func ended(_ identity: DiagnosedIdentity) -> DeviceCondition {
        if let end = identity.endsAt, end <= facts.seenAt {
            return .unmet(
                .registration,
                blocks: false,
                since: end,
                "The registration has ended.",
                action: "The app has to register again."
            )
        }
        let (text, action): (String, String?) =
            switch identity.target.identityState {
            case .active: ("The registration is active.", nil)
            case .replaced: ("Another registration replaced this one.", nil)
            case .unregistered: ("The app ended the registration.", "The app has to register again.")
            case .removed: ("The registration was removed.", "The app has to register again.")
            }
        return .unmet(.registration, blocks: false, text, action: action)
    }

    private func dialect(_ identity: DiagnosedIdentity) -> DeviceCondition {
        let vendor = identity.target.vendor
        guard dialects[vendor] != nil else { return .unmet(.dialect, reason: PayloadProblem.noAdapter.rawValue) }
        return .met(.dialect, "The gateway writes payloads for \(vendor).")
    }

    private func pushSetting(_ identity: DiagnosedIdentity) -> DeviceCondition {
        if ConsentRule.subscribed.allows(identity.target) { return .met(.pushSetting, "The user accepts pushes.") }
        guard identity.deniesPush else {
            return .unmet(.pushSetting, reason: SuppressionReason.preference.rawValue)
        }
        return .unmet(
            .pushSetting,
            "The device's system does not show notifications of the app.",
            action: "The user has to allow them in the settings of the device."
        )
    }

    private func assurance(_ identity: DiagnosedIdentity) -> DeviceCondition {
        let levels = TargetLevels(minimum: facts.assurance.minimum(for: facts.lane))
        let level = identity.target.assurance
        let text =
            "The level of the user is \(level.rawValue); messages of the lane \(facts.lane) need \(levels.minimum.rawValue)."
        guard levels.permit(level, isOutranked: false) else {
            return .unmet(
                .assurance,
                since: identity.userSince,
                reason: SuppressionReason.assurance.rawValue,
                text
            )
        }
        return .met(.assurance, since: identity.userSince, text)
    }

    private func highestLevel(_ identity: DiagnosedIdentity) -> DeviceCondition {
        let levels = TargetLevels(minimum: .pending, isMixed: facts.assurance.isMixed)
        guard levels.permit(identity.target.assurance, isOutranked: identity.isOutranked) else {
            return .unmet(
                .highestLevel,
                reason: SuppressionReason.assurance.rawValue,
                "Messages to the user, phone or groups reach only another identity, which has a higher level."
            )
        }
        return .met(.highestLevel, "No identity of a higher level excludes this one.")
    }

    private func optIn(_ identity: DiagnosedIdentity) -> DeviceCondition {
        if ConsentRule.optedIn.allows(identity.target) {
            return .met(.optIn, blocks: false, "The user has opted in to pushes.")
        }
        return .unmet(
            .optIn,
            blocks: false,
            "The user has not opted in to pushes, which only messages with the consent optedIn need.",
            action: "Nothing, unless such messages are missing."
        )
    }

    /// 10 subjects are named.
    private static let subjectLimit = 10

    private func consents(_ identity: DiagnosedIdentity) -> DeviceCondition {
        let ended = identity.consents.filter { $0.value == .unsubscribed }.keys.sorted()
        guard !ended.isEmpty else {
            return .met(.consents, blocks: false, "The user has not unsubscribed from a subject.")
        }
        let more = ended.count > Self.subjectLimit ? " …" : ""
        let names = ended.prefix(Self.subjectLimit).joined(separator: ", ") + more
        return .unmet(
            .consents,
            blocks: false,
            "The user has unsubscribed from: \(names).",
            action: "Nothing, until the user subscribes again; messages about other subjects are sent."
        )
    }
}

// MARK: - Hours and counts

extension DeviceDiagnosis {
    private var quietHours: DeviceCondition {
        let timing = AppTiming(timeZone: facts.timing.timeZone, quietHours: facts.timing.quietHours)
        let clock = DeviceClock(timeZone: facts.device.clock.timeZone)
        return hours(.quietHours, timing, clock, open: "It is not in quiet hours of the app.")
    }

    private var receivingWindow: DeviceCondition {
        let timing = AppTiming(timeZone: facts.timing.timeZone, windows: facts.timing.windows)
        return hours(.receivingWindow, timing, facts.device.clock, open: "No receiving window excludes this time.")
    }

    /// The decision about a message that is due now and lives for long enough to wait.
    private func hours(
        _ name: DeviceCondition.Name,
        _ timing: AppTiming,
        _ clock: DeviceClock,
        open: String
    ) -> DeviceCondition {
        let now = facts.seenAt
        let end = now + .seconds(3 * 86_400)
        let rules = TimingRules(app: timing, lane: facts.lane, dueAt: now, localDue: nil, expiresAt: end)
        guard rules.concerns(clock.window) else { return .met(name, open) }
        switch rules.verdict(clock, now: now) {
        case .open, .expired: return .met(name, open)
        case .suppress(let reason): return .unmet(name, reason: reason.rawValue)
        case .wait(let until, let why):
            let words = HoursWords(why: why, until: until, rules: rules, clock: clock)
            return .unmet(name, until: until, words.sentence, action: "Nothing: the message is sent then.")
        }
    }

    private var frequencyCap: DeviceCondition {
        guard let cap = facts.timing.cap, AppTiming.FrequencyCap.lanes.contains(facts.lane) else {
            return .met(.frequencyCap, "No cap applies.")
        }
        let hours = cap.period.components.seconds / 3600
        let sent = facts.sentInPeriod
        let text = "The device was sent \(sent) of at most \(cap.count) messages in the last \(hours) hours."
        guard sent < cap.count else {
            return .unmet(.frequencyCap, reason: SuppressionReason.frequencyCap.rawValue, text)
        }
        return .met(.frequencyCap, text)
    }

    private var lastDelivery: DeviceCondition {
        guard let latest = facts.deliveries.first else {
            return .unknown(.lastDelivery, "No delivery to the device is stored.")
        }
        let snapshot = latest.snapshot
        // A delivery with an outcome needs no words about the queue.
        let standing = ReasonText.standing(latest, queue: nil)
        switch snapshot.state {
        case .sent, .received, .read:
            return .met(.lastDelivery, blocks: false, since: snapshot.sentAt, standing)
        case .queued, .failed, .suppressed, .expired, .canceled:
            let entry = snapshot.reason.flatMap(ReasonText.entry)
            let text = entry.map { "\(standing) \($0.meaning)" } ?? standing
            return .unmet(
                .lastDelivery,
                blocks: false,
                since: snapshot.sentAt,
                text,
                action: entry?.advice
            )
        }
    }

    private var receipts: DeviceCondition {
        let active = facts.identities.filter { $0.target.identityState == .active }
        guard active.contains(where: { dialects[$0.target.vendor]?.received.canReport == true }) else {
            return .unknown(.receipts, "The SDK on the device does not report receipts.")
        }
        let sent = facts.deliveries.map(\.snapshot).filter { [.sent, .received, .read].contains($0.state) }
        guard let latest = sent.first else {
            return .unknown(.receipts, "None of the latest pushes was sent.")
        }
        func receipt(_ snapshot: DeliverySnapshot) -> Timestamp? { snapshot.receivedAt ?? snapshot.readAt }
        if let at = receipt(latest) {
            return .met(.receipts, blocks: false, since: at, "The device reported the receipt of the latest push.")
        }
        return .unmet(
            .receipts,
            blocks: false,
            since: sent.compactMap(receipt).first ?? sent.last?.sentAt,
            "The device has not reported the receipt of the latest push.",
            action: "Check that the device is online and that the app calls the SDK when a push arrives."
        )
    }
}
