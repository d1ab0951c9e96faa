import DeliveryEngine
import Foundation
import Model

@testable import EngineStore
@testable import Explain
@testable import Store

/// The diagnosis of a device, from facts.
enum DiagnosisSample {
    /// 2026-11-26T06:00:00Z, 15:00 in Seoul.
    static let now = Timestamp(milliseconds: 1_795_672_800_000)
    private static let app = AppID("shop")
    private static let deviceID = DeviceID(UUID())

    static func identity(
        _ key: String = "k",
        state: IdentityState = .active,
        _ change: (inout DiagnosedIdentity) -> Void = { _ in }
    ) -> DiagnosedIdentity {
        let id = IdentityID(UUID())
        let target = TargetFacts(
            target: TargetID(id),
            identity: id,
            device: deviceID,
            app: app,
            vendor: .native,
            key: VendorDeviceKey(key),
            destination: PushDestination(platform: .ios, environment: .production, token: nil, tokenState: .active),
            identityState: state
        )
        var identity = DiagnosedIdentity(target: target, registeredAt: now + .seconds(-3600))
        change(&identity)
        return identity
    }

    /// A device to which nothing prevents a push, then changed.
    static func diagnosis(
        _ identities: [DiagnosedIdentity]? = nil,
        lane: Lane = .bulk,
        _ change: (inout DeviceDiagnosis) -> Void = { _ in }
    ) -> DeviceDiagnosis {
        let device = DeviceFacts(
            id: deviceID,
            app: app,
            platform: .ios,
            environment: .production,
            token: DeviceToken(stored: "aa01"),
            tokenState: .active,
            tokenRegisteredAt: now + .seconds(-7200),
            createdAt: now,
            clock: .unset,
            identities: []
        )
        let route = PlatformRoute(topic: "com.example.shop", credentials: [.production: "apple"])
        let facts = DiagnosisFacts(
            device: device,
            identities: identities ?? [identity()],
            routes: [.ios: route],
            lane: lane,
            seenAt: now
        )
        var diagnosis = DeviceDiagnosis(
            facts: facts,
            standing: CredentialStanding(kind: "apns-token"),
            dialects: [.native: Reporting(received: .reported, read: .reported)]
        )
        change(&diagnosis)
        return diagnosis
    }
}
