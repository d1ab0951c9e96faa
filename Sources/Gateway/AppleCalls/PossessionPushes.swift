import ApplePayload
import DeliveryEngine
package import EngineStore
package import GatewayHTTP
package import Model
package import Store

/// Sends the nonce of a challenge in a silent push, while the caller waits. It is not queued: the caller starts another challenge if it does not arrive.
package struct PossessionPushes: Sendable {
    /// Sends one push and returns its outcome.
    package typealias Sending = @Sendable (Push, CredentialKey) async -> Outcome

    /// 10 s: the caller waits for the push service's answer.
    package static let deadline = Duration.seconds(10)
    /// The member of the payload with the nonce, next to those of Apple.
    package static let member = "gatewayNonce"

    package let directory: PostgresDirectory
    /// Writes the payload, which is the same for every vendor's app.
    let adapter: (any VendorAdapter)?
    let identifiers: any IdentifierSource
    let sending: Sending

    package init(
        directory: PostgresDirectory,
        vendors: VendorCatalog,
        identifiers: any IdentifierSource,
        sending: @escaping Sending
    ) {
        self.directory = directory
        adapter = vendors.byVendor[.native]
        self.identifiers = identifiers
        self.sending = sending
    }

    /// - Throws: `Problem` unless the push service accepted the push.
    package func send(
        _ nonce: String,
        to device: ChallengedDevice,
        of tenant: TenantID,
        at now: Timestamp,
        expiresAt: Timestamp
    ) async throws(Problem) {
        guard let token = device.token, let platform = device.platform else {
            throw .invalid("device", "has no push token that works")
        }
        let route: PlatformRoute?
        do { route = try await directory.routes(of: device.app, in: tenant)[platform] } catch { throw .unavailable(5) }
        guard platform == .ios, let route, let credential = route.credentials[device.environment] else {
            throw .noCredential(device.app, device.environment)
        }
        let push = Push(
            slot: 0,
            token: token,
            environment: device.environment,
            topic: route.topic,
            id: PushID(identifiers.uuid(at: now)),
            payload: try payload(nonce, device, tenant, now),
            expiresAt: expiresAt
        )
        switch await sending(push, CredentialKey(tenant: tenant, credential: credential)) {
        case .accepted: return
        case .rejected(let rejection):
            throw Problem(.pushServiceRefused, "the push service answered \(rejection.status) \(rejection.reason)")
        case .deferred(let rejection, let after):
            throw .pushServiceFailed(
                "the push service answered \(rejection.status) \(rejection.reason)",
                retryAfter: after
            )
        case .unsent(let error):
            throw .pushServiceFailed("the push service gave no answer (\(error.code)); the request was not sent")
        case .indeterminate(let error):
            throw .pushServiceFailed("the push service gave no answer (\(error.code)); the push may arrive")
        }
    }

    private func payload(
        _ nonce: String,
        _ device: ChallengedDevice,
        _ tenant: TenantID,
        _ now: Timestamp
    ) throws(Problem) -> PushPayload {
        let notification = Notification(
            message: MessageID(rawValue: identifiers.uuid(at: now)),
            origin: .native,
            content: Content(body: "", data: [Self.member: .string(nonce)], isSilent: true),
            sentAt: now
        )
        let identity = IdentityID(rawValue: identifiers.uuid(at: now))
        let target = TargetFacts(
            target: TargetID(identity),
            identity: identity,
            device: nil,
            app: device.app,
            vendor: .native,
            key: "challenge",
            destination: PushDestination(platform: .ios, environment: device.environment, token: nil, tokenState: .none)
        )
        let settings = BindingSettings(tenant: tenant, app: device.app)
        do throws(AdapterError) {
            guard let adapter else { throw AdapterError(.withheld) }
            return try adapter.applePayload(for: notification, to: target, settings: settings)
        } catch { throw .unavailable(5) }
    }
}
