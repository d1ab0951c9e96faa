package import Model
import Store

/// One condition for a push to a device, and whether it is met.
package struct DeviceCondition: Sendable, Hashable {
    /// In the order in which they are examined: the first that is not met is the answer.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        /// The app is provisioned.
        case app
        /// The gateway has a transport for the platform.
        case platform
        /// The identity is active.
        case registration
        /// The device has a token that may be used.
        case token
        /// The app has a topic and a credential for the platform and environment of the token.
        case route
        /// The push service accepts the credential.
        case credential
        /// This build supports the dialect of the identity.
        case dialect
        /// The user, and the device's system, accept pushes.
        case pushSetting
        /// The level of the identity is that of the lane.
        case assurance
        /// The user or phone has no identity of a higher level.
        case highestLevel
        /// The user opted in to pushes.
        case optIn
        /// The user unsubscribed from nothing.
        case consents
        /// The tenant's lane is not paused.
        case lane
        /// It is outside of the app's quiet hours.
        case quietHours
        /// It is within the device's receiving window.
        case receivingWindow
        /// The device may receive another message within the app's period.
        case frequencyCap
        /// The latest delivery reached the push service.
        case lastDelivery
        /// The device reported the receipt of the latest push.
        case receipts
    }

    package var name: Name
    /// Nil: it is not known.
    package var isMet: Bool?
    /// Whether a message is not sent to the identity, or not yet, while the condition is not met.
    package var blocks: Bool
    /// Since when it has been in this state; nil: not known.
    package var since: Timestamp?
    /// When it will be met; nil: not known.
    package var until: Timestamp?
    /// The identity it is about; nil: the device with all its identities.
    package var identity: DiagnosedName?
    /// The state, as a sentence.
    package var text: String
    /// The recommended action; nil: none.
    package var action: String?
    /// Why it is not met, for a reason that deliveries have too; nil: another one.
    package var reason: String?
    /// The credential it is about; nil: none.
    package var credential: CredentialID?

    /// Whether it prevents a push now.
    package var prevents: Bool { blocks && isMet == false }
}

/// The name of an identity.
package struct DiagnosedName: Sendable, Hashable {
    package var id: IdentityID
    package var vendor: Vendor
    package var key: VendorDeviceKey
}

extension DeviceCondition {
    /// A condition that is met.
    static func met(_ name: Name, blocks: Bool = true, since: Timestamp? = nil, _ text: String) -> DeviceCondition {
        DeviceCondition(name: name, isMet: true, blocks: blocks, since: since, text: text)
    }

    /// A condition that is not met.
    static func unmet(
        _ name: Name,
        blocks: Bool = true,
        since: Timestamp? = nil,
        until: Timestamp? = nil,
        _ text: String,
        action: String?
    ) -> DeviceCondition {
        DeviceCondition(
            name: name,
            isMet: false,
            blocks: blocks,
            since: since,
            until: until,
            text: text,
            action: action
        )
    }

    /// A condition that is not met, for a reason that deliveries have too. Without `text`, the text is the reason's meaning.
    static func unmet(
        _ name: Name,
        blocks: Bool = true,
        since: Timestamp? = nil,
        reason: String,
        _ text: String? = nil
    ) -> DeviceCondition {
        let entry = ReasonText.entry(reason)
        var condition = DeviceCondition.unmet(
            name,
            blocks: blocks,
            since: since,
            text ?? entry?.meaning ?? "The push service reported \(reason).",
            action: entry?.advice
        )
        condition.reason = reason
        return condition
    }

    /// A condition whose state is not known.
    static func unknown(_ name: Name, _ text: String) -> DeviceCondition {
        DeviceCondition(name: name, isMet: nil, blocks: false, text: text)
    }

    /// The same condition, about a credential.
    func about(_ credential: CredentialID?) -> DeviceCondition {
        var condition = self
        condition.credential = credential
        return condition
    }

    /// The same condition, about one identity.
    func of(_ identity: DiagnosedIdentity) -> DeviceCondition {
        var condition = self
        let target = identity.target
        condition.identity = DiagnosedName(id: target.identity, vendor: target.vendor, key: target.key)
        return condition
    }
}
