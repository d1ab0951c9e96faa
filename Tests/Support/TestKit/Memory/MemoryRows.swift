package import Commands
package import DeliveryEngine
package import Model

/// An identifier that is unique only within its tenant.
package struct Scoped<Value: Hashable & Sendable>: Hashable, Sendable {
    package var tenant: TenantID
    package var value: Value

    package init(_ tenant: TenantID, _ value: Value) {
        self.tenant = tenant
        self.value = value
    }
}

/// One app as provisioned.
package struct AppRow: Sendable {
    package var routes: [Platform: PlatformRoute]
    package var settings: [Vendor: BindingSettings]
    package var timing = AppTiming.none
}

/// One device.
package struct DeviceRow: Sendable {
    package var id: DeviceID
    package var app: AppID
    package var platform: Platform
    package var environment: PushEnvironment
    package var token: DeviceToken?
    package var tokenState: TokenState
    package var tokenRegisteredAt: Timestamp?
    package var clock = DeviceClock.unset
}

/// One identity.
package struct IdentityRow: Sendable {
    package var id: IdentityID
    package var scope: AppScope
    package var key: VendorDeviceKey
    package var device: DeviceID
    package var state: IdentityState
    package var platform: Platform
    package var user: UserID?
    package var name: String?
    package var phone: String?
    package var registeredAt: Timestamp
    package var seenAt: Timestamp
    package var tags: Set<Tag> = []
    package var acceptsPush = true
    package var alias: UserID?
    package var attributes = JSONObject()

    /// When it ends by itself; nil: it does not.
    var endsAt: Timestamp? {
        attributes[DeviceRegistration.endAttribute]?.int.map { Timestamp(seconds: Int64($0)) }
    }

    /// Whether both its user and its device's system take pushes.
    var isRung: Bool { acceptsPush && attributes[DeviceRegistration.denyingAttribute] != true }
}

/// One group of users.
package struct GroupRow: Sendable {
    package var createdAt: Timestamp
    package var members: Set<UserID> = []
    package var title = ""
}

/// One back end that sends.
package struct SenderRow: Sendable {
    package var id: SenderID
    package var scope: AppScope
    package var name: String
    package var enrolmentKey: String?
    package var callback: CallbackRow?
}

/// Where a sender wants to be told, and how far it was told.
package struct CallbackRow: Sendable {
    package var url: String
    package var cursor: Int64
    package var attempts = 0
    package var failingSince: Timestamp?
    package var nextAt: Timestamp
    package var epoch: Int64 = 0
    package var owner: NodeID?
    package var lastReason: String?
}

/// A webhook, and how far it was told.
package struct WebhookRow: Sendable {
    package var webhook: NewWebhook
    package var createdAt: Timestamp
    package var queue: CallbackRow
}

/// A phone that is being verified.
package struct VerificationRow: Sendable {
    package var codeHash: String?
    package var sentAt: Timestamp
    package var tries = 0
    package var sends: [Timestamp] = []
}

/// One message.
package struct MessageRow: Sendable {
    package var message: NewMessage
    package var state: MessageState
    package var recipients: Int?
    package var funnel = Funnel()
    package var variables: [UserID: JSONObject] = [:]
}

/// One slice.
package struct SliceRow: Sendable {
    package var lease: SliceLease
    package var owner: NodeID?
    /// Due time while ready, lease deadline while leased.
    package var nextAt: Timestamp
    package var isFinished = false
    package var heldBy: CredentialID?
    /// Why it gave up.
    package var deadReason: String?
}

/// One delivery's row: its result, and what the device reported since.
package struct DeliveryRow: Sendable {
    package var result: DeliveryResult
    package var state: DeliveryState
    package var receivedAt: Timestamp?
    package var readAt: Timestamp?
    /// A receipt came before the outcome was written: the outcome will fill in the rest.
    package var awaitsOutcome = false
}

/// The key of one delivery within its tenant.
package struct DeliveryKey: Hashable, Sendable {
    package var message: MessageID
    package var target: TargetID
}
