/// Submits and controls messages.
package enum SubmissionCommand: Sendable, Hashable {
    indirect case submit(Submission)
    /// Stores a message that an upstream sent. No call of a caller becomes this command: only the answer of an upstream does.
    indirect case observe(ObservedMessage)
    case control(MessageControl, message: String)
    /// Reports the outcomes of a message of the caller's dialect.
    case report(message: MessageID)
}

/// An operation on a message that is not finished.
package enum MessageControl: String, Sendable, Hashable, CaseIterable {
    /// Unsent deliveries become canceled.
    case cancel
    /// Nothing is sent until `resume`, or until the message expires. Pushes that are on their way are finished.
    case pause
    case resume
    /// Failed parts are retried.
    case requeue
    /// A message that awaits an approval is sent, unless the caller has sent it.
    case approve
}

/// A message that a caller submits.
package struct Submission: Sendable, Hashable {
    /// The sender, if the vendor's call names it. It must be enrolled.
    package var sender: SenderID?
    package var content: Content
    /// The vendor's stored template for the body, with its arguments.
    package var template: TemplateReference?
    package var audience: Audience
    package var timing: SubmissionTiming
    package var collapseID: String?
    package var lane: Lane
    /// An image that the call contains.
    package var image: InlineImage?
    /// The request for the vendor's fallback, in the format of the adapter. It is stored and not interpreted here.
    package var fallback: JSON?
    /// The caller's own idempotency key, at most 128 bytes.
    package var idempotencyKey: String?
    /// The SHA-256 of the request body, which a repeated call must match. The gateway sets it.
    package var bodyHash: String?
    /// How an audience of users identifies them.
    package var naming = UserNaming.users
    /// Whether addressees without a device are not targets: the reply lists them, and a message without any target is refused. Only for lists and users.
    package var omitsUnknown = false
    /// The numbering, if the vendor's dialect numbers messages. Nil: it does not.
    package var numbering: Numbering?
    /// The template variables of single users. Variables, labels and schedule cannot be combined with an idempotency key.
    package var variables: [UserVariables] = []
    /// Labels under which messages are counted together.
    package var labels: [String] = []
    /// Makes the message a schedule, which can be changed until it is due.
    package var schedule: ScheduleDraft?
    /// The least level of the identities that get the message; nil: the app's.
    package var minAssurance: Assurance?

    package init(
        sender: SenderID? = nil,
        content: Content,
        template: TemplateReference? = nil,
        audience: Audience,
        timing: SubmissionTiming = SubmissionTiming(),
        collapseID: String? = nil,
        lane: Lane = .bulk,
        image: InlineImage? = nil,
        fallback: JSON? = nil,
        idempotencyKey: String? = nil,
        numbering: Numbering? = nil
    ) {
        self.sender = sender
        self.content = content
        self.template = template
        self.audience = audience
        self.timing = timing
        self.collapseID = collapseID
        self.lane = lane
        self.image = image
        self.fallback = fallback
        self.idempotencyKey = idempotencyKey
        self.numbering = numbering
    }
}

/// When a message is due, and for how long it can be delivered.
package struct SubmissionTiming: Sendable, Hashable {
    /// Nil: now.
    package var dueAt: Timestamp?
    /// The time in each device's own zone. `dueAt` is nil then.
    package var localDue: LocalTime?
    /// How long after it is due it may still be delivered; nil: the app's default.
    package var timeToLive: Duration?

    package init(dueAt: Timestamp? = nil, localDue: LocalTime? = nil, timeToLive: Duration? = nil) {
        self.dueAt = dueAt
        self.localDue = localDue
        self.timeToLive = timeToLive
    }
}

/// A stored template and its arguments.
package struct TemplateReference: Sendable, Hashable {
    package var id: String
    package var arguments: JSON?

    package init(id: String, arguments: JSON? = nil) {
        self.id = id
        self.arguments = arguments
    }
}

/// The result of a submission.
package enum SubmissionReply: Sendable, Hashable {
    /// Committed. `recipients` is nil while an audience is still being expanded.
    case accepted(MessageID, recipients: Int?)
    /// The result of a submission with `numbering`.
    case numbered(NumberedAcceptance)
    /// Whether the control changed anything.
    case controlled(Bool)
    /// Committed, where the call's dialect numbers messages or unknown addressees are omitted.
    case addressed(AddressedSubmission)
    indirect case report(MessageReport)
    /// The result of `observe`. `isNew` is false if the message was known. `reach`: nil if the call and the answer say too little to compare.
    case observed(isNew: Bool, reach: ObservedReach?)
}

/// The additional result of a submission.
package struct AddressedSubmission: Sendable, Hashable {
    package var message: MessageID
    /// The message's number in the call's dialect. Nil: it has none.
    package var number: String?
    package var recipients: Int?
    /// The number of named addressees that are targets, each with any number of devices. Nil when the audience has no names.
    package var addressees: Int?
    /// The named addressees that are not targets, in the caller's order.
    package var unknown: [Address]

    package init(
        message: MessageID,
        number: String?,
        recipients: Int?,
        addressees: Int? = nil,
        unknown: [Address] = []
    ) {
        self.message = message
        self.number = number
        self.recipients = recipients
        self.addressees = addressees
        self.unknown = unknown
    }
}
