import FoundationEssentials
import Model

extension MessageID {
    /// The name of a message that is only read or tried.
    static let none = MessageID(rawValue: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
}

extension TargetFacts {
    /// A target about which nothing is known: what a message shows, and whether its payload fits, is tried with it.
    static func unknown(in app: AppID, _ vendor: Vendor, key: VendorDeviceKey = "") -> TargetFacts {
        let identity = IdentityID(rawValue: MessageID.none.rawValue)
        return TargetFacts(
            target: TargetID(identity),
            identity: identity,
            device: nil,
            app: app,
            vendor: vendor,
            key: key,
            destination: PushDestination(platform: .ios, environment: .production, token: nil, tokenState: .none)
        )
    }
}
