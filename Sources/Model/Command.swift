/// A request to the gateway, grouped by capability. An adapter uses the capabilities that its vendor has.
///
/// Large values are behind `indirect`, because a waiting call reserves memory for each command and reply that it may contain.
package enum Command: Sendable, Hashable {
    indirect case registration(RegistrationCommand)
    case preference(PreferenceCommand)
    case sender(SenderCommand)
    case group(GroupCommand)
    case receipt(ReceiptCommand)
    case inbox(InboxCommand)
    case submission(SubmissionCommand)
    case campaign(CampaignCommand)
    case media(MediaCommand)
    case badge(BadgeCommand)
    case user(UserCommand)
}

/// The result of a command.
package enum Reply: Sendable, Hashable {
    case registration(RegistrationReply)
    case preference(PreferenceReply)
    case sender(SenderReply)
    case group(GroupReply)
    case receipt(ReceiptReply)
    case inbox(InboxReply)
    case submission(SubmissionReply)
    case campaign(CampaignReply)
    case media(MediaReply)
    case badge(BadgeReply)
    case user(UserReply)
    case refused(Refusal)
}

/// Why a command was not carried out. Refusals are values, so that each vendor maps them to its codes once.
package enum Refusal: Sendable, Hashable {
    case unknownBinding
    case unauthorized
    case unknownDevice
    case unknownMessage
    case unknownMedia
    /// The sender was never registered, or is not enrolled as a message client.
    case unknownSender
    case unknownGroup(GroupName)
    case unknownTemplate
    /// The message has no registered recipient.
    case noRecipients
    /// No push credential is provisioned for the app.
    case noCredential
    /// The value of a field is not accepted. The name is that of the command's field (`dueAt`, `callback`).
    case invalid(String)
    /// A count exceeds its limit.
    case tooMany(String, limit: Int)
    /// The caller exceeded its rate, or used up a quota.
    case rateLimited(retryAfter: Duration?, quota: Quota? = nil)
    /// The idempotency key was used before with a different body.
    case idempotencyMismatch
    /// The data on which the command is based has changed since it was read.
    case outdated
    /// The gateway cannot do this (no SMS provider).
    case unsupported(String)
    /// The gateway is temporarily unable to answer (database down, overload). The answer asks the caller to retry.
    case unavailable(retryAfter: Duration?)
}

/// The tenant and app of a command. They come from the binding or the API key, never from the command's own fields.
package struct CallScope: Sendable, Hashable {
    package var tenant: TenantID
    package var app: AppID
    package var vendor: Vendor
    package var settings: BindingSettings
    /// The client's address, which is stored with senders.
    package var remoteAddress: String?
    /// Whether the caller of a vendor's call proved that it may send. False if `openSends` alone admitted it.
    package var isProvenSender: Bool
    /// The API key by which the caller of a vendor's call proved that it may send. Nil: another proof, or a call of the native API.
    package var provingKey: String?
    /// The number of recipients to whom the API key of the call may send per UTC day. Nil: any number, or the call has no key.
    package var recipientsPerDay: Int?
    /// The actor in the audit for administrative acts: `key:backend`. Nil for a call in a vendor's dialect, whose acts are attributed to the vendor.
    package var actor: String?
    /// The place of the call in a sampled trace. Nil: it is not traced.
    package var trace: TraceContext?

    package init(
        tenant: TenantID,
        app: AppID,
        vendor: Vendor,
        settings: BindingSettings,
        remoteAddress: String? = nil,
        isProvenSender: Bool = false,
        provingKey: String? = nil,
        recipientsPerDay: Int? = nil,
        actor: String? = nil
    ) {
        self.tenant = tenant
        self.app = app
        self.vendor = vendor
        self.settings = settings
        self.remoteAddress = remoteAddress
        self.isProvenSender = isProvenSender
        self.provingKey = provingKey
        self.recipientsPerDay = recipientsPerDay
        self.actor = actor
    }
}
