import APNs
import ApplePayload
import Commands
import DeliveryEngine
package import EngineStore
import Foundation
package import Model
import Routing
package import Store

/// Explains the state of a delivery, for the native API and `message show --device`.
package struct DeliveryExplainer: Sendable {
    package let queries: PostgresQueryStore
    package let directory: PostgresDirectory
    package let adapters: [Vendor: any VendorAdapter]
    let identifiers: any IdentifierSource

    package init(
        queries: PostgresQueryStore,
        directory: PostgresDirectory,
        adapters: [Vendor: any VendorAdapter],
        identifiers: any IdentifierSource
    ) {
        self.queries = queries
        self.directory = directory
        self.adapters = adapters
        self.identifiers = identifiers
    }

    /// Explains one delivery; nil when the message has no such target.
    ///
    /// - Throws: `StoreError`.
    package func explain(
        _ message: MessageFacts,
        to target: TargetID,
        in tenant: TenantID
    ) async throws(StoreError) -> DeliveryExplanation? {
        guard let trail = try await queries.trail(of: message, target: target, in: tenant) else { return nil }
        let route = trail.target.flatMap { trail.routes[$0.destination.platform] }
        var credential = trail.queue?.heldBy
        if let facts = trail.target, credential == nil {
            credential = route?.credentials[facts.destination.environment]
        }
        var standing: CredentialStanding?
        if let credential {
            standing = try await directory.standing(of: CredentialKey(tenant: tenant, credential: credential))
        }
        var explanation = DeliveryExplanation(
            message: message,
            trail: trail,
            topic: route?.topic,
            credential: credential,
            standing: standing
        )
        if trail.delivery.transport?.hasPrefix(CredentialID.upstreamPrefix) ?? false {
            explanation.upstream = try await directory.upstreamCall(of: message.id, to: target, in: tenant)
        }
        if trail.delivery.snapshot.reason == SuppressionReason.crossVendorDuplicate.rawValue {
            let (device, identity) = (trail.target?.device, trail.target?.identity)
            explanation.duplicateOf = try await directory.sentBefore(message.id, to: device, or: identity, in: tenant)
        }
        explanation.rules = try await rules(of: message, to: target, trail, in: tenant)
        let notification = Notification(
            message: message.id,
            origin: message.scope.vendor,
            content: message.content,
            sentAt: message.dueAt,
            expiresAt: message.expiresAt,
            collapseID: message.collapseID
        )
        if let facts = trail.target, let adapter = adapters[notification.format(for: facts)] {
            let settings = try await directory.settings(of: message.scope.app, in: tenant)[facts.vendor]
            explanation.push = PushPicture.make(
                adapter,
                notification,
                facts,
                settings ?? BindingSettings(tenant: tenant, app: message.scope.app),
                from: adapters[notification.origin],
                topic: route?.topic ?? "",
                id: PushID(
                    trail.delivery.transportID ?? identifiers.transportID(message: message.id, target: target)
                )
            )
        }
        return explanation
    }

    /// How rules routed the delivery, or would route one that waits; nil: the app had none.
    private func rules(
        of message: MessageFacts,
        to target: TargetID,
        _ trail: DeliveryTrail,
        in tenant: TenantID
    ) async throws(StoreError) -> RouteTrace? {
        guard let facts = trail.target else { return nil }
        let app = message.scope.app
        let day = message.dueAt.day
        let stored: StoredRules?
        if let version = try await directory.routeVersion(of: message.id, dueOn: day, to: target, in: tenant) {
            stored = try await directory.rules(version, of: app, in: tenant)
        } else {
            stored = trail.queue == nil ? nil : try await directory.rulesInForce(of: app, in: tenant)
        }
        return stored.flatMap { RouteTrace($0, for: facts, lane: message.lane) }
    }
}

/// An explained delivery. Facts stored with its outcome are reported unchanged. Other parts are recomputed from the present data and marked as recomputed.
package struct DeliveryExplanation: Sendable {
    package let message: MessageFacts
    package let trail: DeliveryTrail
    /// The topic of the app on the device's platform.
    package let topic: String?
    /// The credential that the delivery waits for, or otherwise the app's credential for the device's environment.
    package let credential: CredentialID?
    /// Nil when the credential is not provisioned.
    package let standing: CredentialStanding?
    /// Nil when the target has no active identity, or when this build does not contain its dialect.
    package fileprivate(set) var push: Result<PushPicture, AdapterError>?
    /// The call by which an upstream got the message; nil: none did, or it is one of very many calls of the message.
    package fileprivate(set) var upstream: UpstreamTrace?
    /// The message with the same text that the device was sent before; nil: there was none, or its device is not known any longer.
    package fileprivate(set) var duplicateOf: MessageID?
    /// How the rules of the app routed the delivery; nil: the app has none.
    package fileprivate(set) var rules: RouteTrace?

    /// The recomputed parts, by their names in `explanation`. They may differ from the push that was sent, if the device, the app or its settings have changed
    /// since.
    package static let recomputed = ["device", "identity", "route", "rules", "push"]

    package var delivery: DeliveryFacts { trail.delivery }
    package var reason: ReasonText.Entry? { delivery.snapshot.reason.flatMap(ReasonText.entry) }
    /// A Live Activity has a token of its own, which is not read here.
    package var token: String {
        message.content.activity == nil ? trail.target?.destination.token?.masked ?? "…" : "…"
    }

    package var standingText: String {
        let queue = trail.queue.map { queue in
            ReasonText.QueueWords(
                isLeased: queue.state == "leased",
                isPaused: queue.isLanePaused || message.state == .paused,
                isReserved: delivery.snapshot.isReserved && queue.state == "ready",
                attempts: queue.attempts,
                holder: queue.heldBy.map { ($0.rawValue, standing?.refusal) },
                deadReason: queue.deadReason,
                hours: waiting(queue)?.sentence,
                nextTry: Self.text(queue.nextAt)
            )
        }
        return ReasonText.standing(delivery, queue: queue)
    }

    package func waiting(_ queue: QueueFacts) -> HoursWords? {
        guard message.state != .canceled, let target = trail.target else { return nil }
        let rules = TimingRules(
            app: trail.timing,
            lane: message.lane,
            dueAt: message.dueAt,
            localDue: message.localDue,
            expiresAt: message.expiresAt
        )
        guard rules.concerns(target.clock.window) else { return nil }
        guard case .wait(let until, let why) = rules.verdict(target.clock, now: queue.seenAt) else { return nil }
        // A message with one time for all targets is reserved, whatever the hours.
        if message.localDue == nil, until <= message.dueAt { return nil }
        return HoursWords(why: why, until: until, rules: rules, clock: target.clock)
    }

    private static func text(_ time: Timestamp?) -> String {
        guard let time else { return "" }
        return Date(timeIntervalSince1970: Double(time.milliseconds) / 1000).formatted(.iso8601)
    }

    /// Formats the explanation for people: a name and a value per line, with the recomputed parts under a separate heading.
    package var text: String {
        let snapshot = delivery.snapshot
        var rows: [(String, String?)] = [
            ("target", snapshot.target.description), ("address", snapshot.address?.canonical),
            ("state", snapshot.state.rawValue), ("", standingText), ("reason", snapshot.reason),
            ("", reason?.meaning), ("", reason?.advice), ("sent", Self.text(snapshot.sentAt)),
            ("received", Self.text(snapshot.receivedAt)), ("read", Self.text(snapshot.readAt)),
            ("transport", delivery.transport), ("apns-id", delivery.transportID?.lowercased),
            ("attempts", "\(delivery.attempts)"),
            ("payload", delivery.payloadBytes > 0 ? "\(delivery.payloadBytes) bytes" : nil),
            ("cut", delivery.shortened), ("tried", triedText),
        ]
        if let rules { rows.append(("rules", rules.text)) }
        if let upstream {
            let answer = upstream.isAnswered ? upstream.reference ?? "answered" : "no end is recorded"
            rows.append(("upstream", "\(upstream.upstream), called \(Self.text(upstream.calledAt)), \(answer)"))
        }
        if let duplicateOf { rows.append(("sent before", duplicateOf.description)) }
        if let queue = trail.queue {
            rows.append(("slice", "\(queue.slice), \(queue.state), returned to the queue \(queue.attempts) times"))
        }
        return Self.lines(rows) + "\n\nas it would be sent now:\n" + Self.lines(nowRows)
    }

    private var nowRows: [(String, String?)] {
        guard let target = trail.target else { return [("device", "the target has no active identity")] }
        let health = standing.map { $0.refusal ?? "works" } ?? "is not provisioned"
        var rows: [(String, String?)] = [
            ("device", target.device?.description),
            ("platform", "\(target.destination.platform.rawValue) \(target.destination.environment.rawValue)"),
            ("token", "\(token) \(target.destination.tokenState.rawValue) \(trail.tokenReason ?? "")"),
            ("identity", "\(target.vendor) \(target.key) \(target.identityState.rawValue)"),
            ("credential", credential.map { "\($0) \(health)" }), ("rules", rules?.text),
        ]
        rows += sightingRows(of: target.identity)
        switch push {
        case nil: break
        case .failure(let error): rows.append(("push", "cannot be encoded: \(error)"))
        case .success(let picture):
            rows.append(("payload", "\(picture.payload.bytes.count) bytes"))
            if !picture.payload.reduced.isEmpty {
                rows.append(("cut", picture.payload.reduced.joined(separator: ", ")))
            }
            if let fault = picture.preview.fault { rows.append(("refused", fault.description)) }
            rows += picture.headers(token: token).map { ($0.name, $0.value) }
        }
        return rows
    }

    /// Why this identity of the device gets the push, and when the others were seen. Empty if the device has only one.
    private func sightingRows(of identity: IdentityID) -> [(String, String?)] {
        guard trail.sightings.count > 1 else { return [] }
        let isLatest = trail.sightings.first?.identity == identity
        let reason =
            isLatest
            ? "seen last of the device's \(trail.sightings.count) identities"
            : "an identity that was seen later is of another user or a lower level, or of a dialect that is not preferred, or was seen since"
        let others = trail.sightings.map { sighting in
            ("", "\(sighting.dialect) \(sighting.key), seen \(Self.text(sighting.lastSeen))" as String?)
        }
        return [("chosen", reason)] + others
    }

    private static func lines(_ rows: [(String, String?)]) -> String {
        let shown = rows.compactMap { name, value in value.flatMap { $0.isEmpty ? nil : (name, $0) } }
        let width = shown.map(\.0.count).max() ?? 0
        return shown.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2) + value.trimmingCharacters(in: .whitespaces)
        }.joined(separator: "\n")
    }
}
