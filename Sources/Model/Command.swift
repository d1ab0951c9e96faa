/// What the gateway is asked to do, by capability. An adapter uses the capabilities its vendor has.
///
/// What is large lies behind `indirect`: a waiting call keeps room for each command and reply that it may hold.
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

/// What came of a command.
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

/// Why a command was not carried out. Values, so that each vendor maps them to its codes once.
package enum Refusal: Sendable, Hashable {
    case unknownBinding
    case unauthorized
    case unknownDevice
    case unknownMessage
    case unknownMedia
    /// The sender was never registered, or not enrolled as a message client.
    case unknownSender
    case unknownGroup(GroupName)
    case unknownTemplate
    /// Nobody is registered whom the message is for.
    case noRecipients
    /// No push credential is provisioned for the app.
    case noCredential
    /// A field's value cannot be accepted; the name is the command's own (`dueAt`, `callback`).
    case invalid(String)
    /// A count is over its limit.
    case tooMany(String, limit: Int)
    /// Slower, please.
    case rateLimited(retryAfter: Duration?)
    /// The same idempotency key came with another body.
    case idempotencyMismatch
    /// What the command builds on has changed since it was read.
    case outdated
    /// Nobody can do that here (no SMS provider).
    case unsupported(String)
    /// Our own trouble: database down, shedding. Answered so that the caller tries again.
    case unavailable(retryAfter: Duration?)
}

/// In whose name a command is carried out: found by the binding or the API key, never by the command's own fields.
package struct CallScope: Sendable, Hashable {
    package var tenant: TenantID
    package var app: AppID
    package var vendor: Vendor
    package var settings: BindingSettings
    /// The client's address, for senders' records.
    package var remoteAddress: String?
    /// Whom the audit names for administrative acts: `key:backend`. Nil: a vendor's call, whose acts are the vendor's.
    package var actor: String?

    package init(
        tenant: TenantID,
        app: AppID,
        vendor: Vendor,
        settings: BindingSettings,
        remoteAddress: String? = nil,
        actor: String? = nil
    ) {
        self.tenant = tenant
        self.app = app
        self.vendor = vendor
        self.settings = settings
        self.remoteAddress = remoteAddress
        self.actor = actor
    }
}
